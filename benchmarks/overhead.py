"""CPU per model call through the whole engine ÷ CPU of the same call made bare.

A hundred councils at once, with round 2, on a SQLite file, through the real API speaker; and the
same prompts in the same order and concurrency straight through the model layer's streaming call.
Both in this process, in turn, so that noise hits both; the provider is a process of its own.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.measured import Measured
from benchmarks.provider import MODEL, provider, settings
from roundtable.bootstrap import App, start
from roundtable.core.state import State
from roundtable.core.values import Prompt
from roundtable.procedures.opening import OpenRequest

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

DISCUSSIONS = 100
PAIRS = 3
CONCURRENCY = 64
LATENCY = 0.05
CALLS = 9
MAX_TOKENS = 4096
STREAMS = {"in large pieces": True, "word by word": False}
"""The model layer takes its time for each piece, so few pieces are the harder case for us."""


@dataclass(frozen=True)
class Cost:
    cpu: float
    calls: int

    @property
    def ms_per_call(self) -> float:
        return 1000 * self.cpu / self.calls


def run() -> list[Measured]:
    return [row for name, whole in STREAMS.items() for row in _run(name, whole=whole)]


def _run(name: str, *, whole: bool) -> list[Measured]:
    with provider(latency=LATENCY, whole=whole) as server, TemporaryDirectory() as folder:
        sides, memory = asyncio.run(_compare(Path(folder), server.env()))
    engine, bare = ([cost.ms_per_call for cost in side] for side in zip(*sides, strict=True))
    ratio = statistics.median(e / b for e, b in zip(engine, bare, strict=True))
    detail = f"{statistics.median(engine):.2f} ms against {statistics.median(bare):.2f} ms"
    return [
        Measured(f"CPU per call, engine ÷ bare, {name}", ratio, "x", 1.5, detail),
        Measured(f"memory per open discussion, {name}", memory / 1024, "KiB"),
    ]


async def _compare(home: Path, env: dict[str, str]) -> tuple[list[tuple[Cost, Cost]], float]:
    async with start(settings(home, env, concurrency=CONCURRENCY), env=env) as app:
        states, _ = await _councils(app, 4)  # imports, connections, templates
        prompts = _prompts(states[0])
        async with _Bare(env) as bare:
            await bare.discussions(prompts, 4)
            states, memory = await _councils(app, DISCUSSIONS)
            return [
                (await _engine_side(app), await _bare_side(bare, prompts)) for _ in range(PAIRS)
            ], memory


async def _engine_side(app: App) -> Cost:
    begun = time.process_time()
    states, _ = await _councils(app, DISCUSSIONS)
    return Cost(time.process_time() - begun, sum(state.usage.calls for state in states))


async def _councils(app: App, count: int) -> tuple[list[State], float]:
    """Hold so many councils at once; also the most memory that each of them took."""
    at_first = peak = _resident()

    async def watch() -> None:
        nonlocal peak
        while True:
            await asyncio.sleep(0.02)
            peak = max(peak, _resident())

    async def council() -> State:
        state = await app.service.open(OpenRequest(topic="Tea or coffee?", options={"all": MODEL}))
        return await app.service.run(state.discussion_id)

    watching = asyncio.create_task(watch())
    states = await asyncio.gather(*(council() for _ in range(count)))
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    assert all(state.status == "concluded" and state.usage.calls == CALLS for state in states)
    return states, (peak - at_first) / count


def _prompts(state: State) -> list[list[Prompt]]:
    """The prompts of a council, those of one stage together."""
    attempts = [attempt.started for turn in state.turns.values() for attempt in turn.attempts]
    return [
        [started.prompt for started in stage]
        for _, stage in groupby(attempts, key=lambda started: started.stage)
    ]


async def _bare_side(bare: _Bare, prompts: Sequence[Sequence[Prompt]]) -> Cost:
    begun = time.process_time()
    calls = await bare.discussions(prompts, DISCUSSIONS)
    return Cost(time.process_time() - begun, calls)


class _Bare:
    """The same calls with nothing around them."""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env
        self._slots = asyncio.Semaphore(CONCURRENCY)

    async def __aenter__(self) -> _Bare:
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

    async def discussions(self, prompts: Sequence[Sequence[Prompt]], count: int) -> int:
        async def one() -> int:
            for stage in prompts:
                await asyncio.gather(*(self._call(prompt) for prompt in stage))
            return sum(len(stage) for stage in prompts)

        return sum(await asyncio.gather(*(one() for _ in range(count))))

    async def _call(self, prompt: Prompt) -> None:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        message = ModelRequest(parts=[UserPromptPart(prompt.user)], instructions=prompt.system)
        async with (
            self._slots,
            model_request_stream(
                self._model, [message], model_settings={"max_tokens": MAX_TOKENS, "timeout": 90}
            ) as stream,
        ):
            async for _ in stream:
                pass
        assert stream.get().text


def _resident() -> int:
    """This process's memory in bytes; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return 0
    return pages * 4096
