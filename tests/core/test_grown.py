"""What is made step by step is made once, and copies that part ways do not mix."""

from __future__ import annotations

from roundtable.core.grown import GrownValues


class Item:
    def __init__(self, name: str) -> None:
        self.name = name


class Steps:
    """Joins the names so far, and notes which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, before: str | None, place: int, item: Item) -> str:
        self.asked.append(item.name)
        return f"{before or ''}{place}{item.name}"


def test_each_value_is_made_once_and_follows_from_the_one_before() -> None:
    grown, steps = GrownValues(), Steps()
    items = [Item("a"), Item("b")]
    assert grown.of("names", items, steps) == ["0a", "0a1b"]
    items.append(Item("c"))
    assert grown.of("names", items, steps) == ["0a", "0a1b", "0a1b2c"]
    assert steps.asked == ["a", "b", "c"]


def test_a_copy_knows_what_the_other_made_also_after_it_was_copied() -> None:
    grown, steps = GrownValues(), Steps()
    items = [Item("a"), Item("b")]
    other = grown.copy()
    grown.of("names", items, steps)
    assert other.of("names", items[:1], steps) == ["0a"]
    assert other.of("names", items, steps) == ["0a", "0a1b"]
    assert steps.asked == ["a", "b"]


def test_copies_that_go_on_differently_keep_their_own() -> None:
    grown, steps = GrownValues(), Steps()
    shared = [Item("a")]
    other = grown.copy()
    one, two = [*shared, Item("b")], [*shared, Item("c"), Item("d")]
    assert grown.of("names", one, steps) == ["0a", "0a1b"]
    assert other.of("names", two, steps) == ["0a", "0a1c", "0a1c2d"]
    assert grown.of("names", one, steps) == ["0a", "0a1b"]
    assert steps.asked == ["a", "b", "c", "d"]


def test_what_was_handed_out_does_not_grow_with_what_follows() -> None:
    grown, steps = GrownValues(), Steps()
    items = [Item("a")]
    first = grown.of("names", items, steps)
    grown.of("names", [*items, Item("b")], steps)
    assert first == ["0a"]
