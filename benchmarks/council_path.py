"""How long a council takes ÷ how long its calls must take.

One council against a provider that takes 200 ms for each call. The critical path is the slowest
call of each stage, as the provider saw them, added up; whatever the council takes beyond it is
ours, or the model layer's: the same calls made bare show how much of it. The first council of a
process also loads the model layer, and is only told.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.servers import ProviderServer, Received

from benchmarks.bare import Bare, Prompts, prompts_of
from benchmarks.measured import Measured
from benchmarks.provider import MODEL, provider, settings
from roundtable.bootstrap import App, start
from roundtable.core.state import State
from roundtable.procedures.opening import OpenRequest

FIRST_WORD, WORDS = 0.05, 0.15
"""Seconds: a call takes 200 ms, and its words come over time, as a model's do."""
RUNS = 7
KINDS = {"with round 2": (False, 5), "quick": (True, 3)}
"""Whether it is quick, and the most calls that may follow one another."""


def run() -> list[Measured]:
    with (
        provider(latency=FIRST_WORD, pace=WORDS, whole=True) as server,
        TemporaryDirectory() as folder,
    ):
        return asyncio.run(_measure(Path(folder), server))


async def _measure(home: Path, server: ProviderServer) -> list[Measured]:
    env = server.env()
    bench = _Bench(server)
    ratios: dict[str, list[float]] = defaultdict(list)
    floors: dict[str, list[float]] = defaultdict(list)
    calls: dict[str, int] = {}
    async with start(settings(home, env), env=env) as app, Bare(env, concurrency=16) as bare:
        first = await bench.council(app, quick=True)
        await bench.bare(bare, prompts_of(first.state))
        for _ in range(RUNS):
            for name, (quick, _most) in KINDS.items():
                held = await bench.council(app, quick=quick)
                ratios[name].append(held.wall / sum(held.path))
                calls[name] = len(held.path)
                floors[name].append(await bench.bare(bare, prompts_of(held.state)))
    rows = []
    for name, (_, most) in KINDS.items():
        detail = (
            f"{min(ratios[name]):.3f} to {max(ratios[name]):.3f}; "
            f"the bare calls {statistics.median(floors[name]):.3f}"
        )
        ratio = statistics.median(ratios[name])
        rows.append(Measured(f"council, wall ÷ critical path, {name}", ratio, "x", 1.10, detail))
        rows.append(Measured(f"council, calls on the path, {name}", calls[name], "", most))
    beyond = first.wall - sum(first.path)
    return [*rows, Measured("first council of a process, beyond its path", beyond, "s")]


class _Held:
    """A council that was held: how long it took, and the slowest call of each stage."""

    def __init__(self, state: State, wall: float, calls: Sequence[Received]) -> None:
        self.state = state
        self.wall = wall
        stages: dict[str, list[float]] = defaultdict(list)
        for call in calls:
            # discussion / round / stage / participant / attempt
            _, _, stage, *_ = (call.idempotency_key or "").split("/")
            stages[stage].append(call.seconds)
        self.path = [max(seconds) for seconds in stages.values()]


class _Bench:
    def __init__(self, server: ProviderServer) -> None:
        self._server = server
        self._seen = 0

    async def council(self, app: App, *, quick: bool) -> _Held:
        request = OpenRequest(topic="Tea or coffee?", options={"all": MODEL, "quick": quick})
        begun = time.perf_counter()
        state = await app.service.open(request)
        state = await app.service.run(state.discussion_id)
        wall = time.perf_counter() - begun
        assert state.status == "concluded"
        return _Held(state, wall, await self._new_calls())

    async def bare(self, bare: Bare, prompts: Prompts) -> float:
        begun = time.perf_counter()
        await bare.councils(prompts, 1)
        wall = time.perf_counter() - begun
        calls = iter(await self._new_calls())
        return wall / sum(max(next(calls).seconds for _ in stage) for stage in prompts)

    async def _new_calls(self) -> list[Received]:
        log = await asyncio.to_thread(lambda: self._server.requests)
        new, self._seen = log[self._seen :], len(log)
        return new
