"""The decision record: what is folded from declarations, and what is not."""

from __future__ import annotations

import pytest

from roundtable.core.declaration import UNDECLARED, Condition
from roundtable.core.events import BallotCast, Event, ParticipantSubstituted
from roundtable.core.record import (
    LEGACY,
    Record,
    SeatVote,
    record_after,
    record_of,
    records_by_round,
)
from roundtable.core.state import State
from roundtable.core.values import Options, SpeakerRef

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
from .samples import turn_failed


def ann(state: State, who: str = "ann") -> SeatVote:
    """Where a seat stands on the question."""
    record = record_of(state)
    assert record.question is not None
    return record.vote(record.question, who)


# Votes


def test_a_vote_of_an_independent_round_is_what_its_seat_held_before_talk() -> None:
    state = at_table(tabled(), says("ann", "o1"), says("ann", vote("o2", "o1"), 2))
    found = ann(state)
    assert (found.opening, found.independent, found.choice) == ("o1", True, "o2")
    assert (found.moved, found.round, found.turn_id) == (True, 2, "2/critique/ann")


@pytest.mark.requirement("Z-23")
@pytest.mark.parametrize("before", ["o1", "o2", "own", "silent"])
def test_without_a_vote_in_round_one_the_opening_is_what_the_seat_says_it_was(before: str) -> None:
    """The clerk's grouping is a proposal: only `before` says where the first statement belongs."""
    proposed = (TEA.model_copy(update={"holders": ("ann",)}), COFFEE)
    state = at_table(
        says("ann", position="Something warm."),
        tabled(*proposed),
        says("ann", vote("o1", before), 2),
    )
    found = ann(state)
    assert (found.opening, found.independent) == (before, True)
    assert found.moved is (before in ("o2", "own"))


def test_a_clerk_alone_makes_nobody_hold_anything() -> None:
    proposed = (TEA.model_copy(update={"holders": SEATS}), COFFEE)
    state = at_table(*(says(who, position="x y") for who in SEATS), tabled(*proposed))
    assert {ann(state, who).choice for who in SEATS} == {""}


def test_who_says_that_it_held_nothing_before_cannot_have_given_in() -> None:
    """Where the clerk saw it is a proposal, which it did not confirm."""
    seen = COFFEE.model_copy(update={"origin": "clerk", "holders": ("ann",)})
    state = at_table(
        says("ann", position="Something warm."), tabled(TEA, seen), says("ann", vote("o1"), 2)
    )
    assert (ann(state).opening, ann(state).moved, ann(state).independent) == (
        "silent",
        False,
        False,
    )


def test_what_was_first_said_after_hearing_others_is_not_independent() -> None:
    state = at_table(tabled(), says("ann", "o1", independent=False))
    assert (ann(state).opening, ann(state).independent) == ("o1", False)


def test_a_vote_is_steady_once_two_declarations_say_the_same() -> None:
    once = at_table(tabled(), says("ann", "o1"))
    twice = at_table(tabled(), says("ann", "o1"), says("ann", vote("o1", "o1"), 2))
    turned = at_table(tabled(), says("ann", "o1"), says("ann", vote("o2", "o1"), 2))
    back = at_table(
        tabled(),
        says("ann", "o1"),
        says("ann", vote("o2", "o1"), 2),
        says("ann", vote("o2", "o2"), 2, stage="ballot"),
    )
    assert [ann(s).steady for s in (once, twice, turned, back)] == [False, True, False, True]


def test_an_own_position_becomes_an_option_and_its_author_holds_it() -> None:
    first = says("ann", vote("own", "own"), 2, position="Cocoa.")
    before = at_table(tabled(), says("ann", position="Cocoa."), first)
    assert ann(before).choice == "own"
    after = at_table(
        tabled(),
        says("ann", position="Cocoa."),
        first,
        tabled(TEA, COFFEE, own(3, "Cocoa.", "ann")),
    )
    found = ann(after)
    assert (found.choice, found.opening, found.moved) == ("o3", "o3", False)
    # Nobody else is taken to hold it.
    assert ann(after, "bob").choice == ""


def test_an_own_position_in_other_words_is_still_its_own() -> None:
    state = at_table(
        tabled(TEA, COFFEE, own(3, "Cocoa.", "ann")),
        says("ann", vote("own", "own"), 2, position="Milk."),
    )
    assert ann(state).choice == "own"


