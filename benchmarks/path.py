"""How long each procedure takes ÷ how long its calls must take.

Every procedure against a provider that takes 200 ms for each call, its words streaming over the
call as a model's do. The critical path is counted from the ledger: the longest chain of calls of
which each began after the one before it had ended, times 200 ms. What a procedure takes beyond it
is ours, or the network's: the same calls made bare, with the same ones side by side, show how
much of it. A chain longer than the procedure's design, calls that should run side by side and do
not, is a missed goal of its own. Everything is loaded before the clock runs, and the least of
several runs counts: what other processes take of the machine can only add to it.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.procedures.custom_table import DELPHI
from tests.procedures.everywhere import HELD, Held, reply
from tests.servers import provider_server

from benchmarks.bare import Bare
from benchmarks.measured import Measured
from benchmarks.provider import settings
from roundtable.bootstrap import App, start
from roundtable.core.events import AttemptFailed, AttemptFinished, AttemptStarted, StoredEvent
from roundtable.procedures.opening import OpenRequest

FIRST_WORD, WORDS = 0.05, 0.15
CALL = FIRST_WORD + WORDS
"""Seconds."""
RUNS = 7
GOAL = 1.10

Levels = Sequence[Sequence[AttemptStarted]]
"""The calls of a discussion: those that could run side by side together, in order."""


def run() -> list[Measured]:
    with (
        provider_server(reply, latency=FIRST_WORD, pace=WORDS, process=True) as server,
        TemporaryDirectory() as folder,
    ):
        return asyncio.run(_measure(Path(folder), server.env()))


async def _measure(home: Path, env: dict[str, str]) -> list[Measured]:
    (home / "procedures").mkdir()
    shutil.copy(DELPHI, home / "procedures")
    ratios: dict[str, list[float]] = defaultdict(list)
    floors: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    longest: dict[str, int] = {}
    async with start(settings(home, env), env=env) as app, Bare(env, concurrency=16) as bare:
        for held in HELD.values():
            _, levels, _ = await _hold(app, held)
            await _bare(bare, levels)
        for _ in range(RUNS):
            for name, held in HELD.items():
                wall, levels, used = await _hold(app, held)
                path = len(levels) * CALL
                longest[name] = max(longest.get(name, 0), len(levels))
                ratios[name].append(wall / path)
                cpu[name].append(1000 * used / sum(map(len, levels)))
                floors[name].append(await _bare(bare, levels) / path)
    rows = []
    for name, held in HELD.items():
        detail = (
            f"the bare calls {min(floors[name]):.2f}; medians "
            f"{statistics.median(ratios[name]):.2f} and {statistics.median(floors[name]):.2f}; "
            f"{min(cpu[name]):.0f} ms CPU a call"
        )
        rows.append(Measured(f"wall ÷ critical path, {name}", min(ratios[name]), "x", GOAL, detail))
        rows.append(Measured(f"calls on the path, {name}", longest[name], "", held.path))
    return rows


async def _hold(app: App, held: Held) -> tuple[float, Levels, float]:
    """How long it took, its calls, and the CPU of this process."""
    begun, used = time.perf_counter(), time.process_time()
    state = await app.service.open(OpenRequest(**held.request))
    state = await app.service.run(state.discussion_id)
    wall, used = time.perf_counter() - begun, time.process_time() - used
    assert state.status == "concluded", state.closed
    assert state.usage.calls == held.calls, (held.procedure, state.usage.calls)
    return wall, chained(await app.service.records(state.discussion_id)), used


def chained(records: Sequence[StoredEvent]) -> Levels:
    """The calls by how many came before them in the longest chain that ends with them."""
    depth = 0
    """Of the deepest call that has ended."""
    begun: dict[tuple[str, int], int] = {}
    levels: dict[int, list[AttemptStarted]] = defaultdict(list)
    for record in records:
        match record.event:
            case AttemptStarted() as started:
                begun[started.turn_id, started.attempt] = depth
                levels[depth].append(started)
            case AttemptFinished() | AttemptFailed() as ended:
                depth = max(depth, begun[ended.turn_id, ended.attempt] + 1)
    return [levels[n] for n in sorted(levels)]


async def _bare(bare: Bare, levels: Levels) -> float:
    begun = time.perf_counter()
    for level in levels:
        # The server answers by the key; it never had these before.
        calls = (
            bare.call(each.prompt, key=f"bare/{each.turn_id}/{each.attempt}") for each in level
        )
        await asyncio.gather(*calls)
    return time.perf_counter() - begun
