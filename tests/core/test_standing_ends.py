"""The ends of scripted debates, and what becomes of points, from declarations alone."""

from __future__ import annotations

from itertools import permutations

import pytest

from roundtable.core.declaration import (
    Adopted,
    Decision,
    Declaration,
    DeclaredStance,
    DeclaredVote,
    Option,
)
from roundtable.core.events import DecisionsTabled, DiscussionOpened, Event, SpeechGiven
from roundtable.core.record import QUESTION
from roundtable.core.standing import Standing, standing_of
from roundtable.core.state import State, fold
from roundtable.core.values import Participant, SpeakerRef
from tests.core.samples import recorded

HOST = Participant(id="host", name="Host", role="Host", speakers=(SpeakerRef(model="m/host"),))
OPTIONS = tuple(Option(id=each, text=f"Take {each}") for each in ("A", "B", "C"))


def seat(who: str) -> Participant:
    ref = SpeakerRef(model=f"m/{who}", family=who)
    return Participant(id=who, name=who, role="expert", speakers=(ref,))


def opened(people: str) -> list[Event]:
    return [
        DiscussionOpened(
            topic="Which?",
            procedure="council",
            participants=tuple(map(seat, people)),
            host=HOST,
            program_version="1",
            seed=1,
        ),
        DecisionsTabled(decisions=(Decision(id=QUESTION, question="Which?", options=OPTIONS),)),
    ]


def said(who: str, round_: int, declaration: Declaration, words: str = "") -> SpeechGiven:
    return SpeechGiven(
        turn_id=f"{round_}/answer/{who}",
        stage="answer",
        round=round_,
        participant=who,
        model=f"m/{who}",
        text=words or f"The weighty reason of {who} stands.",
        declaration=declaration,
        independent=round_ == 1,
    )


def debate(*rounds: str, why: bool = True, order: str = "") -> State:
    """What everybody votes for in each round: an option, `-` for silence, `?` for an abstention.
    Whoever changes names an argument of the first seat that holds it already, if `why`."""
    people = "abcdef"[: len(rounds[0].split())]
    events = opened(order or people)
    held: dict[str, str] = {}
    for number, votes in enumerate(rounds, 1):
        before = dict(held)
        for who, choice in zip(people, votes.split(), strict=True):
            if choice == "-":
                continue
            if choice == "?":
                declaration = Declaration(abstain="I cannot tell.")
            else:
                others = [o for o, c in before.items() if c == choice and o != who]
                moved = before.get(who, choice) != choice and why and others
                declaration = Declaration(
                    votes=(
                        DeclaredVote(on=QUESTION, choice=choice, before=before.get(who, "silent")),
                    ),
                    position=f"{who} wants {choice}.",
                    adopted=(
                        Adopted(
                            participant=others[0],
                            what=f"the weighty reason of {others[0]} stands",
                            moved=True,
                        ),
                    )
                    if moved
                    else (),
                )
                held[who] = choice
            events.append(said(who, number, declaration))
    return fold(recorded(*events))


def standing(*rounds: str, why: bool = True) -> Standing:
    return standing_of(debate(*rounds, why=why))


@pytest.mark.requirement("Z-02", "Z-23")
@pytest.mark.parametrize(
    ("rounds", "end", "delivered"),
    [
        (("A A A",), "consensus", "A"),
        (("A A A", "A A A"), "consensus", "A"),
        (("A B B", "B B B"), "consensus", "B"),
        (("A A B", "A A B"), "majority", "A"),
        (("A B C", "A A C"), "majority", "A"),
        # Silence and abstention are not agreement: shares are of all who were seated.
        (("A A -",), "majority", "A"),
        (("A A ?",), "majority", "A"),
        (("A - -",), None, None),
        (("A A - -",), "impasse", None),
        # Nothing prevails.
        (("A B", "A B", "A B"), "impasse", None),
        (("A A B B", "A A B B"), "impasse", None),
        (("A B C", "A B C"), "impasse", None),
        # One change beside three that stand is no movement of the table; most is.
        (("A B C A", "A B C C"), "impasse", None),
        (("A B C A", "B C A C"), "drift", None),
        (("A",), None, None),
        (("? ? ?",), None, None),
    ],
)
def test_scripted_debates_end_as_what_was_declared_says(
    rounds: tuple[str, ...], end: str | None, delivered: str | None
) -> None:
    found = standing(*rounds).question
    assert found is not None
    assert (found.end, found.delivered) == (end, delivered), found.reason
    assert found.reason


@pytest.mark.requirement("Z-23", "Z-04")
def test_agreement_that_stands_only_because_somebody_gave_in_is_hollow() -> None:
    found = standing("A B B", "B B B", why=False).question
    assert found is not None
    assert (found.end, found.delivered, found.gave_in) == ("hollow", "B", ("a",))


def test_dissent_is_named_and_nobody_dissents_from_nothing() -> None:
    def dissenting(*rounds: str) -> tuple[str, ...]:
        found = standing(*rounds).question
        assert found is not None
        return found.dissenting

    assert dissenting("A A B") == ("c",)
    assert dissenting("A A A") == ()
    assert dissenting("A B") == ()


def test_the_order_of_the_seats_does_not_matter() -> None:
    ends = set()
    for order in permutations("abcd"):
        found = standing_of(debate("A A B C", "A A B B", order="".join(order))).question
        assert found is not None
        ends.add((found.end, found.delivered, tuple(sorted(found.counts.items()))))
    assert len(ends) == 1


# Points


def points(*events: Event) -> dict[str, str]:
    return {
        p.text: p.status for p in standing_of(fold(recorded(*opened("abc"), *events))).record.points
    }


def stance(word: str, on: str = "p1", text: str = "") -> Declaration:
    return Declaration.model_validate(
        {
            "position": "So.",
            "stances": [DeclaredStance.model_validate({"id": on, "stance": word, "text": text})],
        }
    )


RAISED = said("a", 1, Declaration(position="So.", new_points=("It is safe",)))


@pytest.mark.requirement("D-39", "Z-02")
@pytest.mark.parametrize(
    ("answers", "status"),
    [
        (("agree", "agree"), "agreed"),
        (("agree", "disagree"), "disputed"),
        (("agree", ""), "held"),
        (("agree", "partly"), "held"),
        (("partly", "unsure"), "open"),
        (("disagree", "disagree"), "disputed"),
    ],
)
def test_a_point_is_what_those_who_answered_it_make_of_it(
    answers: tuple[str, str], status: str
) -> None:
    told = [
        said(who, 2, stance(word) if word else Declaration(position="So."))
        for who, word in zip("bc", answers, strict=True)
    ]
    assert points(RAISED, *told) == {"It is safe": status}


@pytest.mark.requirement("Z-02")
def test_the_same_words_with_opposite_verdicts_are_no_consensus() -> None:
    again = said("b", 1, Declaration(position="So.", new_points=("it is safe!",)))
    found = points(RAISED, again, said("c", 2, stance("disagree")))
    assert found == {"It is safe": "disputed"}


def test_an_amended_point_is_answered_anew_and_a_withdrawn_one_is_nobodys() -> None:
    agreed = (said("b", 2, stance("agree")), said("c", 2, stance("agree")))
    amended = said("a", 3, stance("amend", text="It is safe enough"))
    assert points(RAISED, *agreed, amended) == {"It is safe enough": "open"}
    withdrawn = said("a", 3, stance("withdraw"))
    assert points(RAISED, *agreed, withdrawn) == {"It is safe": "withdrawn"}
    refused = (said("b", 2, stance("disagree")), said("c", 2, stance("disagree")))
    assert points(RAISED, *refused, withdrawn) == {"It is safe": "withdrawn"}