def test_who_abstains_has_no_vote_until_it_votes_again() -> None:
    voted = says("ann", "o1")
    passed = says("ann", round_=2, abstain="I am the vendor.")
    again = says("ann", vote("o2", "silent"), 2, stage="ballot")
    abstaining = at_table(tabled(), voted, passed)
    assert record_of(abstaining).abstained == {"ann": "I am the vendor."}
    assert ann(abstaining).choice == ""
    back = at_table(tabled(), voted, passed, again)
    assert record_of(back).abstained == {}
    assert ann(back).choice == "o2"


def test_who_is_absent_who_declares_nothing_and_who_abstains_are_told_apart() -> None:
    state = at_table(
        tabled(),
        says("ann", declares=False),
        says("bob", abstain="No idea."),
        turn_failed("1/answer/cid"),
    )
    record = record_of(state)
    assert (record.undeclared, dict(record.abstained), record.absent) == (
        ("ann",),
        {"bob": "No idea."},
        ("cid",),
    )


def test_a_later_speech_without_a_declaration_leaves_the_last_one_standing() -> None:
    state = at_table(tabled(), says("ann", "o1"), says("ann", round_=2, declares=False))
    assert (ann(state).choice, record_of(state).undeclared) == ("o1", ())


def test_a_reading_in_the_other_order_counts_for_nothing() -> None:
    state = at_table(tabled(), says("ann", "o1"), says("ann", "o2", 2, stage="critique-in-reverse"))
    assert ann(state).choice == "o1"


def test_what_a_demonstration_model_declares_is_not_counted() -> None:
    small = {"ann": SpeakerRef(model="test/ann", demonstration=True)}
    record = record_of(at_table(tabled(), says("ann", "o1"), models=small))
    assert (record.statements, record.demonstration, record.undeclared) == ((), ("ann",), ())


def test_a_substitute_speaks_for_the_seat() -> None:
    state = at_table(
        tabled(),
        says("ann", "o1"),
        ParticipantSubstituted(
            participant="ann",
            turn_id="2/critique/ann",
            from_model="test/ann",
            to_model="test/other",
            cause="auth",
        ),
        says("ann", vote("o2", "o1"), 2, model="test/other"),
    )
    assert (ann(state).opening, ann(state).choice) == ("o1", "o2")
    assert record_of(state).seats == SEATS


def test_a_ranking_of_drafts_is_no_vote_on_the_question() -> None:
    state = at_table(
        tabled(), says("ann", "o1"), says("ann", vote("s1", on="statement"), 3, stage="ranking")
    )
    assert ann(state).choice == "o1"


def test_votes_are_kept_for_each_decision() -> None:
    two = tabled().decisions[0].model_copy(update={"id": "d2"})
    both = tabled().model_copy(update={"decisions": (*tabled().decisions, two)})
    state = at_table(both, says("ann", votes=(vote("o1"), vote("o2", on="d2"))))
    record = record_of(state)
    assert [record.vote(each, "ann").choice for each in record.decisions] == ["o1", "o2"]


# Points


def listed(*events: object) -> Record:
    return record_of(at_table(*events))  # type: ignore[arg-type]


RAISED = says("ann", new_points=("Tea is cheap.",))


def test_silence_is_not_agreement_and_an_author_stands_behind_its_point() -> None:
    record = listed(RAISED, says("bob", round_=2, position="x y"), says("ann", round_=2))
    (point,) = record.points
    assert (point.author, point.holders, point.silent) == ("ann", ("ann",), ("bob",))
    assert point.status == "open"


@pytest.mark.parametrize(
    ("bob", "cid", "status"),
    [
        ("agree", "agree", "agreed"),
        ("agree", "partly", "held"),
        ("agree", "unsure", "held"),
        ("agree", "disagree", "disputed"),
        ("disagree", "disagree", "disputed"),
        ("partly", "unsure", "open"),
    ],
)
def test_a_point_is_what_everybody_says_to_it(bob: str, cid: str, status: str) -> None:
    record = listed(
        RAISED,
        says("bob", round_=2, stances=(stance("p1", bob, "so"),)),
        says("cid", round_=2, stances=(stance("p1", cid, "so"),)),
    )
    assert record.points[0].status == status


