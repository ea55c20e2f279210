"""A desk with a command line: a home and a workspace of its own, in this process or another."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.events import dump
from roundtable.ledger import open_ledger
from roundtable.ports import SpeakRequest
from roundtable.surfaces.cli.app import run
from tests.forked import Program
from tests.rehearsal import dutiful
from tests.wire import Asked

SOURCES = Path(__file__).parents[2] / "src"
ECHO = ("--all=scripted/echo", "--model", "scripted/echo")
"""Everybody is a script: nothing is called, nothing is spent."""
QUICK = (*ECHO, "--quick", "--no-log")


@dataclass(frozen=True)
class Outcome:
    """What a command line left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)


class Desk:
    """Runs `roundtable …` as a person would."""

    def __init__(self, home: Path, workspace: Path, capture: Callable[[], tuple[str, str]]) -> None:
        self.home = home
        self.workspace = workspace
        self._capture = capture

    def __call__(self, *args: str, stdin: bytes = b"") -> Outcome:
        """In this process, which is quicker."""
        typed = self.workspace / ".stdin"
        typed.write_bytes(stdin)
        self._capture()
        with typed.open(encoding="utf-8") as keyboard, _standard_input(keyboard):
            code = run(args)
        return Outcome(code, *self._capture())

    def ask(self, *args: str, stdin: bytes = b"") -> Outcome:
        """A quick question to scripts."""
        return self("Tea or coffee?", *QUICK, *args, stdin=stdin)

    def stored(self) -> str:
        """Every event of its ledger, as it was written: the file itself is packed."""

        async def read() -> str:
            ledger = await open_ledger(self.home / "roundtable.db")
            try:
                rows = await ledger.summaries()
                streams = [await ledger.read(row.discussion_id) for row in rows]
            finally:
                await ledger.close()
            assert streams, "something is stored"
            return "\n".join(dump(record.event) for stream in streams for record in stream)

        return asyncio.run(read())

    def start(self, *args: str, **env: str) -> Running:
        """In a process of its own, which goes on beside the test."""
        return Running(self.workspace, args, env)

    def beside(
        self, *args: str, stdin: bytes = b"", encoding: str = "utf-8", **env: str
    ) -> Outcome:
        """In a process of its own, from beginning to end, where its start is not the subject. What
        it writes must be readable in the encoding that it was given."""
        more = env if encoding == "utf-8" else {**env, "PYTHONIOENCODING": encoding}
        with Running(self.workspace, args, more, stdin, encoding) as running:
            return running.end()

    def command(
        self, *args: str, stdin: bytes | str = b"", encoding: str = "utf-8", **env: str
    ) -> Outcome:
        """In a process of its own, from beginning to end. What it writes must be readable in the
        encoding that it was given."""
        done = subprocess.run(
            [sys.executable, "-m", "roundtable", *args],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=self.workspace,
            env=environment(env),
            timeout=60,
        )
        return Outcome(done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding))

    def last_id(self) -> str:
        return str(self("list", "--json").document[0]["discussion_id"])

    def config(self, text: str) -> None:
        self.home.mkdir(exist_ok=True)
        (self.home / "config.json").write_text(text, "utf-8")


class Running:
    """A command line that is still at work."""

    def __init__(
        self,
        workspace: Path,
        args: tuple[str, ...],
        env: dict[str, str],
        stdin: bytes = b"",
        encoding: str = "utf-8",
    ) -> None:
        self._encoding = encoding
        stem = workspace / f".process-{time.monotonic_ns()}"
        typed = stem.with_suffix(".in")
        self._out, self._err = stem.with_suffix(".out"), stem.with_suffix(".err")
        typed.write_bytes(stdin)
        self._out.touch()
        self._err.touch()
        self.process = Program(
            args,
            stdin=typed,
            stdout=self._out,
            stderr=self._err,
            cwd=workspace,
            env=environment(env),
        )

    @property
    def err(self) -> str:
        return self._err.read_text(self._encoding)

    def wait_until_it_says(self, words: str) -> None:
        wait_for(lambda: words in self.err or self.process.poll() is not None)
        assert words in self.err, self.err

    def end(self) -> Outcome:
        code = self.process.wait(60)
        return Outcome(code, self._out.read_text(self._encoding), self.err)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(60)


def environment(more: dict[str, str]) -> dict[str, str]:
    paths = os.pathsep.join([str(SOURCES), str(SOURCES.parent)])
    return {**os.environ, "PYTHONPATH": paths, **more}


def wait_for(reached: Callable[[], bool], *, seconds: float = 60) -> None:
    """A bounded wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@contextmanager
def _standard_input(stream: io.TextIOWrapper) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", stream)
        yield


def obedient(asked: Asked) -> str:
    """A server's answer with every section that the prompt asks for."""
    return dutiful(
        SpeakRequest(
            model=asked.model,
            system=asked.system,
            user=asked.user,
            max_tokens=1,
            timeout=1,
            idempotency_key="",
        )
    )
