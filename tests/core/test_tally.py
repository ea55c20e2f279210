"""Tallies: profiles from the textbooks, bad ballots, and the laws that no order may break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.tally import (
    RULES,
    Rule,
    Vote,
    calibrated,
    final_votes,
    tally,
    without_self_votes,
)

BY_DUELS: tuple[Rule, ...] = ("copeland", "schulze", "ranked_pairs")


def profile(text: str) -> list[Vote]:
    """Ballots as textbooks print them: `45 A>B=C; 12 C` and so on."""
    votes: list[Vote] = []
    for line in text.split(";"):
        count, ranking = line.split(maxsplit=1)
        groups = tuple(tuple(g.strip() for g in group.split("=")) for group in ranking.split(">"))
        votes += [Vote(f"v{len(votes) + n}", groups) for n in range(int(count))]
    return votes


def winners(votes: Sequence[Vote], options: Sequence[str] | None = None) -> dict[Rule, str]:
    return {r: " ".join(sorted(o.winners)) for r, o in tally(votes, options).outcomes.items()}


TENNESSEE = profile("42 M>N>C>K; 26 N>C>K>M; 15 C>K>N>M; 17 K>C>N>M")
FORTY_FIVE = profile(
    "5 A>C>B>E>D; 5 A>D>E>C>B; 8 B>E>D>A>C; 3 C>A>B>E>D; 7 C>A>E>B>D; 2 C>B>A>D>E;"
    "7 D>C>E>B>A; 8 E>B>A>D>C"
)
PARADOX = profile("1 A>B>C; 1 B>C>A; 1 C>A>B")


# --- textbook profiles ---------------------------------------------------------------------------


@pytest.mark.requirement("Z-03")
def test_the_capital_of_tennessee() -> None:
    found = winners(TENNESSEE)
    assert found["plurality"] == "M"
    assert {found[rule] for rule in ("borda", *BY_DUELS)} == {"N"}
    counted = tally(TENNESSEE).outcomes
    assert counted["borda"].scores == {"M": 126, "N": 194, "C": 173, "K": 107}
    assert counted["copeland"].scores == {"N": 3, "C": 2, "K": 1, "M": 0}


@pytest.mark.requirement("Z-03")
def test_the_45_voters_of_schulze() -> None:
    outcome = tally(FORTY_FIVE).outcomes["schulze"]
    assert outcome.winners == ("E",)
    # The published order of the five is E > A > C > B > D.
    assert sorted(outcome.scores, key=lambda o: -outcome.scores[o]) == list("EACBD")
    assert winners(FORTY_FIVE)["ranked_pairs"] == "A"
    assert tally(FORTY_FIVE).alarm


@pytest.mark.requirement("Z-03")
def test_a_majority_that_borda_outvotes() -> None:
    votes = profile("3 A>B>C; 2 B>C>A")
    found = winners(votes)
    assert found["borda"] == "B"
    assert {found[rule] for rule in ("plurality", *BY_DUELS)} == {"A"}
    assert tally(votes).alarm


@pytest.mark.requirement("Z-03")
def test_bordas_own_example_against_plurality() -> None:
    # Borda 1781: 8 of 21 put A first, and a majority of 13 would have either of the others.
    votes = profile("1 A>B>C; 7 A>C>B; 7 B>C>A; 6 C>B>A")
    found = winners(votes)
    assert found["plurality"] == "A"
    assert found["borda"] == "C"
    assert {found[rule] for rule in BY_DUELS} == {"C"}


@pytest.mark.requirement("Z-03")
def test_ranked_pairs_leaves_out_the_weakest_duel_of_a_circle() -> None:
    # Margins: B beats C by 5, A beats B by 3, C beats A by 1; the last one is left out.
    votes = profile("4 A>B>C; 3 B>C>A; 2 C>A>B")
    assert winners(votes)["ranked_pairs"] == "A"
    assert winners(votes)["schulze"] == "A"


@pytest.mark.requirement("Z-03")
def test_approval_counts_what_voters_could_live_with() -> None:
    votes = [
        Vote.of("a", "X", approved=frozenset({"X", "Z"})),
        Vote.of("b", "X", approved=frozenset({"X"})),
        Vote.of("c", "Y", approved=frozenset({"Y", "Z"})),
        Vote.of("d", "Z"),
    ]
    found = tally(votes).outcomes
    assert found["approval"].scores == {"X": 2, "Y": 1, "Z": 3}
    assert found["approval"].winners == ("Z",)
    assert found["plurality"].winners == ("X",)
    assert tally(votes).alarm


@pytest.mark.requirement("Z-03")
def test_confidence_is_worth_what_its_bucket_is() -> None:
    declared = (None, 0.0, 0.6, 0.61, 0.79, 0.8, 0.89, 0.9, 0.99, 1.0)
    assert [calibrated(each) for each in declared] == [
        0.3, 0.1, 0.1, 0.3, 0.3, 0.5, 0.5, 0.8, 0.8, 1.0,
    ]  # fmt: skip
    for nonsense in (float("nan"), float("inf"), 85.0, -0.1):
        assert calibrated(nonsense) == calibrated(None)


@pytest.mark.requirement("Z-03")
def test_one_sure_voter_outweighs_two_who_guess_and_not_three_who_are_fairly_sure() -> None:
    guess = [Vote.of("a", "X", confidence=0.5), Vote.of("b", "X", confidence=0.6)]
    sure = Vote.of("c", "Y", confidence=1.0)
    found = tally([*guess, sure]).outcomes
    assert found["confidence"].winners == ("Y",)
    assert found["plurality"].winners == ("X",)
    fairly = [Vote.of(name, "X", confidence=0.85) for name in "abd"]
    assert tally([*fairly, sure]).outcomes["confidence"].winners == ("X",)


# --- ties and circles ----------------------------------------------------------------------------


@pytest.mark.requirement("Z-03")
def test_the_paradox_of_condorcet_is_a_tie_by_every_rule() -> None:
    counted = tally(PARADOX)
    assert set(winners(PARADOX).values()) == {"A B C"}
    assert not counted.alarm
    assert counted.winner() is None


def test_a_tie_names_all_who_are_tied_and_no_single_winner() -> None:
    counted = tally(profile("2 A; 2 B; 1 C>A=B"))
    assert counted.outcomes["plurality"].winners == ("A", "B")
    assert counted.winner("plurality") is None
    assert tally(profile("2 A; 1 B")).winner("plurality") == "A"


def test_thirds_that_add_up_to_one_are_a_whole_vote() -> None:
    votes = [*profile("3 A=B=C"), Vote.of("d", "D")]
    assert set(tally(votes).outcomes["plurality"].winners) == {"A", "B", "C", "D"}


def test_tied_and_partial_rankings() -> None:
    counted = tally([Vote("a", (("X", "Y"), ("Z",))), Vote.of("b", "Z")], ["X", "Y", "Z"])
    assert counted.outcomes["plurality"].scores == {"X": 0.5, "Y": 0.5, "Z": 1}
    assert counted.outcomes["borda"].scores == {"X": 2, "Y": 2, "Z": 2}
    # Who leaves options out prefers what it names to them, and none of them to another.
    assert counted.outcomes["copeland"].scores == {"X": 1, "Y": 1, "Z": 1}


# --- bad ballots ---------------------------------------------------------------------------------


def test_no_ballots_have_no_winner() -> None:
    for options in (None, [], ["A", "B"]):
        counted = tally([], options)
        assert set(winners([], options).values()) == {""}
        assert (counted.alarm, counted.winner(), counted.voters) == (False, None, ())


def test_one_voter_gets_what_it_wants() -> None:
    votes = [Vote.of("a", "B", "A")]
    assert set(winners(votes, ["A", "B", "C"]).values()) == {"B"}
    assert set(winners([Vote.of("a", "A")], ["A"]).values()) == {"A"}


def test_unknown_options_are_named_and_not_counted() -> None:
    votes = [
        Vote.of("a", "Z", "A"),
        Vote.of("b", "Z"),
        Vote.of("c", "B", "A", approved=frozenset({"B", "Q"})),
        Vote.of("d", "A"),
    ]
    counted = tally(votes, ["A", "B"])
    assert counted.unknown == {"a": ("Z",), "b": ("Z",), "c": ("Q",)}
    assert counted.voters == ("a", "c", "d")
    assert counted.outcomes["plurality"].scores == {"A": 2, "B": 1}


def test_options_named_twice_count_once_where_they_stand_first() -> None:
    votes = [Vote("a", (("A", "A"), ("B",), ("A", "C")))]
    counted = tally(votes, ["A", "B", "A", "C"])
    assert counted.options == ("A", "B", "C")
    assert counted.outcomes["borda"].scores == {"A": 2, "B": 1, "C": 0}
    assert counted.outcomes["plurality"].scores["A"] == 1


def test_a_ballot_that_only_approves_counts_for_approval_alone() -> None:
    votes = [Vote("a", (), approved=frozenset({"A", "B"})), Vote.of("b", "B")]
    counted = tally(votes)
    assert counted.voters == ("a", "b")
    assert counted.outcomes["approval"].scores == {"A": 1, "B": 2}
    assert counted.outcomes["plurality"].scores == {"A": 0, "B": 1}
    only = tally(votes[:1])
    assert only.outcomes["approval"].winners == ("A", "B")
    assert only.outcomes["schulze"].winners == ()


def test_a_ballot_that_says_nothing_is_no_ballot() -> None:
    nothing = [Vote("a", ()), Vote("b", ((),)), Vote("c", (), approved=frozenset())]
    assert tally(nothing, ["A"]).voters == ()
    nobody = [Vote.of("a", "A", approved=frozenset())]
    assert tally(nobody).outcomes["approval"].winners == ()


# --- who counts ----------------------------------------------------------------------------------


@pytest.mark.requirement("Z-03")
def test_only_the_last_ballot_of_a_voter_counts() -> None:
    first = [Vote.of(f"v{n}", "A", "B", round=1) for n in range(5)]
    last = [Vote.of(f"v{n}", "B", "A", round=2) for n in range(5)]
    assert set(winners([*first, *last]).values()) == {"B"}
    # An early ballot that arrives late does not come back to life.
    assert set(winners([*last, *first]).values()) == {"B"}
    twice = [Vote.of("v", "A", round=2), Vote.of("v", "C", round=2), Vote.of("v", "B", round=1)]
    assert final_votes(twice) == [Vote.of("v", "C", round=2)]


@pytest.mark.requirement("Z-03", "Z-05")
def test_nobody_votes_for_its_own_work() -> None:
    author = {"a": "anna", "b": "ben", "c": "cleo"}
    votes = [Vote.of("anna", "a", "b", "c"), Vote.of("ben", "b", "c", "a"), Vote.of("cleo", "c")]
    fair = without_self_votes(votes, author)
    assert [vote.ranking for vote in fair] == [(("b",), ("c",)), (("c",), ("a",)), ()]
    assert tally(fair, list(author)).voters == ("anna", "ben")
    found = winners(fair, list(author))
    assert found["schulze"] == "b"


@pytest.mark.requirement("Z-03", "Z-05")
def test_a_voters_own_work_is_not_put_last_on_its_ballot_either() -> None:
    # Anna alone votes, and only on the others: her own work loses no duel by her hand.
    fair = without_self_votes([Vote.of("anna", "a", "b", "c")], {"a": "anna"})
    counted = tally(fair, ["a", "b", "c"])
    assert counted.outcomes["borda"].scores == {"a": 1, "b": 1.5, "c": 0.5}
    assert counted.outcomes["copeland"].scores == {"a": 1, "b": 1.5, "c": 0.5}
    assert counted.outcomes["schulze"].winners == ("a", "b")
    approved = Vote.of("anna", "b", approved=frozenset({"a", "b"}))
    (kept,) = without_self_votes([approved], {"a": "anna"})
    assert kept.approved == frozenset({"b"})


@pytest.mark.requirement("Z-03")
def test_the_alarm_is_silent_when_the_rules_share_a_winner() -> None:
    assert not tally(profile("3 A>B>C; 1 B>A>C")).alarm
    assert not tally(profile("1 A>B; 1 B>A")).alarm
    assert tally(TENNESSEE).alarm


# --- laws ----------------------------------------------------------------------------------------

NAMES = ("A", "B", "C", "D")


@st.composite
def ballots(draw: st.DrawFn) -> list[Vote]:
    """Complete, partial and tied ballots of up to seven voters."""
    votes = []
    for n in range(draw(st.integers(1, 7))):
        order = draw(st.permutations(NAMES))
        kept = draw(st.integers(1, len(NAMES)))
        groups: list[tuple[str, ...]] = []
        for option in order[:kept]:
            tied: bool = draw(st.booleans())
            if groups and tied:
                groups[-1] = (*groups[-1], option)
            else:
                groups.append((option,))
        sure = draw(st.sampled_from([None, 0.5, 0.7, 0.85, 0.95, 1.0]))
        votes.append(Vote(f"v{n}", tuple(groups), sure))
    return votes


def renamed(votes: Sequence[Vote], names: Mapping[str, str]) -> list[Vote]:
    return [
        Vote(v.voter, tuple(tuple(names[o] for o in group) for group in v.ranking), v.confidence)
        for v in votes
    ]


@pytest.mark.requirement("Z-03")
@settings(max_examples=60)
@given(ballots(), st.permutations(NAMES), st.permutations(NAMES), st.randoms())
def test_neither_names_nor_order_decide(
    votes: list[Vote], order: list[str], other: list[str], chance: object
) -> None:
    """Neutral: other names, other winners' names. Anonymous: any order gives the same."""
    names = dict(zip(NAMES, other, strict=True))
    shuffled = list(votes)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    before = tally(votes, NAMES)
    after = tally(renamed(shuffled, names), order)
    for rule in RULES:
        assert {names[o] for o in before.outcomes[rule].winners} == set(
            after.outcomes[rule].winners
        )
        for option in NAMES:
            assert after.outcomes[rule].scores[names[option]] == pytest.approx(
                before.outcomes[rule].scores[option]
            )
    assert before.alarm == after.alarm


