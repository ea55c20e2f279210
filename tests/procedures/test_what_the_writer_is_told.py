"""What the writer of a result is told beside the speeches: every condition with its answers, every
letter with its name, and what the count delivers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.procedures.deliberation_table import (
    DATABASES,
    NAMES,
    ONE,
    OPEN_QUESTION,
    ROUND_2,
    SPLIT,
    SYNTHESIS,
    THREE,
    TWO,
    Votes,
    asked,
    hold,
    prompt_of,
    review,
    table,
)

STAGED = {"text": "A staged release exists first.", "kind": "demand", "otherwise": "o2"}


def stance(of: str, word: str, text: str = "") -> dict[str, str]:
    return {"id": of, "stance": word, "text": text}


def held(choice: str, *stances: dict[str, str]) -> dict[str, Any]:
    return {"choice": choice, "conditions": [], "stances": list(stances)}


@pytest.mark.requirement("Z-31")
def test_the_writer_reads_each_condition_by_its_id_with_what_everybody_said_to_it() -> None:
    votes: Votes = {
        ONE: ({"choice": "o1", "conditions": [STAGED]}, held("o1")),
        TWO: ("o2", held("o2", stance("c1", "disagree", "It takes a month"))),
        THREE: ("o1", held("o1", stance("c1", "agree"))),
    }
    at = table(votes)
    hold(at)
    writer = prompt_of(at, SYNTHESIS).user
    assert (
        f"c1 ({NAMES[ONE]}, demand, otherwise o2): A staged release exists first. "
        f"Granted by {NAMES[THREE]}. Refused by {NAMES[TWO]}: It takes a month." in writer
    )
    assert writer.count(STAGED["text"]) == 1, "not beside the speech as well"


@pytest.mark.requirement("Z-31")
def test_the_writer_reads_the_newest_wording_and_what_was_withdrawn() -> None:
    other = {"text": "The budget holds.", "kind": "demand", "otherwise": "open"}
    votes: Votes = {
        ONE: (
            {"choice": "o1", "conditions": [STAGED, other]},
            held(
                "o1", stance("c1", "amend", "A rollback was rehearsed."), stance("c2", "withdraw")
            ),
        ),
        TWO: ("o2", held("o2")),
        THREE: ("o1", held("o1")),
    }
    at = table(votes)
    hold(at)
    writer = prompt_of(at, SYNTHESIS).user
    assert f"c1 ({NAMES[ONE]}, demand, otherwise o2, reworded in round 2): A rollback" in writer
    assert f"c2 ({NAMES[ONE]}): withdrawn" in writer
    assert "(demand, since reworded or withdrawn): The budget holds." in writer


@pytest.mark.requirement("Z-31")
def test_every_letter_is_translated_for_the_writer_also_where_it_may_be_an_article() -> None:
    words = review(ONE, Critique="A is right that lines measure nothing. B's trial holds.")
    at = table(turns={ROUND_2[0]: words})
    hold(at)
    writer = prompt_of(at, SYNTHESIS).user
    (origin,) = [each for each in writer.splitlines() if f"turn {ROUND_2[0]};" in each]
    assert "A is " in origin
    assert "B is " in origin
    assert {NAMES[TWO], NAMES[THREE]} <= {name for name in NAMES.values() if name in origin}


def test_the_block_of_the_writer_names_what_the_count_delivers() -> None:
    at = table({ONE: ("o2", "o2"), TWO: ("o2", "o2"), THREE: ("o1", "o1")})
    hold(at)
    assert '"delivers": "o2"' in prompt_of(at, SYNTHESIS).user


def test_a_block_leaves_open_what_a_seat_must_decide_and_says_what_is_recorded() -> None:
    at = table(SPLIT)
    hold(at)
    first = prompt_of(at, f"1/answer/{ONE}").user
    assert '"before": "silent", "choice": "…"' in first, "nobody has spoken before"
    assert '"before": "o1", "choice": "…"' in prompt_of(at, f"2/critique/{ONE}").user

    unvoted = table(DATABASES)
    hold(unvoted, OPEN_QUESTION)
    later = prompt_of(unvoted, f"2/critique/{ONE}").user
    assert '"before": "…", "choice": "…"' in later, "the clerk's word is not its own"


def test_how_to_vote_on_a_condition_is_told_where_conditions_and_votes_are_asked() -> None:
    told = "Yes only if X, or no unless X: vote yes, make X a condition, otherwise no."
    at = table(SPLIT)
    hold(at)
    assert told in prompt_of(at, f"1/answer/{ONE}").user
    unvoted = table(DATABASES)
    hold(unvoted, OPEN_QUESTION)
    assert told not in prompt_of(unvoted, f"1/answer/{ONE}").user


def test_others_conditions_show_whose_they_are_by_letter_and_what_holds_without_them() -> None:
    at = table({**SPLIT, ONE: ({"choice": "o1", "conditions": [STAGED]}, "o1")})
    hold(at)
    read = prompt_of(at, f"2/critique/{TWO}").user
    (line,) = [each for each in read.splitlines() if each.startswith("? c1")]
    assert line in {f"? c1 (of {letter}, otherwise o2): {STAGED['text']}" for letter in "AB"}
    assert NAMES[ONE] not in line


@pytest.mark.requirement("Z-11")
def test_what_is_demanded_keeps_the_talk_going_without_a_call_to_confirm() -> None:
    same = "Postgres."
    demand = {"choice": same, "conditions": [{**STAGED, "otherwise": "open"}]}
    at = table({ONE: (demand, "o1"), TWO: (same, "o1"), THREE: (same, "o1")})
    hold(at, OPEN_QUESTION)
    assert not any("/confirm/" in turn for turn in asked(at))
    assert f"2/critique/{ONE}" in asked(at)

    united = table(dict.fromkeys((ONE, TWO, THREE), (same, "o1")))
    hold(united, OPEN_QUESTION)
    confirming = prompt_of(united, f"1/confirm/{ONE}")
    assert "Before the others are heard" in confirming.system
    assert "The talk is over" not in confirming.system
