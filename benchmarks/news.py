"""Wall time of a discussion with a channel that never answers ÷ the same without any channel.

Both in this process, in turn, through the real API speaker and a SQLite file; every message of
the one goes to a sender that hangs. The process's end is not part of it: there a notifier waits for
what is under way, for three seconds at most.
"""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measured import Measured
from benchmarks.provider import MODEL, provider, settings
from roundtable.bootstrap import App, start
from roundtable.core.values import NewsChannel, NewsPlan
from roundtable.procedures.opening import OpenRequest

PAIRS = 11
LATENCY = 0.4
PLAN = NewsPlan(channels=(NewsChannel(platform="a"), NewsChannel(platform="b", chat_id="1")))


@dataclass(frozen=True)
class Taken:
    wall: float
    cpu: float


def run() -> list[Measured]:
    with provider(latency=LATENCY, whole=True) as server, TemporaryDirectory() as folder:
        told, silent = asyncio.run(_compare(Path(folder), server.env()))
    wall = [statistics.median(each.wall for each in side) for side in (told, silent)]
    cpu = [1000 * statistics.median(each.cpu for each in side) for side in (told, silent)]
    ratios = [t.wall / s.wall for t, s in zip(told, silent, strict=True)]
    spread = f"{wall[0]:.3f} s against {wall[1]:.3f} s; {min(ratios):.2f} to {max(ratios):.2f}"
    return [
        Measured("discussion, hanging channel ÷ none", wall[0] / wall[1], "x", 1.02, spread),
        Measured("CPU of telling nobody who listens", cpu[0] - cpu[1], "ms"),
    ]


async def _compare(home: Path, env: dict[str, str]) -> tuple[list[Taken], list[Taken]]:
    """Both sides in pairs; whichever comes first may be the slower one, so they take turns."""
    never = threading.Event()

    def hang(*_: str) -> None:
        never.wait()

    try:
        async with start(settings(home, env), env=env, send_fn=hang) as app:
            await _held(app, None)  # imports, connections, templates
            told: list[Taken] = []
            silent: list[Taken] = []
            for number in range(PAIRS):
                sides = [(told, PLAN), (silent, None)]
                for side, news in sides if number % 2 else reversed(sides):
                    side.append(await _held(app, news))
            return told, silent
    finally:
        never.set()


async def _held(app: App, news: NewsPlan | None) -> Taken:
    """Hold a council, and return what it took."""
    request = OpenRequest(topic="Tea or coffee?", options={"all": MODEL}, news=news)
    state = await app.service.open(request)
    wall, cpu = time.perf_counter(), time.process_time()
    state = await app.service.run(state.discussion_id)
    taken = Taken(time.perf_counter() - wall, time.process_time() - cpu)
    assert state.status == "concluded"
    assert (news is None) == (state.notification_plan is None)
    return taken
