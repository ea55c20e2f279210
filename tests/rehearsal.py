"""A table for rehearsals: everything in memory, speakers by function, time that only tests move."""

from __future__ import annotations

import asyncio
import itertools
import re
import selectors
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

from roundtable.core.errors import SpeakerError
from roundtable.core.events import StoredEvent
from roundtable.core.limits import NO_LIMITS, Limits
from roundtable.core.state import State
from roundtable.core.values import OUTSIDE, OUTSIDE_SPEAKER, SpeakerRef, Usage
from roundtable.engine.service import Service
from roundtable.engine.tools import Tools
from roundtable.ledger.memory import MemoryLedger
from roundtable.ports import (
    Asker,
    Casting,
    Delivery,
    Ledger,
    OnWords,
    Reply,
    Search,
    Speaker,
    SpeakerChain,
    Speakers,
    SpeakRequest,
)
from roundtable.procedures.custom.spec import UserProcedures
from roundtable.procedures.opening import OpenRequest
from tests.declaring import by_prompt

T = TypeVar("T")
Script = Callable[[SpeakRequest], "str | SpeakerError | float | None"]
"""What a speaker does with a request: words, an error, seconds of silence first, or hang (None)."""

HEADINGS = re.compile(r"^## (.+)$", re.MULTILINE)
FENCED = re.compile(r"\[fence (\S+)\].*?\[/fence \1\]", re.DOTALL)


class Question(Protocol):
    """A request, to a speaker or at the test server."""

    @property
    def model(self) -> str: ...
    @property
    def user(self) -> str: ...


def dutiful(request: Question) -> str:
    """An answer with every section and the declaration that the prompt asks for."""
    headings = HEADINGS.findall(FENCED.sub("", request.user))
    bodies = {
        "Confidence": "high, because it was checked.",
        "Updated Confidence": "medium, because of the others.",
        "Dissent": "none",
        "Sources": "none",
    }
    parts = [f"## {name}\n{bodies.get(name, f'{name} by {request.model}.')}" for name in headings]
    return by_prompt("\n\n".join(parts) or f"Words of {request.model}.", request.user)


class Voice:
    """A speaker by function that remembers what it was asked."""

    def __init__(self, script: Script = dutiful) -> None:
        self.script = script
        self.requests: list[SpeakRequest] = []
        self.now_speaking = 0
        self.most_at_once = 0

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        self.requests.append(request)
        self.now_speaking += 1
        self.most_at_once = max(self.most_at_once, self.now_speaking)
        try:
            await asyncio.sleep(1)
            said = self.script(request)
            if said is None:
                await asyncio.Event().wait()
            if isinstance(said, float):
                await asyncio.sleep(said)
                said = dutiful(request)
            if isinstance(said, SpeakerError):
                raise said
            assert isinstance(said, str)
            on_words(said)
            return Reply(
                said,
                Usage(input_tokens=100, output_tokens=50, priced_usd=0.01),
                served_by=request.model,
                finish_reason="stop",
            )
        finally:
            self.now_speaking -= 1

    async def close(self) -> None:
        pass


class Billed(Voice):
    """A voice that is counted and paid as providers do it, at the prices of `Cast`, and that stops
    where it was told to."""

    def __init__(self, script: Script = dutiful, *, words: int = 0) -> None:
        """`words` are added to what the script says, before its declaration."""
        super().__init__(script)
        self.words = words

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        more = self.words if request.schema is None else 0
        text = f"{'word ' * more}\n\n{reply.text}" if more else reply.text
        cut = text[: 4 * request.max_tokens]
        read, said = (len(request.system) + len(request.user)) // 4, -(-len(cut) // 4)
        cost = (read * 1.0 + said * 5.0) / 1_000_000
        return Reply(
            cut,
            Usage(input_tokens=read, output_tokens=said, priced_usd=cost),
            served_by=request.model,
            finish_reason="stop" if cut == text else "length",
        )