@pytest.mark.requirement("Z-03")
@settings(max_examples=100)
@given(ballots())
def test_whoever_beats_all_others_wins_every_rule_of_duels(votes: list[Vote]) -> None:
    place = [{o: n for n, group in enumerate(v.ranking) for o in group} for v in votes]

    def above(a: str, b: str) -> int:
        return sum(at.get(a, 99) < at.get(b, 99) for at in place)

    beats_all = [a for a in NAMES if all(above(a, b) > above(b, a) for b in NAMES if b != a)]
    counted = tally(votes, NAMES)
    for rule in BY_DUELS:
        assert counted.outcomes[rule].winners
        if beats_all:
            assert list(counted.outcomes[rule].winners) == beats_all


@settings(max_examples=40)
@given(st.integers(1, 6), st.permutations(NAMES))
def test_unanimity_wins_by_every_rule(count: int, order: list[str]) -> None:
    votes = [Vote.of(f"v{n}", *order) for n in range(count)]
    assert set(winners(votes, NAMES).values()) == {order[0]}
    assert not tally(votes, NAMES).alarm


@settings(max_examples=60)
@given(ballots())
def test_nobody_who_is_below_another_on_every_ballot_wins(votes: list[Vote]) -> None:
    counted = tally(votes, NAMES)
    for a, b in permutations(NAMES, 2):
        place = [{o: n for n, g in enumerate(v.ranking) for o in g} for v in votes]
        if all(at.get(a, 99) < at.get(b, 99) for at in place):
            for rule in ("borda", *BY_DUELS):
                assert b not in counted.outcomes[rule].winners


@settings(max_examples=60)
@given(ballots())
def test_doubling_every_ballot_changes_no_winner(votes: list[Vote]) -> None:
    doubled = [*votes, *(Vote(f"{v.voter}'", v.ranking, v.confidence) for v in votes)]
    assert winners(votes, NAMES) == winners(doubled, NAMES)


def test_forty_options_and_fifty_voters_are_counted_at_once() -> None:
    options = [f"o{n}" for n in range(40)]
    votes = [Vote.of(f"v{n}", *options[n % 40 :], *options[: n % 40]) for n in range(50)]
    assert set(tally(votes, options).outcomes) == set(RULES)
