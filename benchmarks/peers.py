"""The same work in other packages for tables of agents, beside ours: CPU per call and throughput.

Four seats and nine calls: a host opens, three answer, the host sums up, three answer again, the
host concludes. Everybody calls the same server on loopback, which streams word by word; it and each
side are processes of their own, in turn, several times. Ours stores every event in a SQLite file as
it always does, the others keep theirs in memory.

A peer is an interpreter of its own, in which it is installed, so that nothing of it comes here:

    python -m venv a && a/bin/pip install autogen-agentchat 'autogen-ext[openai]'
    python -m venv b && b/bin/pip install langgraph langchain-openai
    PEER_AUTOGEN=a/bin/python PEER_LANGGRAPH=b/bin/python python -m benchmarks peers

Where none is named nothing is measured.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.servers import provider_server
from tests.surfaces.desk import obedient
from tests.wire import Asked

from benchmarks.measured import Measured

PEERS = {"autogen": "PEER_AUTOGEN", "langgraph": "PEER_LANGGRAPH"}
"""Each with the variable that names its interpreter."""
DISCUSSIONS, AT_ONCE = 40, 10
CALLS = 9
ROUNDS = 3
LATENCY = 0.05
PREAMBLE = "These are some words that anybody could say of it. " * 15
"""An answer has some 200 words, as one of a model's."""


def reply(asked: Asked) -> str:
    """What whoever asks can use, if it asks for a form."""
    return f"{PREAMBLE}\n\n{obedient(asked)}"


@dataclass(frozen=True)
class Side:
    """One program, measured once."""

    cpu: float
    seconds: float
    calls: int
    versions: str

    @property
    def ms_per_call(self) -> float:
        return 1000 * self.cpu / self.calls

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.calls / self.seconds


def run() -> list[Measured]:
    found = {name: os.environ[each] for name, each in PEERS.items() if os.environ.get(each)}
    if not found:
        print(f"Left out: no peer is named.\n\n{__doc__}", file=sys.stderr)
        return []
    sides = {"roundtable": sys.executable, **found}
    measured: dict[str, list[Side]] = {name: [] for name in sides}
    with provider_server(reply, latency=LATENCY, process=True) as server:
        for _ in range(ROUNDS):
            for name, python in sides.items():
                measured[name].append(_side(name, python, server.openai_url))
    return [row for name in found for row in _rows(name, measured[name], measured["roundtable"])]


def _side(name: str, python: str, url: str) -> Side:
    done = subprocess.run(
        [
            python,
            "-m",
            f"benchmarks.peer_programs.{name}_side",
            url,
            str(DISCUSSIONS),
            str(AT_ONCE),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        cwd=Path(__file__).parents[1],
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-2000:]}")
    side = Side(**json.loads(done.stdout.splitlines()[-1]))
    assert side.calls == DISCUSSIONS * CALLS, f"{name} made {side.calls} calls"
    return side


def _rows(name: str, theirs: Sequence[Side], ours: Sequence[Side]) -> list[Measured]:
    cpu = [a.ms_per_call / b.ms_per_call for a, b in zip(ours, theirs, strict=True)]
    rate = [a.rate / b.rate for a, b in zip(ours, theirs, strict=True)]

    def told(mine: Sequence[float], others: Sequence[float], ratios: Sequence[float]) -> str:
        return (
            f"{statistics.median(mine):.1f} against {statistics.median(others):.1f}; "
            f"{min(ratios):.2f} to {max(ratios):.2f}; {theirs[0].versions}"
        )

    return [
        Measured(
            f"ms CPU per call, ours ÷ {name}",
            statistics.median(cpu),
            "x",
            detail=told([s.ms_per_call for s in ours], [s.ms_per_call for s in theirs], cpu),
        ),
        Measured(
            f"calls a second, ours ÷ {name}",
            statistics.median(rate),
            "x",
            detail=told([s.rate for s in ours], [s.rate for s in theirs], rate),
        ),
    ]
