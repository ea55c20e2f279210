"""The clerk's lines: what counts, and what is thrown away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.extraction.minutes import MOST_NEW, Minute, read_minutes

SPEECHES = {
    "A": "I would keep one database. Backups must run every night, and we can afford that.",
    "B": "Nobody has shown that nightly backups pay. 我们不应该现在迁移数据库。",
}
KNOWN = ("p1", "p2")


def read(*lines: str) -> dict[str, tuple[Minute, ...]]:
    return read_minutes("\n".join(lines), SPEECHES, KNOWN)


@pytest.mark.requirement("Z-02", "Z-08")
def test_a_stance_counts_with_a_quotation_of_its_speech() -> None:
    found = read(
        "SPEECH A",
        'AGREE p1: "Backups must run every night"',
        "SPEECH B",
        "DISAGREE p1: “nobody has shown that nightly backups pay”",
        "- **UNSURE p2:** 我们不应该现在迁移数据库",
    )
    assert found == {
        "A": (Minute("agree", "Backups must run every night", point="p1"),),
        "B": (
            Minute("disagree", "nobody has shown that nightly backups pay", point="p1"),
            Minute("unsure", "我们不应该现在迁移数据库", point="p2"),
        ),
    }


@pytest.mark.requirement("Z-02", "Z-08")
@pytest.mark.parametrize(
    "line",
    [
        'AGREE p1: "We should buy a boat at once"',
        'AGREE p1: "nobody has shown that nightly backups pay"',  # words of the other speech
        'AGREE p1: "one"',  # too short to show anything
        'AGREE p9: "Backups must run every night"',  # no such point
        "AGREE p1",
        "AGREE p1:",
        "NEW: Backups run at night.",  # without a quotation
        'NEW: "Backups must run every night"',  # without a claim
        'NEW: Backups run at night. "We should buy a boat"',
        "I agree with everything.",
    ],
)
def test_a_line_that_shows_nothing_is_dropped(line: str) -> None:
    assert read("SPEECH A", line) == {}


def test_a_line_before_any_speech_or_of_an_unknown_one_belongs_to_nobody() -> None:
    line = 'AGREE p1: "Backups must run every night"'
    assert read(line) == {}
    assert read("SPEECH Z", line) == {}


@pytest.mark.requirement("Z-02")
def test_new_claims_come_with_their_quotation_and_are_few() -> None:
    lines = [f'NEW: Claim number {n} stands. "I would keep one database"' for n in range(9)]
    minutes = read("## Speech A:", *lines)["A"]
    assert len(minutes) == MOST_NEW
    assert minutes[0] == Minute(
        "agree", "I would keep one database", claim="Claim number 0 stands."
    )


@given(st.text(max_size=400))
def test_whatever_a_clerk_writes_nothing_breaks_and_nothing_is_shown_without_the_words(
    text: str,
) -> None:
    for label, minutes in read_minutes("SPEECH A\n" + text, SPEECHES, KNOWN).items():
        assert label in SPEECHES
        assert all(minute.quote for minute in minutes)
