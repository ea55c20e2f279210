"""A call with nothing around it: the request as JSON, the answer read line by line and parsed.

Nobody who speaks HTTP in Python makes it for less. What the speaker and the engine cost is measured
against this. A council's calls are made in the same order and concurrency as the council makes
them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from benchmarks.provider import MODEL
from roundtable.core.state import State
from roundtable.core.values import Prompt

if TYPE_CHECKING:
    import httpx2

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
    """httpx2 and json over a connection pool of the same size as the speaker's."""

    def __init__(self, env: dict[str, str], *, concurrency: int) -> None:
        self._env = env
        self._slots = asyncio.Semaphore(concurrency)

    async def __aenter__(self) -> Bare:
        import httpx2

        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
        self._http: httpx2.AsyncClient = httpx2.AsyncClient(limits=limits, timeout=90)
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

    async def call(self, prompt: Prompt, *, key: str = "") -> str:
        """The answer to one call; `key` is its idempotency key, if it has one."""
        messages = [("system", prompt.system), ("user", prompt.user)]
        body = {
            "model": MODEL.partition("/")[2],
            "messages": [{"role": role, "content": text} for role, text in messages if text],
            "max_completion_tokens": MAX_TOKENS,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        headers = {"authorization": f"Bearer {self._env['OPENAI_API_KEY']}"}
        if key:
            headers["idempotency-key"] = key
        url = f"{self._env['OPENAI_BASE_URL']}/chat/completions"
        words: list[str] = []
        rest = b""
        async with (
            self._slots,
            self._http.stream("POST", url, json=body, headers=headers) as response,
        ):
            async for block in response.aiter_bytes():
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: {"):
                        choices = json.loads(line[6:])["choices"]
                        words += [each["delta"].get("content") or "" for each in choices]
        text = "".join(words)
        assert text
        return text
