"""How long a council takes ÷ how long its calls must take.

One council against a provider that takes 200 ms for each call. The critical path is the slowest
call of each stage, as the provider saw them, added up; whatever the council takes beyond it is
ours. The first council of a process also loads the model layer, and is only told.
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

from benchmarks.measured import Measured
from benchmarks.provider import MODEL, provider, settings
from roundtable.bootstrap import App, start
from roundtable.procedures.opening import OpenRequest

FIRST_WORD, WORDS = 0.05, 0.15
"""Seconds: a call takes 200 ms, and its words come over time, as a model's do."""
RUNS = 5
KINDS = {"with round 2": (False, 5), "quick": (True, 3)}
"""Whether it is quick, and the most calls that may follow one another."""


def run() -> list[Measured]:
    with provider(latency=FIRST_WORD, pace=WORDS) as server, TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder), server))


async def _measure(home: Path, server: ProviderServer) -> list[Measured]:
    env = server.env()
    ratios: dict[str, list[float]] = defaultdict(list)
    stages: dict[str, int] = {}
    async with start(settings(home, env), env=env) as app:
        first, path = await _council(app, server, quick=True)
        for _ in range(RUNS):
            for name, (quick, _most) in KINDS.items():
                wall, path = await _council(app, server, quick=quick)
                ratios[name].append(wall / sum(path))
                stages[name] = len(path)
    rows = [
        Measured(
            f"council, wall ÷ critical path, {name}",
            statistics.median(ratios[name]),
            "x",
            1.10,
            f"{min(ratios[name]):.3f} to {max(ratios[name]):.3f}",
        )
        for name in KINDS
    ]
    rows += [
        Measured(f"council, calls on the path, {name}", stages[name], "", most)
        for name, (_, most) in KINDS.items()
    ]
    beyond = first - sum(path)
    return [*rows, Measured("first council of a process, beyond its path", beyond, "s")]


async def _council(app: App, server: ProviderServer, *, quick: bool) -> tuple[float, list[float]]:
    """Its wall time, and the slowest call of each stage."""
    options = {"all": MODEL, "quick": quick}
    begun = time.perf_counter()
    state = await app.service.open(OpenRequest(topic="Tea or coffee?", options=options))
    state = await app.service.run(state.discussion_id)
    wall = time.perf_counter() - begun
    assert state.status == "concluded"
    log = await asyncio.to_thread(lambda: server.requests)
    return wall, _slowest([call for call in log if _key(call)[0] == state.discussion_id])


def _slowest(calls: Sequence[Received]) -> list[float]:
    stages: dict[str, list[float]] = defaultdict(list)
    for call in calls:
        stages[_key(call)[2]].append(call.seconds)
    return [max(seconds) for seconds in stages.values()]


def _key(call: Received) -> list[str]:
    """discussion / round / stage / participant / attempt"""
    return (call.idempotency_key or "").split("/")