def test_an_amended_point_is_a_new_version_without_the_old_stances() -> None:
    record = listed(
        RAISED,
        says("bob", round_=2, stances=(stance("p1", "agree"),)),
        says("ann", round_=2, stances=(stance("p1", "amend", "Tea is cheaper."),)),
    )
    (point,) = record.points
    assert (point.id, point.version, point.text) == ("p1", 2, "Tea is cheaper.")
    assert (dict(point.stances), point.status) == ({}, "open")


def test_where_they_speak_in_turn_a_stance_after_an_amendment_is_to_the_new_wording() -> None:
    """Four agents agreed to what had been amended a minute before, and none of it counted."""
    made = says("ann", new_points=("Tea is cheap.",), position="Tea.", conditions=(MILK,))
    amends = says(
        "ann",
        round_=2,
        stances=(
            stance("p1", "amend", "Tea is cheaper."),
            stance("c1", "amend", "There is oat milk."),
        ),
    )
    agrees = says("bob", round_=2, stances=(stance("p1", "agree"), stance("c1", "agree")))
    in_turn: Options = {"speech_order": "fixed"}
    after = record_of(at_table(made, amends, agrees, options=in_turn))
    assert after.points[0].stances["bob"].stance == "agree"
    assert after.conditions[0].answers["bob"].stance == "agree"
    before = record_of(at_table(made, agrees, amends, options=in_turn))
    assert (dict(before.points[0].stances), dict(before.conditions[0].answers)) == ({}, {})
    beside = record_of(at_table(made, amends, agrees, options={"speech_order": "parallel"}))
    assert (dict(beside.points[0].stances), dict(beside.conditions[0].answers)) == ({}, {})


def test_only_its_author_amends_or_withdraws_a_point() -> None:
    foreign = (stance("p1", "amend", "Tea is dear."),)
    record = listed(RAISED, says("bob", round_=2, stances=foreign))
    assert (record.points[0].version, record.points[0].text) == (1, "Tea is cheap.")
    record = listed(RAISED, says("bob", round_=2, stances=(stance("p1", "withdraw"),)))
    assert not record.points[0].withdrawn


def test_a_withdrawn_point_is_held_by_nobody_whatever_the_others_say_to_it() -> None:
    gone = says("ann", round_=2, stances=(stance("p1", "withdraw"),))
    record = listed(RAISED, gone)
    assert (record.points[0].holders, record.points[0].status) == ((), "withdrawn")
    against = [says(w, round_=2, stances=(stance("p1", "disagree", "no"),)) for w in ("bob", "cid")]
    assert listed(RAISED, *against, gone).points[0].status == "withdrawn"


def test_a_point_is_agreed_only_when_every_seat_that_can_speak_to_it_has() -> None:
    agrees = says("bob", round_=2, stances=(stance("p1", "agree"),))
    (point,) = listed(RAISED, says("cid"), agrees).points
    assert (point.status, point.holders, point.unheard) == ("held", ("ann", "bob"), ("cid",))
    also = says("cid", round_=2, stances=(stance("p1", "agree"),))
    assert listed(RAISED, says("cid"), agrees, also).points[0].status == "agreed"


def test_whoever_is_absent_is_not_waited_for_and_is_named() -> None:
    agrees = says("bob", round_=2, stances=(stance("p1", "agree"),))
    for gone in (turn_failed("1/answer/cid"), turn_failed("2/critique/cid")):
        (point,) = listed(RAISED, gone, agrees).points
        assert (point.status, point.unheard, point.absent) == ("agreed", (), ("cid",))
    back = says("cid", round_=3, position="x y")
    (point,) = listed(RAISED, turn_failed("2/critique/cid"), agrees, back).points
    assert (point.status, point.absent) == ("held", ())


AMENDS = says("ann", round_=2, stances=(stance("p1", "amend", "Tea is cheaper."),))


