"""The first line of a yes-or-no question: the answer is the option, and says on what it holds."""

from __future__ import annotations

from roundtable.core.declaration import Condition, Option
from roundtable.core.headline import headline
from roundtable.core.state import State
from tests.core.declared_table import at_table, demand, says, stance, tabled, vote

YES, NO = Option(id="o1", text="yes"), Option(id="o2", text="no")
AUDIT = "The audit is passed first."


def debate(
    condition: Condition, *answers: str, choices: tuple[str, str, str], options: tuple[Option, ...]
) -> State:
    """Ann's condition in round 1, and what Bob and Cid say to it in round 2."""
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
