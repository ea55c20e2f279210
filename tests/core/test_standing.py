"""The standing: each end, who is counted for what, and what is no agreement."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.assessment import assessment_of
from roundtable.core.declaration import Condition, Option
from roundtable.core.events import Event, SpeechGiven
from roundtable.core.standing import DecisionStanding, Standing, standing_of
from roundtable.core.values import SpeakerRef

from .declared_table import (
    COFFEE,
    SEATS,
    TEA,
    at_table,
    by,
    demand,
    own,
    says,
    stance,
    tabled,
    vote,
)


def standing(*events: Event, **table: Any) -> Standing:
    return standing_of(at_table(tabled(), *events, **table))


def question(*events: Event, **table: Any) -> DecisionStanding:
    found = standing(*events, **table).question
    assert found is not None
    return found


def twice(who: str, first: str, last: str | None = None, **fields: Any) -> tuple[SpeechGiven, ...]:
    """A vote before talk and one after it, the same without `last`."""
    return says(who, first), says(who, vote(last or first, first), 2, **fields)


def flat(*parts: tuple[SpeechGiven, ...]) -> list[SpeechGiven]:
    """Everybody's first words, then everybody's last."""
    return [*(part[0] for part in parts), *(part[1] for part in parts)]


# The ends


@pytest.mark.requirement("Z-02", "Z-24")
def test_all_who_hold_it_from_the_start_are_a_consensus() -> None:
    found = question(*flat(*(twice(who, "o1") for who in SEATS)))
    assert (found.end, found.reason, found.delivered) == ("consensus", "All 3.", "o1")
    assert found.independent == found.holders == SEATS
    assert (found.dissenting, found.accepting, found.gave_in) == ((), (), ())
    assert found.counts == {"o1": 3, "o2": 0}


@pytest.mark.requirement("Z-02")
def test_more_than_half_of_all_who_were_seated_are_a_majority() -> None:
    found = question(*flat(twice("ann", "o1"), twice("bob", "o1"), twice("cid", "o2")))
    assert (found.end, found.reason, found.delivered) == ("majority", "2 of 3.", "o1")
    assert found.dissenting == ("cid",)


@pytest.mark.requirement("Z-02")
def test_half_is_no_majority() -> None:
    four = ("ann", "bob", "cid", "dan")
    votes = [twice(who, choice) for who, choice in zip(four, ("o1", "o1", "o2", "o2"), strict=True)]
    found = question(*flat(*votes), seats=four)
    assert (found.end, found.delivered, found.tied) == ("impasse", None, ("o1", "o2"))
    assert found.reason == "Split 2 : 2: none prevails."
    assert (found.dissenting, found.accepting) == ((), ())


@pytest.mark.requirement("Z-02")
def test_positions_that_move_and_do_not_meet_are_a_drift() -> None:
    found = question(*flat(twice("ann", "o1", "o2"), twice("bob", "o2", "o1")), seats=SEATS[:2])
    assert (found.end, found.delivered) == ("drift", None)


@pytest.mark.requirement("Z-25", "Z-24")
def test_agreement_by_giving_in_is_hollow() -> None:
    found = question(*flat(twice("ann", "o1"), twice("bob", "o1"), twice("cid", "o2", "o1")))
    assert (found.end, found.delivered, found.gave_in) == ("hollow", "o1", ("cid",))
    assert found.reason == "All 3, but one of them came over without naming an argument."
    assert found.before.counts == {"o1": 2, "o2": 1}


@pytest.mark.requirement("Z-24")
def test_a_majority_that_stands_without_those_who_gave_in_is_one() -> None:
    five = ("ann", "bob", "cid", "dan", "eve")
    stood = [twice(who, "o1") for who in five[:3]]
    found = question(*flat(*stood, twice("dan", "o2", "o1"), twice("eve", "o2")), seats=five)
    assert (found.end, found.gave_in) == ("majority", ("dan",))


ARGUMENT = "the kettle boils within a minute"
MADE = "My kettle boils within one minute, so tea is quick."


@pytest.mark.requirement("Z-25", "Z-24")
def test_whoever_names_an_argument_that_was_made_has_not_given_in() -> None:
    moved = twice("cid", "o2", "o1", adopted=by("ann", ARGUMENT))
    first = says("ann", "o1", text=MADE)
    found = question(first, *flat(twice("bob", "o1"), moved), says("ann", vote("o1", "o1"), 2))
    assert (found.end, found.gave_in, found.independent) == ("consensus", (), ("ann", "bob"))
    seat = found.seat("cid")
    assert seat is not None
    assert seat.argument is not None
    assert (seat.moved, seat.argument.participant) == (True, "ann")


@pytest.mark.requirement("Z-25")
@pytest.mark.parametrize(
    "what",
    [
        "most want it",
        "Most of you want it",
        "everybody else holds it",
        "the majority is surely right",
        "I am tired, let us move on",
        "die Mehrheit will es",
        "los demás lo quieren",
        "大家都同意",
        "tea",
    ],
)
def test_a_bandwagon_is_no_argument(what: str) -> None:
    said = [says("ann", "o1", text=MADE), says("bob", "o1"), says("cid", "o2")]
    moved = says("cid", vote("o1", "o2"), 2, adopted=by("ann", what))
    found = question(*said, moved)
    assert found.gave_in == ("cid",)


@pytest.mark.requirement("Z-25")
@pytest.mark.parametrize(
    ("by_whom", "what"),
    [
        ("cid", ARGUMENT),
        ("bob", "zebras dislike violet umbrellas"),
    ],
)
def test_an_argument_that_nobody_else_made_moves_nobody(by_whom: str, what: str) -> None:
    said = [says("ann", "o1", text=MADE), says("bob", "o1"), says("cid", "o2")]
    found = question(*said, says("cid", vote("o1", "o2"), 2, adopted=by(by_whom, what)))
    assert found.gave_in == ("cid",)


# Conditions


MILK = demand("There is milk.")


def conditional(*answers: SpeechGiven) -> DecisionStanding:
    opening = [
        says("ann", "o1", position="Tea.", conditions=(MILK,)),
        says("bob", "o1", position="Tea."),
        says("cid", "o1", position="Tea."),
    ]
    return question(*opening, *answers)


def answering(who: str, word: str) -> SpeechGiven:
    return says(who, vote("o1", "o1"), 2, stances=(stance("c1", word, "so"),))


@pytest.mark.requirement("Z-23")
def test_a_demand_that_nobody_answered_makes_agreement_conditional() -> None:
    found = conditional()
    assert (found.end, found.delivered, found.conditional) == ("conditional", "o1", ("ann",))
    half = conditional(answering("bob", "agree"))
    assert half.end == "conditional"


def test_an_amended_demand_still_makes_agreement_conditional() -> None:
    oat = stance("c1", "amend", "There is oat milk.")
    found = conditional(
        answering("bob", "agree"),
        answering("cid", "agree"),
        says("ann", vote("o1", "o1"), 3, position="Tea.", stances=(oat,)),
    )
    assert (found.end, found.conditional) == ("conditional", ("ann",))


@pytest.mark.requirement("Z-23")
def test_a_demand_that_all_on_its_side_grant_is_none_any_more() -> None:
    found = conditional(answering("bob", "agree"), answering("cid", "agree"))
    assert (found.end, found.conditional) == ("consensus", ())


@pytest.mark.requirement("Z-23")
@pytest.mark.parametrize("word", ["partly", "unsure"])
def test_half_a_grant_is_none(word: str) -> None:
    assert conditional(answering("bob", "agree"), answering("cid", word)).end == "conditional"


@pytest.mark.requirement("Z-23")
def test_a_refused_demand_splits_what_looked_like_one_answer() -> None:
    two = SEATS[:2]
    split = question(
        says("ann", "o1", position="Tea.", conditions=(MILK,)),
        says("bob", "o1", position="Tea."),
        says("bob", vote("o1", "o1"), 2, stances=(stance("c1", "disagree", "no milk"),)),
        seats=two,
    )
    assert (split.end, split.delivered) == ("impasse", None)
    assert split.reason == "1 of 2, 1 whose demand its own side refused: none prevails."
    three = conditional(answering("bob", "disagree"), answering("cid", "disagree"))
    assert three.end != "consensus"
    seat = three.seat("ann")
    assert seat is not None
    assert seat.refused_demands == ("c1",)
    assert (three.end, seat.final) == ("majority", "own")
    assert "ann" in three.dissenting


@pytest.mark.requirement("Z-23")
def test_whose_demand_is_refused_holds_what_it_said_it_holds_otherwise() -> None:
    found = question(
        says(
            "ann", "o1", position="Tea.", conditions=(MILK.model_copy(update={"otherwise": "o2"}),)
        ),
        says("bob", "o1", position="Tea."),
        says("cid", "o2", position="Coffee."),
        answering("bob", "disagree"),
    )
    assert (found.end, found.delivered) == ("conditional", "o2")
    assert found.reason == "2 of 3, but 1 of them only because a demand was refused."
    seat = found.seat("ann")
    assert seat is not None
    assert (seat.cast, seat.final, seat.fell_back) == ("o1", "o2", True)
    assert (seat.independent, seat.moved, seat.gave_in) == (False, False, False)
    assert found.independent == ("cid",)


ONLY_WITH_MILK = demand("There is milk.", "o2")


def refused(*later: SpeechGiven, **table: Any) -> DecisionStanding:
    """All for tea, Ann only with milk and otherwise for coffee, and Bob refuses it."""
    return question(
        says("ann", "o1", position="Tea.", conditions=(ONLY_WITH_MILK,)),
        says("bob", "o1", position="Tea."),
        says("cid", "o1", position="Tea."),
        answering("bob", "disagree"),
        answering("cid", "agree"),
        *later,
        **table,
    )


@pytest.mark.requirement("Z-23")
@pytest.mark.parametrize(("stage", "round_"), [("ballot", 2), ("critique", 3)])
def test_a_vote_after_the_refusal_counts_as_it_was_cast_and_only_conditionally(
    stage: str, round_: int
) -> None:
    found = refused(says("ann", vote("o1", "o1"), round_, stage=stage))
    assert (found.end, found.delivered, found.counts["o1"]) == ("conditional", "o1", 3)
    assert found.reason == "All 3, but 1 of them under conditions that not all have granted."
    seat = found.seat("ann")
    assert seat is not None
    assert (seat.final, seat.fell_back, seat.refused_demands) == ("o1", False, ("c1",))
    assert found.independent == SEATS


@pytest.mark.requirement("Z-23")
def test_a_vote_beside_the_refusal_does_not_know_of_it() -> None:
    beside = refused(says("ann", vote("o1", "o1"), 2))
    seat = beside.seat("ann")
    assert seat is not None
    assert (seat.cast, seat.final, beside.delivered, beside.end) == ("o1", "o2", "o1", "majority")
    assert beside.reason == "2 of 3, 1 whose demand its own side refused."
    in_turn = refused(says("ann", vote("o1", "o1"), 2), options={"speech_order": "fixed"})
    assert (in_turn.end, in_turn.counts["o1"]) == ("conditional", 3)


@pytest.mark.requirement("Z-23")
def test_whoever_repeats_a_refusal_brings_nothing_new() -> None:
    again = says("bob", vote("o1", "o1"), 2, stage="ballot", stances=(stance("c1", "disagree"),))
    found = refused(says("ann", vote("o1", "o1"), 2, stage="ballot"), again)
    assert (found.end, found.counts["o1"]) == ("conditional", 3)


@pytest.mark.requirement("Z-25")
def test_who_leaves_for_what_it_holds_without_a_refused_demand_has_not_given_in() -> None:
    found = refused(says("ann", vote("o2", "o1"), 2, stage="ballot"))
    seat = found.seat("ann")
    assert seat is not None
    assert (seat.final, seat.moved, seat.gave_in, seat.fell_back) == ("o2", True, False, False)


def test_what_was_counted_in_the_first_version_stays_as_it_was() -> None:
    again = says(
        "ann", vote("o1", "o1"), 2, stage="ballot", position="Tea.", conditions=(ONLY_WITH_MILK,)
    )
    found = refused(again, version="0.1.0")
    seat = found.seat("ann")
    assert seat is not None
    assert (seat.final, found.end, found.counts) == ("o2", "majority", {"o1": 2, "o2": 1})


def test_who_is_on_the_other_side_need_not_grant_a_demand() -> None:
    found = question(
        says("ann", "o1", position="Tea.", conditions=(MILK,)),
        says("bob", "o1", position="Tea."),
        says("cid", "o2", position="Coffee."),
        answering("bob", "agree"),
    )
    assert found.end == "majority"


def test_facts_split_nothing_and_are_kept_to_be_found_out() -> None:
    fact = Condition(text="Is there milk?", kind="fact")
    found = standing(
        says("ann", "o1", position="Tea.", conditions=(fact,)), says("bob", "o1"), says("cid", "o1")
    )
    assert found.end == "consensus"
    assert [each.text for each in found.facts] == ["Is there milk?"]
    assert found.demands == ()


# Who is counted


@pytest.mark.requirement("Z-24")
def test_shares_are_of_all_who_were_seated_and_everybody_else_is_named() -> None:
    five = ("ann", "bob", "cid", "dan", "eve")
    found = question(
        says("ann", "o1"),
        says("bob", "o1"),
        says("cid", abstain="I sell tea."),
        says("dan", declares=False),
        seats=five,
    )
    assert (found.end, found.delivered, found.seated) == ("impasse", None, 5)
    assert found.reason == (
        "2 of 5, 1 abstaining, 1 without a countable declaration, 1 absent: none prevails."
    )
    assert (found.abstained, found.undeclared, found.absent) == (("cid",), ("dan",), ("eve",))


@pytest.mark.requirement("Z-24")
def test_with_one_absent_two_are_a_majority_and_no_consensus() -> None:
    found = question(says("ann", "o1"), says("bob", "o1"))
    assert (found.end, found.reason) == ("majority", "2 of 3, 1 absent.")


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    "said",
    [
        (),
        (says("ann", "o1"),),
        tuple(says(who, declares=False) for who in SEATS),
        tuple(says(who, abstain="No idea.") for who in SEATS),
        tuple(says(who, "any") for who in SEATS),
    ],
)
def test_where_nobody_chose_there_is_nothing_to_count(said: tuple[SpeechGiven, ...]) -> None:
    state = at_table(tabled(), *said)
    found = standing_of(state).question
    assert found is not None
    assert (found.end, found.delivered) == (None, None)
    assert found.reason.endswith(".")
    assert assessment_of(state).probability is None


@pytest.mark.requirement("Z-22")
def test_no_preference_is_neither_for_nor_against() -> None:
    found = question(says("ann", "o1"), says("bob", "o1"), says("cid", "any"))
    assert (found.end, found.reason) == ("majority", "2 of 3, 1 without a preference.")
    assert (found.accepting, found.dissenting) == (("cid",), ())
    rejecting = says("cid", vote("any", rejects=("o1",)))
    found = question(says("ann", "o1"), says("bob", "o1"), rejecting)
    assert (found.accepting, found.dissenting) == ((), ("cid",))


@pytest.mark.requirement("Z-24")
def test_who_could_live_with_the_answer_is_listed_as_such_and_does_not_dissent() -> None:
    accepting = says("cid", vote("o2", acceptable=("o1",)))
    found = question(says("ann", "o1"), says("bob", "o1"), accepting)
    assert (found.accepting, found.dissenting, found.end) == (("cid",), (), "majority")


def test_own_positions_that_were_not_put_to_the_vote_leave_it_unsettled() -> None:
    found = question(says("ann", "own"), says("bob", "own"), says("cid", "own"))
    assert (found.end, found.delivered, found.own) == ("impasse", None, SEATS)
    assert found.reason == "0 of 3, 3 with positions of their own: none prevails."


def test_an_own_position_that_all_chose_in_the_end_prevails() -> None:
    cocoa = own(3, "Cocoa.", "ann")
    state = at_table(
        tabled(),
        *(says(who, position="x y") for who in SEATS),
        says("ann", vote("own", "own"), 2, position="Cocoa."),
        tabled(TEA, COFFEE, cocoa),
        *(
            says(who, vote("o3", "silent"), 2, stage="ballot", adopted=by("ann", "cocoa is warm"))
            for who in ("bob", "cid")
        ),
    )
    found = standing_of(state).question
    assert found is not None
    assert (found.end, found.answer) == ("consensus", "Cocoa.")


def test_it_takes_two_to_agree() -> None:
    found = question(says("ann", "o1"), seats=("ann",))
    assert (found.end, found.reason) == (None, "It takes two to agree.")
    assert standing_of(at_table(says("ann", position="x y"))).question is None


# Copies of a model


def clones(*models: str) -> dict[str, Any]:
    seats = tuple(f"s{n}" for n in range(len(models)))
    known = {who: SpeakerRef(model=model) for who, model in zip(seats, models, strict=True)}
    return {"seats": seats, "models": known}


@pytest.mark.requirement("Z-26")
def test_copies_of_one_model_do_not_outvote_the_others() -> None:
    table = clones("x/one", "x/one", "x/one", "a/two", "b/three")
    said = [
        says(who, choice, model=table["models"][who].model)
        for who, choice in zip(table["seats"], ("o1", "o1", "o1", "o2", "o2"), strict=True)
    ]
    found = question(*said, **table)
    assert found.delivered == "o2"
    assert (found.end, found.reason) == (
        "majority",
        "2 of 5, by voters that are not copies of each other.",
    )


@pytest.mark.requirement("Z-26")
def test_where_all_are_copies_each_seat_counts() -> None:
    table = clones("x/one", "x/one", "x/one")
    said = [
        says(who, choice, model="x/one")
        for who, choice in zip(table["seats"], ("o1", "o1", "o2"), strict=True)
    ]
    assert question(*said, **table).delivered == "o1"


# Points


def test_points_are_sorted_by_what_everybody_says_and_rejected_ones_raise_no_score() -> None:
    found = standing(
        says("ann", new_points=("One.", "Two.", "Three.")),
        says("bob", round_=2, stances=(stance("p1", "agree"), stance("p2", "disagree", "no"))),
        says("cid", round_=2, stances=(stance("p1", "agree"), stance("p2", "agree"))),
    )
    assert [p.id for p in found.agreed] == ["p1"]
    assert [p.id for p in found.disputed] == ["p2"]
    # What is open is not agreed: a table with open points is never at 1.
    assert found.convergence == 1 / 3
    assert standing(says("ann", new_points=("One.",))).convergence is None


# Nothing depends on order


CHOICES = st.sampled_from(["o1", "o2", "own", "any", "abstain", "silent", "absent"])


@given(st.lists(st.tuples(CHOICES, CHOICES, st.booleans()), min_size=2, max_size=5), st.randoms())
@settings(max_examples=150, deadline=None)
def test_the_order_of_the_seats_changes_nothing(
    votes: list[tuple[str, str, bool]], random: Any
) -> None:
    seats = [f"s{n}" for n in range(len(votes))]

    def told(order: list[str]) -> tuple[object, ...]:
        first, last = [], []
        for who in order:
            before, after, argues = votes[seats.index(who)]
            first += spoken(who, before, 1, None)
            target = seats[(seats.index(who) + 1) % len(seats)]
            last += spoken(who, after, 2, target if argues else None)
        found = standing_of(at_table(tabled(), *first, *last, seats=tuple(order))).question
        assert found is not None
        return (
            found.end,
            found.reason,
            found.delivered,
            dict(found.counts),
            sorted(found.dissenting),
            sorted(found.accepting),
            sorted(found.gave_in),
            sorted(found.independent),
        )

    order = [*seats]
    random.shuffle(order)
    assert told(order) == told(seats)


def spoken(who: str, choice: str, round_: int, argument: str | None) -> list[SpeechGiven]:
    match choice:
        case "absent":
            return []
        case "silent":
            return [says(who, round_=round_, declares=False)]
        case "abstain":
            return [says(who, round_=round_, abstain="No idea.")]
    adopted = by(argument, f"words of {argument}") if argument else ()
    return [says(who, choice, round_, position=f"{who} says so.", adopted=adopted)]


@pytest.mark.parametrize("order", list(permutations(("o1", "o2", "o3"))))
def test_the_order_of_the_options_changes_nothing(order: tuple[str, ...]) -> None:
    texts = {"o1": "Tea.", "o2": "Coffee.", "o3": "Milk."}
    options = [Option(id=each, text=texts[each]) for each in order]
    said = [says("ann", "o2"), says("bob", "o2"), says("cid", "o3")]
    found = standing_of(at_table(tabled(*options), *said)).question
    assert found is not None
    assert (found.end, found.answer, found.reason) == ("majority", "Coffee.", "2 of 3.")
