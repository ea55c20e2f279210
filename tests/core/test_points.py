"""Points: a versioned list on which opposite verdicts never melt into one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.events import Event, PointRaised, PointsMerged, StanceTaken
from roundtable.core.points import (
    Contradiction,
    Point,
    PointList,
    Position,
    RoundPoints,
    Stance,
    points_of,
    standing,
    wording,
)
from roundtable.core.state import fold

from .samples import opened, recorded

SAFE = Point(id="p1", text="The migration is safe.", raised_by="anna", turn="1/anna", round=1)
UNSAFE = Point(id="p2", text="The migration isn't safe!", raised_by="ben", turn="1/ben", round=1)


def stance(
    who: str, point: str, position: Position, round_: int = 1, turn: str | None = None
) -> Stance:
    turn = f"{round_}/{who}" if turn is None else turn
    return Stance(participant=who, point=point, position=position, round=round_, turn=turn)


def test_a_list_grows_by_versions_and_the_old_ones_stay() -> None:
    first = PointList().raise_points(SAFE)
    second = first.declare(stance("anna", "p1", "agree"))
    assert (PointList().version, first.version, second.version) == (0, 1, 2)
    assert first.stances == ()
    assert second.held() == (stance("anna", "p1", "agree"),)
    assert first.raise_points(SAFE) is first
    assert second.declare() is second


def test_an_id_cannot_be_given_to_other_words() -> None:
    with pytest.raises(ValueError, match="p1"):
        PointList().raise_points(SAFE, SAFE.model_copy(update={"text": "Wait."}))


@pytest.mark.requirement("D-39")
def test_a_round_has_its_consensus_disagreement_and_new_points() -> None:
    points = [
        Point(id="cost", text="It costs too much.", round=1),
        Point(id="speed", text="It is fast.", round=1),
        Point(id="risk", text="The risk is small.", round=2),
        Point(id="later", text="It can wait.", round=2),
    ]
    listed = (
        PointList()
        .raise_points(*points)
        .declare(
            stance("anna", "cost", "agree"),
            stance("ben", "cost", "agree"),
            stance("anna", "speed", "agree"),
            stance("ben", "speed", "disagree"),
            stance("ben", "speed", "agree", 2),
            stance("anna", "risk", "disagree", 2),
            stance("ben", "risk", "disagree", 2),
            stance("ben", "later", "agree", 2),
            stance("anna", "later", "unsure", 2),
        )
    )
    assert listed.points_of_round(1) == RoundPoints(1, ("cost",), ("speed",), ("cost", "speed"))
    assert listed.points_of_round(2) == RoundPoints(
        2, ("cost", "speed", "risk"), (), ("risk", "later")
    )


def test_a_later_stance_replaces_an_earlier_one_whatever_order_they_arrive_in() -> None:
    listed = PointList().raise_points(SAFE)
    old, new = stance("anna", "p1", "agree", 1), stance("anna", "p1", "disagree", 2)
    assert listed.declare(old, new).held() == listed.declare(new, old).held() == (new,)
    assert listed.declare(old, new).held(through_round=1) == (old,)


@pytest.mark.requirement("Z-02")
def test_contradictory_stances_of_one_speech_count_as_unsure_and_are_named() -> None:
    clash = Contradiction("anna", "p1", "1/anna", 1)
    listed = PointList().raise_points(SAFE)
    for order in (("agree", "disagree"), ("disagree", "agree"), ("agree", "disagree", "agree")):
        declared = listed.declare(*(stance("anna", "p1", each) for each in order))
        assert [each.position for each in declared.held()] == ["unsure"]
        assert declared.contradictions == (clash,)
    settled = declared.declare(stance("anna", "p1", "agree", 2))
    assert settled.positions() == {"p1": {"anna": "agree"}}
    assert settled.contradictions == (clash,)


def test_to_agree_with_a_claim_and_with_its_denial_in_one_speech_is_a_contradiction() -> None:
    listed = PointList().raise_points(SAFE, UNSAFE)
    listed = listed.declare(stance("anna", "p1", "agree"), stance("anna", "p2", "agree"))
    assert listed.positions() == {"p1": {"anna": "unsure"}}
    assert len(listed.contradictions) == 1


@pytest.mark.requirement("Z-02")
def test_the_same_words_with_opposite_verdicts_are_a_disagreement() -> None:
    twin = SAFE.model_copy(update={"id": "p9", "raised_by": "ben"})
    listed = PointList().raise_points(SAFE, twin)
    assert [point.id for point in listed.issues] == ["p1"]
    listed = listed.declare(stance("anna", "p1", "agree"), stance("ben", "p9", "disagree"))
    assert listed.points_of_round(1).disagreement == ("p1",)
    assert listed.points_of_round(1).consensus == ()


@pytest.mark.requirement("Z-02")
def test_a_denial_in_nearly_the_same_words_is_the_same_issue_turned_round() -> None:
    listed = PointList().raise_points(SAFE, UNSAFE)
    assert listed.issue_of("p2") == "p1"
    assert listed.denies_its_issue("p2")
    both = listed.declare(stance("anna", "p1", "agree"), stance("ben", "p2", "agree"))
    assert both.points_of_round(1).disagreement == ("p1",)
    alike = listed.declare(stance("anna", "p1", "agree"), stance("ben", "p2", "disagree"))
    assert alike.points_of_round(1).consensus == ("p1",)


def test_merging_a_claim_with_its_denial_never_makes_them_agree() -> None:
    reworded = Point(id="p3", text="Nothing can go wrong.")
    listed = PointList().raise_points(reworded, UNSAFE).merge("p3", "p2", denies=True)
    listed = listed.declare(stance("anna", "p3", "agree"), stance("ben", "p2", "agree"))
    assert listed.points_of_round(1).disagreement == ("p3",)
    # And a third wording, which the second one denied, joins on the right side.
    listed = listed.raise_points(SAFE).declare(stance("cleo", "p1", "agree"))
    assert listed.positions() == {"p3": {"anna": "agree", "ben": "disagree", "cleo": "agree"}}
    with pytest.raises(ValueError, match="nobody"):
        listed.merge("p3", "nobody")


def test_merging_twice_or_in_a_circle_changes_nothing() -> None:
    a, b, c = (Point(id=i, text=f"Claim {i} holds") for i in "abc")
    listed = PointList().raise_points(a, b, c).merge("a", "b").merge("b", "c", denies=True)
    assert {i: (listed.issue_of(i), listed.denies_its_issue(i)) for i in "abc"} == {
        "a": ("a", False),
        "b": ("a", False),
        "c": ("a", True),
    }
    assert listed.merge("c", "a") is listed


@pytest.mark.parametrize(
    ("one", "two", "same", "opposite"),
    [
        ("Tests are useful.", "The tests are useful", True, False),
        ("It can't scale", "It can scale", False, True),
        ("我们应该迁移", "我们不应该迁移", False, True),
        ("Wir sollten warten", "Wir sollten nicht warten", False, True),
        ("It must be tested", "It may be tested", False, False),
        ("It takes 5 days", "It takes 50 days", False, False),
        ("Rust beats Go", "Go beats Rust", False, False),
        ("Costs rise", "Costs fall", False, False),
    ],
)
def test_only_wordings_that_differ_in_nothing_but_a_denial_are_one_issue(
    one: str, two: str, same: bool, opposite: bool
) -> None:
    (key_one, denied_one), (key_two, denied_two) = wording(one), wording(two)
    assert (key_one == key_two and denied_one == denied_two) == same
    assert (key_one == key_two and denied_one != denied_two) == opposite


def test_texts_without_words_are_never_duplicates_of_each_other() -> None:
    listed = PointList().raise_points(Point(id="a", text="…"), Point(id="b", text="!?"))
    assert len(listed.issues) == 2


def test_a_stance_on_a_point_that_nobody_raised_is_kept_and_not_counted() -> None:
    listed = PointList().declare(stance("anna", "p7", "agree"))
    assert listed.held() == ()
    assert [each.point for each in listed.unknown] == ["p7"]
    assert listed.participants == ()


def test_an_empty_list_and_an_empty_round_are_nothing_special() -> None:
    assert PointList().points_of_round(1) == RoundPoints(1, (), (), ())
    assert PointList().raise_points(SAFE).points_of_round(7) == RoundPoints(7, (), (), ())
    assert PointList().rounds == ()


@pytest.mark.requirement("D-39")
@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ([], "open"),
        (["agree"], "open"),
        (["agree", "unsure"], "open"),
        (["agree", "agree", "unsure"], "consensus"),
        (["disagree", "disagree"], "consensus"),
        (["agree", "agree", "disagree"], "disagreement"),
    ],
)
def test_where_a_point_stands(positions: list[str], expected: str) -> None:
    assert standing(positions) == expected


def test_ten_thousand_points_stay_quick() -> None:
    points = [
        Point(id=f"p{i}", text=f"Claim {i // 2} is{' not' if i % 2 else ''} true")
        for i in range(10_000)
    ]
    started = time.perf_counter()
    listed = PointList().raise_points(*points)
    listed = listed.declare(
        *(stance(who, f"p{i}", "agree") for i in range(0, 10_000, 2) for who in ("anna", "ben"))
    )
    found = listed.points_of_round(1)
    assert len(listed.issues) == len(found.consensus) == 5_000
    for i in range(100):
        listed = listed.raise_points(Point(id=f"q{i}", text=f"Another {i}"))
    assert time.perf_counter() - started < 10


POSITIONS = st.sampled_from(["agree", "disagree", "unsure"])
DECLARED = st.lists(
    st.builds(stance, st.sampled_from("abc"), st.sampled_from(["p1", "p2"]), POSITIONS,
              st.integers(1, 3)),
    max_size=12,
)  # fmt: skip


@given(DECLARED, st.randoms(use_true_random=False))
def test_the_order_of_declarations_within_a_speech_does_not_matter(
    declared: list[Stance], random: object
) -> None:
    shuffled = list(declared)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    listed = PointList().raise_points(SAFE, UNSAFE)
    one, two = listed.declare(*declared), listed.declare(*shuffled)
    assert one.positions() == two.positions()
    assert set(one.contradictions) == set(two.contradictions)


@given(DECLARED)
def test_opposite_final_stances_are_never_a_consensus(declared: list[Stance]) -> None:
    listed = PointList().raise_points(SAFE, UNSAFE).declare(*declared)
    for issue, positions in listed.positions().items():
        if {"agree", "disagree"} <= set(positions.values()):
            assert issue not in listed.points_of_round(3).consensus


def test_the_list_is_read_from_the_events_of_a_discussion() -> None:
    events: list[Event] = [
        PointRaised(point_id="p1", text=SAFE.text, turn_id="1/answer/scholar", round=1),
        PointRaised(point_id="p2", text="All will go well", turn_id="1/answer/engineer", round=1),
        PointsMerged(into="p1", merged=("p2",)),
        StanceTaken(
            participant="scholar", point_id="p1", position="agree", turn_id="t1", round=1
        ),
        StanceTaken(
            participant="engineer", point_id="p2", position="disagree", turn_id="t2", round=1
        ),
        StanceTaken(
            participant="muse", point_id="p1", position="agree", turn_id="t3", round=1,
            meaningful=False,
        ),
    ]  # fmt: skip
    listed = points_of(fold(recorded(opened(), *events)))
    assert listed.positions() == {"p1": {"scholar": "agree", "engineer": "disagree"}}
