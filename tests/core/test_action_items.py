"""Action items, read from lines in whatever dress they come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.action_items import action_item, action_items
from roundtable.core.values import ActionItem


@pytest.mark.requirement("D-44")
@pytest.mark.parametrize(
    ("line", "item"),
    [
        ("1. [ ] Measure it - Owner: Ann", ActionItem(text="Measure it", owner="Ann")),
        ("- [x] Measure it (Owner: Ann)", ActionItem(text="Measure it", owner="Ann")),
        ("* Measure it — **Owner:** Ann", ActionItem(text="Measure it", owner="Ann")),
        (
            "12) Measure it, owner: Architect(Ann)",
            ActionItem(text="Measure it", owner="Architect(Ann)"),
        ),
        ("Measure it [Owners: Ann and Bob]", ActionItem(text="Measure it", owner="Ann and Bob")),
        ("Measure the owner's load", ActionItem(text="Measure the owner's load", owner="")),
        ("测量负载 - Owner: 安", ActionItem(text="测量负载", owner="安")),
    ],
)
def test_an_action_is_parsed_with_its_owner(line: str, item: ActionItem) -> None:
    assert action_item(line) == item


def test_a_section_of_actions_is_read_without_its_ornaments() -> None:
    section = "### For Ann\n1. [ ] One thing - Owner: Ann\n\n---\n- Another thing\n- none\n"
    assert action_items(section) == (
        ActionItem(text="One thing", owner="Ann"),
        ActionItem(text="Another thing"),
    )
    assert action_items("None.") == ()


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    action_items(text)
