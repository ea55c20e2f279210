"""Lists and tables that only grow, whose copies cost the same however long they are: what was there
when a copy was made is shared, and each goes on by itself from there."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from itertools import islice
from typing import Generic, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

MOST_OWN = 256
"""Entries that a table holds beside those that it shares: so many are copied with it."""


class Trail(Sequence[T]):
    """A list to which items are only ever added. One of all that share the items adds to them in
    place, which the others, who know where they end, do not see; whoever else goes on takes a copy
    of its own first. So several threads may read copies while one goes on."""

    __slots__ = ("_end", "_goes_on", "_items")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items = list(items)
        self._end = len(self._items)
        self._goes_on = True

    def append(self, item: T) -> None:
        if not self._goes_on:
            self._items = self._items[: self._end]
            self._goes_on = True
        self._items.append(item)
        self._end += 1

    def copy(self) -> Trail[T]:
        return self.first(self._end)

    def first(self, count: int) -> Trail[T]:
        """So many of its items, as a list of their own that shares them."""
        found: Trail[T] = Trail.__new__(Trail)
        found._items, found._end, found._goes_on = self._items, min(count, self._end), False
        return found

    def __len__(self) -> int:
        return self._end

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        end = self._end
        if isinstance(place, slice):
            begin, stop, step = place.indices(end)
            return self._items[begin:stop:step] if step > 0 else self._items[:end][place]
        if not -end <= place < end:
            raise IndexError(f"there are {end} items")
        return self._items[place if place >= 0 else end + place]

    def __iter__(self) -> Iterator[T]:
        return islice(self._items, self._end)

    def __reversed__(self) -> Iterator[T]:
        items = self._items
        return (items[place] for place in range(self._end - 1, -1, -1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trail | list | tuple):
            return NotImplemented
        if isinstance(other, Trail) and self._items is other._items:
            return self._end == other._end
        return len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list, it is not what it was

    def __repr__(self) -> str:
        return repr(list(self))


class Layered(Mapping[K, V], Generic[K, V]):
    """A table whose entries are added and replaced, never taken out. What copies share is left as
    it is: each writes beside it, and makes it its own when that has become much."""

    __slots__ = ("_beside", "_held", "_shared")

    def __init__(self, entries: Mapping[K, V] | None = None) -> None:
        self._held: dict[K, V] = dict(entries or {})
        self._beside: dict[K, V] = {}
        self._shared = False

    def copy(self) -> Layered[K, V]:
        self._shared = True
        found: Layered[K, V] = Layered.__new__(Layered)
        found._held, found._beside, found._shared = self._held, self._beside.copy(), True
        return found

    def __setitem__(self, key: K, value: V) -> None:
        if not self._shared:
            self._held[key] = value
            return
        self._beside[key] = value
        if len(self._beside) > MOST_OWN:
            self._held = self._whole()
            self._beside = {}
            self._shared = False

    def setdefault(self, key: K, value: V) -> V:
        if key not in self:
            self[key] = value
        return self[key]

    def __getitem__(self, key: K) -> V:
        return self._beside[key] if key in self._beside else self._held[key]

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V | T, /) -> V | T: ...
    def get(self, key: K, default: V | T | None = None, /) -> V | T | None:
        if key in self._beside:
            return self._beside[key]
        return self._held.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._beside or key in self._held

    def __len__(self) -> int:
        return len(self._held) + sum(key not in self._held for key in self._beside)

    def __iter__(self) -> Iterator[K]:
        return iter(self._whole())

    def keys(self) -> KeysView[K]:
        return self._whole().keys()

    def values(self) -> ValuesView[V]:
        return self._whole().values()

    def items(self) -> ItemsView[K, V]:
        return self._whole().items()

    def __reversed__(self) -> Iterator[K]:
        return reversed(self._whole())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layered | dict):
            return NotImplemented
        return dict(self.items()) == dict(other.items())

    __hash__ = None  # type: ignore[assignment]  # like a dict, it is not what it was

    def __repr__(self) -> str:
        return repr(self._whole())

    def _whole(self) -> dict[K, V]:
        """All entries, in the order in which their keys came."""
        return {**self._held, **self._beside} if self._beside else self._held
