"""Looks for garbage stay short, and garbage still goes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from roundtable.engine.garbage import short_looks


class Ring:
    """Two objects that hold each other."""

    def __init__(self) -> None:
        self.other = [self]


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    gc.unfreeze()  # what the tests as a whole have set aside
    before = gc.get_threshold(), list(gc.callbacks), gc.get_freeze_count()
    yield
    assert (gc.get_threshold(), list(gc.callbacks), gc.get_freeze_count()) == before
    gc.freeze()


def test_what_outlived_a_look_is_not_looked_through_again() -> None:
    with short_looks():
        kept = [[number] for number in range(10_000)]
        gc.collect()
        assert not any(each is kept for each in gc.get_objects())
        assert len(gc.get_objects()) < len(kept)
    assert any(each is kept for each in gc.get_objects())


def test_a_ring_that_nobody_holds_any_more_is_freed_by_the_next_look() -> None:
    with short_looks():
        gone = ref(Ring())
        gc.collect()
        assert gone() is None


def test_a_ring_that_was_set_aside_is_freed_when_everything_is_looked_through() -> None:
    now = 0.0
    with short_looks(every=600, clock=lambda: now):
        ring = Ring()
        gc.collect()  # set aside
        gone = ref(ring)
        del ring
        gc.collect()
        assert gone() is not None
        now = 601.0
        gc.collect()  # the last short one
        gc.collect()
        assert gone() is None
