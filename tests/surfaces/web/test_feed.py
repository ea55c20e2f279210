"""Feeds: what comes, as it comes, to everybody, exactly once."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import pytest

from roundtable.core.events import NoteAdded, StoredEvent
from roundtable.core.state import State
from roundtable.core.values import Usage
from roundtable.engine.tools import Draft
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.web import sse
from roundtable.views.page import derived, page_event

from .house import PATIENCE, Frame, House, feed, house

pytestmark = pytest.mark.anyio


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as opened:
        yield opened


async def say(home: House, state: State, count: int, text: str = "x") -> None:
    for number in range(count):
        note = NoteAdded(code="said", text=f"{text} {number}")
        await home.service.record(state.discussion_id, note)


async def until(reached: Callable[[], bool]) -> None:
    """A bounded wait for what the server does by itself."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while not reached():
        assert asyncio.get_running_loop().time() < deadline, "it did not happen in time"
        await asyncio.sleep(0.005)


def numbers(frames: list[Frame]) -> list[int | None]:
    return [frame.id for frame in frames if frame.event == "event"]


@pytest.mark.requirement("D-61", "I-22", "Z-10")
async def test_a_feed_begins_anywhere_and_misses_and_doubles_nothing(home: House) -> None:
    state = await home.council()
    path = home.at(state)
    whole = await feed(home.client, f"{path}/feed")
    last = len(await home.service.records(state.discussion_id))
    assert numbers(whole) == list(range(1, last + 1))
    assert whole[-1].event == "end"
    for cursor in (0, 1, last // 2, last - 1, last):
        headers = {"Last-Event-ID": str(cursor)}
        rest = await feed(home.client, f"{path}/feed?after=3", headers=headers)
        assert [f.raw for f in rest] == [f.raw for f in whole if f.id is None or f.id > cursor]
        by_query = await feed(home.client, f"{path}/feed?after={cursor}")
        assert by_query == rest


@pytest.mark.requirement("D-61", "D-77", "Z-10", "I-22")
def lasting(frames: Iterable[Frame]) -> list[Frame]:
    """Without what is only true now: whether somebody drives it."""
    return [frame for frame in frames if frame.event != "driven"]


async def test_a_late_joiner_sees_the_very_bytes_that_the_first_viewer_saw(home: House) -> None:
    state = await home.meeting()
    path = home.at(state)
    early = asyncio.create_task(feed(home.client, f"{path}/feed"))
    for _ in range(2):
        await home.act(f"{home.at(state, 'seat', 'tea')}/speak", text="Tea, **always**.")
        await home.act(f"{home.at(state, 'seat', 'coffee')}/speak", text="Coffee!")
        await home.service.record(state.discussion_id, NoteAdded(code="said", text="…"))
    await home.service.conclude(state.discussion_id, "Water it is, said <nobody>.")
    seen = await asyncio.wait_for(early, PATIENCE)
    late = await feed(home.client, f"{path}/feed")
    assert [frame.raw for frame in lasting(late)] == [frame.raw for frame in lasting(seen)]
    asked = (await home.client.get(f"{path}/events?limit=5000")).json()
    assert [json.dumps(each) for each in asked["events"]] == [
        json.dumps(frame.data) for frame in seen if frame.event == "event"
    ]
    shown = (await home.client.get(f"{path}/derived")).json()["decision"]["answer"]["written_html"]
    assert "Water it is, said &lt;nobody&gt;." in shown


async def test_events_come_in_pages_after_a_cursor(home: House) -> None:
    state = await home.meeting()
    await say(home, state, 30)
    path = f"{home.at(state)}/events"
    last = (await home.client.get(path)).json()["last_seq"]
    seen: list[int] = []
    while len(seen) < last:
        page = (await home.client.get(f"{path}?after={len(seen)}&limit=7")).json()
        assert 0 < len(page["events"]) <= 7
        seen += [event["seq"] for event in page["events"]]
    assert seen == list(range(1, last + 1))
    beyond = (await home.client.get(f"{path}?after=999999")).json()
    assert beyond == {"events": [], "last_seq": last}


HUGE = "9" * 5_000


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize(
    "value",
    ["-1", "x", "NaN", "Infinity", "1e3", "1.5", "0x10", "", "٣", "9007199254740993", HUGE],
    ids=lambda value: value[:20] or "empty",
)
async def test_a_number_out_of_bounds_is_refused_with_a_reason(home: House, value: str) -> None:
    state = await home.meeting()
    link, asked = home.at(state), dict(home.owner)
    for path, name in (
        (f"{link}/events", "after"),
        (f"{link}/events", "limit"),
        (f"{link}/feed", "after"),
        ("/api/discussions", "limit"),
    ):
        answer = await home.client.get(path, params={name: value}, headers=asked)
        assert answer.status_code == 400, (path, answer.text[:200])
        assert name in answer.json()["error"]
        assert answer.json()["remedy"]
    if value and value.isascii():
        answer = await home.client.get(f"{link}/feed", headers={"last-event-id": value})
        assert answer.status_code == 400, answer.text[:200]
        assert "Last-Event-ID" in answer.json()["error"]


@pytest.mark.requirement("Z-39")
async def test_a_page_of_no_or_too_many_events_is_refused(home: House) -> None:
    state = await home.meeting()
    for limit in ("0", "5001", "999999"):
        answer = await home.client.get(f"{home.at(state)}/events?limit={limit}")
        assert answer.status_code == 400


@pytest.mark.requirement("D-64")
async def test_a_reader_never_sees_half_an_event_while_eight_write(home: House) -> None:
    state = await home.meeting()
    path = f"{home.at(state)}/events?limit=5000"
    writers = [asyncio.create_task(say(home, state, 15, f"“{n}” ✓" * 50)) for n in range(8)]
    seen = 0
    while not all(writer.done() for writer in writers):
        page = json.loads((await home.client.get(path)).content)
        assert [event["seq"] for event in page["events"]] == list(range(1, page["last_seq"] + 1))
        assert page["last_seq"] >= seen
        seen = page["last_seq"]
    await asyncio.gather(*writers)
    records = await home.service.records(state.discussion_id)
    assert sum(isinstance(record.event, NoteAdded) for record in records) >= 120


async def test_many_viewers_get_frames_that_were_encoded_once(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[int] = []

    def counting(record: StoredEvent) -> dict[str, object]:
        encoded.append(record.seq)
        return page_event(record)

    monkeypatch.setattr(sse, "page_event", counting)
    state = await home.meeting()
    path = f"{home.at(state)}/feed"
    viewers = [asyncio.create_task(feed(home.client, path)) for _ in range(20)]
    await say(home, state, 20)
    await home.service.stop(state.discussion_id, by="a test")
    seen = await asyncio.wait_for(asyncio.gather(*viewers), PATIENCE)
    assert all(lasting(each) == lasting(seen[0]) for each in seen)
    assert encoded == list(range(1, len(encoded) + 1))


async def test_a_viewer_that_does_not_read_holds_up_nobody(home: House) -> None:
    state = await home.meeting()
    token_path = f"{home.at(state)}/feed"
    host, port = home.url.removeprefix("http://").split(":")
    with socket.socket() as asleep:
        asleep.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asleep.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(asleep, (host, int(port)))
        request = f"GET {token_path} HTTP/1.1\r\nHost: {host}\r\n\r\n"
        await loop.sock_sendall(asleep, request.encode())
        awake = asyncio.create_task(feed(home.client, token_path))
        await say(home, state, 100, "y" * 100_000)
        await home.service.stop(state.discussion_id, by="a test")
        seen = await asyncio.wait_for(awake, PATIENCE)
        last = len(await home.service.records(state.discussion_id))
        assert numbers(seen) == list(range(1, last + 1))
        # And when it wakes up, it has missed nothing.
        taken = bytearray()
        async with asyncio.timeout(PATIENCE):
            while b"event: end" not in taken[-200:]:
                taken += await loop.sock_recv(asleep, 1_000_000)
    found = [line for line in taken.split(b"\n") if line.startswith(b"id: ")]
    assert found == [b"id: %d" % number for number in range(1, last + 1)]


async def test_what_derives_is_computed_once_and_not_sent_twice(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []

    def counting(state: State, *, interrupted: bool) -> dict[str, object]:
        computed.append(state.seq)
        return derived(state, interrupted=interrupted)

    monkeypatch.setattr(sse, "derived", counting)
    state = await home.council()
    path = f"{home.at(state)}/derived"
    answers = await asyncio.gather(*(home.client.get(path) for _ in range(10)))
    assert len({answer.text for answer in answers}) == 1
    assert computed == [state.seq]
    tag = answers[0].headers["etag"]
    unchanged = await home.client.get(path, headers={"if-none-match": tag})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


class Gated:
    """A speaker that says one word at a time, when the test lets it."""

    def __init__(self) -> None:
        self.go = asyncio.Semaphore(0)

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        words = ["One 😀 ", "sk-ant-api03-abcdefghijklmnop", "qrstuvwxyz0123456789 ", "two."]
        for word in words:
            await self.go.acquire()
            on_words(word)
        await self.go.acquire()
        return Reply("".join(words), Usage(), served_by=request.model, finish_reason="stop")

    async def close(self) -> None:
        pass


async def test_words_appear_while_somebody_speaks_and_are_no_events(tmp_path: Path) -> None:
    speaker = Gated()
    async with house(tmp_path / "home", scripts={"gated": speaker}) as home:
        options = {"all": "scripted/gated", "quick": True}
        state = await home.service.open(OpenRequest(topic="Tea or coffee?", options=options))
        home.web.running.drive(state.discussion_id)
        path = f"{home.at(state)}/feed"
        said: dict[str, str] = {}

        def heard(frame: Frame) -> bool:
            if frame.event == "draft":
                data = frame.data
                before = said.get(data["turn_id"], "")
                if data["begins"]:
                    assert data["begins"] == len(before.encode("utf-16-le")) // 2
                    said[data["turn_id"]] = before + data["words"]
                else:
                    said[data["turn_id"]] = data["words"]
                assert frame.id is None
            return any("two." in text for text in said.values())

        for _ in range(12):
            speaker.go.release()
        await feed(home.client, path, until=heard)
        whole = next(text for text in said.values() if "two." in text)
        assert whole.startswith("One 😀 ")
        assert "qrstuvwxyz" not in whole
        # Whoever comes later hears at once what was said so far.
        late = await feed(home.client, path, until=lambda frame: frame.event == "draft")
        assert late[-1].data["begins"] == 0
        stored = json.dumps(await home.types(state))
        assert "draft" not in stored.lower()


async def test_drafts_of_an_earlier_attempt_give_way_to_the_next(home: House) -> None:
    state = await home.meeting()
    store = home.web.running.draft_store
    turn = ("1/discussion/tea", "tea")
    store.add(Draft(state.discussion_id, *turn, attempt=1, words="wrong"))
    path = f"{home.at(state)}/feed"
    draft = asyncio.create_task(
        feed(home.client, path, until=lambda f: f.event == "draft" and f.data["attempt"] == 2)
    )
    await until(lambda: bool(home.web.rooms._rooms))  # somebody came
    store.add(Draft(state.discussion_id, *turn, attempt=2, words="right"))
    store.add(Draft(state.discussion_id, *turn, attempt=1, words=" and late"))
    last = (await draft)[-1]
    assert (last.data["begins"], last.data["words"]) == (0, "right")


async def test_a_feed_stays_alive_while_nothing_happens(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "KEEP_ALIVE", 0.05)
    state = await home.meeting()
    async with asyncio.timeout(PATIENCE), home.client.stream("GET", f"{home.at(state)}/feed") as r:
        said = b""
        async for piece in r.aiter_bytes():
            said += piece
            if said.count(b": still here\n\n") == 2:
                break
    assert said.count(b": still here\n\n") == 2


async def test_viewers_get_a_clean_end_when_the_server_ends(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        state = await home.meeting()
        up = asyncio.Event()

        def began(_: Frame) -> bool:
            up.set()
            return False

        viewer = asyncio.create_task(feed(home.client, f"{home.at(state)}/feed", until=began))
        await asyncio.wait_for(up.wait(), PATIENCE)
        home.server.should_exit = True
        assert (await asyncio.wait_for(viewer, PATIENCE))[-1].event == "end"


async def test_a_deleted_discussion_ends_its_feed(home: House) -> None:
    state = await home.meeting()
    first = asyncio.Event()

    def began(_: Frame) -> bool:
        first.set()
        return False

    viewer = asyncio.create_task(feed(home.client, f"{home.at(state)}/feed", until=began))
    await asyncio.wait_for(first.wait(), PATIENCE)
    await home.service.delete(state.discussion_id)
    assert (await asyncio.wait_for(viewer, PATIENCE))[-1].event == "end"
    assert (await home.client.get(home.at(state))).status_code == 404


async def test_a_room_that_nobody_is_in_is_closed(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "LINGER", 0.01)
    state = await home.meeting()
    await home.client.get(home.at(state))
    await until(lambda: not home.web.rooms._rooms)
    assert (await home.client.get(home.at(state))).json()["last_seq"] > 0
