"""Processes for the crash tests: forked from a warm one, so that each costs little."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from typing import Any

_WARM = multiprocessing.get_context("forkserver")
_WARM.set_forkserver_preload(["tests.crash.warm"])
_ONE_AT_A_TIME = threading.Lock()
"""Starting a process also looks after all others: two threads must not both read how one ended."""

PATIENCE = 60
"""Seconds after which a process that has not ended is a failure, never a way to end one."""


class Running:
    """A process that was started, and is ended by whoever made it."""

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process

    def gets(self, number: signal.Signals) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

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
