"""The opinion map: two camps and a bridge, found in what was declared."""

from __future__ import annotations

import random
import time

import pytest

from roundtable.core.events import Event, PointRaised, StanceTaken
from roundtable.core.points import Point, PointList, Position, Stance
from roundtable.core.state import fold
from roundtable.views.opinion_map import Bridge, Camp, OpinionMap, opinion_map, opinion_map_of
from tests.core.samples import opened, recorded

MARKS: dict[str, Position] = {"+": "agree", "-": "disagree", "?": "unsure"}


def debate(people: str, *rounds: dict[str, str]) -> PointList:
    """For each round, what everybody holds on each point: `{"cost": "+-?."}`."""
    listed = PointList()
    for number, table in enumerate(rounds, 1):
        for point, marks in table.items():
            if point not in listed:
                listed = listed.raise_points(Point(id=point, text=f"On {point}.", round=number))
            listed = listed.declare(
                *(
                    Stance(
                        participant=who,
                        point=point,
                        position=MARKS[mark],
                        round=number,
                        turn=f"{number}/{who}",
                    )
                    for who, mark in zip(people, marks, strict=True)
                    if mark != "."
                )
            )
    return listed


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
    shown = opinion_map(debate("abcde", TWO_CAMPS), {each: each.upper() for each in "abcde"})
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
    assert first.agreement == pytest.approx(1 / 3)
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
        (PointList(), "no points"),
        (debate("", {"p": ""}), "fewer than two"),
        (debate("a", {"p": "+"}), "fewer than two"),
        (debate("abc", {"p": "+++"}), "nobody disagrees"),
        (debate("abc", {"p": "???"}), "nobody disagrees"),
    ],
)
def test_without_disagreement_there_are_no_camps_and_it_says_why(
    listed: PointList, why: str
) -> None:
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


def test_ten_thousand_points_are_mapped_within_seconds() -> None:
    chance = random.Random(1)
    table = {f"p{n}": "".join(chance.choice("+-?.") for _ in range(4)) for n in range(10_000)}
    listed = PointList().raise_points(*(Point(id=p, text=f"Point {p}") for p in table))
    listed = listed.declare(
        *(
            Stance(participant=who, point=point, position=MARKS[mark], turn=f"1/{who}")
            for point, marks in table.items()
            for who, mark in zip("abcd", marks, strict=True)
            if mark != "."
        )
    )
    started = time.perf_counter()
    shown: OpinionMap = opinion_map(listed)
    assert len(shown.points) == 10_000
    assert time.perf_counter() - started < 20
