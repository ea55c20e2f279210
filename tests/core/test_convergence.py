"""Convergence: four metrics, two numbers, four ends, each by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.convergence import (
    Positions,
    agreement,
    agreement_pct,
    confidence,
    convergence_score,
    divergence,
    mean_agreement,
    name_end,
    name_end_of_points,
    overlap,
    stability,
)
from roundtable.core.points import Point, PointList, Position, Stance


@pytest.mark.requirement("A-63")
def test_agreement_pct_is_the_sum_of_scores_in_percent_of_the_most_possible() -> None:
    assert agreement_pct([5, 4, 3, 4]).value == 80
    assert agreement_pct([1, 1]).value == 20
    assert agreement_pct([]).value is None
    assert agreement_pct([]).reason
    with pytest.raises(ValueError, match="1 to 5"):
        agreement_pct([4, 6])


@pytest.mark.requirement("B-42")
def test_overlap_is_the_mean_share_of_common_words() -> None:
    before = {"anna": "we ship on Monday", "ben": "wait for the audit"}
    after = {"anna": "We ship on Friday!", "ben": "Wait, for the audit."}
    assert overlap(before, after).value == pytest.approx((3 / 5 + 1) / 2)
    assert overlap(before, before).value == 1
    assert overlap({"anna": "我们周一发布"}, {"anna": "我们周五发布"}).value == pytest.approx(5 / 7)


def test_overlap_of_rounds_that_nobody_shares_is_unknown_and_says_why() -> None:
    assert overlap({}, {}).value is None
    assert overlap({"anna": "a"}, {"ben": "a"}).value is None
    assert overlap({"anna": ""}, {"anna": " … "}).value is None
    assert overlap({}, {"anna": "a"}).reason


@pytest.mark.requirement("D-40")
def test_the_convergence_score_is_null_with_a_reason_when_there_are_no_points() -> None:
    assert convergence_score(4, 1).value == 0.8
    assert convergence_score(0, 3).value == 0
    assert convergence_score(0, 0).value is None
    assert convergence_score(0, 0).reason


def test_confidence_is_the_middle_of_the_declared_levels() -> None:
    assert confidence(["high", "low", "medium"]) == "medium"
    assert confidence(["high", "low"]) == "low"
    assert confidence([]) is None


@pytest.mark.requirement("X-05")
def test_one_debate_has_four_values_that_do_not_depend_on_each_other() -> None:
    # They repeat themselves and score each other well, and yet agree on nothing.
    said = {"anna": "Ship it now, the tests pass", "ben": "Stop it now, the tests lie"}
    listed = _debate("agree disagree")
    found = listed.points_of_round(1)
    assert agreement_pct([5, 5]).value == 100
    assert overlap(said, said).value == 1
    assert confidence(["high", "high"]) == "high"
    assert convergence_score(len(found.consensus), len(found.disagreement)).value == 0


@pytest.mark.requirement("Z-02")
def test_agreement_is_the_share_of_agreeing_pairs() -> None:
    assert agreement({"a": "x", "b": "x", "c": "y"}) == pytest.approx(1 / 3)
    assert agreement({"a": "disagree", "b": "disagree"}) == 1
    assert agreement({"a": "unsure", "b": "unsure"}) == 0
    assert agreement({"a": "x", "b": None}) is None
    assert agreement({}) is None
    assert mean_agreement([{"a": "x", "b": "x"}, {"a": "x", "b": "y"}, {"a": "x"}]) == 0.5
    assert mean_agreement([]) is None
    assert divergence([{"a": "x", "b": "y"}]) == 1
    assert divergence([]) is None


@pytest.mark.requirement("Z-02")
def test_stability_is_the_share_of_stances_that_a_round_left_alone() -> None:
    before: list[Positions] = [{"a": "x", "b": "y"}, {"a": "agree", "b": None}]
    after: list[Positions] = [{"a": "x", "b": "x"}, {"a": "agree", "b": "agree"}]
    assert stability(before, after) == pytest.approx(2 / 3)
    assert stability([], []) is None
    assert stability([{"a": "x"}], [{"b": "x"}]) is None


def rounds(*lines: str) -> list[Positions]:
    """One line a round, one position a participant; `-` is silent, `?` is unreadable."""
    return [
        {
            name: None if position == "?" else position
            for name, position in zip("abcdefg", line.split(), strict=False)
            if position != "-"
        }
        for line in lines
    ]


@pytest.mark.requirement("Z-02")
@pytest.mark.parametrize(
    ("lines", "end", "position", "steady"),
    [
        (("A A A", "A A A"), "consensus", "A", 1.0),
        (("A B B", "B B B"), "consensus", "B", 2 / 3),
        # All flip in the last round: the new view, and stability says that it is new.
        (("A A A", "A A A", "B B B"), "consensus", "B", 0.0),
        (("A A B", "A A B"), "majority", "A", 1.0),
        (("A B C", "A A C"), "majority", "A", 2 / 3),
        # Stable disagreement.
        (("A B", "A B", "A B"), "impasse", None, 1.0),
        (("A A B B", "A A B B"), "impasse", None, 1.0),
        (("A B C", "A B C"), "impasse", None, 1.0),
        (("agree disagree",), "impasse", None, None),
        # Positions that keep changing.
        (("A B", "B A", "A B"), "drift", None, 0.0),
        (("A B C", "B C A", "C A B"), "drift", None, 0.0),
        (("A A B", "B B A", "A A B"), "drift", None, 0.0),
        # One turn of the majority is a change of mind, not a drift.
        (("A A B", "A A B", "B B A"), "majority", "B", 0.0),
        # Who is silent still holds it; who is unreadable or unsure stands in the way.
        (("A A A", "A - A"), "consensus", "A", 1.0),
        (("A A A", "A ? A"), "majority", "A", 1.0),
        (("A A unsure",), "majority", "A", None),
        (("A unsure",), "impasse", None, None),
    ],
)
def test_scripted_debates_end_as_their_final_positions_and_movement_say(
    lines: tuple[str, ...], end: str, position: str | None, steady: float | None
) -> None:
    ending = name_end(rounds(*lines))
    assert (ending.end, ending.position) == (end, position)
    assert ending.stability == (steady if steady is None else pytest.approx(steady))
    assert ending.reason


@pytest.mark.parametrize("lines", [(), ("",), ("A",), ("A", "B"), ("? ?",), ("unsure unsure",)])
def test_without_two_positions_there_is_no_end_but_a_reason(lines: tuple[str, ...]) -> None:
    ending = name_end(rounds(*lines))
    assert ending.end is None
    assert ending.reason


def test_dissent_is_named() -> None:
    assert name_end(rounds("A A B")).dissenting == ("c",)
    assert name_end(rounds("A A A")).dissenting == ()
    assert name_end(rounds("A B")).dissenting == ("a", "b")


def _debate(*lines: str, points: int = 1, sure: float | None = None) -> PointList:
    """Each line is a round on the first point; further points are agreed on by all."""
    listed = PointList().raise_points(
        *(Point(id=f"p{i}", text=f"Claim {i}") for i in range(points))
    )
    for number, line in enumerate(rounds(*lines), 1):
        for name, position in line.items():
            for i in range(points):
                held = position if i == 0 else "agree"
                listed = listed.declare(_stance(name, f"p{i}", held, number, sure))
    return listed


def _stance(name: str, point: str, held: str | None, round_: int, sure: float | None) -> Stance:
    position: Position = "agree" if held == "agree" else "unsure"
    if held == "disagree":
        position = "disagree"
    return Stance(
        participant=name, point=point, position=position, round=round_,
        turn=f"{round_}/{name}", confidence=sure,
    )  # fmt: skip


@pytest.mark.requirement("Z-02")
def test_opposite_but_confident_is_an_impasse() -> None:
    assert (
        name_end_of_points(_debate("agree disagree", "agree disagree", sure=1.0)).end == "impasse"
    )


@pytest.mark.requirement("Z-02")
def test_the_same_words_with_opposite_verdicts_are_no_consensus() -> None:
    text = "The migration is safe"
    listed = PointList().raise_points(Point(id="x", text=text), Point(id="y", text=text))
    listed = listed.declare(
        _stance("a", "x", "agree", 1, 1.0), _stance("b", "y", "disagree", 1, 1.0)
    )
    assert name_end_of_points(listed).end == "impasse"


@pytest.mark.requirement("Z-02")
@pytest.mark.parametrize(
    ("listed", "end"),
    [
        (_debate("agree agree", "agree agree", points=3), "consensus"),
        (_debate("agree agree", "disagree disagree"), "consensus"),
        (_debate("agree agree disagree", points=3), "majority"),
        (_debate("agree disagree", "agree disagree", points=9), "impasse"),
        (_debate("agree disagree", "disagree agree"), "drift"),
        (PointList(), None),
        (_debate("agree"), None),
        (PointList().raise_points(Point(id="p", text="Nobody cares")), None),
    ],
)
def test_the_end_over_all_points(listed: PointList, end: str | None) -> None:
    assert name_end_of_points(listed).end == end


def test_the_end_over_all_points_has_both_numbers() -> None:
    ending = name_end_of_points(_debate("agree disagree", "agree agree", points=2))
    assert (ending.end, ending.agreement, ending.stability) == ("consensus", 1.0, 0.75)


HELD = st.sampled_from(["A", "B", "C", "unsure", None])
ROUNDS = st.lists(st.fixed_dictionaries(dict.fromkeys("abcd", HELD)), min_size=1, max_size=5)


@given(ROUNDS)
def test_an_end_is_a_consensus_exactly_when_all_hold_the_same_at_the_end(
    views: list[dict[str, str | None]],
) -> None:
    ending = name_end(views)
    last = set(views[-1].values())
    assert (ending.end == "consensus") == (len(last) == 1 and not last & {None, "unsure"})


@given(ROUNDS, st.permutations("abcd"))
def test_the_order_of_participants_does_not_matter(
    views: list[dict[str, str | None]], order: list[str]
) -> None:
    shuffled = [{name: view[name] for name in order} for view in views]
    one, two = name_end(views), name_end(shuffled)
    assert (one.end, one.position, one.agreement) == (two.end, two.position, two.agreement)
    assert one.stability == (
        two.stability if two.stability is None else pytest.approx(two.stability)
    )


@given(ROUNDS)
def test_shares_lie_between_nothing_and_all(views: list[dict[str, str | None]]) -> None:
    for share in (agreement(views[-1]), stability(views[:1], views[-1:]), mean_agreement(views)):
        assert share is None or 0 <= share <= 1


@given(st.text(max_size=40), st.text(max_size=40))
def test_overlap_is_symmetric(one: str, two: str) -> None:
    forth, back = overlap({"a": one}, {"a": two}).value, overlap({"a": two}, {"a": one}).value
    assert forth == back
    assert forth is None or 0 <= forth <= 1
