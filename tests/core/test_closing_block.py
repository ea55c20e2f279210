"""The closing block of earlier versions: known, left out of the words, and never counted."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.closing_block import prose, takes_positions

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


def test_a_block_is_no_part_of_the_words() -> None:
    assert prose(WHOLE) == "I think so, because it works."
    assert takes_positions(WHOLE)


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
    assert takes_positions(f"Words.\n## Points\n{line}")


@pytest.mark.parametrize(
    "heading", ["## Points", "### points", "# Points #", "**Points**", "**Points:**"]
)
def test_the_block_stands_under_its_heading_whatever_that_looks_like(heading: str) -> None:
    text = f"Some words.\n\n{heading}\n- NEW: it must be tested"
    assert takes_positions(text)
    assert prose(text) == "Some words."


@pytest.mark.parametrize("fence", ["", "```", "~~~"])
def test_without_a_heading_the_last_lines_are_the_block(fence: str) -> None:
    text = f"I agree p1 is fine.\n\n{fence}\n- AGREE p1: yes\n- NEW: it must be tested\n{fence}\n"
    assert takes_positions(text)
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
def test_what_does_not_keep_to_the_form_takes_no_position(text: str) -> None:
    assert not takes_positions(text)


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
    assert takes_positions(text) in (True, False)
    assert isinstance(prose(text), str)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    takes_positions(text)
    prose(text)