@pytest.mark.parametrize("order", ["beside", "before"])
def test_opposition_to_a_first_wording_stands_until_its_seat_speaks_to_the_new_one(
    order: str,
) -> None:
    refuses = says("bob", round_=2, stances=(stance("p1", "disagree", "It is dear."),))
    said = (AMENDS, refuses) if order == "beside" else (refuses, AMENDS)
    agrees = [says(who, round_=3, stances=(stance("p1", "agree"),)) for who in ("cid", "bob")]
    (point,) = listed(RAISED, *said, agrees[0], says("bob", round_=3, position="x y")).points
    assert (point.text, point.opponents, point.status) == ("Tea is cheaper.", (), "held")
    assert point.opposed_before["bob"].text == "It is dear."
    (point,) = listed(RAISED, *said, *agrees).points
    assert (dict(point.opposed_before), point.status) == ({}, "agreed")
    still = says("bob", round_=3, stances=(stance("p1", "disagree", "Still dear."),))
    (point,) = listed(RAISED, *said, agrees[0], still).points
    assert (dict(point.opposed_before), point.status) == ({}, "disputed")


def test_agreement_with_a_first_wording_is_not_carried_over() -> None:
    agrees = says("bob", round_=2, stances=(stance("p1", "agree"),))
    (point,) = listed(RAISED, AMENDS, agrees).points
    assert (point.holders, dict(point.opposed_before)) == (("ann",), {})


def test_the_same_words_are_one_point_and_its_second_author_agrees() -> None:
    record = listed(RAISED, says("bob", new_points=("tea is CHEAP",)))
    (point,) = record.points
    assert (point.author, point.holders) == ("ann", ("ann", "bob"))


def test_a_newer_stance_replaces_the_older_one() -> None:
    record = listed(
        RAISED,
        says("bob", round_=2, stances=(stance("p1", "disagree", "no"),)),
        says("bob", round_=3, stances=(stance("p1", "agree"),)),
    )
    assert record.points[0].stances["bob"].stance == "agree"


# Conditions


MILK = demand("There is milk.")


SUGAR = demand("There is sugar.")
WITH_MILK = says("ann", position="Tea.", conditions=(MILK,))


def test_conditions_stand_until_their_owner_withdraws_them() -> None:
    added = says("ann", round_=2, position="Tea.", conditions=(SUGAR,))
    silent = says("ann", round_=3, position="Tea.")
    record = listed(WITH_MILK, added, silent)
    assert [(c.id, c.text) for c in record.conditions] == [
        ("c1", "There is milk."),
        ("c2", "There is sugar."),
    ]
    gone = says("ann", round_=3, position="Tea.", stances=(stance("c1", "withdraw"),))
    assert [c.id for c in listed(WITH_MILK, added, gone).conditions] == ["c2"]
    foreign = says("bob", round_=3, stances=(stance("c1", "withdraw"),))
    assert [c.id for c in listed(WITH_MILK, added, foreign).conditions] == ["c1", "c2"]
    # Withdrawn and listed in one declaration is withdrawn; listed in a later one, it is back.
    both = says("ann", round_=3, conditions=(MILK,), stances=(stance("c1", "withdraw"),))
    assert listed(WITH_MILK, both).conditions == ()
    again = says("ann", round_=4, position="Tea.", conditions=(MILK,))
    assert [c.id for c in listed(WITH_MILK, both, again).conditions] == ["c1"]


def test_where_seats_were_told_to_list_them_again_what_they_left_out_is_gone() -> None:
    """Discussions of 0.1.0 are counted by what was asked of their seats."""
    sweet = says("ann", round_=2, position="Tea.", conditions=(SUGAR,))
    state = at_table(WITH_MILK, sweet, version="0.1.0")
    assert [(c.id, c.text) for c in record_of(state).conditions] == [("c2", "There is sugar.")]


def test_a_short_call_for_votes_leaves_the_conditions_as_they_are() -> None:
    record = listed(
        tabled(),
        says("ann", "o1", position="Tea.", conditions=(MILK,)),
        says("ann", vote("o1", "o1"), 2, stage="ballot"),
    )
    assert [c.id for c in record.conditions] == ["c1"]


def test_a_condition_worded_as_before_keeps_its_id_and_its_answers() -> None:
    record = listed(
        says("ann", position="Tea.", conditions=(MILK,)),
        says("bob", round_=2, position="Tea.", stances=(stance("c1", "agree"),)),
        says("ann", round_=2, position="Tea.", conditions=(demand("there is MILK"),)),
    )
    (held,) = record.conditions
    assert (held.id, held.answers["bob"].stance) == ("c1", "agree")


