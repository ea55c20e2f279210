"""Track records: trust learned from agreement alone, and the default rule that uses it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.tally import Vote
from roundtable.core.track_record import (
    ENOUGH,
    NO_RECORD,
    TrackRecord,
    answers_of,
    choose,
    learn,
)


def history(skills: dict[str, float], questions: int, seed: int = 3) -> list[dict[str, str]]:
    """Voters who know the answer with some probability, and guess among nine otherwise."""
    chance = random.Random(seed)
    return [
        {
            voter: f"{n}: " + ("right" if chance.random() < skill else str(chance.randrange(9)))
            for voter, skill in skills.items()
        }
        for n in range(questions)
    ]


SKILLS = {"expert": 0.95, "good": 0.8, "fair": 0.6, "poor": 0.3, "worse": 0.2}


@pytest.mark.requirement("Z-03")
def test_better_voters_weigh_more_though_nobody_said_what_is_right() -> None:
    record = learn(history(SKILLS, 60))
    assert record.learned
    assert sorted(record.weights, key=lambda v: -record.weights[v]) == list(SKILLS)
    assert sum(record.weights.values()) == pytest.approx(len(SKILLS))
    assert "60 past questions" in record.reason


@pytest.mark.requirement("Z-03")
def test_where_nobody_has_more_than_half_those_who_are_mostly_right_decide() -> None:
    record = learn(history({**SKILLS, "worst": 0.1, "lost": 0.1}, 60))
    votes = [Vote.of(v, "X") for v in ("expert", "good")]
    votes += [Vote.of(v, "Y") for v in ("poor", "worse", "worst")]
    votes += [Vote.of("fair", "Z"), Vote.of("lost", "W")]
    assert choose(votes).winners == ("Y",)
    chosen = choose(votes, record)
    assert (chosen.winner, chosen.weighted) == ("X", True)


@pytest.mark.requirement("Z-03")
def test_a_record_never_overrules_more_than_half() -> None:
    record = learn(history(SKILLS, 60))
    votes = [Vote.of(v, "X") for v in ("expert", "good")]
    votes += [Vote.of(v, "Y") for v in ("fair", "poor", "worse")]
    assert choose(votes, record).winner == "Y"
    assert choose(votes[:4], record).winner == "X"


@pytest.mark.requirement("Z-03")
def test_one_voter_alone_never_outvotes_several() -> None:
    record = TrackRecord({"expert": 100.0}, 50, "")
    votes = [Vote.of("expert", "X"), *(Vote.of(v, "Y") for v in ("poor", "worse"))]
    votes += [Vote.of("fair", "Z"), Vote.of("good", "W")]
    assert choose(votes, record).winner == "Y"


@pytest.mark.requirement("Z-03")
def test_one_voter_alone_never_overturns_a_majority() -> None:
    record = TrackRecord({"expert": 100.0}, 50, "")
    votes = [Vote.of("expert", "X"), Vote.of("poor", "Y"), Vote.of("worse", "Y")]
    chosen = choose(votes, record)
    assert chosen.winner == "Y"
    assert "majority" in chosen.reason
    # Where nobody has a majority, it is the most trusted one that decides.
    assert choose([*votes[:2], Vote.of("worse", "Z")], record).winner == "X"


@pytest.mark.parametrize(
    ("past", "why"),
    [
        ([], f"{ENOUGH} are needed"),
        (history(SKILLS, ENOUGH - 1), f"{ENOUGH} are needed"),
        ([{"a": "x"}] * 50, f"{ENOUGH} are needed"),
        ([{"a": "x", "b": "y"}] * 50, "two voters"),
        ([{"a": "x", "b": "y", "c": "z"}] * 50, "by chance"),
        ([{"a": "yes", "b": "yes", "c": "yes"}] * 50, "by chance"),
    ],
)
def test_with_too_little_to_learn_from_all_are_equal_and_it_says_why(
    past: list[dict[str, str]], why: str
) -> None:
    record = learn(past)
    assert not record.learned
    assert why in record.reason
    assert record.weight("a") == 1
    chosen = choose([Vote.of("a", "X"), Vote.of("b", "Y"), Vote.of("c", "Y")], record)
    assert (chosen.winner, chosen.weighted) == ("Y", False)
    assert why in chosen.reason


def test_voters_of_like_strength_keep_like_weights() -> None:
    record = learn(history(dict.fromkeys("abcde", 0.7), 200))
    assert max(record.weights.values()) < 1.5 * min(record.weights.values())


def test_a_newcomer_counts_as_an_average_voter() -> None:
    assert learn(history(SKILLS, 60)).weight("newcomer") == 1


def test_only_those_at_the_table_testify() -> None:
    past = history(SKILLS, 60)
    alone = [
        {v: a for v, a in answers.items() if v in ("good", "fair", "poor")} for answers in past
    ]
    assert learn(past, ["good", "fair", "poor"]) == learn(alone)


def test_the_history_holds_final_single_first_choices() -> None:
    votes = [
        Vote.of("a", "X", "Y"),
        Vote.of("a", "Y", round=2),
        Vote("b", (("X", "Y"),)),
        Vote("c", ()),
    ]
    assert answers_of(votes) == {"a": "Y"}


# --- the default rule ----------------------------------------------------------------------------


def test_ties_are_broken_by_the_rest_of_the_ballots_and_then_by_confidence() -> None:
    split = [Vote.of("a", "X", "Z", "Y"), Vote.of("b", "Y", "Z", "X"), Vote.of("c", "Z", "X", "Y")]
    chosen = choose(split)
    assert chosen.winners == ("Z",)
    assert "borda" in chosen.reason
    sure = [Vote.of("a", "X", confidence=0.5), Vote.of("b", "Y", confidence=0.95)]
    assert choose(sure).winners == ("Y",)
    assert "confidence" in choose(sure).reason


def test_a_tie_that_nothing_breaks_is_told_and_no_order_decides_it() -> None:
    votes = [Vote.of("a", "Y"), Vote.of("b", "X")]
    for order in (votes, votes[::-1]):
        chosen = choose(order)
        assert set(chosen.winners) == {"X", "Y"}
        assert chosen.tied
        assert chosen.winner == "X"
        assert "nothing in the ballots" in chosen.reason


def test_bad_ballot_boxes() -> None:
    assert choose([]).winner is None
    assert choose([Vote("a", ())], options=["X"]).winners == ()
    foreign = [Vote.of("a", "Q", "X"), Vote.of("b", "Q")]
    assert choose(foreign, options=["X", "Y"]).winners == ("X",)
    flipped = [Vote.of("a", "X"), Vote.of("a", "Y", round=2)]
    assert choose(flipped).winners == ("Y",)


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from("XYZ"), min_size=1, max_size=7),
    st.integers(0, 2**16),
    st.booleans(),
)
def test_the_default_depends_on_no_order(first: list[str], seed: int, recorded: bool) -> None:
    record = learn(history(dict.fromkeys("abcdefg", 0.5), 40)) if recorded else NO_RECORD
    votes = [Vote.of(voter, option) for voter, option in zip("abcdefg", first, strict=False)]
    shuffled = random.Random(seed).sample(votes, len(votes))
    assert set(choose(votes, record).winners) == set(choose(shuffled, record).winners)
    assert choose(votes, record).winner == choose(shuffled, record).winner


@settings(max_examples=20)
@given(st.permutations(sorted(SKILLS)), st.integers(0, 2**16))
def test_the_record_depends_on_no_order(order: list[str], seed: int) -> None:
    past = history(SKILLS, 40)
    mixed = [{v: answers[v] for v in order} for answers in past]
    random.Random(seed).shuffle(mixed)
    one, two = learn(past), learn(mixed)
    assert one.weights == pytest.approx(dict(two.weights))


def test_a_unanimous_table_cannot_be_outvoted_by_any_record() -> None:
    record = TrackRecord({"a": 0.01, "b": 3.0}, 20, "")
    assert choose([Vote.of("a", "X"), Vote.of("b", "X")], record).winner == "X"


def test_those_who_always_say_the_same_agree_by_chance_alone() -> None:
    chance = random.Random(5)
    past = []
    for _ in range(120):
        right = chance.choice(["yes", "no"])
        wrong = "no" if right == "yes" else "yes"
        past.append(
            {
                "keen": right if chance.random() < 0.9 else wrong,
                "good": right if chance.random() < 0.85 else wrong,
                "fair": right if chance.random() < 0.75 else wrong,
                "yes-man": "yes",
                "naysayer": "no",
            }
        )
    record = learn(past)
    assert record.weight("fair") > 5 * record.weight("yes-man")
    assert record.weight("fair") > 5 * record.weight("naysayer")
    # And yet, if nobody else votes, one who is not trusted decides.
    assert choose([Vote.of("yes-man", "X")], record, ["X", "Y"]).winners == ("X",)
