"""Command lines that begin alike, each in a process of its own: one process begins, in whatever
unusual way, loads what all of them need, and becomes each of them in turn."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_EACH = """
import json, os, sys
for name, (words, folder, more) in json.loads(sys.argv[1]).items():
    if not (child := os.fork()):
        os.chdir(folder)
        os.environ.update(more)
        for number, kind in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{folder}/.told.{kind}", os.O_WRONLY | os.O_CREAT), number)
        sys.argv[1:] = words
        sys.exit(act(words))
    _, status = os.waitpid(child, 0)
    print(name, os.waitstatus_to_exitcode(status), flush=True)
"""


@dataclass(frozen=True)
class Line:
    """What one of them is given; `folder` is its own."""

    words: Sequence[str]
    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """How one of them ended, as `subprocess.run` tells it."""

    returncode: int
    stdout: str
    stderr: str


def family(
    beginning: str, lines: Mapping[str, Line], env: Mapping[str, str], cwd: Path
) -> dict[str, Done]:
    """`beginning` is a program that defines `act`, which each of them calls with its words."""
    told = {name: (list(line.words), str(line.folder), line.env) for name, line in lines.items()}
    done = subprocess.run(
        [sys.executable, "-c", beginning + _EACH, json.dumps(told)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=env,
        timeout=280,
        check=False,
    )
    codes = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert list(codes) == list(lines), done.stderr
    return {
        name: Done(int(codes[name]), *(_left(line.folder, kind) for kind in ("out", "err")))
        for name, line in lines.items()
    }


def _left(folder: Path, kind: str) -> str:
    return (folder / f".told.{kind}").read_text("utf-8")