def test_nobody_answers_its_own_condition_and_its_owner_may_withdraw_it() -> None:
    made = says("ann", position="Tea.", conditions=(MILK,))
    record = listed(made, says("ann", round_=2, stances=(stance("c1", "agree"),)))
    assert dict(record.conditions[0].answers) == {}
    assert listed(made, says("ann", round_=2, stances=(stance("c1", "withdraw"),))).conditions == ()


def test_an_amended_condition_stands_in_its_new_wording_without_the_old_answers() -> None:
    made = says("ann", position="Tea.", conditions=(demand("There is milk.", "o2"),))
    granted = says("bob", round_=2, position="Tea.", stances=(stance("c1", "agree"),))
    oat = stance("c1", "amend", "There is oat milk.")
    for repeated in ((), (MILK,), (demand("There is oat milk."),)):
        amended = says("ann", round_=3, position="Tea.", stances=(oat,), conditions=repeated)
        (held,) = listed(made, granted, amended).conditions
        assert (held.id, held.text, dict(held.answers)) == ("c1", "There is oat milk.", {})
        assert (held.demand, held.condition.otherwise) == (True, "o2")
    (held,) = listed(made, granted, says("ann", round_=3, stances=(oat,))).conditions
    assert held.text == "There is oat milk."


def test_an_answer_of_the_round_in_which_a_condition_is_amended_is_to_neither_wording() -> None:
    made = says("ann", position="Tea.", conditions=(MILK,))
    amends = says("ann", round_=2, stances=(stance("c1", "amend", "There is oat milk."),))
    grants = says("bob", round_=2, stances=(stance("c1", "agree"),))
    for order in ((amends, grants), (grants, amends)):
        assert dict(listed(made, *order).conditions[0].answers) == {}
    later = says("bob", round_=3, stances=(stance("c1", "agree"),))
    assert listed(made, amends, later).conditions[0].answers["bob"].stance == "agree"
    other = says("bob", round_=2, stances=(stance("c1", "amend", "There is none."),))
    assert listed(made, other).conditions[0].text == "There is milk."


def test_a_condition_that_its_owner_still_agrees_to_stands() -> None:
    made = says("ann", position="Tea.", conditions=(MILK,))
    kept = says("ann", round_=2, position="Tea.", stances=(stance("c1", "agree"),))
    assert [c.id for c in listed(made, kept).conditions] == ["c1"]


def test_facts_are_no_demands() -> None:
    fact = Condition(text="Is there milk?", kind="fact")
    record = listed(says("ann", position="Tea.", conditions=(fact, MILK)))
    assert [c.demand for c in record.conditions] == [False, True]


# Ledgers of earlier versions


def test_ballots_of_an_old_ledger_are_votes_on_one_decision() -> None:
    def cast(who: str, round_: int, option: str, *, meaningful: bool = True) -> BallotCast:
        return BallotCast(
            turn_id=f"{round_}/answer/{who}",
            participant=who,
            round=round_,
            position={"o1": "Tea", "o2": "Coffee"}[option],
            certainty=0.8,
            ranking=((option,),),
            meaningful=meaningful,
        )

    state = at_table(
        *(says(who, declares=False) for who in SEATS),
        cast("ann", 1, "o1"),
        cast("bob", 1, "o2"),
        cast("cid", 1, "o2", meaningful=False),
        *(says(who, round_=2, declares=False) for who in SEATS),
        cast("bob", 2, "o1"),
    )
    record = record_of(state)
    assert record.question is not None
    assert record.question.id == LEGACY
    assert {o.id: o.text for o in record.question.options} == {"o1": "Tea", "o2": "Coffee"}
    assert {v.participant: v.choice for v in record.votes(record.question)} == {
        "ann": "o1",
        "bob": "o1",
        "cid": "",
    }
    assert ann(state, "bob").opening == "o2"
    assert record.confidence("ann") == 80


def test_what_is_declared_comes_before_what_an_old_ballot_says() -> None:
    ballot = BallotCast(
        turn_id="1/answer/ann", participant="ann", round=1, position="x", ranking=(("o2",),)
    )
    assert ann(at_table(tabled(), says("ann", "o1"), ballot)).choice == "o1"


