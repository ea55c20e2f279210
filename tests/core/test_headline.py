"""The first line of a yes-or-no question: the answer is the option, and says on what it holds."""

from __future__ import annotations

from roundtable.core.declaration import Condition, Option
from roundtable.core.headline import headline
from roundtable.core.state import State
from tests.core.declared_table import at_table, demand, says, stance, tabled, vote

YES, NO = Option(id="o1", text="yes"), Option(id="o2", text="no")
AUDIT = "The audit is passed first."


def debate(
    condition: Condition,
    *answers: str,
    choices: tuple[str, str, str],
    options: tuple[Option, ...],
    ballot: str = "",
) -> State:
    """Ann's condition in round 1, what Bob and Cid say to it in round 2, and Ann's ballot after
    that."""
    held = dict(zip(("ann", "bob", "cid"), choices, strict=True))
    replies = dict(zip(("bob", "cid"), answers, strict=True))
    first = [says(who, held[who]) for who in ("bob", "cid")]
    second = [
        says(who, vote(held[who], held[who]), 2, stances=(stance("c1", replies[who]),))
        for who in ("bob", "cid")
    ]
    return at_table(
        tabled(*options, question="Should we?"),
        says("ann", held["ann"], conditions=(condition,)),
        *first,
        says("ann", vote(held["ann"], held["ann"]), 2, conditions=(condition,)),
        *second,
        *([says("ann", vote(ballot, held["ann"]), 2, stage="ballot")] if ballot else []),
    )


ALL_YES, ALL_NO = ("o1", "o1", "o1"), ("o2", "o2", "o2")


def test_a_yes_under_a_demand_that_its_side_granted_says_so() -> None:
    state = debate(demand(AUDIT), "agree", "agree", choices=ALL_YES, options=(YES, NO))
    assert headline(state) == "Yes, on conditions (“The audit is passed first”), 3 of 3."


def test_a_no_whose_holders_are_against_it_without_the_demand_says_unless() -> None:
    state = debate(demand(AUDIT, "oppose"), "agree", "agree", choices=ALL_NO, options=(YES, NO))
    assert headline(state) == "No, unless “The audit is passed first”, 3 of 3."


def test_a_no_that_falls_without_the_demand_holds_on_it() -> None:
    state = debate(demand(AUDIT, "o1"), "agree", "agree", choices=ALL_NO, options=(YES, NO))
    assert headline(state) == "No, on conditions (“The audit is passed first”), 3 of 3."


def test_a_demand_that_not_all_on_its_side_granted_is_told_by_the_count_alone() -> None:
    state = debate(demand(AUDIT), "agree", "unsure", choices=ALL_YES, options=(YES, NO))
    assert "on conditions (" not in headline(state)
    assert "under conditions that not all have granted" in headline(state)


def test_a_demand_that_its_side_refuses_is_no_condition_of_the_answer() -> None:
    state = debate(demand(AUDIT), "disagree", "agree", choices=ALL_YES, options=(YES, NO))
    assert "condition" not in headline(state)


def test_those_who_vote_otherwise_decide_nothing_about_the_conditions_of_an_answer() -> None:
    state = debate(
        demand(AUDIT), "agree", "disagree", choices=("o1", "o1", "o2"), options=(YES, NO)
    )
    assert headline(state).startswith("Yes, on conditions (“The audit is passed first”), 2 of 3")


def test_what_has_to_be_found_out_is_no_condition_that_was_granted() -> None:
    fact = Condition(text="The price is below 5.", kind="fact")
    state = debate(fact, "agree", "agree", choices=ALL_YES, options=(YES, NO))
    assert headline(state) == "Yes, 3 of 3."


def test_options_that_are_no_plain_yes_or_no_say_their_conditions_themselves() -> None:
    state = debate(demand(AUDIT), "agree", "agree", choices=ALL_YES, options=())
    assert headline(state) == "Tea, 3 of 3."


def test_a_long_condition_does_not_fill_the_first_line() -> None:
    state = debate(demand("x " * 400), "agree", "agree", choices=ALL_YES, options=(YES, NO))
    assert len(headline(state)) < 200


def test_a_demand_that_an_ally_refuses_is_told_as_in_dispute_with_its_refuser() -> None:
    state = debate(
        demand(AUDIT, "o2"), "disagree", "agree", choices=ALL_YES, options=(YES, NO), ballot="o1"
    )
    told = headline(state)
    assert told.startswith(
        "Yes, in dispute: “The audit is passed first” (refused by Bob), 3 of 3, but 1 of them"
    )


def test_a_no_that_comes_of_a_refusal_says_so_and_never_unless() -> None:
    state = debate(
        demand(AUDIT, "o2"), "disagree", "agree", choices=("o1", "o1", "o2"), options=(YES, NO)
    )
    assert headline(state) == (
        "No, because “The audit is passed first” was refused, 2 of 3, 1 for another answer, but 1 "
        "of them only because a demand was refused."
    )


def test_several_conditions_hold_together_each_told_once_and_cut_between_words() -> None:
    long = "The " + "auditors " * 20
    said = [
        says("ann", "o1", conditions=(demand(AUDIT), demand(long))),
        says("bob", "o1", conditions=(demand(AUDIT.upper()),)),
    ]
    granted = [
        says("ann", vote("o1", "o1"), 2, stances=(stance("c3", "agree"),)),
        says("bob", vote("o1", "o1"), 2, stances=(stance("c1", "agree"), stance("c2", "agree"))),
    ]
    table = tabled(YES, NO, question="Should we?")
    told = headline(at_table(table, *said, *granted, seats=("ann", "bob")))
    assert told.startswith("Yes, on conditions (“The audit is passed first” and “The auditors ")
    assert "auditors…”), 2 of 2." in told
