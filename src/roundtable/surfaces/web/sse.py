"""Feeds: one discussion as this process shows it, read once and encoded once for all who watch.

A `Room` follows the ledger and keeps each event as the bytes that go over the wire. A viewer is a
cursor into them: it takes what is new, writes it at its own pace and waits for more. So nobody has
a queue that could overflow, a slow viewer holds up nobody, and nothing is lost or doubled.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from time import perf_counter

from ...core.errors import LedgerError, RoundtableError, UnknownDiscussion
from ...core.events import (
    AttemptFailed,
    DiscussionClosed,
    DiscussionOpened,
    LimitsRaised,
    SpeechGiven,
    StageReopened,
    StoredEvent,
    TurnFailed,
)
from ...core.state import State
from ...engine.service import Service
from ...views.driving import needs_driver
from ...views.page import derived, page_event
from .drafts import DraftStore, Speaking
from .usual import usual_seconds

KEEP_ALIVE = 15.0
LINGER = 30.0
DRAFTS_EVERY = 0.12
LOOK_EVERY = 2.0
"""Seconds after which it is looked again whether somebody drives what is watched."""
_PAGE = 500
_BREATH = 0.005
"""Seconds of encoding after which others get their turn."""
_CHUNK = 8 * 1024
"""Bytes that are written at once: more would pile up for whoever does not read."""
_DRAFTS_KEPT = 256
_ALIVE = b": still here\n\n"
END = b"event: end\ndata: {}\n\n"
GOING = b'retry: 1000\nevent: end\ndata: {"reconnect":true}\n\n'
"""The server goes away, the discussion does not: whoever asks again comes to another, or to the
next."""

log = logging.getLogger(__name__)


class Room:
    """What this process shows of one discussion."""

    def __init__(self, service: Service, draft_store: DraftStore, discussion_id: str) -> None:
        self.discussion_id = discussion_id
        self.guests = 0
        self._service = service
        self._draft_store = draft_store
        self._frames: list[bytes] = []
        self._bodies: list[tuple[int, int]] = []
        self._opened: DiscussionOpened | None = None
        self._closed: DiscussionClosed | None = None
        self._over: set[str] = set()
        self._loaded = asyncio.Event()
        self._ended = False
        self._left = False
        self._trouble: RoundtableError | None = None
        self._unseen: RoundtableError | None = None
        """Why it could not be looked after the last time."""
        self._ticks = 0
        self._changed = asyncio.Event()
        # What derives from the whole is folded only when somebody wants it.
        self._state = State()
        self._unfolded: list[StoredEvent] = []
        self._derived: tuple[str, bytes] = ("", b"")
        self._folding = asyncio.Lock()
        # The newest pieces of what is being said, each with its number.
        self._drafts: deque[tuple[int, bytes]] = deque(maxlen=_DRAFTS_KEPT)
        self._draft = 0
        self._shown: dict[str, tuple[int, str, int]] = {}
        self._unsaid: set[str] = set()
        self._saying: asyncio.TimerHandle | None = None
        self._said_at = 0.0
        self._hearing = ExitStack()
        self._driven: bool | None = None
        self._usual: float | None = None
        self._work = [
            asyncio.create_task(self._follow()),
            asyncio.create_task(self._tick()),
            asyncio.create_task(self._look()),
        ]
        self._hearing.enter_context(draft_store.listening(discussion_id, self._hear))

    # What there is

    @property
    def last_seq(self) -> int:
        return len(self._frames)

    @property
    def opened(self) -> DiscussionOpened:
        assert self._opened is not None, "a room is entered when it is loaded"
        return self._opened

    @property
    def status(self) -> str:
        return "running" if self._closed is None else self._closed.status

    @property
    def away(self) -> bool:
        """Whether the database does not answer, us or whoever drives the discussion here."""
        trouble = self._trouble or self._unseen
        lost = isinstance(trouble, LedgerError) and trouble.temporary
        return lost or self.discussion_id in self._draft_store.away

    @property
    def waiting(self) -> bool:
        """Whether it waits here until it may begin."""
        return self.discussion_id in self._draft_store.waiting

    def events(self, after: int, limit: int) -> bytes:
        """Some events as one JSON document."""
        chosen = range(max(0, after), min(self.last_seq, after + limit))
        pieces = (self._frames[n][slice(*self._bodies[n])] for n in chosen)
        return b'{"events":[%b],"last_seq":%d}' % (b",".join(pieces), self.last_seq)

    async def derived(self) -> tuple[str, bytes]:
        """What derives from the whole, and the version of it: the event up to which it does, and
        whether nobody drives it, which no event tells."""
        async with self._folding:
            coming, self._unfolded = self._unfolded, []
            if coming:
                await asyncio.to_thread(self._fold, coming)
            driven = self._closed is not None or await self._service.is_driven(self.discussion_id)
            lost = not driven and needs_driver(self._state)
            version = f"{self._state.seq}{'-interrupted' if lost else ''}-{self._usual or 0:.0f}"
            if self._derived[0] != version:
                body = await asyncio.to_thread(derived, self._state, interrupted=lost)
                self._derived = version, _json({**body, "usual_seconds": self._usual})
            return self._derived

    def _fold(self, coming: list[StoredEvent]) -> None:
        for record in coming:
            self._state.apply(record)

    # What comes

    async def loaded(self) -> None:
        """Wait until everything is here that was in the ledger when the room was made.
        UnknownDiscussion if there is nothing."""
        await self._loaded.wait()
        if isinstance(self._trouble, LedgerError) and self._trouble.temporary:
            await self._load()  # raises what is wrong now, if anything still is
            self._trouble = None
        if self._trouble is not None:
            raise self._trouble
        if self._ended and self._closed is not None:
            await self._load()  # news of it may still have been sent after its end
            if self.status == "running":  # its last stage is asked again
                self._ended = False
                self._work.append(asyncio.create_task(self._follow()))

    async def feed(self, after: int) -> AsyncGenerator[bytes, None]:
        """Frames from the one after `after` on, until the discussion is closed or the room is."""
        heard, ticks = -1, self._ticks
        driven: bool | None = None
        held_up = (False, False)
        yield b"retry: 1000\n\n"
        while True:
            news = self._changed  # taken before looking, so that nothing falls in between
            chunk: list[bytes] = []
            size = 0
            while after < self.last_seq and size < _CHUNK:
                chunk.append(self._frames[after])
                size += len(chunk[-1])
                after += 1
            if after >= self.last_seq:
                if self._ended:
                    for piece in _pieces([*chunk, GOING if self._left else END]):
                        yield piece
                    return
                if driven is not self._driven:
                    driven = self._driven
                    chunk.append(_driven_frame(driven))
                if held_up != (self.away, self.waiting):
                    held_up = self.away, self.waiting
                    chunk.append(_away_frame(*held_up))
                if heard != self._draft:
                    chunk += self._drafts_after(heard)
                    heard = self._draft
                if not chunk and ticks != self._ticks:
                    chunk.append(_ALIVE)
                ticks = self._ticks
            for piece in _pieces(chunk):
                yield piece
            if not chunk:
                await news.wait()

    async def close(self) -> None:
        """Let everybody go."""
        self._hearing.close()
        if self._saying is not None:
            self._saying.cancel()
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        self._left = not self._ended
        self._ended = True
        self._loaded.set()
        self._wake()

    async def _follow(self) -> None:
        while not self._ended:
            try:
                await self._load()
                self._trouble = None
                self._loaded.set()
                self._wake()
                async for record in self._service.events(self.discussion_id, after=self.last_seq):
                    self._take(record)
                    self._wake()
                await self._load()
                self._ended = True
            except RoundtableError as error:
                self._trouble = error
                self._loaded.set()  # whoever waits is told
                self._wake()
                if isinstance(error, UnknownDiscussion):
                    self._ended = True
                else:
                    log.warning("%s cannot be followed now: %s", self.discussion_id, error)
                    await asyncio.sleep(1)
        self._wake()

    async def _load(self) -> None:
        """Take in what is in the ledger, without keeping others from their turn."""
        while True:
            page = await self._service.records(self.discussion_id, after=self.last_seq, limit=_PAGE)
            begun = perf_counter()
            for record in page:
                if record.seq != self.last_seq + 1:
                    break  # somebody else took it in meanwhile
                self._take(record)
                if perf_counter() - begun > _BREATH:
                    await asyncio.sleep(0)
                    begun = perf_counter()
            self._wake()
            if len(page) < _PAGE:
                return

    def _take(self, record: StoredEvent) -> None:
        event = record.event
        match event:
            case DiscussionOpened():
                self._opened = event
            case DiscussionClosed():
                self._closed = event
            case StageReopened() | LimitsRaised():
                self._closed = None
                self._over.difference_update(event.turns)
            case SpeechGiven() | TurnFailed():
                self._over.add(event.turn_id)
                self._unsaid.discard(event.turn_id)
                self._shown.pop(event.turn_id, None)
                self._draft_store.drop(self.discussion_id, event.turn_id)
            case AttemptFailed():
                self._draft_store.drop(self.discussion_id, event.turn_id, event.attempt)
            case _:
                pass
        head = b"id: %d\nevent: event\ndata: " % record.seq
        body = _json(page_event(record))
        self._frames.append(head + body + b"\n\n")
        self._bodies.append((len(head), len(head) + len(body)))
        self._unfolded.append(record)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(KEEP_ALIVE)
            self._ticks += 1
            self._wake()

    async def _look(self) -> None:
        """Whether a process drives it, as long as somebody watches and it goes on; and once, how
        long such a discussion usually takes."""
        await self._loaded.wait()
        known = False
        while not self._ended:
            wanted = self.guests or not known
            if wanted and self._closed is None and self._opened is not None:
                try:
                    if not known:
                        self._usual = await usual_seconds(self._service, self.discussion_id)
                        known = True
                    driven = await self._service.is_driven(self.discussion_id)
                    if driven is not self._driven or self._unseen is not None:
                        self._driven, self._unseen = driven, None
                        self._wake()
                except RoundtableError as error:
                    self._unseen = error
                    self._wake()
                    log.warning("%s cannot be looked after now: %s", self.discussion_id, error)
            await asyncio.sleep(LOOK_EVERY)

    # What is being said

    def greet(self) -> None:
        """Somebody has come in: what was said when nobody listened is still to be shown."""
        before = {speaking.turn_id for speaking in self._draft_store.of(self.discussion_id)}
        self._unsaid |= before - self._shown.keys()
        if self._unsaid:
            self._say_soon()

    def _hear(self, turn_id: str) -> None:
        """New words: soon, and together with those that come right after them."""
        self._unsaid.add(turn_id)
        self._say_soon()

    def _say_soon(self) -> None:
        if self._saying is None and self.guests:
            loop = asyncio.get_running_loop()
            wait = max(0.0, self._said_at + DRAFTS_EVERY - loop.time())
            self._saying = loop.call_later(wait, self._say)

    def _say(self) -> None:
        self._saying = None
        self._said_at = asyncio.get_running_loop().time()
        turns, self._unsaid = self._unsaid, set()
        for turn_id in turns - self._over:
            if (speaking := self._draft_store.get(self.discussion_id, turn_id)) is not None:
                self._say_more(speaking)
        self._wake()

    def _say_more(self, speaking: Speaking) -> None:
        shown = speaking.shown
        attempt, before, begins = self._shown.get(speaking.turn_id, (0, "", 0))
        if attempt != speaking.attempt or not shown.startswith(before):
            before, begins = "", 0
        words = shown[len(before) :]
        if words or not begins:
            self._draft += 1
            self._drafts.append((self._draft, _draft_frame(speaking, begins, words)))
            # Counted as scripts in a browser count.
            length = begins + len(words.encode("utf-16-le", "surrogatepass")) // 2
            self._shown[speaking.turn_id] = (speaking.attempt, shown, length)

    def _drafts_after(self, heard: int) -> list[bytes]:
        """The pieces after one; for whoever has missed some, all that was said so far."""
        if heard >= 0 and self._drafts and self._drafts[0][0] <= heard + 1:
            return [frame for number, frame in self._drafts if number > heard]
        return [
            _draft_frame(speaking, 0, self._shown[speaking.turn_id][1])
            for speaking in self._draft_store.of(self.discussion_id)
            if speaking.turn_id not in self._over and speaking.turn_id in self._shown
        ]


class Rooms:
    """The rooms that are open. One that nobody has entered for a while is closed."""

    def __init__(self, service: Service, draft_store: DraftStore) -> None:
        self._service = service
        self._draft_store = draft_store
        self._rooms: dict[str, Room] = {}
        self._closing: dict[str, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self.closed = False
        self.draining = False
        """Whether this process is about to end, and nobody should come here any more."""

    @asynccontextmanager
    async def enter(self, discussion_id: str) -> AsyncIterator[Room]:
        """The room of a discussion, with everything in it that is in the ledger now."""
        room = self._rooms.get(discussion_id)
        if room is None:
            room = self._rooms[discussion_id] = Room(
                self._service, self._draft_store, discussion_id
            )
        if (timer := self._closing.pop(discussion_id, None)) is not None:
            timer.cancel()
        room.guests += 1
        try:
            await room.loaded()
            room.greet()
            yield room
        except UnknownDiscussion:
            self._drop(room)
            raise
        finally:
            room.guests -= 1
            if not room.guests and self._rooms.get(discussion_id) is room and not self.closed:
                loop = asyncio.get_running_loop()
                self._closing[discussion_id] = loop.call_later(LINGER, self._drop, room)

    async def close(self) -> None:
        """End every feed."""
        self.closed = True
        for timer in self._closing.values():
            timer.cancel()
        rooms, self._rooms = list(self._rooms.values()), {}
        await asyncio.gather(*(room.close() for room in rooms), *self._ending)

    def _drop(self, room: Room) -> None:
        self._closing.pop(room.discussion_id, None)
        if self._rooms.get(room.discussion_id) is room:
            del self._rooms[room.discussion_id]
        task = asyncio.get_running_loop().create_task(room.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _draft_frame(speaking: Speaking, begins: int, words: str) -> bytes:
    said = {
        "turn_id": speaking.turn_id,
        "participant": speaking.participant,
        "attempt": speaking.attempt,
        "begins": begins,
        "words": words,
    }
    return b"event: draft\ndata: " + json.dumps(said).encode("ascii") + b"\n\n"


def _driven_frame(driven: bool | None) -> bytes:
    return b"event: driven\ndata: " + json.dumps({"driven": driven}).encode("ascii") + b"\n\n"


def _away_frame(away: bool, waiting: bool) -> bytes:
    told = json.dumps({"away": away, "waiting": waiting})
    return b"event: away\ndata: " + told.encode("ascii") + b"\n\n"


def _pieces(frames: list[bytes]) -> Iterator[bytes]:
    """The frames together, in pieces of a size."""
    whole = b"".join(frames)
    for start in range(0, len(whole), _CHUNK):
        yield whole[start : start + _CHUNK]


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
