"""SpeakerHub: finds the speaker for a model id, and keeps the calls to one provider in bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from ..ports import OnWords, Reply, Speaker, SpeakRequest

SpeakerFactory = Callable[[], Speaker]

PARALLEL_CALLS = 16


class SpeakerHub:
    """Implements `Speakers` over factories: no speaker is made before it is needed.

    It belongs to the event loop in which it is first used.
    """

    def __init__(
        self,
        *,
        api: SpeakerFactory,
        others: Mapping[str, SpeakerFactory],
        parallel: int = PARALLEL_CALLS,
    ) -> None:
        """`others` are the providers with a speaker of their own (local, scripted …), by the
        prefix of their model ids; every other prefix goes to the one speaker that `api` makes.
        `parallel` is how many calls may run at once to one provider.
        """
        self._api = api
        self._others = others
        self._parallel = parallel
        self._made: dict[SpeakerFactory, Speaker] = {}
        self._by_provider: dict[str, Speaker] = {}

    def for_model(self, model: str) -> Speaker:
        """The speaker for a model id, which waits while too many calls to its provider run."""
        provider = model.partition("/")[0]
        speaker = self._by_provider.get(provider)
        if speaker is None:
            factory = self._others.get(provider, self._api)
            if factory not in self._made:
                self._made[factory] = factory()
            speaker = self._by_provider[provider] = _Bounded(self._made[factory], self._parallel)
        return speaker

    async def close(self) -> None:
        """Close every speaker that was made, even if one of them fails to."""
        made = list(self._made.values())
        self._made.clear()
        self._by_provider.clear()
        async with AsyncExitStack() as stack:
            for speaker in made:
                stack.push_async_callback(speaker.close)


class _Bounded:
    """A speaker with a bound on parallel calls. Waiting for one's turn is not the call's time."""

    def __init__(self, speaker: Speaker, parallel: int) -> None:
        self._speaker = speaker
        self._turns = asyncio.Semaphore(parallel)

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        async with self._turns:
            return await self._speaker.speak(request, on_words)

    async def close(self) -> None:
        await self._speaker.close()