def test_positions_and_confidence_are_the_newest_that_were_declared() -> None:
    record = listed(
        says("ann", position="Tea.", confidence=60),
        says("ann", round_=2, position="Green tea.", adopted=by("bob", "green is better")),
        says("ann", round_=2, stage="ballot"),
    )
    assert (record.position("ann"), record.position("ann", first=True)) == ("Green tea.", "Tea.")
    assert (record.confidence("ann"), record.confidence("bob")) == (60, None)


OAT = stance("c1", "amend", "There is oat milk.")


@pytest.mark.parametrize("stage", ["ballot", "confirm"])
def test_an_answer_of_a_later_stage_of_the_round_is_to_the_amended_wording(stage: str) -> None:
    """A demand was amended in the critique and granted in the ballot after it, and counted as not
    granted."""
    made = says("ann", "o1", position="Tea.", conditions=(demand("There is milk."),))
    raised = says("ann", new_points=("Tea is cheap.",), stage="opening")
    amends = says("ann", round_=2, stances=(OAT, stance("p1", "amend", "Tea is cheaper.")))
    grants = says(
        "bob", round_=2, stage=stage, stances=(stance("c1", "agree"), stance("p1", "agree"))
    )
    found = record_of(at_table(tabled(), made, raised, amends, grants))
    (condition,), (point,) = found.conditions, found.points
    assert condition.answers["bob"].stance == "agree"
    assert point.stances["bob"].stance == "agree"
    old = record_of(at_table(tabled(), made, raised, amends, grants, version="0.1.0"))
    assert [each.answers for each in old.conditions] == [{}]


def test_what_was_said_to_an_earlier_wording_is_kept_until_the_new_one_is_answered() -> None:
    made = says("ann", "o1", position="Tea.", conditions=(demand("There is milk."),))
    grants = says("bob", round_=2, stances=(stance("c1", "agree"),))
    amends = says("ann", round_=3, stances=(OAT,))
    for said in ((grants, amends), (grants.model_copy(update={"round": 3}), amends)):
        (held,) = record_of(at_table(tabled(), made, *said)).conditions
        assert held.answers == {}
        assert (held.earlier["bob"].said.stance, held.earlier["bob"].wording) == (
            "agree",
            "There is milk.",
        )
    refuses = says("bob", round_=4, stances=(stance("c1", "disagree"),))
    (held,) = record_of(at_table(tabled(), made, grants, amends, refuses)).conditions
    assert (dict(held.earlier), held.answers["bob"].stance) == ({}, "disagree")


def test_the_records_of_all_rounds_are_those_of_each_round() -> None:
    said: list[Event] = [tabled()]
    for round_ in range(1, 7):
        for place, who in enumerate(SEATS):
            stances = (
                stance(f"c{round_ + place}", "agree"),
                stance(f"c{place + 1}", "amend", f"As {who} says in round {round_}."),
                stance(f"p{round_}", ("agree", "disagree", "withdraw")[place]),
            )
            said.append(
                says(
                    who,
                    "o1",
                    round_,
                    position="Tea.",
                    conditions=(demand(f"{who} in {round_ % 4}."),),
                    new_points=(f"Point {round_ * place % 5}.",),
                    stances=stances,
                    abstain="No." if (round_, who) == (3, "cid") else None,
                    declares=(round_, who) != (4, "bob"),
                )
            )
    for order in (said, [*said[4:], *said[:4]]):
        state = at_table(*order)
        found = records_by_round(state)
        assert list(found) == [1, 2, 3, 4, 5, 6]
        assert {each: record_after(state, each) for each in found} == found


# So far


def test_silence_after_a_declaration_does_not_erase_what_its_seat_holds_so_far() -> None:
    silent = says("ann", None, 2, declares=False).model_copy(update={"flags": (UNDECLARED,)})
    state = at_table(tabled(), says("ann", "o1"), says("bob", "o2"), silent)
    record = record_of(state)
    assert record.question is not None
    assert record.so_far(record.question) == {"ann": "o1", "bob": "o2"}
    assert record.lapsed == ("ann",)  # and still it is not counted


def test_a_position_that_was_declared_with_another_vote_is_what_was_held_before() -> None:
    state = at_table(tabled(), says("ann", "o1", position="Tea."), says("ann", "o2", 2))
    record = record_of(state)
    assert record.question is not None
    assert ann(state).outvoted
    assert record.holds(record.question, "ann") == record.question.options[1].text
    kept = at_table(tabled(), says("ann", "o1", position="Tea."), says("ann", "o1", 2))
    assert not ann(kept).outvoted


