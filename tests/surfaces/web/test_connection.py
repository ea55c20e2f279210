"""Those who begin and do not go on, through the real server: they are let go, others are served."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import pytest

from roundtable.core.events import NoteAdded
from roundtable.surfaces.web import connection, guard, intake

from .house import PATIENCE, House, client_token, house
from .stalling import Raw, head, raw

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("Z-39")]
SOON = 0.05
JSON = {"content_type": "application/json"}


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as opened:
        yield opened


async def answered(home: House) -> bool:
    answer = await asyncio.wait_for(home.client.get("/api/health"), PATIENCE)
    return answer.status_code == 200


# --- deadlines ------------------------------------------------------------------------------------


async def test_a_head_that_is_not_finished_in_time_is_told_so(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_WITHIN", SOON)
    async with raw(home, "GET / HTTP/1.1\r\nhost: localhost\r\n") as slow:
        assert (await slow.rest()).startswith(b"HTTP/1.1 408 ")


async def test_dripping_does_not_put_off_the_deadline_of_a_head(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_WITHIN", SOON)
    async with raw(home, "GET / HTTP/1.1\r\n") as slow:
        gone = asyncio.create_task(slow.rest())
        with pytest.raises(ConnectionError):  # when the server has had enough
            await slow.drip(b"x", 10_000_000)
        assert b"200 OK" not in await gone


async def test_whoever_asks_nothing_is_let_go_without_a_word(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_WITHIN", SOON)
    async with raw(home) as silent:
        assert await silent.rest() == b""


async def test_a_connection_that_was_answered_may_rest_and_must_then_finish_a_head(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with raw(home, head("GET", "/api/health")) as client:
        await client.until(b"}")
        monkeypatch.setattr(connection, "HEAD_WITHIN", SOON)
        await client.send(head("GET", "/api/health"))  # in time
        assert b"200 OK" in await client.until(b"}")
        await client.send("GET /api/hea")
        assert (await client.rest()).startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_is_not_finished_in_time_is_told_so(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BODY_WITHIN", SOON)
    state = await home.meeting()
    asked = head("POST", f"{home.at(state, 'host')}/stop", content_length="100", **JSON)
    async with raw(home, asked + '{"reason"') as slow:
        told = await slow.rest()
    assert told.startswith(b"HTTP/1.1 408 ")
    assert b"did not arrive within" in told
    assert (await home.service.read(state.discussion_id)).status != "stopped"


async def test_a_body_that_nobody_reads_has_a_deadline_too(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BODY_WITHIN", SOON)
    state = await home.meeting()
    asked = head("GET", f"{home.at(state)}/feed", content_length="100")
    async with raw(home, asked) as slow:
        await slow.rest()  # it ends, though the feed would not
    assert await answered(home)


async def test_what_is_left_of_a_body_that_was_answered_has_a_deadline(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "REST_WITHIN", SOON)
    asked = head("POST", "/api/discussions", content_length="1000", **JSON)
    async with raw(home, asked) as slow:
        assert (await slow.rest()).startswith(b"HTTP/1.1 401 ")


async def test_an_endless_body_ends_after_its_answer(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "REST_BYTES", 1_000_000)
    asked = head("POST", "/api/discussions", transfer_encoding="chunked", **JSON)
    piece = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    async with raw(home, asked) as endless:
        assert (await endless.head()).startswith(b"HTTP/1.1 401 ")
        with pytest.raises(ConnectionError):
            await endless.drip(piece, 10_000_000_000 // 0x10000)  # 10 GB
    assert await answered(home)


async def test_whoever_does_not_read_is_let_go(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "READ_WITHIN", SOON)
    state = await home.meeting()
    async with raw(home, head("GET", f"{home.at(state)}/feed"), window=4096) as asleep:
        await asleep.head()
        connections = cast("set[connection.Connection]", home.server.server_state.connections)
        [one] = [each for each in connections if not each.spare]
        while not one.transport.is_closing():
            note = NoteAdded(code="a", text="y" * 100_000)
            await home.service.record(state.discussion_id, note)
            await asyncio.sleep(0)
    assert await answered(home)


# --- heads ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [17_000, 60_000])
async def test_a_head_that_is_too_large_is_refused_also_in_one_piece(
    home: House, size: int
) -> None:
    for asked in (
        head("GET", "/api/health", x="a" * size),
        head("GET", "/api/health?x=" + "a" * size),
        head("GET", "/api/health", **{f"x{n}": "a" * 100 for n in range(size // 100)}),
    ):
        async with raw(home, asked) as client:
            told = await client.rest()
        assert told.startswith(b"HTTP/1.1 431 ")
        assert b"16 KiB" in told
    async with raw(home, head("GET", "/api/health", x="a" * 15_000)) as client:
        assert (await client.head()).startswith(b"HTTP/1.1 200 ")


async def test_a_head_that_grows_too_large_is_refused_before_it_ends(home: House) -> None:
    async with raw(home, "GET / HTTP/1.1\r\nhost: localhost\r\nx: " + "a" * 17_000) as client:
        assert (await client.rest()).startswith(b"HTTP/1.1 431 ")


async def test_more_headers_than_anybody_needs_are_refused(home: House) -> None:
    many = {f"x{n}": "" for n in range(199)}
    async with raw(home, head("GET", "/api/health", **many)) as client:
        assert (await client.head()).startswith(b"HTTP/1.1 200 ")
    async with raw(home, head("GET", "/api/health", **many, one_more="")) as client:
        assert b"200 are the most" in await client.rest()


async def test_a_request_of_two_lengths_is_refused_with_all_that_comes_after_it(
    home: House,
) -> None:
    hidden = "2\r\n{}\r\n0\r\n\r\n" + head("GET", "/api/health")
    both = {"content_length": str(len(hidden)), "Transfer-Encoding": "chunked", **JSON}
    asked = head("POST", "/api/tools/list", **both, **home.owner) + hidden
    async with raw(home, asked) as client:
        told = await client.rest()
    assert told.startswith(b"HTTP/1.1 400 ")
    assert told.count(b"HTTP/1.1 ") == 1
    async with raw(home, head("GET", "/api/health")) as client:  # also as the second request
        await client.until(b"}")
        await client.send(asked)
        assert (await client.rest()).startswith(b"HTTP/1.1 400 ")


# --- before the body ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/r/{token}x/stop", 404),
        ("/api/r/{locked}/stop", 401),
        ("/api/discussions", 401),
        ("/api/tools/list", 401),
        ("/v1/chat/completions", 401),
        ("/nothing", 404),
        ("/r/{token}", 405),
    ],
)
async def test_nobody_is_read_before_he_was_let_in(home: House, path: str, status: int) -> None:
    """Not a byte of the body has come when the answer does."""
    state = await home.meeting()
    token = home.links.token(state.discussion_id, "host")
    locked = home.links.token(state.discussion_id, "host", password="sesame")
    asked = head("POST", path.format(token=token, locked=locked), content_length="2000000", **JSON)
    async with raw(home, asked) as client:
        assert (await client.head()).startswith(f"HTTP/1.1 {status} ".encode())


async def test_one_that_waits_to_be_told_to_go_on_is_told_only_when_let_in(home: House) -> None:
    state = await home.meeting()
    link = home.at(state, "host")
    waits = {"expect": "100-continue", "content_length": "2", **JSON}
    async with raw(home, head("POST", f"{link}/stop", **waits)) as client:
        assert (await client.head()).startswith(b"HTTP/1.1 100 ")
        await client.send("{}")
        assert (await client.head()).startswith(b"HTTP/1.1 200 ")
    async with raw(home, head("POST", "/api/discussions", **waits)) as client:
        assert (await client.head()).startswith(b"HTTP/1.1 401 ")


async def test_the_connection_of_whoever_was_refused_can_be_used_again(home: House) -> None:
    body = b"x" * 3_000_000
    asked = head("POST", "/api/discussions", content_length=str(len(body)), **JSON)
    async with raw(home, asked) as client:
        await client.send(body)
        assert b" 401 " in await client.until(b"}")
        await client.send(head("GET", "/api/health"))
        assert b" 200 " in await client.until(b"}")


# --- how many at once -----------------------------------------------------------------------------


async def test_bodies_that_are_on_their_way_are_counted_for_each_link(home: House) -> None:
    state = await home.meeting()
    link, other = home.at(state, "host"), home.at(state, "seat", "tea")
    stalled = head("POST", f"{link}/stop", content_length="100", **JSON)
    async with AsyncExitStack() as stack:
        for _ in range(intake.BODIES_PER_LINK):
            await stack.enter_async_context(raw(home, stalled + "{"))
        refused = await stack.enter_async_context(raw(home, stalled))
        told = await refused.until(b"}")
        assert told.startswith(b"HTTP/1.1 429 ")
        assert b"through this link" in told
        assert b"retry-after" in told.lower()
        assert (await home.act(f"{other}/vote", in_favour=False)).status_code == 200
    async with asyncio.timeout(PATIENCE):  # until it was noticed that they left
        while (await home.act(f"{link}/pause", reason="")).status_code == 429:
            pass


@pytest.mark.parametrize("path", ["/api/tools/status", "/api/tools/ask", "/api/discussions"])
async def test_bodies_of_one_token_take_no_place_of_another_or_of_the_owner(
    home: House, path: str
) -> None:
    token, other = [client_token(home.app.settings.home) for _ in range(2)]
    of_one = {"authorization": f"Bearer {token}", "content_length": "100", **JSON}
    async with AsyncExitStack() as stack:
        for _ in range(intake.BODIES_PER_LINK):
            await stack.enter_async_context(raw(home, head("POST", path, **of_one) + "{"))
        refused = await stack.enter_async_context(raw(home, head("POST", path, **of_one)))
        assert (await refused.until(b"}")).startswith(b"HTTP/1.1 429 ")
        for key in (other, home.links.owner_key):
            asked = await home.client.post(
                "/api/tools/list", json={}, headers={"authorization": f"Bearer {key}"}
            )
            assert asked.status_code == 200, asked.text


async def test_many_tokens_at_the_owners_machine_take_no_place_of_the_owner(
    home: House,
) -> None:
    tokens = [client_token(home.app.settings.home) for _ in range(4)]
    async with AsyncExitStack() as stack:
        for number in range(intake.BODIES_PER_ADDRESS):
            given = {"authorization": f"Bearer {tokens[number % 4]}", "content_length": "9", **JSON}
            asked = head("POST", "/api/tools/status", **given)
            await stack.enter_async_context(raw(home, asked + "{"))
        more = {"authorization": f"Bearer {client_token(home.app.settings.home)}"}
        refused = await home.client.post("/api/tools/list", json={}, headers=more)
        assert refused.status_code == 429
        own = await home.client.post("/api/tools/list", json={}, headers=home.owner)
        assert own.status_code == 200, own.text


async def test_feeds_are_counted_for_each_link_and_each_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "FEEDS_PER_LINK", 3)
    monkeypatch.setattr(guard, "FEEDS_PER_ADDRESS", 5)
    async with house(tmp_path / "home") as home, AsyncExitStack() as stack:
        state = await home.meeting()

        async def opened(path: str) -> Raw:
            return await stack.enter_async_context(raw(home, head("GET", f"{path}/feed")))

        watching = [await opened(home.at(state)) for _ in range(3)]
        for each in watching:
            assert (await each.head()).startswith(b"HTTP/1.1 200 ")
        refused = await (await opened(home.at(state))).until(b"}")
        assert (refused[9:12], b"through this link or token: 3" in refused) == (b"429", True)
        for seat in ("tea", "coffee"):
            assert b" 200 " in await (await opened(home.at(state, "seat", seat))).head()
        refused = await (await opened(home.at(state, "host"))).until(b"}")
        assert (refused[9:12], b"from your address: 5" in refused) == (b"429", True)
        assert (await home.client.get(f"{home.at(state)}/events")).status_code == 200
        watching[0].close()
        async with asyncio.timeout(PATIENCE):  # until it was noticed that it left
            while b" 429 " in await (await opened(home.at(state))).head():
                pass


async def test_what_all_bodies_hold_together_is_bounded(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "HELD_IN_ALL", 1_000_000)
    state = await home.meeting()
    link = home.at(state, "host")
    stalled = head("POST", f"{link}/material", content_length="2000000", **JSON)
    async with raw(home, stalled) as one, raw(home, stalled) as other:
        answers = [asyncio.create_task(each.until(b"}")) for each in (one, other)]
        for each in (one, other):
            await each.send("x" * 600_000)
        await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
        [told] = [each.result() for each in answers if each.done()]
        assert told.startswith(b"HTTP/1.1 503 ")
        assert b"Try again" in told
        # What was refused is not held, so there is room for others beside the one that is left.
        assert (await home.act(f"{link}/material", source="a", text="b")).status_code == 200
        for answer in answers:
            answer.cancel()


async def test_a_full_house_lets_go_of_whoever_asks_nothing(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "most_connections", lambda: 4)
    async with AsyncExitStack() as stack:
        asks = "GET / HTTP/1.1\r\n"
        idle = [await stack.enter_async_context(raw(home, asks)) for _ in range(8)]
        assert await answered(home)
        assert [await each.rest() for each in idle[:4]] == [b""] * 4
        await idle[-1].send("host: localhost\r\n\r\n")
        assert b" 401 " in await idle[-1].head()


async def test_a_house_full_of_those_who_wait_for_answers_says_so(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = await home.meeting()
    async with AsyncExitStack() as stack:
        feed = head("GET", f"{home.at(state)}/feed")
        watching = [await stack.enter_async_context(raw(home, feed)) for _ in range(3)]
        for each in watching:
            await each.until(b"retry: 1000\n\n")
        monkeypatch.setattr(connection, "most_connections", lambda: 3)
        refused = await stack.enter_async_context(raw(home))
        assert (await refused.rest()).startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize("kind", ["heads", "bodies", "feeds", "all"])
async def test_others_are_answered_while_two_hundred_stall(home: House, kind: str) -> None:
    state = await home.meeting()
    link = home.at(state, "host")
    body = head("POST", f"{link}/stop", content_length="100", **JSON) + "{"
    kinds = {
        "heads": ["GET / HTTP/1.1\r\nhost: loc"],
        "bodies": [body, head("POST", "/api/discussions", content_length="100", **JSON) + "{"],
        "feeds": [head("GET", f"{home.at(state)}/feed")],
    }
    chosen = [each for name, them in kinds.items() if kind in (name, "all") for each in them]
    async with AsyncExitStack() as stack:
        for number in range(200):
            await stack.enter_async_context(raw(home, chosen[number % len(chosen)], window=4096))
        assert await answered(home)
        for _ in range(20):
            note = NoteAdded(code="a", text="y" * 50_000)
            await home.service.record(state.discussion_id, note)
        seat = home.at(state, "seat", "tea")
        assert (await home.act(f"{seat}/vote", in_favour=False)).status_code == 200
        assert (await home.client.get(f"{seat}/events")).status_code == 200
