"""SpeakerHub: finds the speaker for a model id, and keeps the calls to one provider in bounds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from ..ports import Speaker

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
        self._places: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def admitted(self, model: str) -> AsyncGenerator[Speaker, None]:
        """The speaker for a model id, once fewer than `parallel` calls to its provider run."""
        provider = model.partition("/")[0]
        if provider not in self._places:
            self._places[provider] = asyncio.Semaphore(self._parallel)
        async with self._places[provider]:
            factory = self._others.get(provider, self._api)
            if factory not in self._made:
                self._made[factory] = factory()
            yield self._made[factory]

    async def close(self) -> None:
        """Close every speaker that was made, even if one of them fails to."""
        made = list(self._made.values())
        self._made.clear()
        self._places.clear()
        async with AsyncExitStack() as stack:
            for speaker in made:
                stack.push_async_callback(speaker.close)
