"""How much CPU `roundtable "…" --models …` takes until its first call reaches a model.

A compatible server on loopback looks at the clock of whoever calls it, when the first call is
there: the CPU of all threads of that process. With a home that was used before, and with byte code
kept, as an installed program has it; in seconds, and as a multiple of `python -c pass`, measured in
turn. Linux only: elsewhere nobody tells the CPU of another process.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from tests.servers import provider_server
from tests.wire import Asked

from benchmarks.measured import Measured
from benchmarks.start_up import ROUNDTABLE, cpu_of, environment

RUNS = 9
GOAL = 0.6
"""Seconds."""
ASKED = ("Tea or coffee?", "--models", "openai/some-model", "--no-search")
PATIENCE = 120
_TICK = 1 / os.sysconf("SC_CLK_TCK")


def run() -> list[Measured]:
    if not Path("/proc/self/stat").exists():
        return []
    with TemporaryDirectory() as folder:
        home = Path(folder)
        env = environment(home)
        _until_first_call(home, env)  # byte code, ledger, vectors
        pairs = [(_until_first_call(home, env), cpu_of(["-c", "pass"], env)) for _ in range(RUNS)]
    seconds = statistics.median(ask for ask, _ in pairs)
    nothing = statistics.median(each for _, each in pairs)
    detail = f"{min(ask for ask, _ in pairs):.2f} to {max(ask for ask, _ in pairs):.2f} s"
    return [
        Measured("CPU until the first call of ask", seconds, "s", GOAL, detail),
        Measured(
            "CPU until the first call of ask ÷ python -c pass",
            statistics.median(ask / each for ask, each in pairs),
            "x",
            None,
            f"{1000 * seconds:.0f} ms against {1000 * nothing:.0f} ms",
        ),
    ]


def _until_first_call(home: Path, env: dict[str, str]) -> float:
    called = Event()
    seen: list[float] = []
    pid: list[int] = []

    def reply(_: Asked) -> str:
        if not seen:
            seen.append(_used(pid[0]))
            called.set()
        return "Tea."

    with provider_server(reply, models=["some-model"]) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", ROUNDTABLE, *ASKED],
            env={**env, **server.env()},
            cwd=home,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        pid.append(process.pid)
        try:
            assert called.wait(PATIENCE), "no call came"
        finally:
            process.kill()
            process.wait()
    return seen[0]


def _used(pid: int) -> float:
    """The CPU seconds of a process, with those of its threads that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK
