"""The opinion map: two camps and a bridge, found in what was declared."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from roundtable.core.declaration import Declaration, DeclaredStance, StanceWord
from roundtable.core.events import Event, PointRaised, SpeechGiven, StanceTaken
from roundtable.core.state import State, fold
from roundtable.views.opinion_map import Bridge, Camp, OpinionMap, opinion_map_of
from tests.core.samples import opened, recorded

from .tables import opened as seated_with
from .tables import seat, told

MARKS: dict[str, StanceWord] = {"+": "agree", "-": "disagree", "?": "unsure"}


def debate(people: str, *rounds: dict[str, str], names: dict[str, str] | None = None) -> State:
    """For each round, what everybody holds on each point: `{"cost": "+-?."}`. The points are the
    host's, so that nobody holds one without saying so."""
    seats = [
        seat(each).model_copy(update={"name": (names or {}).get(each, each)}) for each in people
    ]
    events: list[Event] = [seated_with(seats)]
    raised: set[str] = set()
    for number, table in enumerate(rounds, 1):
        for point, marks in table.items():
            if point not in raised:
                raised.add(point)
                events.append(
                    PointRaised(
                        point_id=point,
                        text=f"On {point}.",
                        turn_id=f"0/list-{number}/host",
                        round=number,
                    )
                )
            events += [
                StanceTaken(
                    participant=who,
                    point_id=point,
                    position=MARKS[mark],
                    round=number,
                    turn_id=f"{number}/answer/{who}",
                )
                for who, mark in zip(people, marks, strict=True)
                if mark != "."
            ]
    return told(events)


def opinion_map(state: State) -> OpinionMap:
    return opinion_map_of(state)


TWO_CAMPS = {
    "split": "++--+",
    "rent": "++--+",
    "hire": "++---",
    "wait": "--+++",
    "docs": "+++++",
}
"""a and b against c and d; e is with each side on half of it; all want docs."""


@pytest.mark.requirement("Z-14")
def test_two_camps_and_what_bridges_them() -> None:
    shown = opinion_map(debate("abcde", TWO_CAMPS, names={each: each.upper() for each in "abcde"}))
    assert shown.camps == (Camp("A", ("a", "b")), Camp("B", ("c", "d")))
    assert shown.bridges == (Bridge("e", ("A", "B"), (0.5, 0.5)),)
    assert [point.id for point in shown.bridging_points] == ["docs"]
    assert shown.participants == ("a", "b", "e", "c", "d")
    assert shown.names["e"] == "E"
    assert shown.reason == ""
    assert shown.camp_of("d") == shown.camps[1]
    assert shown.camp_of("e") is None
    assert shown.agreement("a", "b") == 1
    assert shown.agreement("a", "c") == 0.2


@pytest.mark.requirement("Z-14", "D-39")
def test_movement_over_rounds_is_on_the_map() -> None:
    listed = debate(
        "abc",
        {"cost": "+--", "time": "+.."},
        {"cost": "++-", "time": "+++", "risk": "?-+"},
    )
    shown = opinion_map(listed)
    assert [(c.participant, c.issue, c.before, c.after, c.round) for c in shown.movement] == [
        ("b", "cost", "disagree", "agree", 2)
    ]
    cost = shown.points[0]
    assert cost.stances["b"].moved
    assert not cost.stances["a"].moved
    first, second = shown.rounds
    assert (first.consensus, first.disagreement, first.new) == (0, 1, 2)
    assert (second.consensus, second.disagreement, second.new) == (1, 2, 1)
    assert (first.stability, second.stability) == (None, 0.75)
    assert (first.agreement, second.agreement) == (None, None), "nobody voted on the question"
    assert second.score == pytest.approx(1 / 3)


def test_who_leans_to_the_other_side_stands_at_the_edge_of_its_camp() -> None:
    shown = opinion_map(
        debate(
            "abcdef",
            {"p": "+++---", "q": "+++---", "r": "+++---", "s": "-++---"},
        )
    )
    assert shown.camps == (Camp("A", ("a", "b", "c")), Camp("B", ("d", "e", "f")))
    assert shown.bridges == (Bridge("a", ("A", "B"), (0.75, 0.25)),)
    assert shown.participants == ("b", "c", "a", "d", "e", "f")


def test_two_who_differ_are_two_camps() -> None:
    shown = opinion_map(debate("ab", {"p": "+-", "q": "++"}))
    assert [camp.members for camp in shown.camps] == [("a",), ("b",)]
    assert [point.id for point in shown.bridging_points] == ["q"]
    assert shown.bridges == ()


def test_a_lone_voice_against_a_camp_of_all_others() -> None:
    shown = opinion_map(debate("abcd", {"p": "+++-", "q": "+++-"}))
    assert [camp.members for camp in shown.camps] == [("a", "b", "c"), ("d",)]


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        (debate("ab"), "no points"),
        (debate("", {"p": ""}), "fewer than two"),
        (debate("a", {"p": "+"}), "fewer than two"),
        (debate("abc", {"p": "+++"}), "nobody disagrees"),
        (debate("abc", {"p": "???"}), "nobody disagrees"),
    ],
)
def test_without_disagreement_there_are_no_camps_and_it_says_why(listed: State, why: str) -> None:
    shown = opinion_map(listed)
    assert shown.camps == ()
    assert shown.bridges == ()
    assert why in shown.reason


def test_one_camp_in_which_everybody_differs_a_little() -> None:
    shown = opinion_map(debate("abc", {"p": "++-", "q": "+-+", "r": "-++", "s": "++-", "t": "+-+"}))
    assert len(shown.camps) in (1, 2, 3)
    everyone = [who for camp in shown.camps for who in camp.members]
    assert sorted(everyone) == sorted(set(everyone))


@pytest.mark.requirement("Z-14")
def test_the_order_of_seats_and_points_does_not_make_the_camps() -> None:
    expected = {frozenset("ab"), frozenset("cd")}
    chance = random.Random(4)
    for _ in range(10):
        order = chance.sample("abcde", 5)
        points = chance.sample(sorted(TWO_CAMPS), 5)
        table = {p: "".join(TWO_CAMPS[p]["abcde".index(who)] for who in order) for p in points}
        shown = opinion_map(debate("".join(order), table))
        assert {frozenset(camp.members) for camp in shown.camps} == expected
        assert [bridge.participant for bridge in shown.bridges] == ["e"]


def test_the_map_is_read_from_the_ledger() -> None:
    events: list[Event] = [
        opened(),
        PointRaised(point_id="p", text="Tea.", turn_id="1/answer/scholar", round=1),
        *(
            StanceTaken(
                participant=who,
                point_id="p",
                position=position,
                turn_id=f"1/answer/{who}",
                round=1,
            )
            for who, position in (("scholar", MARKS["+"]), ("muse", MARKS["-"]))
        ),
    ]
    shown = opinion_map_of(fold(recorded(*events)))
    assert shown.participants == ("scholar", "muse")
    assert shown.names["muse"] == "Muse"
    assert len(shown.camps) == 2


def said(who: str, round_: int, **declared: Any) -> SpeechGiven:
    return SpeechGiven(
        turn_id=f"{round_}/answer/{who}",
        stage="answer",
        round=round_,
        participant=who,
        model="m",
        text="So.",
        declaration=Declaration(position="So.", **declared),
    )


@pytest.mark.requirement("Z-14")
def test_the_map_is_read_from_declarations_and_authors_hold_their_points() -> None:
    stances = (
        DeclaredStance(id="p1", stance="disagree", text="too dear"),
        DeclaredStance(id="p2", stance="partly", text="in two teams of five"),
    )
    shown = opinion_map_of(
        fold(
            recorded(
                opened(),
                said("scholar", 1, new_points=("Tea is cheap", "Tea is quick")),
                said("muse", 2, stances=stances),
            )
        )
    )
    dear, quick = shown.points
    assert (dear.standing, dear.stances["scholar"].position) == ("disputed", "agree")
    assert (dear.stances["muse"].position, dear.stances["muse"].text) == ("disagree", "too dear")
    assert (quick.standing, quick.stances["muse"].position) == ("open", "partly")
    assert [camp.members for camp in shown.camps] == [("scholar",), ("muse",)]


def test_thousands_of_points_are_mapped_within_seconds() -> None:
    chance = random.Random(1)
    table = {f"p{n}": "".join(chance.choice("+-?.") for _ in range(4)) for n in range(2_000)}
    state = debate("abcd", table)
    started = time.process_time()
    assert len(opinion_map(state).points) == 2_000
    assert time.process_time() - started < 20
