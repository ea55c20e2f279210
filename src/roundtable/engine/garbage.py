"""Garbage: how a process that holds a thousand discussions looks for what nobody holds any more.

Python looks through every object whenever there are a quarter more of them. A thousand open
discussions are some hundred thousand objects, none of them garbage, and the process would stand
still for a third of a second each time. Here what has outlived a look is set aside: the next one
only covers what came since. Objects are still freed as soon as nobody holds them; only rings of
objects that hold each other wait until everything is looked through once more.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

ALL_OF_IT_EVERY = 600.0
"""Seconds."""
_OLDEST = 2
_MOST_NEW = 50_000
"""Objects that a look at the youngest covers at most."""
_OFTEN = (3, 1)
"""Looks at the youngest objects between two at those of the middle, and of these between two at the
oldest ones: the oftener, the less has come since, and the shorter is each."""


@contextmanager
def short_looks(
    *, every: float = ALL_OF_IT_EVERY, clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Keep looks for garbage short while this lasts. It concerns the whole process: for those that
    are ours, not for whoever uses Roundtable as a library."""
    last = clock()

    def looked(phase: str, info: Mapping[str, Any]) -> None:
        nonlocal last
        if phase != "stop" or info["generation"] != _OLDEST:
            return
        if clock() - last >= every:
            last = clock()
            gc.unfreeze()  # so the next look covers everything
        else:
            gc.freeze()

    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.callbacks.append(looked)
    gc.set_threshold(min(usual[0], _MOST_NEW), *_OFTEN)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.callbacks.remove(looked)
        gc.unfreeze()
