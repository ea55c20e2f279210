"""The closing block: stances, claims, actions and votes that code can read, and nothing guessed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.declarations import (
    MAX_NEW,
    Declarations,
    DeclaredStance,
    action_item,
    action_items,
    declarations,
    prose,
)
from roundtable.core.values import ActionItem

WHOLE = """## Speech
I think so, because it works.

## Points
- AGREE p2: it was measured
- DISAGREE p1 because the load is higher; a queue instead
- UNSURE p3
- NEW: Backups must be tested every week.
- ACTION: Test a backup - Owner: Bob
- END: no
"""


@pytest.mark.requirement("D-39", "D-69")
def test_a_block_is_read_line_by_line() -> None:
    assert declarations(WHOLE) == Declarations(
        stances=(
            DeclaredStance("p2", "agree", "it was measured"),
            DeclaredStance("p1", "disagree", "the load is higher; a queue instead"),
            DeclaredStance("p3", "unsure", ""),
        ),
        new=("Backups must be tested every week.",),
        actions=(ActionItem(text="Test a backup", owner="Bob"),),
        end=False,
    )
    assert prose(WHOLE) == "I think so, because it works."


@pytest.mark.parametrize(
    "line",
    [
        "- AGREE p2: why",
        "* agree P2: why",
        "AGREE p2: why",
        "1. AGREE p2 - why",
        "2) Agree with p2: why",
        "• **AGREE** p2: why",
        "- **AGREE p2**: why",
        "- `AGREE` [p2] — why",
        "- AGREE: p2: why",
        "- AGREE (p2), why",
        "  - AGREE p 2: why",
    ],
)
def test_a_line_may_come_in_any_dress(line: str) -> None:
    assert declarations(f"Words.\n## Points\n{line}").stances == (
        DeclaredStance("p2", "agree", "why"),
    )


def test_one_line_may_name_several_points() -> None:
    found = declarations("## Points\n- AGREE p1, p2 and p10: all of it").stances
    assert [(s.point_id, s.reason) for s in found] == [
        ("p1", "all of it"),
        ("p2", "all of it"),
        ("p10", "all of it"),
    ]


@pytest.mark.parametrize(
    "heading", ["## Points", "### points", "# Points #", "**Points**", "**Points:**"]
)
def test_the_block_stands_under_its_heading_whatever_that_looks_like(heading: str) -> None:
    text = f"Some words.\n\n{heading}\n- NEW: it must be tested"
    assert declarations(text).new == ("it must be tested",)
    assert prose(text) == "Some words."


@pytest.mark.parametrize("fence", ["", "```", "~~~"])
def test_without_a_heading_the_last_lines_are_the_block(fence: str) -> None:
    text = f"I agree p1 is fine.\n\n{fence}\n- AGREE p1: yes\n- NEW: it must be tested\n{fence}\n"
    found = declarations(text)
    assert (found.stances, found.new) == (
        (DeclaredStance("p1", "agree", "yes"),),
        ("it must be tested",),
    )
    assert "I agree p1 is fine." in prose(text)
    assert "NEW" not in prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "We agree p1 is good.\nThat is all.",
        "- AGREE p1: in the middle of a speech\n\nAnd then more words.",
        "> - AGREE p1: a quotation",
        "## Points\nNothing to declare.",
        "## Points\n- AGREE: everything\n- DISAGREE with the others",
        "## Points\n- NEW: none\n- NEW:\n- NEW: x\n- ACTION: n/a",
        "## Points\n- AGREEMENT p1: no such word\n- RENEW: no such word either",
        "",
        "##",
    ],
)
def test_what_does_not_keep_to_the_form_is_left_unread(text: str) -> None:
    assert declarations(text) == Declarations()


def test_one_speech_cannot_flood_the_list() -> None:
    lines = "\n".join(f"- NEW: claim number {n}" for n in range(500))
    assert len(declarations(f"## Points\n{lines}").new) == MAX_NEW


@pytest.mark.parametrize(
    ("line", "vote"),
    [
        ("END: yes", True),
        ("END: Yes, we are done", True),
        ("END - no", False),
        ("end: NO.", False),
        ("END: perhaps", None),
        ("END", None),
        ("ENDING: yes", None),
    ],
)
@pytest.mark.requirement("D-43")
def test_a_vote_to_end_is_a_plain_yes_or_no(line: str, vote: bool | None) -> None:
    assert declarations(f"## Points\n- {line}").end is vote


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


PIECES = [
    "## Points", "**Points**", "- AGREE", "DISAGREE", "p1", "p99999", "p", ":", "because", "NEW:",
    "ACTION:", "Owner:", "END", "yes", "SAME", "```", "\n", "\n\n", "[", "](", "**", "####", "\t",
    "\u202e", "🙂", "不", "|", "-", "1.", "[ ]", "(" * 50, "*" * 80, "\x00", "<|im_end|>",
]  # fmt: skip


@pytest.mark.requirement("X-32")
@pytest.mark.parametrize("seed", range(50))
def test_a_malformed_block_is_never_a_crash(seed: int) -> None:
    dice = random.Random(seed)
    text = "## Points\n" + " ".join(dice.choices(PIECES, k=200))
    found = declarations(text)
    assert len(found.new) <= MAX_NEW
    assert all(stance.point_id.startswith("p") for stance in found.stances)
    assert isinstance(prose(text), str)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    declarations(text)
    prose(text)
    action_items(text)
