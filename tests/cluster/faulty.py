"""`roundtable worker` with a fault, which the variable FAULT names. Whoever drives the discussion
that asks "Poison?" meets it.

memory   there is little memory left, and the discussion wants more
killed   the system ends the process, as it does where there is no memory left for anybody
clock    the machine's clock is off by so many seconds: FAULT=clock:300
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from roundtable.cluster import worker
from roundtable.core.state import State
from roundtable.engine.service import Service
from roundtable.engine.system import SystemClock
from roundtable.surfaces.cli.app import run

POISON = "Poison?"
_MORE = 256 << 20


@contextmanager
def _little_memory_is_left() -> Iterator[None]:
    """While it lasts. What else the process does meanwhile must not be what runs out."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + _MORE
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _wants_memory() -> None:
    held: list[bytearray] = []
    with _little_memory_is_left():
        while len(held) < 100:  # as much as nobody here has
            held.append(bytearray(_MORE))


def _is_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _poison(meets: Any) -> None:
    usual = Service.run

    async def driven(self: Service, discussion_id: str, **how: Any) -> State:
        state = await self.read(discussion_id)
        if state.start.topic == POISON:
            meets()
        return await usual(self, discussion_id, **how)

    Service.run = driven  # type: ignore[method-assign]


def _clock_is_off(seconds: float) -> None:
    true_now, true_time = SystemClock.now, time.time

    def now(self: SystemClock) -> datetime:
        return true_now(self) + timedelta(seconds=seconds)

    SystemClock.now = now  # type: ignore[method-assign]
    time.time = lambda: true_time() + seconds


def main() -> int:
    fault, _, how = os.environ["FAULT"].partition(":")
    worker._TRY_AGAIN = 0.1
    match fault:
        case "memory":
            _poison(_wants_memory)
        case "killed":
            _poison(_is_killed)
        case "clock":
            _clock_is_off(float(how))
        case _:
            raise ValueError(fault)
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
