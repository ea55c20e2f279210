"""Voters: copies of a model are one voter, and the one rule names the winner by voters."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from roundtable.core.events import AttemptFinished
from roundtable.core.tally import Vote
from roundtable.core.track_record import NO_RECORD, Answers
from roundtable.core.values import OUTSIDE_SPEAKER, SpeakerRef
from roundtable.core.voter_groups import groups_of, served_alike
from roundtable.core.voters import (
    Groups,
    bare_model,
    decide,
    effective_voters,
    learn_record,
    merge_twins,
)
from tests.views.tables import opened, seat, speech, told

pytestmark = pytest.mark.requirement("Z-26")

SKILLS = {"best": 0.9, "good": 0.75, "fair": 0.6, "weak": 0.25}


def seats(**models: str) -> dict[str, SpeakerRef]:
    """Seats on models; `family/model` names the family too."""
    return {
        seat: SpeakerRef(model=model.rpartition("/")[2], family=model.rpartition("/")[0])
        for seat, model in models.items()
    }


def history(
    skills: Mapping[str, float] = SKILLS,
    copies: Mapping[str, str] | None = None,
    vary: float = 0.0,
    questions: int = 80,
) -> list[Answers]:
    """Models that know the answer with some probability and guess among five wrong ones otherwise;
    a copy repeats its original, but for a share of answers of its own."""
    chance = random.Random(26)
    past: list[Answers] = []
    for n in range(questions):

        def own(skill: float, n: int = n) -> str:
            return f"{n}: " + ("right" if chance.random() < skill else str(chance.randrange(5)))

        answers = {model: own(skill) for model, skill in skills.items()}
        for copy, original in (copies or {}).items():
            varied = chance.random() < vary
            answers[copy] = own(skills[original]) if varied else answers[original]
        past.append(answers)
    return past


def votes(**choices: str) -> list[Vote]:
    return [Vote.of(seat, choice) for seat, choice in choices.items()]


def held(groups: Groups) -> list[tuple[str, ...]]:
    return [group.seats for group in groups.groups]


# --- who is one voter ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("gpt-6", "gpt-6", True),
        ("openai/gpt-6", "openrouter/openai/gpt-6", True),
        ("openai/gpt-6", "GPT-6:free", True),
        ("llama-4@here", "llama-4@there", True),
        ("claude-3.5", "claude-3-5", True),
        ("llama3:8b", "llama3:70b", False),
        ("gpt-6", "gpt-6-mini", False),
    ],
)
def test_the_same_model_is_recognised_whatever_servers_put_around_its_name(
    one: str, two: str, same: bool
) -> None:
    assert (bare_model(one) == bare_model(two)) is same
    groups = merge_twins({"a": SpeakerRef(model=one), "b": SpeakerRef(model=two)})
    assert held(groups) == ([("a", "b")] if same else [("a",), ("b",)])


def test_seats_on_one_model_are_one_voter_and_others_are_their_own() -> None:
    groups = merge_twins(seats(ann="gpt/x", ben="gpt/x", cem="claude/y"))
    assert held(groups) == [("ann", "ben"), ("cem",)]
    assert [group.cause for group in groups.groups] == ["same model", "alone"]


def test_a_family_alone_is_a_suspicion_and_merges_nobody() -> None:
    groups = merge_twins(seats(ann="gpt/x", ben="gpt/y"))
    assert held(groups) == [("ann",), ("ben",)]
    assert 1.5 < effective_voters(groups).number < 2


def test_people_and_outside_speakers_are_voters_of_their_own() -> None:
    groups = merge_twins({"me": OUTSIDE_SPEAKER, "you": OUTSIDE_SPEAKER, **seats(ann="x")})
    assert held(groups) == [("ann",), ("me",), ("you",)]
    assert effective_voters(groups).number == 3


def test_a_copy_under_another_name_is_recognised_by_its_answers() -> None:
    past = history(copies={"weak again": "weak", "weak once more": "weak"})
    names = {**{m: m for m in SKILLS}, "u": "weak again", "v": "weak once more"}
    groups = merge_twins(seats(**names), past)
    assert held(groups) == [("best",), ("fair",), ("good",), ("u", "v", "weak")]
    assert groups.groups[-1].cause == "same answers"


def test_good_models_that_agree_because_they_are_right_stay_apart() -> None:
    skills = {"a": 0.95, "b": 0.95, "c": 0.93, "d": 0.5, "e": 0.4}
    groups = merge_twins(seats(**{m: m for m in skills}), history(skills, questions=150))
    assert held(groups) == [(m,) for m in skills]


def test_a_copy_that_varies_is_merged_within_its_family_and_suspected_outside_of_it() -> None:
    past = history(copies={"copy": "weak"}, vary=0.3, questions=200)
    kin = merge_twins(
        seats(**{m: m for m in SKILLS if m != "weak"}, u="kin/weak", v="kin/copy"), past
    )
    assert ("u", "v") in held(kin)
    strangers = merge_twins(seats(**{m: m for m in SKILLS}, v="copy"), past)
    assert ("v",) in held(strangers)
    assert set(strangers.suspects) == {("copy", "weak")}


def test_too_few_questions_accuse_nobody() -> None:
    past = history(copies={"copy": "weak"}, questions=7)
    groups = merge_twins(seats(**{m: m for m in SKILLS}, v="copy"), past)
    assert len(groups.groups) == 5
    assert not groups.suspects


def test_easy_questions_on_which_all_agree_accuse_nobody() -> None:
    past = [dict.fromkeys(SKILLS, f"{n}") for n in range(100)]
    groups = merge_twins(seats(**{m: m for m in SKILLS}), past)
    assert len(groups.groups) == 4
    assert not groups.suspects


# --- how many ------------------------------------------------------------------------------------


def test_different_models_count_in_full() -> None:
    told = effective_voters(merge_twins(seats(a="x", b="y", c="z")))
    assert told.number == 3
    assert told.reason == "3 seats count as about 3.0 independent voters: no two are alike."


def test_seats_on_one_model_are_hardly_more_than_one_voter() -> None:
    told = effective_voters(merge_twins(seats(a="x", b="x", c="x")))
    assert 1 < told.number < 1.2
    assert told.reason == ("All 3 seats are one model: it counts as about 1.1 independent voters.")


@pytest.mark.parametrize("copies", [2, 10, 1000])
def test_more_copies_never_make_two_voters(copies: int) -> None:
    groups = merge_twins({f"s{n}": SpeakerRef(model="x") for n in range(copies)})
    assert effective_voters(groups).number < 1.2


def test_nobody_is_no_voter_and_somebody_is_one() -> None:
    assert effective_voters(Groups()).number == 0
    assert effective_voters(merge_twins(seats(a="x", b="y")), []).number == 0
    assert effective_voters(merge_twins(seats(a="x", b="y")), ["a"]).number == 1


def test_only_those_who_voted_count() -> None:
    groups = merge_twins(seats(a="x", b="y", c="z"))
    assert effective_voters(groups, ["a", "c"]).number == 2


# --- the rule ------------------------------------------------------------------------------------


def test_three_seats_on_one_model_do_not_outvote_two_others() -> None:
    groups = merge_twins(seats(a="x", b="x", c="x", d="y", e="z"))
    named = decide(votes(a="o1", b="o1", c="o1", d="o2", e="o2"), ["o1", "o2"], groups)
    assert named.winner == "o2"
    assert named.cast == {"o1": 3, "o2": 2}
    assert named.voters == pytest.approx({"o1": 1, "o2": 2})
    assert named.reason == (
        "5 seats are 3 voters: seats of one model share a vote. More than half stand behind it."
    )


def test_where_all_seats_are_one_model_each_seat_has_a_vote() -> None:
    groups = merge_twins(seats(a="x", b="x", c="x"))
    named = decide(votes(a="o1", b="o1", c="o2"), ["o1", "o2"], groups)
    assert named.winner == "o1"
    assert not named.tied
    assert named.reason.startswith("All seats are one model, so each seat has one vote.")


def test_a_voter_whose_seats_differ_is_split_between_them() -> None:
    groups = merge_twins(seats(a="x", b="x", c="x", d="y"))
    named = decide(votes(a="o1", b="o1", c="o2", d="o2"), ["o1", "o2"], groups)
    assert named.voters == pytest.approx({"o1": 2 / 3, "o2": 4 / 3})
    assert named.winner == "o2"


def test_a_seat_that_abstains_leaves_its_share_to_the_others() -> None:
    groups = merge_twins(seats(a="x", b="x", c="y"))
    named = decide(votes(a="o1", c="o2"), ["o1", "o2"], groups)
    assert named.voters == {"o1": 1, "o2": 1}


def test_two_models_that_differ_are_a_tie_and_the_seats_say_with_what_to_go_on() -> None:
    groups = merge_twins(seats(a="x", b="y", c="y"))
    named = decide(votes(a="o1", b="o2", c="o2"), ["o1", "o2"], groups)
    assert named.tied
    assert named.winner == "o2"
    assert named.reason.endswith("A tie that nothing in the ballots breaks.")


def test_a_tie_is_broken_by_what_could_be_lived_with() -> None:
    groups = merge_twins(seats(a="x", b="y", c="z"))
    ballots = [Vote.of("a", "o1", "o3"), Vote.of("b", "o2", "o3"), Vote.of("c", "o3", "o1")]
    named = decide(ballots, ["o1", "o2", "o3"], groups)
    assert named.winner == "o3"
    assert not named.tied


@pytest.mark.parametrize(
    ("ballots", "options"),
    [([], ["o1"]), (votes(a="o9"), ["o1"]), ([Vote("a", ())], ["o1", "o2"]), ([], None)],
)
def test_without_a_vote_that_counts_nobody_wins(
    ballots: list[Vote], options: list[str] | None
) -> None:
    named = decide(ballots, options, Groups())
    assert named.winners == ()
    assert named.winner is None
    assert not any(named.cast.values())


def test_a_thousand_seats_are_counted() -> None:
    table = {f"s{n:04}": SpeakerRef(model=f"m{n % 7}") for n in range(1000)}
    groups = merge_twins(table)
    assert len(groups.groups) == 7
    named = decide([Vote.of(s, "o1" if r.model < "m4" else "o2") for s, r in table.items()],
                   ["o1", "o2"], groups)  # fmt: skip
    assert named.winner == "o1"
    assert named.voters == pytest.approx({"o1": 4, "o2": 3})


def test_a_clique_of_the_worst_learns_no_trust() -> None:
    copies = {"u": "weak", "v": "weak"}
    past = history(copies=copies, questions=120)
    groups = merge_twins(seats(**{m: m for m in (*SKILLS, *copies)}), past)
    record = learn_record(past, groups)
    assert record.learned
    assert record.weight("best") > record.weight("fair") > record.weight(groups.of("v").key)
    named = decide(votes(best="o1", good="o2", u="o3", v="o3", weak="o3"), None, groups, record)
    assert named.winner == "o1"


def test_where_some_are_suspected_nothing_learned_weighs_in_and_they_count_for_less() -> None:
    past = history(copies={"copy": "weak"}, vary=0.3, questions=200)
    groups = merge_twins(seats(**{m: m for m in SKILLS}, copy="copy"), past)
    record = learn_record(past, groups)
    named = decide(votes(best="o1", good="o1", weak="o2", copy="o2"), None, groups, record)
    assert named.winner == "o1"
    assert not named.weighted
    assert 1 < named.voters["o2"] < 2
    assert effective_voters(groups).number < 5


# --- what holds for every table ------------------------------------------------------------------

MODELS = st.sampled_from(["x", "y", "z", "w"])
TABLES = st.lists(st.tuples(MODELS, st.sampled_from(["o1", "o2", "o3"])), min_size=1, max_size=9)


def _table(rows: list[tuple[str, str]]) -> tuple[dict[str, SpeakerRef], list[Vote]]:
    named = [f"s{n}" for n in range(len(rows))]
    return (
        {seat: SpeakerRef(model=model) for seat, (model, _) in zip(named, rows, strict=True)},
        [Vote.of(seat, option) for seat, (_, option) in zip(named, rows, strict=True)],
    )


@given(TABLES, st.randoms(use_true_random=False))
def test_no_order_of_seats_votes_or_options_decides(
    rows: list[tuple[str, str]], chance: random.Random
) -> None:
    table, ballots = _table(rows)
    options = ["o1", "o2", "o3"]
    one = decide(ballots, options, merge_twins(table))
    mixed = list(table.items())
    chance.shuffle(mixed)
    chance.shuffle(ballots)
    chance.shuffle(options)
    two = decide(ballots, options, merge_twins(dict(mixed)))
    assert set(one.winners) == set(two.winners)
    assert one.winner == two.winner
    assert one.voters == pytest.approx(two.voters)


@given(TABLES, st.integers(0, 8), st.integers(1, 5))
def test_copies_of_a_seat_never_raise_its_option_above_what_its_model_is_worth(
    rows: list[tuple[str, str]], place: int, copies: int
) -> None:
    model, option = rows[place % len(rows)]
    assume(len({m for m, _ in rows}) > 1)
    # The model votes as one, so that copies change nothing of its opinion.
    rows = [(m, option if m == model else o) for m, o in rows]
    table, ballots = _table(rows)
    more, further = _table([*rows, *[(model, option)] * copies])
    before = decide(ballots, None, merge_twins(table))
    after = decide(further, None, merge_twins(more))
    assert after.voters == pytest.approx(before.voters)
    assert set(after.winners) == set(before.winners)


@given(TABLES)
def test_effective_voters_lie_between_one_and_the_number_of_models(
    rows: list[tuple[str, str]],
) -> None:
    table, _ = _table(rows)
    number = effective_voters(merge_twins(table)).number
    assert 1 <= number <= 1.2 * len({model for model, _ in rows})


@given(TABLES)
def test_votes_of_all_options_sum_to_the_voters(rows: list[tuple[str, str]]) -> None:
    table, ballots = _table(rows)
    groups = merge_twins(table)
    named = decide(ballots, None, groups, NO_RECORD)
    several = len(groups.groups) > 1
    assert sum(named.voters.values()) == pytest.approx(
        len(groups.groups) if several else len(ballots)
    )
    assert sum(named.cast.values()) == len(ballots)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3), st.integers(0, 10_000))
def test_exact_copies_are_found_whatever_they_are_called(copies: int, seed: int) -> None:
    names = {f"n{(seed * (k + 1)) % 9973} {k}": "weak" for k in range(copies)}
    past = history(copies=names, questions=100)
    groups = merge_twins(seats(**{m: m for m in (*SKILLS, *names)}), past)
    assert tuple(sorted([*names, "weak"])) in held(groups)


@pytest.mark.parametrize(
    ("served", "voters"),
    [
        # A server that answers with whatever is loaded, as one of them or by another name.
        ({"x/one-1": "tiny-2", "x/two-2": "tiny-2"}, 1),
        ({"x/one-1": "one-1", "x/two-2": "one-1"}, 1),
        # A router that chose what another seat had asked for.
        ({"x/auto": "maker/m-1", "x/maker/m-1": "maker/m-1"}, 1),
        # The full name of the model that was asked for.
        ({"x/gpt-5.5": "gpt-5.5-2026-08-01", "x/gpt-5.5-mini": "gpt-5.5-mini-2026-08-01"}, 2),
        ({"x/one-1": "one-1-latest", "x/two-2": "two-2"}, 2),
        # Two servers that call something by the same name.
        ({"x/one-1": "loaded", "y/two-2": "loaded"}, 2),
        ({"x/one-1": "", "x/two-2": ""}, 2),
    ],
)
def test_seats_are_one_voter_where_one_model_answered_for_all_their_names(
    served: dict[str, str], voters: int
) -> None:
    events = []
    table = []
    for number, (model, by) in enumerate(served.items()):
        held = seat(f"Seat {number}").model_copy(update={"speakers": (SpeakerRef(model=model),)})
        table.append(held)
        for event in speech(f"1/answer/{held.id}", held.id, "Tea.", model):
            named = isinstance(event, AttemptFinished)
            events.append(event.model_copy(update={"served_by": by}) if named else event)
    state = told([opened(table), *events])
    assert len(groups_of(state).groups) == voters
    assert [each.asked for each in served_alike(state)] == ([tuple(served)] if voters == 1 else [])
