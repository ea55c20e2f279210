"""The outgoing client against servers that mean harm."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import ip_address
from ssl import CERT_REQUIRED, MemoryBIO
from typing import Any

import pytest

from roundtable import net
from roundtable.core.addresses import is_public_address
from roundtable.core.errors import NetCause, NetError
from tests.hostile import Asked, Behave, Hostile, Line, bomb, chunk, hostile

pytestmark = pytest.mark.requirement("Z-39", "I-24")

SECRET = "sk-test-0123456789abcdefghijklmnop"
ALLOWED = 64_000_000
"""Bytes of memory that an answer may take, whatever it is."""


@contextmanager
def little_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield
        assert tracemalloc.get_traced_memory()[1] - before < ALLOWED
    finally:
        tracemalloc.stop()


async def fetch(server: Hostile, path: str = "/", **more: Any) -> net.Answer:
    method: net.Method = "POST" if "body" in more else "GET"
    return await net.request(
        "The board", method, f"{server.url}{path}", **{"timeout": 30.0, **more}
    )


async def failure(behave: Behave, **more: Any) -> NetError:
    async with hostile(behave) as server:
        with pytest.raises(NetError) as caught:
            await fetch(server, **more)
    error = caught.value
    assert error.message.startswith("The board ")
    assert SECRET not in f"{error!r} {error} {vars(error)}"
    assert error.__suppress_context__ or error.__context__ is None
    return error


def saying(status: str, body: bytes = b"", **headers: str) -> Behave:
    async def behave(_: Asked, line: Line) -> None:
        await line.head(status, content_length=str(len(body)), **headers)
        await line.send(body)

    return behave


# ---------------------------------------------------------------------------------- how much


@pytest.mark.parametrize(
    ("form", "named"), [("gzip", "gzip"), ("deflate", "deflate"), ("raw", "deflate")]
)
async def test_a_bomb_is_let_go_of_before_it_fills_the_memory(form: str, named: str) -> None:
    async def behave(_: Asked, line: Line) -> None:
        await line.head(content_encoding=named, transfer_encoding="chunked")
        for piece in bomb(form, 1_500_000_000):
            await line.send(chunk(piece))

    with little_memory():
        async with hostile(behave) as server:
            with pytest.raises(NetError, match="The board sent more than 1 MB") as caught:
                await fetch(server)
            assert server.asked[0].headers["accept-encoding"] == "identity"
            assert server.sent < 200_000  # of about 1,500,000
    assert caught.value.cause == "too_large"


async def test_an_answer_in_one_block_that_unpacks_to_far_too_much_is_cut() -> None:
    packed = gzip.compress(bytes(200_000_000))
    with little_memory():
        error = await failure(saying("200 OK", packed, content_encoding="gzip"))
    assert error.cause == "too_large"


async def test_an_answer_that_is_packed_twice_is_not_opened() -> None:
    packed = gzip.compress(gzip.compress(bytes(50_000_000)))
    error = await failure(saying("200 OK", packed, content_encoding="gzip, gzip"))
    assert (error.cause, error.message) == (
        "format",
        "The board sent an answer that is packed more than once.",
    )


@pytest.mark.parametrize("named", ["gzip", "br", "zstd", "deflate"])
async def test_what_is_not_packed_as_it_says_is_no_answer(named: str) -> None:
    async def read() -> object:
        async with hostile(saying("200 OK", b"\x00not packed", content_encoding=named)) as server:
            return (await fetch(server)).json(typed=False)

    with pytest.raises(NetError):
        await read()


async def test_a_packed_answer_of_decent_size_is_read() -> None:
    packed = gzip.compress(b'{"a": 1}')
    behave = saying("200 OK", packed, content_encoding="gzip", content_type="application/json")
    async with hostile(behave) as server:
        assert (await fetch(server)).json() == {"a": 1}


async def test_an_endless_body_is_cut() -> None:
    async def behave(_: Asked, line: Line) -> None:
        await line.head(transfer_encoding="chunked")
        while True:
            await line.send(chunk(b" " * 10_000))

    async with hostile(behave) as server:
        with little_memory(), pytest.raises(NetError, match="sent more than 20,000 bytes"):
            await fetch(server, max_bytes=20_000)
        assert server.sent < 10_000_000


@pytest.mark.parametrize("promised", [3, 1_000])
async def test_a_lying_length_is_no_way_in(promised: int) -> None:
    async def behave(_: Asked, line: Line) -> None:
        await line.head(content_length=str(promised), content_type="application/json")
        await line.send(b'{"a": 1}' + b" " * 100)

    async with hostile(behave) as server:
        with pytest.raises(NetError) as caught:
            (await fetch(server)).json()
    # What was promised is all that is read; less than that is an answer that broke off.
    assert caught.value.cause == ("format" if promised == 3 else "unreachable")


async def test_a_huge_promise_costs_nothing() -> None:
    async def behave(_: Asked, line: Line) -> None:
        await line.head(content_length=str(10**15))

    with little_memory():
        assert (await failure(behave)).cause == "unreachable"


@pytest.mark.parametrize(("many", "long"), [(100_000, 1), (300, 1), (2, 60_000)])
async def test_headers_are_bounded(many: int, long: int) -> None:
    async def behave(_: Asked, line: Line) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n")
        for number in range(many):
            await line.send(b"x-%d: %s\r\n" % (number, b"y" * long))
        await line.send(b"\r\n")

    with little_memory():
        assert (await failure(behave)).cause in ("too_large", "unreachable")


@pytest.mark.parametrize(
    "said", [b"", b"hello\r\n\r\n", b"HTTP/1.1 20000 OK\r\n\r\n", b"\x00" * 999]
)
async def test_what_is_no_http_is_no_answer(said: bytes) -> None:
    async def behave(_: Asked, line: Line) -> None:
        await line.send(said)

    error = await failure(behave)
    assert error.message == "The board cannot be reached at 127.0.0.1."
    assert error.remedy


# -------------------------------------------------------------------------------------- time


@pytest.mark.parametrize("slow", ["body", "headers", "redirects", "hints"])
async def test_dripping_does_not_stretch_the_deadline(
    slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    seconds = 0
    real = loop.time
    monkeypatch.setattr(loop, "time", lambda: real() + seconds)

    async def behave(asked: Asked, line: Line) -> None:
        nonlocal seconds
        if slow == "redirects":
            seconds += 8
            await line.head("302 Found", location=f"{asked.path}x", content_length="0")
            return
        if slow == "body":
            await line.head(transfer_encoding="chunked")
        elif slow == "headers":
            await line.send(b"HTTP/1.1 200 OK\r\n")
        drops = {"body": chunk(b"x"), "headers": b"x: y\r\n", "hints": b"HTTP/1.1 103 Hi\r\n\r\n"}
        while True:
            seconds += 1  # never long enough for a limit that begins anew at each byte
            await line.send(drops[slow])

    error = await failure(behave, timeout=20.0, redirects="same place")
    assert (error.cause, error.message) == ("timeout", "The board did not answer within 20 s.")
    assert 20 <= seconds < 200


# --------------------------------------------------------------------------------- redirects


def leading(location: str, status: str = "302 Found") -> Behave:
    return saying(status, location=location)


async def test_a_redirect_is_the_answer_unless_it_is_wanted() -> None:
    async with hostile(leading("/elsewhere")) as server:
        assert (await fetch(server)).status == 302
    assert len(server.asked) == 1


async def test_redirects_within_a_place_are_followed_a_few_times_with_all_headers() -> None:
    async with hostile(leading("/again")) as server:
        with pytest.raises(NetError, match="redirects in circles") as caught:
            await fetch(server, redirects="same place", headers={"x-token": SECRET})
    assert caught.value.cause == "redirect"
    assert [asked.headers["x-token"] for asked in server.asked] == [SECRET] * 4


@pytest.mark.parametrize(
    "location",
    [
        "http://localhost:1/",
        "http://127.0.0.1:1/",
        "//127.0.0.2/",
        "https://example.org/",
        "file:///etc/passwd",
        "gopher://x/",
        "ftp://127.0.0.1/",
        "http://me@127.0.0.1/",
    ],
)
async def test_a_redirect_that_leaves_its_place_is_not_followed(location: str) -> None:
    error = await failure(leading(location), redirects="same place", headers={"x-key": SECRET})
    assert (error.cause, error.remedy) == ("redirect", "Set the address to where it is now.")


@pytest.mark.parametrize("location", ["http://", "http://[::1", "http://a:b/", "http://a:0/"])
async def test_a_redirect_to_what_is_no_address_is_a_failure(location: str) -> None:
    error = await failure(leading(location), redirects="anywhere")
    assert error.cause in ("redirect", "unreachable")


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize("redirects", ["same place", "anywhere"])
async def test_what_was_sent_is_sent_nowhere_else(status: str, redirects: str) -> None:
    async with hostile(saying("200 OK")) as other:
        for location in (other.url, "/here"):
            error = await failure(
                leading(location, status), redirects=redirects, body={"token": SECRET}
            )
            assert error.cause == "redirect"
    assert other.asked == []


async def test_nothing_but_the_question_goes_to_another_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(net, "is_public_address", lambda _: True)
    headers = {
        "authorization": f"Bearer {SECRET}",
        "cookie": f"a={SECRET}",
        "x-subscription-token": SECRET,
        "accept": "application/json",
    }
    async with hostile(saying("200 OK", b"found", set_cookie=f"b={SECRET}")) as other:

        async def behave(_: Asked, line: Line) -> None:
            await line.head(
                "302 Found", location=f"{other.url}/there", set_cookie=f"c={SECRET}; Path=/"
            )

        async with hostile(behave) as server:
            answer = await fetch(server, redirects="anywhere", headers=headers)
    assert answer.body == b"found"
    (asked,) = other.asked
    assert SECRET not in str(asked)
    assert (asked.method, asked.path, asked.headers["accept"]) == (
        "GET",
        "/there",
        "application/json",
    )
    assert asked.headers["host"] == other.url.removeprefix("http://")


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://[::1]:{port}/",
        "http://169.254.169.254/latest",
    ],
)
async def test_a_redirect_to_a_private_address_ends_there(location: str) -> None:
    async with hostile(saying("200 OK", b"secrets")) as inside:
        port = inside.url.rpartition(":")[2]
        error = await failure(leading(location.format(port=port)), redirects="anywhere")
    assert error.cause == "private"
    assert inside.asked == []


async def test_a_chain_of_redirects_is_looked_at_at_each_hop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(net, "is_public_address", lambda address: str(address) == "127.0.0.1")
    async with hostile(leading("http://[::1]:1/")) as second:
        error = await failure(leading(second.url), redirects="anywhere")
    assert error.cause == "private"
    assert len(second.asked) == 1


async def test_a_redirect_from_https_to_http_is_not_followed() -> None:
    import httpx2

    sending = net._Sending(
        "The board", "GET", httpx2.URL("https://a.example/"), None, None, {}, False
    )
    request = httpx2.Request("GET", "https://a.example/")
    for location in ("http://a.example/", "http://b.example/"):
        answer = httpx2.Response(302, headers={"location": location}, request=request)
        with pytest.raises(NetError, match="redirects to another place"):
            sending.redirected(answer, "anywhere")
    up = httpx2.Response(302, headers={"location": "https://a.example/x"}, request=request)
    opened = net._Sending(
        "The board", "GET", httpx2.URL("http://a.example/"), None, None, {"x": "y"}, False
    )
    followed = opened.redirected(up, "same place")
    assert (str(followed.url), followed.headers, followed.untrusted) == (
        "https://a.example/x",
        {"x": "y"},
        False,
    )


# --------------------------------------------------------------------------------- addresses

# fmt: off
PRIVATE = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "100.127.255.254", "192.0.0.8", "192.0.2.1", "198.18.0.1",
    "203.0.113.5", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fe80::1", "fe80::1%1", "fec0::1", "fc00::1", "fd12::1", "ff02::1", "ff0e::1",
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808",
    "64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::", "2001:0:1::1", "2001:db8::1", "100::1",
]
# fmt: on


@pytest.mark.parametrize("address", PRIVATE)
async def test_an_address_from_a_text_must_be_public(address: str) -> None:
    assert not is_public_address(ip_address(address))

    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return ["93.184.216.34", address]

    with pytest.raises(NetError, match="leads to a private address") as caught:
        await net.request(
            "The page", "GET", "https://pages.example/", timeout=5, untrusted=True, resolve=resolve
        )
    assert caught.value.cause == "private"


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0",
    ],
)
async def test_every_spelling_of_this_machine_is_seen_through(host: str) -> None:
    async with hostile(saying("200 OK", b"secrets")) as inside:
        port = inside.url.rpartition(":")[2]
        with pytest.raises(NetError) as caught:
            await net.request(
                "The page", "GET", f"http://{host}:{port}/", timeout=5, untrusted=True
            )
    assert caught.value.cause == "private"
    assert inside.asked == []


async def test_the_address_that_was_looked_at_is_the_one_that_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(net, "is_public_address", lambda _: True)
    looked: list[tuple[str, int]] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        looked.append((host, port))
        # The name leads nowhere for anybody who asks once more.
        return ["127.0.0.1"] if len(looked) == 1 else ["127.0.0.9"]

    async with hostile(saying("200 OK", b"page")) as server:
        port = int(server.url.rpartition(":")[2])
        answer = await net.request(
            "The page",
            "GET",
            f"http://pages.invalid:{port}/a?b=c",
            timeout=5,
            untrusted=True,
            resolve=resolve,
        )
    assert answer.body == b"page"
    assert looked == [("pages.invalid", port)]
    (asked,) = server.asked
    assert (asked.path, asked.headers["host"]) == ("/a?b=c", f"pages.invalid:{port}")


async def test_a_further_address_is_tried_where_the_first_does_not_listen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(net, "is_public_address", lambda _: True)

    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return ["::1", "127.0.0.1"]

    async with hostile(saying("200 OK", b"page")) as server:
        url = server.url.replace("127.0.0.1", "pages.invalid")
        answer = await net.request(
            "The page", "GET", url, timeout=5, untrusted=True, resolve=resolve
        )
    assert answer.body == b"page"


async def test_an_untrusted_address_goes_through_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with hostile(saying("200 OK", b"by proxy")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        with pytest.raises(NetError, match="private"):
            await net.request("The page", "GET", "http://localhost/", timeout=5, untrusted=True)
        answer = await net.request("The board", "GET", "http://board.invalid/", timeout=5)
    assert answer.body == b"by proxy"
    assert len(proxy.asked) == 1


async def test_a_user_in_an_untrusted_address_is_refused() -> None:
    with pytest.raises(NetError) as caught:
        await net.request(
            "The page", "GET", f"http://me:{SECRET}@example.org/", timeout=5, untrusted=True
        )
    assert caught.value.cause == "address"
    assert SECRET not in str(caught.value)


async def test_an_address_that_the_user_set_may_be_private() -> None:
    async with hostile(saying("200 OK", b"mine")) as server:
        assert (await fetch(server)).body == b"mine"


@pytest.mark.parametrize(
    "url",
    ["", "localhost:80", "ftp://a/", "http://", "http://[::1", "http://a:b", "http://a:0/", "\x00"],
)
async def test_what_is_no_address_is_said_to_be_none(url: str) -> None:
    with pytest.raises(NetError, match="The board has no usable address") as caught:
        await net.request("The board", "GET", url, timeout=5)
    assert caught.value.cause == "address"


async def test_no_failure_tells_the_secrets_of_an_address() -> None:
    for url in (
        f"http://me:{SECRET}@127.0.0.1:1/{SECRET}?key={SECRET}",
        f"http://{SECRET}.invalid:x",
    ):
        with pytest.raises(NetError) as caught:
            await net.request("The board", "GET", url, timeout=5, headers={"x-key": SECRET})
        assert SECRET not in f"{caught.value!r} {caught.value} {vars(caught.value)}"


# ----------------------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("body", "kind", "cause", "words"),
    [
        (b"{not json", "application/json", "format", "not valid JSON"),
        (b'"\xff\xfe"', "application/json", "format", "not valid JSON"),
        (b"[" * 200_000, "application/json", "format", "not valid JSON"),
        (b"", "application/json", "format", "not valid JSON"),
        (b"<p>", "text/html; charset=x", "format", "answered with text/html, not with JSON"),
        (b"{}", "x<script>y", "format", "answered with an unknown format, not with JSON"),
        (b"{}", "", "format", "answered with an unknown format, not with JSON"),
    ],
)
def test_json_is_json_and_says_so(body: bytes, kind: str, cause: NetCause, words: str) -> None:
    answer = net.Answer("The board", 200, {"content-type": kind}, body)
    with pytest.raises(NetError, match=words) as caught:
        answer.json()
    assert caught.value.cause == cause
    assert answer.json_or_none() in (None, {})


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.x+json"]
)
def test_json_by_any_of_its_names_is_read(kind: str) -> None:
    assert net.Answer("x", 200, {"content-type": kind}, json.dumps({"é": 1}).encode()).json() == {
        "é": 1
    }


def test_one_number_without_end_is_no_reason_to_read_nothing() -> None:
    body = b'{"id": "m", "window": ' + b"9" * 5_000 + b"}"
    answer = net.Answer("x", 200, {"content-type": "application/json"}, body)
    assert answer.json() == {"id": "m", "window": math.inf}


def test_how_long_to_wait_is_read_from_seconds_dates_and_documents() -> None:
    assert net.seconds_to_wait("2.5") == net.seconds_to_wait(2.5) == 2.5
    assert net.seconds_to_wait("-3") == 0.0
    assert net.seconds_to_wait("1e300") == net.seconds_to_wait("inf") == net.LONGEST_WAIT
    assert net.seconds_to_wait(10**400) is None
    soon = net.seconds_to_wait(format_datetime(datetime.now(UTC) + timedelta(hours=0.5)))
    assert soon is not None
    assert 1700 < soon <= 1800
    assert net.seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    nothings: list[object] = ["", "soon", "nan", None, True, [], "Wed, 99 Oct 2015"]
    for nothing in nothings:
        assert net.seconds_to_wait(nothing) is None


def test_certificates_that_are_read_when_needed_are_those_of_the_system() -> None:
    line = net.RootsWhenNeeded().wrap_bio(MemoryBIO(), MemoryBIO(), server_hostname="example.org")

    assert line.context is net.trusted_roots()
    assert (line.context.check_hostname, line.context.verify_mode) == (True, CERT_REQUIRED)