class Voices:
    """Speakers by model id; a voice for `*` speaks for all others."""

    def __init__(self, voices: dict[str, Voice]) -> None:
        self.voices = voices

    @asynccontextmanager
    async def admitted(self, model: str) -> AsyncIterator[Speaker]:
        yield self.voices.get(model) or self.voices["*"]

    async def close(self) -> None:
        pass


class Cast:
    """Models for seats: each name is its own model, with a fallback chain where one is given."""

    def __init__(
        self,
        default: str = "test/captain",
        fallbacks: dict[str, list[str]] | None = None,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.default = default
        self.fallbacks = fallbacks or {}
        self.facts = facts or {}

    @property
    def default_model(self) -> str:
        return self.default

    def seat(self, name: str, seat: str) -> SpeakerChain:
        assert seat
        if name == OUTSIDE:
            return SpeakerChain((OUTSIDE_SPEAKER,))
        models = [name, *self.fallbacks.get(name, [])]
        facts = {"usd_per_million_in": 1.0, "usd_per_million_out": 5.0, **self.facts}
        return SpeakerChain(tuple(SpeakerRef(model=model, **facts) for model in models))


class TestClock:
    """The event loop's own time, on a fixed day."""

    __test__ = False

    def now(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC) + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class TestIds:
    """Numbers in order instead of dice."""

    __test__ = False

    def __init__(self) -> None:
        self._count = itertools.count(1)

    def discussion(self) -> str:
        return f"rt_{next(self._count):08x}"

    def nonce(self) -> str:
        return f"n0nce{next(self._count):06d}"

    def seed(self) -> int:
        return 7

    def jitter(self) -> float:
        return 1.0


class Table:
    """A whole table in memory."""

    def __init__(
        self,
        voices: dict[str, Voice] | None = None,
        *,
        cast: Cast | None = None,
        ledger: Ledger | None = None,
        search: Search | None = None,
        asker: Asker | None = None,
        delivery: Delivery | None = None,
        defaults: dict[str, Any] | None = None,
        speakers: Speakers | None = None,
        own: UserProcedures | None = None,
        casting: Callable[[Ledger], Casting] | None = None,
        caps: Limits = NO_LIMITS,
    ) -> None:
        """`speakers` stand in for those that would be found among the voices."""
        self.voices = voices or {"*": Voice()}
        self.clock = TestClock()
        self.ledger = ledger or MemoryLedger(lambda: self.clock.monotonic())
        cast = cast or Cast()

        async def models() -> Cast:
            return cast

        self.models = models
        self.service = Service(
            self.ledger,
            Tools(
                speakers=speakers or Voices(self.voices),
                clock=self.clock,
                ids=TestIds(),
                dearest_price=(10.0, 50.0),
                search=search,
                asker=asker,
                delivery=delivery,
            ),
            models,
            owner="test",
            defaults=dict.fromkeys(("council", "adaptive"), defaults or {}),
            own=own,
            casting=casting(self.ledger) if casting else None,
            caps=caps,
        )

    async def ask(self, topic: str = "Tea or coffee?", **request: Any) -> State:
        state = await self.service.open(OpenRequest(topic=topic, **request))
        return await self.service.run(state.discussion_id)

    @property
    def requests(self) -> list[SpeakRequest]:
        return [request for voice in self.voices.values() for request in voice.requests]

    async def records(self, state: State) -> list[StoredEvent]:
        return await self.ledger.read(state.discussion_id)


def run_in_virtual_time(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop whose clock jumps to the next timer instead of waiting for it."""
    loop = _VirtualLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


class _VirtualSelector(selectors.DefaultSelector):
    loop: _VirtualLoop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout is not None and timeout > 0:
            self.loop.elapsed += timeout
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.elapsed = 0.0
        selector = _VirtualSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.elapsed


def types(records: Sequence[StoredEvent]) -> list[str]:
    return [record.event.type for record in records]
