"""Processes that are forked from a warm one, so that each costs little: `started` runs a function
in one, `Program` the command line.

What a start itself loads, executes and prints is not their subject: the tests of that begin at the
beginning (`tests/test_imports.py`, `test_package.py`, `test_extras.py`, `hostile/test_folder.py`).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

_WARM = multiprocessing.get_context("forkserver")
_WARM.set_forkserver_preload(["tests.warm"])
_ONE_AT_A_TIME = threading.Lock()
"""Starting a process also looks after all others: two threads must not both read how one ended."""

PATIENCE = 60
"""Seconds after which a process that has not ended is a failure, never a way to end one."""


COMMAND = "roundtable_council"
"""Where the `roundtable` command begins."""


class Running:
    """A process that was started, and is ended by whoever made it."""

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process

    def gets(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def ends(self) -> int:
        """Its exit code; a negative one is the signal that ended it."""
        by_itself = wait([self.sentinel], PATIENCE)
        with _ONE_AT_A_TIME:
            if not by_itself:
                self._process.kill()
            self._process.join()
            assert by_itself, "the process did not end by itself"
            assert self._process.exitcode is not None
            return self._process.exitcode

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        return not wait([self.sentinel], 0)

    @property
    def sentinel(self) -> int:
        return self._process.sentinel


def started(act: Callable[..., None], *args: Any) -> Running:
    process = _WARM.Process(target=act, args=args, daemon=True)
    with _ONE_AT_A_TIME:
        process.start()
    return Running(process)


def first_to_end(running: list[Running]) -> Running:
    """The process that ends first."""
    ended = wait([each.sentinel for each in running], PATIENCE)
    return next(each for each in running if each.sentinel in ended)


class Program:
    """`python -m roundtable …`, to be handled as a `subprocess.Popen` is. Its streams are files;
    `module` is where its `main` is."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: str | Path = os.devnull,
        stdout: str | Path = os.devnull,
        stderr: str | Path = os.devnull,
        module: str = COMMAND,
    ) -> None:
        streams = [str(each) for each in (stdin, stdout, stderr)]
        os.umask(mask := os.umask(0o077))  # there is no other way to read it
        self._running = started(_become, module, list(words), str(cwd), dict(env), mask, streams)
        self.pid = self._running.pid
        self.returncode: int | None = None

    @property
    def sentinel(self) -> int:
        """What can be waited for beside other things: it is ready when the process has ended."""
        return self._running.sentinel

    def poll(self) -> int | None:
        if self.returncode is None and not self._running.running:
            self.returncode = self._running.ends()
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
        if self.returncode is None and not wait([self._running.sentinel], timeout):
            raise TimeoutExpired("roundtable", timeout)
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                self._running.gets(number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _become(
    module: str, words: list[str], cwd: str, env: dict[str, str], mask: int, streams: list[str]
) -> None:
    """What the system and Python do before the first line of the program."""
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    os.umask(mask)
    for number, name in enumerate(streams):
        opened = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    encoding = env.get("PYTHONIOENCODING", "utf-8")
    sys.stdin = os.fdopen(0, encoding=encoding)
    sys.stdout = os.fdopen(1, "w", encoding=encoding)
    sys.stderr = os.fdopen(2, "w", 1, encoding=encoding, errors="backslashreplace")
    sys.argv = ["roundtable", *words]
    sys.exit(import_module(module).main())
