"""What follows step by step from something that only grows: each step is made once, however often
it is asked for, and by whichever copy of a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from .shared import Trail

S = TypeVar("S")
T = TypeVar("T")

Step = Callable[[T | None, int, S], T]
"""From the value before it (None at the first), its place and the item to the value of an item."""


class Grown(Generic[S, T]):
    """The values of a sequence of items, as far as they were asked for. They are added to by one
    thread at a time; one that asks meanwhile makes them for itself."""

    def __init__(self, items: Sequence[S] = (), values: Sequence[T] = ()) -> None:
        self._items, self._values = list(items), Trail(values)
        self._free = [True]
        """Empty while somebody adds: taking out the one item is a single step."""

    def up_to(self, items: Sequence[S], step: Step[T, S]) -> Sequence[T] | None:
        """The value of each item; None where these items are not those that were begun with."""
        if len(items) <= len(self._values):
            return self._values.first(len(items)) if self._begins_with(items) else None
        try:
            self._free.pop()
        except IndexError:
            return self.shared_with(items).up_to(items, step)
        try:
            if not self._begins_with(items):
                return None
            values = self._values
            for place in range(len(values), len(items)):
                value = step(values[place - 1] if place else None, place, items[place])
                self._items.append(items[place])
                values.append(value)
            return values.first(len(items))
        finally:
            self._free.append(True)

    def _begins_with(self, items: Sequence[S]) -> bool:
        count = min(len(self._values), len(items))
        return not count or self._items[count - 1] is items[count - 1]

    def shared_with(self, items: Sequence[S]) -> Grown[S, T]:
        """As far as these items are the same, to go on otherwise from there."""
        known, values = self._items, self._values
        same = min(len(values), len(items))
        while same and known[same - 1] is not items[same - 1]:
            same -= 1
        return Grown(known[:same], values[:same])


class GrownValues:
    """Sequences of values by name. Copies share them until they go on differently."""

    def __init__(self, held: dict[str, Grown[Any, Any]] | None = None) -> None:
        self._held: dict[str, Grown[Any, Any]] = {} if held is None else held

    def copy(self) -> GrownValues:
        return GrownValues(self._held)

    def of(self, name: str, items: Sequence[S], step: Step[T, S]) -> Sequence[T]:
        """The value of each item. Under one name always ask for the same sequence."""
        grown: Grown[S, T] = self._held.setdefault(name, Grown())
        values = grown.up_to(items, step)
        while values is None:
            grown = grown.shared_with(items)
            self._held = {**self._held, name: grown}
            values = grown.up_to(items, step)
        return values
