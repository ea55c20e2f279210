"""What follows step by step from something that only grows: each step is made once, however often
it is asked for, and by whichever copy of a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")

Step = Callable[[T | None, int, S], T]
"""From the value before it (None at the first), its place and the item to the value of an item."""


class Grown(Generic[S, T]):
    """The values of a sequence of items, as far as they were asked for."""

    def __init__(self, items: Sequence[S] = (), values: Sequence[T] = ()) -> None:
        self._items = list(items)
        self._values = list(values)
        self._lock = Lock()

    def up_to(self, items: Sequence[S], step: Step[T, S]) -> list[T] | None:
        """The value of each item; None where these items are not those that were begun with."""
        with self._lock:
            known = min(len(self._items), len(items))
            if known and self._items[known - 1] is not items[known - 1]:
                return None
            for place in range(len(self._items), len(items)):
                before = self._values[-1] if self._values else None
                value = step(before, place, items[place])
                self._items.append(items[place])
                self._values.append(value)
            return self._values[: len(items)]

    def shared_with(self, items: Sequence[S]) -> Grown[S, T]:
        """As far as these items are the same, to go on otherwise from there."""
        same = min(len(self._items), len(items))
        while same and self._items[same - 1] is not items[same - 1]:
            same -= 1
        return Grown(self._items[:same], self._values[:same])


class GrownValues:
    """Sequences of values by name. Copies share them until they go on differently."""

    def __init__(self, held: dict[str, Grown[Any, Any]] | None = None) -> None:
        self._held: dict[str, Grown[Any, Any]] = {} if held is None else held

    def copy(self) -> GrownValues:
        return GrownValues(self._held)

    def of(self, name: str, items: Sequence[S], step: Step[T, S]) -> list[T]:
        """The value of each item. Under one name always ask for the same sequence."""
        grown: Grown[S, T] = self._held.setdefault(name, Grown())
        values = grown.up_to(items, step)
        if values is None:
            grown = grown.shared_with(items)
            self._held = {**self._held, name: grown}
            values = grown.up_to(items, step)
        assert values is not None, "it begins with these very items"
        return values
