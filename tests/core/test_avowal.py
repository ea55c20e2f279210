"""Avowals: words at odds with the declaration beside them are found, and others are not."""

from __future__ import annotations

import pytest

from roundtable.core.avowal import DIFFERS, REFUSES, odds
from roundtable.core.declaration import Decision, Declaration, DeclaredVote, Option
from roundtable.core.declaration_form import LATER, Form

DATABASES = ("PostgreSQL", "MongoDB")
YES_NO = ("yes", "no")


def flags(prose: str, position: str = "", *, options: tuple[str, ...] = DATABASES) -> list[str]:
    """The flags of a speech in these words that votes for the first option."""
    listed = tuple(Option(id=f"o{n}", text=text) for n, text in enumerate(options, 1))
    decision = Decision(id="d1", question="Should we take it?", options=listed)
    declared = Declaration(votes=(DeclaredVote(on="d1", choice="o1"),), position=position)
    return odds(prose, declared, Form(LATER, (decision,)))


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    "prose",
    [
        "I vote for MongoDB.",
        "It was a long talk. My vote goes to MongoDB, as before.",
        "I would take MongoDB, because its documents change their shape each month.",
        "MongoDB is the only sane choice. I vote for MongoDB and against PostgreSQL.",
        "## Critique\nI'd go with MongoDB.\n\n## Answer\nSo be it.",
        "Do not take PostgreSQL under any circumstances.",
        "I firmly oppose PostgreSQL.",
        "Ich bin weiterhin für MongoDB.",
        "Voto por MongoDB.",
        "我支持MongoDB。",
    ],
)
def test_words_that_plainly_vote_for_another_option_are_flagged(prose: str) -> None:
    assert flags(prose) == [DIFFERS]


@pytest.mark.parametrize(
    "prose",
    [
        "I vote for PostgreSQL.",
        "I would take MongoDB if the load were higher.",
        "I support MongoDB users who want to migrate. I vote for PostgreSQL.",
        "I would pick PostgreSQL over MongoDB.",
        "I oppose MongoDB.",
        "I am sorry to say that MongoDB lacks joins.",
        "I take the point on MongoDB, yet PostgreSQL is right.",
        "I support keeping MongoDB for logs.",
        "Answer A wrote: “I vote for MongoDB.” That is a mistake.",
        "> I vote for MongoDB.\n\nNo: the data is relational.",
        "I vote against MongoDB.",
        "Why would I choose MongoDB?",
    ],
)
def test_words_that_allow_another_reading_are_not(prose: str) -> None:
    assert flags(prose) == []


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize("position", ["MongoDB, never PostgreSQL.", "Take MongoDB.", "MongoDB."])
def test_a_declared_position_that_says_another_option_than_the_vote_is_flagged(
    position: str,
) -> None:
    assert flags("As below.", position) == [DIFFERS]


@pytest.mark.parametrize(
    "position",
    [
        "Take PostgreSQL, not MongoDB.",
        "PostgreSQL, with MongoDB for the logs.",
        "Move from MongoDB to PostgreSQL.",
        "Stay relational: MongoDB is too risky.",
        "Keep what we have.",
        "",
    ],
)
def test_a_declared_position_that_may_be_the_vote_is_not(position: str) -> None:
    assert flags("As below.", position) == []


@pytest.mark.parametrize(
    ("prose", "position", "found"),
    [
        ("I have thought about it. I vote no.", "", [DIFFERS]),
        ("I have thought about it. I vote yes.", "", []),
        ("As below.", "No, keep it closed.", [DIFFERS]),
        ("As below.", "Yes, on Mondays.", []),
    ],
)
def test_a_plain_yes_is_held_against_a_plain_no(
    prose: str, position: str, found: list[str]
) -> None:
    assert flags(prose, position, options=YES_NO) == found


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    ("prose", "found"),
    [
        ("I'm sorry, but I can't help with that request.", [REFUSES]),
        ("## Answer\nI cannot assist with this.\n\n## Reasons\nI cannot assist.", [REFUSES]),
        ("Es tut mir leid, dabei kann ich nicht helfen.", [REFUSES]),
        ("I am sorry to disappoint: PostgreSQL it is.", []),
        ("PostgreSQL. I can't think of anything against it.", []),
    ],
)
def test_a_refusal_beside_a_declaration_is_flagged(prose: str, found: list[str]) -> None:
    assert flags(prose) == found


def test_whoever_abstains_in_its_declaration_may_decline_in_words() -> None:
    declared = Declaration(abstain="I am the vendor.")
    assert odds("I cannot answer that.", declared, Form(LATER)) == []
