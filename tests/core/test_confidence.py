"""Confidence: computed from how agreement arose, never from what somebody claims."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.confidence import (
    LEAST_OUTCOMES,
    MOST_SHIFT,
    AgreementFacts,
    QuestionType,
    TurnedOut,
    Word,
    assess,
    learn_outcomes,
)

pytestmark = pytest.mark.requirement("Z-25")

ALL_THREE = AgreementFacts(seated=3, holding=3, independent=3, effective=3.0)
ORDER: tuple[Word, ...] = ("none", "low", "medium", "high")


def changed(facts: AgreementFacts, counts: dict[str, int]) -> AgreementFacts:
    return replace(facts, **counts)  # type: ignore[arg-type]


def probability(facts: AgreementFacts) -> float:
    found = assess(facts).probability
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("facts", "word", "reason"),
    [
        (
            ALL_THREE,
            "high",
            "All three reached it independently, before hearing each other.",
        ),
        (
            AgreementFacts(seated=2, holding=2, independent=2, effective=2.0),
            "high",
            "Both reached it independently, before hearing each other.",
        ),
        (
            AgreementFacts(seated=3, holding=2, independent=2, effective=3.0),
            "medium",
            "Two of three reached it independently, before hearing each other, one holds another "
            "answer.",
        ),
        (
            AgreementFacts(seated=3, holding=3, independent=2, moved=1, effective=3.0),
            "medium",
            "All three hold it in the end (two from the start, one moved by a named argument).",
        ),
        (
            AgreementFacts(seated=3, holding=3, independent=1, gave_in=2, effective=3.0),
            "low",
            "All three hold it in the end (one from the start, two without naming an argument).",
        ),
        (
            AgreementFacts(seated=3, holding=3, independent=1, moved=1, effective=3.0),
            "low",
            "All three hold it in the end (one from the start, one moved by a named argument, one "
            "having heard others first).",
        ),
        (
            AgreementFacts(seated=4, holding=2, independent=2, absent=1, abstaining=1, effective=2),
            "low",
            "Two of four reached it independently, before hearing each other, one abstained, one "
            "was absent.",
        ),
        (
            AgreementFacts(seated=3, holding=3, independent=3, effective=1.1),
            "medium",
            "All three reached it independently, before hearing each other; the seats count for "
            "hardly more than one independent voter.",
        ),
        (
            replace(ALL_THREE, conditional=1),
            "medium",
            "All three reached it independently, before hearing each other, one agrees only on a "
            "condition.",
        ),
        (
            replace(ALL_THREE, unsettled=True),
            "medium",
            "All three reached it independently, before hearing each other, a position of "
            "somebody's own was not put to the vote.",
        ),
        (
            AgreementFacts(seated=1, holding=1, independent=1),
            "low",
            "Only one seat answered, so nobody could confirm it or differ.",
        ),
    ],
)
def test_the_word_and_the_sentence_say_how_agreement_arose(
    facts: AgreementFacts, word: Word, reason: str
) -> None:
    found = assess(facts)
    assert (found.word, found.reason) == (word, reason)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (AgreementFacts(0, 0), "Nobody was seated, so there is nothing to count."),
        (AgreementFacts(3, 0, absent=3), "Everybody was absent, so there is nothing to count."),
        (
            AgreementFacts(3, 0, abstaining=3),
            "No vote stands behind an answer, so there is no confidence to give.",
        ),
        (
            AgreementFacts(3, 0, absent=2, abstaining=1, unsettled=True, declared=1.0),
            "No vote stands behind an answer, so there is no confidence to give.",
        ),
    ],
)
def test_without_a_vote_there_is_no_confidence(facts: AgreementFacts, reason: str) -> None:
    found = assess(facts)
    assert (found.probability, found.low, found.high) == (None, None, None)
    assert (found.word, found.reason, found.meaning) == ("none", reason, "")


def test_it_says_what_the_probability_means() -> None:
    assert assess(ALL_THREE).meaning == (
        "Of recorded debates that ended like this, about 8 in 10 were right."
    )


def test_what_stood_before_talk_is_worth_more_than_what_came_after() -> None:
    talked = replace(ALL_THREE, independent=1, moved=2)
    hollow = replace(ALL_THREE, independent=1, gave_in=2)
    assert probability(ALL_THREE) > probability(talked) > probability(hollow)


@pytest.mark.parametrize("seated", [2, 3, 5, 7, 1000])
@pytest.mark.parametrize("question", ["choice", "open", "yes_no"])
def test_agreement_without_arguments_is_never_high(seated: int, question: QuestionType) -> None:
    good = learn_outcomes([(0.5, "good")] * 500)
    for independent in range(seated // 2 + 1):
        facts = AgreementFacts(
            seated,
            seated,
            independent,
            gave_in=seated - independent,
            effective=seated,
            question=question,
            declared=1.0,
        )
        assert assess(facts, good).word in ("low", "medium")
        assert assess(facts).word == "low"


@pytest.mark.parametrize("change", ["absent", "abstaining", "against"])
@pytest.mark.parametrize("question", ["choice", "open", "yes_no"])
def test_whoever_is_missing_lowers_it(change: str, question: QuestionType) -> None:
    facts = replace(ALL_THREE, holding=2, independent=2, effective=2.0, question=question)
    if change != "against":
        facts = changed(facts, {change: 1})
    assert probability(facts) < probability(replace(ALL_THREE, question=question)) - 0.05


def test_declared_confidence_counts_little() -> None:
    sure, unsure = (probability(replace(ALL_THREE, declared=d)) for d in (1.0, 0.0))
    assert 0 < sure - unsure < 0.05


@pytest.mark.parametrize(
    "values",
    [
        {"seated": -1, "holding": 0},
        {"seated": 1, "holding": 2},
        {"seated": 3, "holding": 2, "absent": 2},
        {"seated": 3, "holding": 2, "independent": 2, "gave_in": 1},
        {"seated": 3, "holding": 2, "conditional": 3},
        {"seated": 3, "holding": 2, "effective": float("nan")},
        {"seated": 3, "holding": 2, "effective": float("inf")},
        {"seated": 3, "holding": 2, "declared": float("nan")},
        {"seated": 3, "holding": 2, "declared": 85.0},
    ],
)
def test_facts_that_cannot_be_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        AgreementFacts(**values)  # type: ignore[arg-type]


# --- outcomes ------------------------------------------------------------------------------------


def test_a_few_outcomes_move_nothing() -> None:
    few = learn_outcomes([(0.8, "bad")] * (LEAST_OUTCOMES - 1))
    assert few.shift == 0
    assert assess(ALL_THREE, few) == assess(ALL_THREE)
    assert learn_outcomes([]).reason == "No outcomes are recorded."


def test_outcomes_move_the_estimate_towards_the_users_own_record() -> None:
    halved: list[tuple[float, TurnedOut]] = [(0.8, "bad"), (0.8, "good")]
    bad = learn_outcomes(halved * 10)
    good = learn_outcomes([(0.6, "good")] * 20)
    as_told = learn_outcomes([halved[1]] * 16 + [halved[0]] * 4)
    assert bad.shift < -0.3
    assert good.shift > 0.3
    assert as_told.shift == pytest.approx(0, abs=1e-3)
    assert bad.reason == "Of 20 decisions 50% turned out well, where 80% were expected."
    assert probability(ALL_THREE) > (assess(ALL_THREE, bad).probability or 1)
    assert assess(ALL_THREE, bad).meaning.endswith("20 outcomes of your own decisions counted in.")


def test_more_of_the_same_outcomes_move_it_further_but_never_beyond_the_bound() -> None:
    half: list[tuple[float, TurnedOut]] = [(0.8, "bad"), (0.8, "good")]
    shifts = [learn_outcomes(half * n).shift for n in (5, 20, 5_000)]
    assert 0 > shifts[0] > shifts[1] >= shifts[2] >= -MOST_SHIFT


def test_mixed_outcomes_count_half() -> None:
    mixed = learn_outcomes([(0.5, "mixed")] * 20)
    assert mixed.shift == pytest.approx(0, abs=1e-6)


def test_outcomes_with_impossible_probabilities_are_left_out() -> None:
    strange = [(float("nan"), "good"), (0.0, "good"), (1.0, "bad"), (7.0, "good")] * 5
    assert learn_outcomes(strange).count == 0  # type: ignore[arg-type]


# --- what holds for every table ------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> AgreementFacts:
    independent, moved, gave_in, against, absent, abstaining = draw(
        st.tuples(*[st.integers(0, 6)] * 6).filter(lambda t: sum(t[:3]) > 0 and sum(t) > 1)
    )
    holding = independent + moved + gave_in
    seated = holding + against + absent + abstaining
    return AgreementFacts(
        seated,
        holding,
        independent,
        moved,
        gave_in,
        absent,
        abstaining,
        draw(st.integers(0, holding)),
        draw(st.floats(1, seated)),
        draw(st.booleans()),
        draw(st.sampled_from(["choice", "open", "yes_no"])),
        draw(st.none() | st.floats(0, 1)),
    )


def at_least(one: AgreementFacts, other: AgreementFacts) -> bool:
    a, b = assess(one), assess(other)
    return probability(one) >= probability(other) - 1e-12 and ORDER.index(a.word) >= ORDER.index(
        b.word
    )


@given(tables())
def test_every_figure_is_a_share_in_its_band(facts: AgreementFacts) -> None:
    found = assess(facts)
    assert found.probability is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low <= found.probability <= found.high < 1
    assert all(isfinite(x) for x in (found.low, found.probability, found.high))
    assert found.reason.endswith(".")


@given(tables(), st.sampled_from(["moved", "gave_in", "against", "absent", "abstaining"]))
def test_more_independent_agreement_never_lowers_it(facts: AgreementFacts, instead: str) -> None:
    """One seat more that held it from the start, in place of another or beside the others."""
    beside = replace(facts, seated=facts.seated + 1, holding=facts.holding + 1,
                     independent=facts.independent + 1)  # fmt: skip
    assert at_least(beside, facts)
    if not getattr(facts, instead):
        return
    more = {"independent": facts.independent + 1}
    if instead != "against":
        more[instead] = getattr(facts, instead) - 1
    if instead not in ("moved", "gave_in"):
        more["holding"] = facts.holding + 1
    assert at_least(changed(facts, more), facts)


@given(tables(), st.sampled_from(["independent", "moved", "against"]))
def test_giving_in_never_raises_it(facts: AgreementFacts, instead: str) -> None:
    if not getattr(facts, instead):
        return
    less = {"gave_in": facts.gave_in + 1}
    if instead == "against":
        less["holding"] = facts.holding + 1
    else:
        less[instead] = getattr(facts, instead) - 1
    assert at_least(facts, changed(facts, less))


@given(tables())
def test_conditions_and_unsettled_positions_never_raise_it(facts: AgreementFacts) -> None:
    assert at_least(replace(facts, unsettled=False), facts)
    assert at_least(replace(facts, conditional=0), facts)


@given(tables(), st.floats(1, 40))
def test_more_effective_voters_never_lower_it(facts: AgreementFacts, number: float) -> None:
    one, two = sorted((facts.effective, min(number, facts.seated)))
    assert at_least(replace(facts, effective=two), replace(facts, effective=one))


@given(tables(), st.integers(0, 5))
def test_one_more_who_is_missing_never_raises_it(facts: AgreementFacts, more: int) -> None:
    for name in ("absent", "abstaining"):
        missing = replace(facts, seated=facts.seated + more, **{name: getattr(facts, name) + more})
        assert at_least(facts, missing)


@pytest.mark.parametrize("effective", [1.0, 3.0])
@pytest.mark.parametrize("question", ["choice", "open", "yes_no"])
def test_the_word_follows_from_the_band_by_one_rule(
    effective: float, question: QuestionType
) -> None:
    tops: dict[Word, list[float]] = {"low": [], "medium": [], "high": []}
    for seated in range(1, 6):
        for independent in range(seated + 1):
            for gave_in in range(seated - independent + 1):
                holding = independent + gave_in
                facts = AgreementFacts(
                    seated,
                    holding,
                    independent,
                    gave_in=gave_in,
                    effective=effective,
                    question=question,
                )
                found = assess(facts)
                if found.high is not None:
                    tops[found.word].append(found.high)
    ends = [(min(tops[word]), max(tops[word])) for word in ("low", "medium", "high") if tops[word]]
    assert all(lower[1] < upper[0] for lower, upper in itertools.pairwise(ends))
