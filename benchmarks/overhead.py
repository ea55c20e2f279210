"""CPU per model call through the whole engine ÷ CPU of the same call made bare.

A hundred quick councils at once, on a SQLite file, through the real API speaker; and the same
prompts in the same order and concurrency over httpx2 and json. Both in this process, in turn, so
that noise hits both; the provider is a process of its own. Its answers declare nothing, so that
those who are asked a second time are among the calls.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bare import Bare, Prompts, prompts_of
from benchmarks.measured import Measured
from benchmarks.provider import MODEL, provider, settings
from roundtable.bootstrap import App, start
from roundtable.core.state import State
from roundtable.procedures.opening import OpenRequest

DISCUSSIONS = 100
CONCURRENCY = 64
LATENCY = 0.05
STREAMS = {"answers in large pieces": (True, 5), "answers word by word": (False, 2)}
"""How answers come, and how often each side is measured. Few pieces are the harder case for us:
what the engine does around a call stays, and the call itself is next to nothing."""
GOALS = {"answers in large pieces": 4.0, "answers word by word": 3.0}


@dataclass(frozen=True)
class Cost:
    cpu: float
    calls: int

    @property
    def ms_per_call(self) -> float:
        return 1000 * self.cpu / self.calls


def run() -> list[Measured]:
    return [
        row
        for name, (whole, pairs) in STREAMS.items()
        for row in _run(name, whole=whole, pairs=pairs)
    ]


def _run(name: str, *, whole: bool, pairs: int) -> list[Measured]:
    with provider(latency=LATENCY, whole=whole) as server, TemporaryDirectory() as folder:
        sides, memory = asyncio.run(_compare(Path(folder), server.env(), pairs))
    engine, bare = ([cost.ms_per_call for cost in side] for side in zip(*sides, strict=True))
    ratios = [e / b for e, b in zip(engine, bare, strict=True)]
    detail = (
        f"{statistics.median(engine):.1f} ms against {statistics.median(bare):.1f} ms; "
        f"{min(ratios):.2f} to {max(ratios):.2f}"
    )
    return [
        Measured(
            f"CPU per call, engine ÷ httpx2 and json, {name}",
            statistics.median(ratios),
            "x",
            GOALS[name],
            detail,
        ),
        Measured(f"memory per open discussion, {name}", memory / 1024, "KiB"),
    ]


async def _compare(
    home: Path, env: dict[str, str], pairs: int
) -> tuple[list[tuple[Cost, Cost]], float]:
    async with start(settings(home, env, concurrency=CONCURRENCY), env=env) as app:
        states, _ = await _councils(app, 4)  # imports, connections, templates
        prompts = prompts_of(states[0])
        async with Bare(env, concurrency=CONCURRENCY) as bare:
            await bare.councils(prompts, 4)
            sides = []
            memory = 0.0
            for _ in range(pairs):
                engine_side, grown = await _engine_side(app)
                memory = max(memory, grown)
                sides.append((engine_side, await _bare_side(bare, prompts)))
    return sides, memory


async def _engine_side(app: App) -> tuple[Cost, float]:
    begun = time.process_time()
    states, memory = await _councils(app, DISCUSSIONS)
    return Cost(time.process_time() - begun, sum(state.usage.calls for state in states)), memory


async def _councils(app: App, count: int) -> tuple[list[State], float]:
    """Hold so many councils at once; also the most memory that each of them took."""
    at_first = peak = _resident()

    async def watch() -> None:
        nonlocal peak
        while True:
            await asyncio.sleep(0.1)
            peak = max(peak, _resident())

    async def council() -> State:
        request = OpenRequest(topic="Tea or coffee?", options={"all": MODEL, "quick": True})
        state = await app.service.open(request)
        return await app.service.run(state.discussion_id)

    watching = asyncio.create_task(watch())
    states = await asyncio.gather(*(council() for _ in range(count)))
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    assert all(state.status == "concluded" for state in states)
    assert len({state.usage.calls for state in states}) == 1
    return states, (peak - at_first) / count


async def _bare_side(bare: Bare, prompts: Prompts) -> Cost:
    begun = time.process_time()
    calls = await bare.councils(prompts, DISCUSSIONS)
    return Cost(time.process_time() - begun, calls)


def _resident() -> int:
    """This process's memory in bytes; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return 0
    return pages * 4096
