"""Copies share what they hold, and none of them sees what another adds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.shared import MOST_OWN, Layered, Trail
from roundtable.core.state import State, fold
from tests.core.declared_table import at_table, says, tabled


class Counted(str):
    """A key that counts how often it is copied into a table."""

    hashed = 0

    def __hash__(self) -> int:
        Counted.hashed += 1
        return super().__hash__()


def test_a_list_goes_on_without_its_copies_and_they_without_it() -> None:
    first = Trail([1, 2])
    second = first.copy()
    first.append(3)
    second.append(4)
    third = second.first(1)
    third.append(5)
    assert [*map(list, (first, second, third))] == [[1, 2, 3], [1, 2, 4], [1, 5]]


def test_a_list_is_read_as_any_other() -> None:
    trail = Trail("abcd").first(3)
    assert [trail[0], trail[-1], trail[1:], trail[::-1]] == ["a", "c", ["b", "c"], ["c", "b", "a"]]
    assert (list(reversed(trail)), len(trail), "d" in trail) == (["c", "b", "a"], 3, False)
    for place in (3, -4):
        with pytest.raises(IndexError):
            trail[place]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["copy", "add"]), st.integers(0, 9))))
def test_whatever_is_copied_and_added_in_whichever_order_all_are_as_plain_ones(
    acts: list[tuple[int, str, int]],
) -> None:
    plain: list[tuple[list[int], dict[int, int]]] = [([], {})]
    shared: list[tuple[Trail[int], Layered[int, int]]] = [(Trail(), Layered())]
    for which, act, value in acts:
        (items, table), (trail, layered) = plain[which % len(plain)], shared[which % len(shared)]
        if act == "copy":
            plain.append((items.copy(), table.copy()))
            shared.append((trail.copy(), layered.copy()))
        else:
            items.append(value)
            trail.append(value)
            table[value] = layered[value] = len(items)
    for (items, table), (trail, layered) in zip(plain, shared, strict=True):
        assert (list(trail), list(layered.items())) == (items, list(table.items()))
        assert (len(layered), layered.get(5), 5 in layered) == (
            len(table),
            table.get(5),
            5 in table,
        )


def test_a_table_that_was_copied_takes_what_it_shares_for_its_own_in_the_end() -> None:
    first: Layered[int, str] = Layered({0: "zero"})
    second = first.copy()
    for number in range(2 * MOST_OWN):
        first[number] = "new"
    assert (dict(second), len(first)) == ({0: "zero"}, 2 * MOST_OWN)
    assert list(first) == list(range(2 * MOST_OWN))


def test_a_copy_of_a_long_table_looks_at_none_of_its_keys() -> None:
    table: Layered[Any, int] = Layered({Counted(number): number for number in range(5_000)})
    Counted.hashed = 0
    copy = table.copy()
    copy["another"] = 1
    assert (Counted.hashed, len(copy), len(table)) == (0, 5_001, 5_000)


def test_a_branch_of_a_state_holds_no_list_of_its_own() -> None:
    """Copying them is what made one more event of a long discussion dear."""
    state = at_table(tabled(), *(says("ann", "o1", round_) for round_ in range(1, 6)))
    branch = state.branch()
    for each in (state, branch):
        assert isinstance(each.speeches, Trail)
        assert isinstance(each.turns, Layered)
    assert branch.speeches._items is state.speeches._items
    assert branch.said.of_seats._items is state.said.of_seats._items
    assert branch.turns._held is state.turns._held
    assert branch == state
    assert fold([]) == State()