# What a seat says it held before


def first_said(position: str, *, placed: str = "", origin: str = "clerk") -> list[Event]:
    """A first answer in these words, and where the clerk put it."""
    options = [
        each.model_copy(update={"origin": origin, "holders": ("ann",) if each.id == placed else ()})
        for each in (TEA, COFFEE)
    ]
    return [says("ann", position=position), tabled(*options)]


@pytest.mark.requirement("Z-23", "Z-24")
@pytest.mark.parametrize("before", ["o1", "silent"])
def test_what_clerk_and_own_words_deny_counts_as_left_whatever_a_seat_says(before: str) -> None:
    start = first_said("Coffee, for the night shift.", placed="o2")
    found = ann(at_table(*start, says("ann", vote("o1", before), 2)))
    assert (found.opening, found.moved, found.misstated) == ("o2", True, before == "o1")
    assert not found.steady


@pytest.mark.requirement("Z-23")
def test_a_clerk_whom_the_seats_own_words_deny_is_mistaken() -> None:
    start = first_said("Tea, for the night shift.", placed="o2")
    found = ann(at_table(*start, says("ann", vote("o1", "o1"), 2)))
    assert (found.opening, found.moved, found.misstated) == ("o1", False, False)
    assert (found.independent, found.doubted) == (False, True)


@pytest.mark.requirement("Z-23")
@pytest.mark.parametrize(("position", "placed"), [("Something warm.", "o2"), ("Coffee!", "")])
def test_nobody_holds_independently_what_the_clerk_or_its_words_deny(
    position: str, placed: str
) -> None:
    found = ann(at_table(*first_said(position, placed=placed), says("ann", vote("o1", "o1"), 2)))
    assert (found.opening, found.moved) == ("o1", False)
    assert (found.independent, found.doubted) == (False, True)


@pytest.mark.requirement("Z-23", "Z-24")
def test_an_option_in_a_seats_own_words_is_what_it_held() -> None:
    words = own(1, "Cocoa.", "ann"), own(2, "Tea.", "bob")
    state = at_table(
        says("ann", position="Cocoa."), tabled(*words), says("ann", vote("o2", "o2"), 2)
    )
    found = ann(state)
    assert (found.opening, found.moved, found.misstated) == ("o1", True, True)


@pytest.mark.requirement("Z-24")
def test_an_earlier_vote_is_what_was_held_whatever_a_seat_says() -> None:
    found = ann(at_table(tabled(), says("ann", "o2"), says("ann", vote("o1", "o1"), 2)))
    assert (found.opening, found.moved, found.misstated, found.steady) == ("o2", True, True, False)


def test_a_vote_before_anybody_was_heard_is_no_giving_in() -> None:
    start = first_said("Coffee, for the night shift.", placed="o2")
    confirmed = says("ann", vote("o1", "o1"), 1, stage="confirm", independent=True)
    found = ann(at_table(*start, confirmed))
    assert (found.opening, found.moved, found.independent) == ("o1", False, False)


def test_in_the_first_version_what_a_seat_said_it_held_was_taken_as_given() -> None:
    start = first_said("Coffee, for the night shift.", placed="o2")
    found = ann(at_table(*start, says("ann", vote("o1", "o1"), 2), version="0.1.0"))
    assert (found.opening, found.moved, found.misstated) == ("o1", False, False)


@pytest.mark.requirement("Z-24")
def test_a_vote_that_comes_back_is_told_with_what_lay_between() -> None:
    state = at_table(
        tabled(),
        says("ann", "o2"),
        says("ann", vote("o1", "o2"), 2),
        says("ann", vote("o2", "o1"), 2, stage="ballot"),
    )
    assert (ann(state).moved, ann(state).between) == (False, ("o1",))


@pytest.mark.requirement("Z-24")
def test_a_position_that_was_worded_anew_before_the_vote_is_a_change_and_no_misstatement() -> None:
    start = first_said("Coffee, for the night shift.", placed="o2")
    again = says("ann", round_=2, position="Tea after all.")
    found = ann(at_table(*start, again, says("ann", vote("o1", "o1"), 3)))
    assert (found.opening, found.moved, found.misstated) == ("o2", True, False)
