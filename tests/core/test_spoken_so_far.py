"""Words that are still being written are shown without what is declared in them."""

from __future__ import annotations

import pytest

from roundtable.core.declaration_block import spoken_so_far
from roundtable.core.thoughts import spoken

LABELS = frozenset({"declaration"})
WHOLE = (
    "Hello `code` there.\n\n```python\nx = 1\n```\n\nMore.\n\n"
    '```declaration\n{"votes": []}\n```\nAfter.\n'
)


@pytest.mark.requirement("Z-34")
def test_no_sign_of_a_declaration_is_shown_and_what_is_shown_only_grows() -> None:
    before = ""
    for end in range(len(WHOLE) + 1):
        shown = spoken_so_far(WHOLE[:end], LABELS)
        assert shown.startswith(before)
        assert "votes" not in shown
        assert "decl" not in shown
        before = shown
    assert "x = 1" in before
    assert before.endswith("After.\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"votes": [', ""),
        ("~~~declaration\n{}\n~~~\nAfter", "\nAfter"),
        ("```\nforgotten\n```declaration\n{", "```\nforgotten\n"),
        ("`", ""),
        ("`code` goes on", "`code` goes on"),
    ],
)
def test_forgotten_marks_other_fences_and_bare_json_hide_it_too(text: str, shown: str) -> None:
    assert spoken_so_far(text, LABELS) == shown


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("sent", ["Hm, hm.\n</think>\n\nYes.", "Hm, hm.</think>\nYes."])
def test_thoughts_are_no_longer_shown_once_the_tag_came_that_nothing_opened(sent: str) -> None:
    closed = sent.index(">") + 1
    for end in range(closed, len(sent) + 1):
        shown = spoken_so_far(sent[:end], LABELS)
        assert "Yes.".startswith(shown), shown
    assert shown == "Yes."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Tea. <|end|>\n<|return|> \n", "Tea."),
        ("Tea.\n", "Tea.\n"),
        ("<|end|>", ""),
        ("Tea <|end|> or coffee", "Tea <|end|> or coffee"),
        ("Tea" + "<|end|>" * 150_000, "Tea"),
        # A megabyte of blanks within an answer: it took hours where each looked for a mark anew.
        ("Tea" + " " * 1_000_000 + ".", "Tea" + " " * 1_000_000 + "."),
    ],
    ids=["marks", "none", "only marks", "within", "a flood of marks", "a flood of blanks"],
)
def test_the_marks_at_the_end_are_no_words(text: str, said: str) -> None:
    assert spoken(text) == said
