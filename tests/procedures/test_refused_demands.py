"""Demands that an ally refuses, in scripted runs: who is asked what, and how its vote counts."""

from __future__ import annotations

from typing import Any

import pytest

from roundtable.core.standing import DecisionStanding, SeatStanding, standing_of
from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.views.delivery import Delivery
from tests.declaring import declared, vote
from tests.rehearsal import Table

from .deliberation_table import DEAD, NAMES, ONE, THREE, TWO, Act, Votes, hold, table, turn_of

DATE = "It is done by May."
WHY = "Nobody is free before June."
BALLOT = f"2/ballot/{ONE}"


def answer(word: str, text: str = "", own: str = "c1") -> dict[str, str]:
    return {"id": own, "stance": word, "text": text}


def votes(answers: tuple[str, str] = ("disagree", "agree"), otherwise: str = "o2") -> Votes:
    """All say yes, the first of them only on a condition, to which the others answer this."""
    demand = {"text": DATE, "kind": "demand", "otherwise": otherwise}
    two, three = answers
    return {
        ONE: ({"choice": "o1", "conditions": [demand]}, {"choice": "o1", "stances": []}),
        TWO: ("o1", {"choice": "o1", "stances": [answer(two, WHY)]}),
        THREE: ("o1", {"choice": "o1", "stances": [answer(three)]}),
    }


def ballot(choice: str = "o1", *stances: dict[str, str]) -> Act:
    def script(request: SpeakRequest) -> str:
        cast = [vote(choice, before="o1")]
        return declared(request.form, request.user, votes=cast, stances=list(stances))

    return script


def held(said: Act | None = None, **asked: Any) -> tuple[Table, State, DecisionStanding]:
    at = table(votes(**asked), {BALLOT: said} if said is not None else None)
    state = hold(at)
    question = standing_of(state).question
    assert question is not None
    return at, state, question


def seat(question: DecisionStanding) -> SeatStanding:
    found = question.seat(ONE)
    assert found is not None
    return found


def asked(at: Table) -> list[SpeakRequest]:
    return [each for each in at.requests if "/ballot/" in turn_of(each)]


@pytest.mark.requirement("Z-23")
def test_whoever_cannot_have_known_of_a_refusal_is_asked_once_and_can_amend_or_withdraw() -> None:
    at, _, _ = held(ballot())
    (request,) = asked(at)
    assert turn_of(request) == BALLOT
    assert request.form is not None
    ((listed, own),) = [(each.id, each.own) for each in request.form.listed]
    assert (listed, own) == ("c1", True)
    assert "You voted o1. Your c1 was refused by" in request.user
    assert "Without it you said you hold o2. Keep your vote, change it, or amend or" in request.user
    assert f"c1 (yours): {DATE} [refused by " in request.user
    assert f": “{WHY}”]" in request.user
    assert "Recorded: on d1 you hold o1." in request.user
    assert "recorded as holding" not in request.user


@pytest.mark.requirement("Z-23")
def test_a_vote_that_is_kept_counts_and_its_demand_is_told_as_in_dispute() -> None:
    _, state, question = held(ballot())
    assert (question.end, question.delivered, len(question.holders)) == ("conditional", "o1", 3)
    delivery = Delivery.of(state)
    assert delivery.headline.startswith(
        f"Yes, in dispute: “{DATE.rstrip('.')}” (refused by {NAMES[TWO]}), 3 of 3"
    )
    (mine,) = [each for each in delivery.seats if each.participant == ONE]
    assert mine.told == f"yes, from the start; refused by {NAMES[TWO]}: {DATE.rstrip('.')}"


@pytest.mark.requirement("Z-23")
@pytest.mark.parametrize(
    ("said", "end", "final"),
    [
        (ballot("o1", answer("withdraw", "June will do.")), "consensus", "o1"),
        (ballot("o1", answer("amend", "It is done by July.")), "conditional", "o1"),
        (ballot("o2"), "majority", "o2"),
    ],
)
def test_what_it_answers_is_what_counts(said: Act, end: str, final: str) -> None:
    _, _, question = held(said)
    assert (question.end, seat(question).final) == (end, final)
    assert not seat(question).fell_back
    assert not seat(question).gave_in


@pytest.mark.requirement("Z-23")
def test_who_does_not_answer_counts_for_what_it_said_and_that_is_told_as_what_it_is() -> None:
    _, state, question = held(DEAD)
    assert (seat(question).cast, seat(question).final) == ("o1", "o2")
    delivery = Delivery.of(state)
    (mine,) = [each for each in delivery.seats if each.participant == ONE]
    why = f"“{DATE.rstrip('.')}” was refused by {NAMES[TWO]}"
    assert mine.told == f"voted yes; counts for no, because {why}"
    assert (mine.cast, mine.choice, mine.independent, mine.moved) == ("o1", "o2", False, False)
    assert why in delivery.changed


@pytest.mark.requirement("Z-23")
def test_where_nothing_was_refused_nobody_is_asked() -> None:
    at, _, question = held(answers=("agree", "agree"))
    assert asked(at) == []
    assert question.end == "consensus"
