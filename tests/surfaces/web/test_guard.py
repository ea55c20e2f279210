from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from roundtable.surfaces.web.guard import Guard
from roundtable.surfaces.web.hosts import Hosts
from roundtable.surfaces.web.intake import LARGEST_BODY
from roundtable.surfaces.web.limits import Rate

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio
JSON = {"content-type": "application/json"}


class Behind:
    """The application behind the guard: it says how much it was sent."""

    def __init__(self) -> None:
        self.reached = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        self.reached += 1
        message: Message = await receive()
        body = str(len(message.get("body", b""))).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})


def guarded(
    behind: Behind | None = None, *, base: str = "http://localhost:8199", **given: Any
) -> httpx2.AsyncClient:
    app = Guard(behind or Behind(), **{"hosts": Hosts(), **given})
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=base)


@pytest.mark.requirement("I-21")
@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8199", "LOCALHOST:8199", "127.0.0.1:8199", "[::1]:8199"]
)
async def test_our_own_names_are_answered(host: str) -> None:
    async with guarded() as client:
        assert (await client.get("/", headers={"host": host})).status_code == 200


@pytest.mark.requirement("I-21")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8199",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "evil.example#localhost",
        "127.0.0.1:8199.evil.example:80",
        "[::1].evil.example",
        "::1",
        "0.0.0.0:8199",
        "127.1",
        "2130706433",
        "192.168.1.5:8199",
        "",
        "localhost:80@evil",
        "localhost:80@evil.example:8199",
        "user@localhost",
        "user:pass@localhost:8199",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:99999999999999999999",
        "localhost:+80",
        "localhost:8199:8199",
        "localhost:80 ",
        " localhost",
        "local host",
        "localhost\t:80",
        "localhost,evil.example",
        "localhost/evil",
        "localhost?evil",
        "localhost#",
        "localhost\\@evil",
        "localhost..",
        ".localhost",
        ".",
        ":8199",
        "[::1",
        "[::1]8199",
        "[::1]:",
        "[::1%25eth0]",
        "[localhost]",
        "[]",
        "localhost%00",
        "loc\u00e0lhost",
    ],
)
@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_foreign_name_that_points_here_gets_nothing(host: str, method: str) -> None:
    behind = Behind()
    async with guarded(behind) as client:
        headers = {b"host": host.encode("latin-1"), b"content-type": b"application/json"}
        answer = await client.request(method, "/api/r/x/stop", headers=headers)
    assert answer.status_code == 421
    assert behind.reached == 0


@pytest.mark.parametrize(
    ("bound", "more", "host", "status"),
    [
        ("0.0.0.0", [], "192.168.1.5:8199", 200),
        ("0.0.0.0", [], "table.example", 421),
        ("0.0.0.0", ["Table.Example"], "table.example:443", 200),
        ("192.168.1.5", [], "192.168.1.5", 200),
        ("127.0.0.1", ["table.example"], "table.example.", 200),
        ("127.0.0.1", ["table.example:8443"], "table.example:8443", 200),
        ("127.0.0.1", ["table.example:8443"], "table.example:8444", 421),
        ("127.0.0.1", ["table.example:8443"], "table.example", 421),
        ("0.0.0.0", [], "192.168.1.5:8199@evil", 421),
        ("0.0.0.0", [], "[fe80::1]:8199", 200),
    ],
)
async def test_a_server_for_others_is_called_by_number_or_by_a_name_it_was_given(
    bound: str, more: Iterable[str], host: str, status: int
) -> None:
    async with guarded(hosts=Hosts(bound, more)) as client:
        assert (await client.get("/", headers={"host": host})).status_code == status


@pytest.mark.requirement("I-21")
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:3000"},
        {"origin": "null"},
        {"origin": "http://localhost:8199.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT", "PATCH"])
async def test_another_site_cannot_write(headers: dict[str, str], method: str) -> None:
    behind = Behind()
    async with guarded(behind) as client:
        answer = await client.request(method, "/api/r/x/stop", headers={**headers, **JSON})
    assert answer.status_code == 403
    assert behind.reached == 0


async def test_the_page_itself_and_programs_can_write() -> None:
    page = {"origin": "http://localhost:8199", "sec-fetch-site": "same-origin"}
    async with guarded() as client:
        assert (await client.post("/a", headers={**page, **JSON}, content="{}")).text == "2"
        assert (await client.post("/a", headers=JSON, content="{}")).text == "2"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
async def test_a_write_that_is_not_json_is_refused(kind: str | None) -> None:
    """A form of another site can send these without asking first."""
    behind = Behind()
    async with guarded(behind) as client:
        headers = {"content-type": kind} if kind else {}
        answer = await client.post("/a", content=b"{}", headers=headers)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["remedy"]
    assert behind.reached == 0


async def test_a_body_up_to_the_limit_arrives_whole_and_a_larger_one_not_at_all() -> None:
    behind = Behind()
    async with guarded(behind) as client:
        fits = await client.post("/a", content=b" " * LARGEST_BODY, headers=JSON)
        assert fits.text == str(LARGEST_BODY)
        large = await client.post("/a", content=b" " * (LARGEST_BODY + 1), headers=JSON)
        assert large.status_code == 413
        assert "2 MiB" in large.json()["error"]
        assert behind.reached == 1


async def test_a_body_that_does_not_say_its_length_is_not_read_past_the_limit() -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while sent < 3 * LARGEST_BODY:
            sent += 65_536
            yield b" " * 65_536

    behind = Behind()
    async with guarded(behind) as client:
        answer = await client.post("/a", content=endless(), headers=JSON)
    assert answer.status_code == 413
    assert behind.reached == 0


async def test_a_link_may_write_so_often_and_then_waits() -> None:
    now = [0.0]
    rate = Rate(30, 10, monotonic=lambda: now[0])
    async with guarded(rate=rate) as client:

        async def write(token: str = "t") -> httpx2.Response:
            return await client.post(f"/api/r/{token}/speak", content="{}", headers=JSON)

        assert [(await write()).status_code for _ in range(10)] == [200] * 10
        refused = await write()
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
        assert (await write("another")).status_code == 200
        assert (await client.get("/api/r/t/events")).status_code == 200
        now[0] += 2
        assert [(await write()).status_code for _ in range(2)] == [200, 429]


@pytest.mark.requirement("I-21")
async def test_every_answer_has_the_strict_headers() -> None:
    async with guarded() as client:
        for answer in (await client.get("/"), await client.get("/", headers={"host": "evil"})):
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["cache-control"] == "no-store"


async def test_clients_of_the_openai_form_get_refusals_in_their_form() -> None:
    async with guarded() as client:
        answer = await client.post("/v1/chat/completions", content=b"x")
    assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.requirement("Z-39")
async def test_two_hosts_in_one_request_are_none() -> None:
    behind = Behind()
    async with guarded(behind) as client:
        twice = [("host", "localhost:8199"), ("host", "localhost:8199")]
        assert (await client.get("/", headers=twice)).status_code == 421
    assert behind.reached == 0


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize("origin", ["http://[::1", "http://x@localhost:8199", "localhost:8199", ""])
async def test_an_origin_that_is_none_is_another_site(origin: str) -> None:
    async with guarded() as client:
        answer = await client.post("/", headers={"origin": origin, **JSON}, content=b"{}")
    assert answer.status_code == 403


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize("length", ["9" * 5_000, "-1", "NaN", "1e3", ""])
async def test_a_length_that_is_none_is_refused(length: str) -> None:
    async with guarded() as client:
        headers = {"content-length": length, **JSON}
        answer = await client.post("/", headers=headers, content=b"")
    assert answer.status_code == 413
