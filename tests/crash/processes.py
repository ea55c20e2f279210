"""Processes for the crash tests: forked from a warm one, so that each costs little."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from typing import Any

_WARM = multiprocessing.get_context("forkserver")
_WARM.set_forkserver_preload(["tests.crash.warm"])

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
        self._process.join(PATIENCE)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
            self._process.join()
            raise AssertionError("the process did not end by itself")
        return code

    @property
    def running(self) -> bool:
        return self._process.is_alive()

    @property
    def sentinel(self) -> int:
        return self._process.sentinel


def started(act: Callable[..., None], *args: Any) -> Running:
    process = _WARM.Process(target=act, args=args, daemon=True)
    process.start()
    return Running(process)


def first_to_end(running: list[Running]) -> Running:
    """The process that ends first."""
    ended = wait([each.sentinel for each in running], PATIENCE)
    return next(each for each in running if each.sentinel in ended)
