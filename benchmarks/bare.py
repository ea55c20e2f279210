"""A council's calls with nothing around them: the same prompts in the same order, straight through
the model layer's streaming call. What the engine costs is measured against this."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from benchmarks.provider import MODEL
from roundtable.core.state import State
from roundtable.core.values import Prompt

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

MAX_TOKENS = 4096

Prompts = Sequence[Sequence[Prompt]]
"""The prompts of a council, those of one stage together."""


def prompts_of(state: State) -> Prompts:
    attempts = [attempt.started for turn in state.turns.values() for attempt in turn.attempts]
    return [
        [started.prompt for started in stage]
        for _, stage in groupby(attempts, key=lambda started: started.stage)
    ]


class Bare:
    """The model layer over a connection pool of the same size as the speaker's."""

    def __init__(self, env: dict[str, str], *, concurrency: int) -> None:
        self._env = env
        self._slots = asyncio.Semaphore(concurrency)

    async def __aenter__(self) -> Bare:
        import httpx2
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
        self._http: httpx2.AsyncClient = httpx2.AsyncClient(limits=limits)
        client = AsyncOpenAI(
            api_key=self._env["OPENAI_API_KEY"],
            base_url=self._env["OPENAI_BASE_URL"],
            http_client=self._http,
            max_retries=0,
        )
        name = MODEL.partition("/")[2]
        self._model: Model = OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def councils(self, prompts: Prompts, count: int) -> int:
        """Make the calls of so many councils at once, stage by stage; how many they were."""

        async def one() -> int:
            for stage in prompts:
                await asyncio.gather(*(self.call(prompt) for prompt in stage))
            return sum(len(stage) for stage in prompts)

        return sum(await asyncio.gather(*(one() for _ in range(count))))

    async def call(self, prompt: Prompt, *, key: str = "") -> None:
        """One call; `key` is its idempotency key, if it has one."""
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        message = ModelRequest(parts=[UserPromptPart(prompt.user)], instructions=prompt.system)
        async with (
            self._slots,
            model_request_stream(
                self._model,
                [message],
                model_settings={
                    "max_tokens": MAX_TOKENS,
                    "timeout": 90,
                    "extra_headers": {"Idempotency-Key": key} if key else {},
                },
            ) as stream,
        ):
            async for _ in stream:
                pass
        assert stream.get().text
