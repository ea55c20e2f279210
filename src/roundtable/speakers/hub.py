"""SpeakerHub: finds the speaker for a model id, and keeps the calls to one provider in bounds."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from ..core.call_gate import CallLimits
from ..core.errors import SpeakerError
from ..ports import Gates, OnWords, Reply, Speaker, SpeakRequest
from .gates import LocalGates
from .turnstile import Turnstile

SpeakerFactory = Callable[[], Speaker]
LimitsOf = Callable[[str], Mapping[str, CallLimits]]
"""The gates that a model's calls go through, by name: its own if it has one, and its provider's."""

PARALLEL_CALLS = 16


def usual_limits(model: str) -> Mapping[str, CallLimits]:
    """The same for every provider, where nothing is known of it."""
    return {model.partition("/")[0]: CallLimits(at_once=PARALLEL_CALLS)}


class SpeakerHub:
    """Implements `Speakers` over factories: no speaker is made before it is needed.

    It belongs to the event loop in which it is first used.
    """

    def __init__(
        self,
        *,
        api: SpeakerFactory,
        others: Mapping[str, SpeakerFactory],
        limits: LimitsOf = usual_limits,
        gates: Gates | None = None,
        who: str = "here",
    ) -> None:
        """`others` are the providers with a speaker of their own (local, scripted …), by the
        prefix of their model ids; every other prefix goes to the one speaker that `api` makes.
        `gates` are shared with all who know each other by them, each by what it calls itself
        (`who`); without any the calls of this process are counted.
        """
        self._api = api
        self._others = others
        self._limits = limits
        self.gates: Gates = gates or LocalGates()
        self._who = who
        self._made: dict[SpeakerFactory, Speaker] = {}
        self._turnstiles: dict[str, Turnstile] = {}

    @asynccontextmanager
    async def admitted(self, model: str) -> AsyncGenerator[Speaker, None]:
        """The speaker for a model id, once its provider's limits leave room for a call."""
        passed: list[tuple[Turnstile, float]] = []
        try:
            try:
                for turnstile in self._on_the_way(model):
                    begun = await turnstile.enter()
                    passed.append((turnstile, begun))  # to be left, also if the next is closed
            except SpeakerError as error:
                yield _Closed(error)
            else:
                speaker = self._speaker(model)
                yield _Heeded(speaker, passed) if passed else speaker
        finally:
            for turnstile, _ in passed:
                turnstile.leave()

    async def close(self) -> None:
        """Close every speaker that was made, even if one of them fails to."""
        made = list(self._made.values())
        turnstiles = list(self._turnstiles.values())
        self._made.clear()
        self._turnstiles.clear()
        async with AsyncExitStack() as stack:
            for turnstile in turnstiles:
                stack.push_async_callback(turnstile.close)
            for speaker in made:
                stack.push_async_callback(speaker.close)

    def _speaker(self, model: str) -> Speaker:
        factory = self._others.get(model.partition("/")[0], self._api)
        if factory not in self._made:
            self._made[factory] = factory()
        return self._made[factory]

    def _on_the_way(self, model: str) -> list[Turnstile]:
        found = []
        for name, limits in self._limits(model).items():
            if limits.none:
                continue
            if name not in self._turnstiles:
                self._turnstiles[name] = Turnstile(self.gates, name, limits, self._who)
            found.append(self._turnstiles[name])
        return found


class _Heeded:
    """A speaker whose answers and refusals are told at the gates that its call came through."""

    def __init__(self, speaker: Speaker, passed: list[tuple[Turnstile, float]]) -> None:
        self._speaker = speaker
        self._passed = passed

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        try:
            reply = await self._speaker.speak(request, on_words)
        except SpeakerError as error:
            for turnstile, begun in self._passed:
                turnstile.failed(error, begun)
            raise
        for turnstile, _ in self._passed:
            turnstile.answered()
        return reply

    async def close(self) -> None:
        await self._speaker.close()


class _Closed:
    """In place of a speaker whose provider does not want to be called for a long time."""

    def __init__(self, error: SpeakerError) -> None:
        self._error = error

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        del request, on_words
        raise self._error

    async def close(self) -> None:
        pass
