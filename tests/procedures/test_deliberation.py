"""The deliberation: who is asked what and when, and how a debate ends."""

from __future__ import annotations

import asyncio

import pytest

from roundtable.core.doubts import doubtful_votes
from roundtable.core.events import AttemptStarted, StageOpened
from roundtable.core.record import record_of
from roundtable.core.standing import DecisionStanding, standing_of
from roundtable.core.state import State
from roundtable.core.turns import UNDECLARED
from roundtable.core.values import Budget
from roundtable.ports import SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.procedures.verdicts import RULES_DISAGREE
from roundtable.views.report_parts import Grid
from roundtable.views.report_positions import positions
from tests.declaring import spoken, vote
from tests.rehearsal import Billed, Cast, Table, Voice, run_in_virtual_time

from .deliberation_table import (
    BALLOTS,
    CLERK,
    DATABASES,
    DEAD,
    EXPERTS,
    NAMES,
    ONE,
    OPEN_QUESTION,
    QUESTION,
    ROUND_1,
    ROUND_2,
    SPLIT,
    SYNTHESIS,
    THREE,
    TWO,
    Act,
    Slow,
    Votes,
    answer,
    asked,
    bare,
    codes,
    deliberate,
    hold,
    moved,
    prompt_of,
    review,
    table,
    verdict_of,
    voice,
)

ALL_YES: Votes = dict.fromkeys(EXPERTS, ("o1", "o1"))


def ending(state: State) -> DecisionStanding:
    """How the question stands."""
    question = standing_of(state).question
    assert question is not None
    return question


def last_votes(state: State) -> dict[str, str]:
    """Each seat's last vote on the question."""
    return {seat.participant: seat.final for seat in ending(state).seats}


# The course of it, and what it costs


@pytest.mark.requirement("Z-07")
def test_a_yes_no_question_takes_three_answers_three_critiques_and_a_verdict() -> None:
    at = table()
    state = hold(at)
    assert asked(at) == [*ROUND_1, *ROUND_2, SYNTHESIS]
    assert (state.status, state.usage.calls) == ("concluded", 7)
    assert at.voices["*"].most_at_once == 3


def test_an_open_question_takes_a_clerk_as_well() -> None:
    at = table(DATABASES)
    state = hold(at, OPEN_QUESTION)
    assert asked(at) == [*ROUND_1, CLERK, *ROUND_2, SYNTHESIS]
    assert state.usage.calls == 8


@pytest.mark.requirement("Z-07")
def test_independent_unanimity_ends_it_after_round_one_and_prints_the_saving() -> None:
    at = table(ALL_YES)
    state = hold(at)
    assert asked(at) == [*ROUND_1, SYNTHESIS]
    (note,) = [note for note in state.notes if note.code == "early_stop"]
    assert note.text == (
        "All 3 independent answers came to the same conclusion, so the critique was left out: "
        "3 calls "
        "saved, about $0.03."
    )
    assert ending(state).end == "consensus"
    assert verdict_of(state).agreement.startswith(
        "Consensus: All 3. They held it independently, before hearing each other."
    )


@pytest.mark.requirement("Z-07", "Z-23")
def test_unanimity_that_only_the_clerk_saw_is_confirmed_by_everybody_before_it_ends_anything() -> (
    None
):
    at = table(dict.fromkeys(EXPERTS, ("Postgres.", "o1")))
    state = hold(at, OPEN_QUESTION)
    assert asked(at) == [*ROUND_1, CLERK, *(f"1/confirm/{who}" for who in EXPERTS), SYNTHESIS]
    (note,) = [note for note in state.notes if note.code == "early_stop"]
    assert note.text.endswith("the critique was left out: a short call to each confirmed it.")
    assert ending(state).end == "consensus"


@pytest.mark.requirement("Z-07", "Z-23")
def test_a_seat_that_corrects_the_clerk_lets_the_critique_be_held() -> None:
    at = table(
        dict.fromkeys(EXPERTS, ("Postgres.", "o1")),
        {
            f"1/confirm/{TWO}": lambda request: spoken(
                "-", request, votes=[vote("own", before="own")], abstain=None
            )
        },
    )
    state = hold(at, OPEN_QUESTION)
    assert "early_stop" not in codes(state)
    assert [turn for turn in asked(at) if turn in ROUND_2] == ROUND_2


@pytest.mark.requirement("Z-07")
def test_unanimity_can_be_examined_all_the_same() -> None:
    at = table(ALL_YES)
    state = hold(at, options={"always_critique": True})
    assert asked(at) == [*ROUND_1, *ROUND_2, SYNTHESIS]
    assert "early_stop" not in codes(state)


@pytest.mark.requirement("Z-07")
@pytest.mark.parametrize("act", [DEAD, bare(answer(TWO))])
def test_unanimity_of_those_who_can_be_counted_is_none(act: Act) -> None:
    at = table(ALL_YES, {f"1/answer/{TWO}": act})
    state = hold(at)
    assert "early_stop" not in codes(state)
    assert any(turn in ROUND_2 for turn in asked(at))


def test_a_quick_deliberation_is_a_vote_without_talk() -> None:
    at = table()
    state = hold(at, options={"quick": True})
    assert asked(at) == [*ROUND_1, SYNTHESIS]
    assert ending(state).end == "majority"
    assert verdict_of(state).changed_minds == ""


@pytest.mark.requirement("Z-11")
def test_a_quick_deliberation_on_an_open_question_votes_before_anybody_hears_another() -> None:
    def choosing(option: str) -> Act:
        return lambda request: spoken(
            "-", request, votes=[vote(option, before=option)], abstain=None
        )

    chosen = {ONE: "o1", TWO: "o2", THREE: "o2"}
    at = table(SPLIT, {f"1/confirm/{who}": choosing(option) for who, option in chosen.items()})
    state = hold(at, OPEN_QUESTION, options={"quick": True})
    confirmed = [f"1/confirm/{who}" for who in EXPERTS]
    assert sorted(asked(at)) == sorted([*ROUND_1, CLERK, *confirmed, SYNTHESIS])
    assert (ending(state).end, ending(state).delivered) == ("majority", "o2")
    assert f"The view of {ONE}" not in str(prompt_of(at, f"1/confirm/{TWO}"))


def test_every_call_carries_its_label() -> None:
    at = table()
    state = hold(at)
    records = run_in_virtual_time(at.records(state))
    labels = [r.event.label for r in records if isinstance(r.event, AttemptStarted)]
    assert labels == [
        *(f"deliberation-{who}-r1" for who in EXPERTS),
        *(f"deliberation-{who}-r2" for who in EXPERTS),
        "deliberation-synthesis",
    ]


@pytest.mark.parametrize("seats", [2, 5, 7])
def test_there_are_as_many_seats_as_were_asked_for(seats: int) -> None:
    state = deliberate(options={"seats": seats})
    assert len(state.participants) == len({p.id for p in state.participants}) == seats


# Four named ends


@pytest.mark.requirement("Z-02")
def test_stable_disagreement_is_an_impasse() -> None:
    state = deliberate({ONE: ("o1", "o1"), TWO: ("o2", "o2")}, options={"seats": 2})
    found = ending(state)
    assert (found.end, found.delivered, found.tied) == ("impasse", None, ("o1", "o2"))
    assert not any(seat.moved for seat in found.seats)
    assert (verdict_of(state).confidence, verdict_of(state).dissent) == (None, ())


@pytest.mark.requirement("Z-02")
def test_opposite_but_confident_is_an_impasse_and_no_high_confidence() -> None:
    state = deliberate(
        {
            ONE: ("o1", {"choice": "o1", "confidence": 100}),
            TWO: ("o2", {"choice": "o2", "confidence": 100}),
        },
        options={"seats": 2},
    )
    assert ending(state).end == "impasse"
    assert verdict_of(state).confidence is None


@pytest.mark.requirement("Z-02")
def test_when_all_flip_in_the_last_round_the_new_view_is_the_result() -> None:
    flip = {"choice": "o2", "adopted": moved("A", "the cost that the view sees")}
    state = deliberate(dict.fromkeys(EXPERTS, ("o1", flip)), options={"always_critique": True})
    found = ending(state)
    assert (found.end, found.delivered, found.independent) == ("consensus", "o2", ())
    assert "It was reached only after talk." in verdict_of(state).agreement
    assert "Without talk the vote would have said “yes”; after it, it says “no”." in (
        verdict_of(state).changed_minds
    )


@pytest.mark.requirement("Z-02")
def test_the_same_words_with_opposite_votes_are_a_disagreement() -> None:
    same = "It depends on the price and on the people."
    turns: dict[str, Act] = {
        "1/answer": answer(ONE, Answer=same, Reasons=f"1. {same}"),
        "2/critique": review(ONE, Answer=same),
    }
    state = deliberate({ONE: ("o1", "o1"), TWO: ("o2", "o2")}, turns, options={"seats": 2})
    assert ending(state).end == "impasse"


@pytest.mark.requirement("Z-02", "Z-23")
def test_opposite_sentences_are_two_positions_whatever_the_clerk_says() -> None:
    one, two = "We should rewrite it now.", "We should not rewrite it now."
    hasty = """```decisions
{"shared": [], "decisions": [{"question": "?", "options": [
 {"text": "Rewrite it now.", "holders": ["A", "B"]}]}], "clashes": []}
```"""

    def corrects(request: SpeakRequest) -> str:
        return spoken("-", request, votes=[vote("own", before="own")])

    def keeps(request: SpeakRequest) -> str:
        own = one if ONE in request.idempotency_key else two
        return spoken(review("x"), request, votes=[vote("own", before="own")], position=own)

    at = table(
        {ONE: (one, "o1"), TWO: (two, "o1")},
        {CLERK: lambda _: hasty, "confirm": corrects, "critique": keeps, "2/ballot": corrects},
    )
    state = hold(at, OPEN_QUESTION, options={"seats": 2})
    assert "early_stop" not in codes(state)
    assert [o.text for o in ending(state).decision.options] == ["Rewrite it now.", one, two]
    assert ending(state).end == "impasse"


@pytest.mark.requirement("Z-02")
def test_positions_that_move_and_do_not_meet_are_a_drift() -> None:
    state = deliberate({ONE: ("o1", "o2"), TWO: ("o2", "o1")}, options={"seats": 2})
    assert ending(state).end == "drift"
    assert verdict_of(state).agreement.startswith(
        "Drift: Split 1 : 1: positions still move and none prevails."
    )


@pytest.mark.requirement("Z-02")
def test_two_of_three_are_a_majority_and_the_third_its_dissent() -> None:
    state = deliberate()
    assert (ending(state).end, ending(state).delivered) == ("majority", "o1")
    (dissent,) = verdict_of(state).dissent
    assert (dissent.participant, dissent.turn_id) == (TWO, f"2/critique/{TWO}")
    assert dissent.position == f"The position of {TWO}."
    assert dissent.reason == f"The cost that {TWO} sees."


@pytest.mark.requirement("Z-02")
def test_who_could_live_with_the_result_is_no_dissenter() -> None:
    state = deliberate({**SPLIT, TWO: ("o2", "o2 > o1")})
    assert ending(state).accepting == (TWO,)
    assert verdict_of(state).dissent == ()


@pytest.mark.requirement("Z-02")
def test_declared_points_are_listed_and_stances_are_taken_on_them() -> None:
    record = record_of(deliberate())
    assert {p.text for p in record.points} == {
        f"The {what} that {who} sees." for who in EXPERTS for what in ("cost", "risk")
    }
    assert [p.id for p in record.points] == [f"p{n}" for n in range(1, 7)]
    for point, stance, status in (("p1", "agree", "agreed"), ("p3", "disagree", "disputed")):
        listed = record.point(point)
        assert listed is not None
        others = {who: stance for who in EXPERTS if who != listed.author}
        assert {who: said.stance for who, said in listed.stances.items()} == others
        assert listed.status == status
    assert {p.status for p in record.points if p.id not in ("p1", "p3")} == {"open"}


def test_contradictory_stances_are_asked_for_again_and_unknown_ones_left_out() -> None:
    twice = [{"id": "p3", "stance": s, "text": ""} for s in ("agree", "disagree")]
    unknown = [{"id": "p99", "stance": "agree", "text": ""}, {"id": "q1", "stance": "agree"}]
    said = iter([[*twice, *unknown], [twice[0], *unknown]])
    at = table(
        turns={
            f"2/critique/{ONE}": lambda request: spoken(
                review(ONE), request, stances=next(said), votes=[vote("o1")]
            )
        }
    )
    record = record_of(hold(at))
    assert {p.id for p in record.points if ONE in p.stances} == {"p3"}
    assert "There are two different stances on p3. Give one." in at.requests[-2].user


# The count


@pytest.mark.requirement("Z-03")
def test_only_the_last_votes_count() -> None:
    state = deliberate({ONE: ("o1", "o2"), TWO: ("o2", "o2"), THREE: ("o1", "o1")})
    assert ending(state).counts == {"o1": 1, "o2": 2}
    assert ending(state).before.counts == {"o1": 2, "o2": 1}


@pytest.mark.requirement("Z-03")
def test_an_alarm_is_raised_when_the_rules_name_different_winners() -> None:
    # Two first choices for o1, but o2 is everybody's second and beats it with the other three.
    rankings = ["o1 > o2 > o3", "o1 > o2 > o3", "o2 > o3 > o1", "o3 > o2 > o1", "o2 > o3 > o1"]
    seats = ("first-principles", "precedent", "pre-mortem", "affected-people", "numbers")
    sure = [100, 100, 61, 61, 61]
    votes: Votes = {
        who: (ranking[:2], {"choice": ranking, "confidence": confidence})
        for who, ranking, confidence in zip(seats, rankings, sure, strict=True)
    }
    state = deliberate(votes, options={"seats": 5, "choices": ["tea", "coffee", "milk"]})
    assert RULES_DISAGREE in verdict_of(state).flags
    calm = deliberate(SPLIT)
    assert RULES_DISAGREE not in verdict_of(calm).flags


def test_a_tie_is_called_one() -> None:
    state = deliberate({ONE: ("o1", "o1"), TWO: ("o2", "o2")}, options={"seats": 2})
    assert verdict_of(state).agreement.startswith("Impasse: Split 1 : 1: none prevails.")
    moving = deliberate({ONE: ("o1", "o2"), TWO: ("o2", "o1")}, options={"seats": 2})
    assert verdict_of(moving).changed_minds.startswith(
        "Talk did not change the result: a tie of “yes” and “no”."
    )


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize("stated", ["o9", "maybe", "o9 > o8", "no idea", "neither", ""])
def test_a_vote_for_no_known_option_is_asked_for_once_more_and_then_not_counted(
    stated: str,
) -> None:
    def broken(request: SpeakRequest) -> str:
        return spoken(review(TWO), request, votes=[vote(stated)])

    at = table(ALL_YES, {f"2/critique/{TWO}": broken})
    state = hold(at, options={"always_critique": True})
    assert asked(at).count(f"2/critique/{TWO}") == 2
    speech = state.speech(f"2/critique/{TWO}")
    assert speech is not None
    assert (speech.flags, speech.declaration) == ((UNDECLARED,), None)
    # It was asked for what it holds now, and said nothing: what it held before does not stand in.
    assert last_votes(state)[TWO] == ""
    assert standing_of(state).record.undeclared == (TWO,)


@pytest.mark.requirement("Z-22")
def test_a_vote_that_is_declared_on_asking_again_counts_and_the_words_stay() -> None:
    said = iter(["neither", "o2"])
    at = table(
        turns={
            f"2/critique/{TWO}": lambda request: spoken(
                review(TWO), request, votes=[vote(next(said))]
            )
        }
    )
    state = hold(at)
    assert last_votes(state)[TWO] == "o2"
    again = at.requests[-2].user
    assert "The choice on d1 must be one of o1, o2, own, any." in again
    assert "The later view of precedent." in again
    speech = state.speech(f"2/critique/{TWO}")
    assert speech is not None
    assert (speech.text, speech.flags) == (review(TWO), ())


@pytest.mark.parametrize(
    "text", ["", " ", "}}{{ null", "## Ballot", "## Ballot\n\n## Ballot", "Ranking: o1", "\x00p1:"]
)
def test_garbled_speeches_break_nothing(text: str) -> None:
    act = bare(text) if text.strip() else DEAD
    state = deliberate(turns={"2/critique": act, f"1/answer/{ONE}": act})
    assert state.status == "concluded"
    assert verdict_of(state).answer


# The control group, and what talk changed


@pytest.mark.requirement("Z-04")
def test_the_votes_before_talk_are_kept_as_the_control_group() -> None:
    state = deliberate({ONE: ("o1", "o2"), TWO: ("o2", "o2"), THREE: ("o1", "o1")})
    first = {seat.participant: seat.opening for seat in ending(state).seats}
    assert first == {ONE: "o1", TWO: "o2", THREE: "o1"}
    assert all(seat.independent for seat in ending(state).seats)
    assert verdict_of(state).changed_minds.startswith(
        "Without talk the vote would have said “yes”; after it, it says “no”."
    )


def letter_of(at: Table, reviewer: str, author: str) -> str:
    """Under which letter the reviewer saw the author's answer."""
    part = prompt_of(at, f"2/critique/{reviewer}").user.partition(f"The view of {author} ")[0]
    return part.rpartition("from Answer ")[2][0]


@pytest.mark.requirement("Z-04")
def test_a_change_of_mind_is_listed_with_the_argument_that_caused_it() -> None:
    at = table(SPLIT)
    hold(at)
    letter = letter_of(at, ONE, TWO)  # the same seed gives the same letters
    argument = f"the cost that {TWO} sees is higher"
    over = {"choice": "o2 > o1", "adopted": moved(letter, argument)}
    again = table({**SPLIT, ONE: ("o1", over)})
    state = hold(again)
    # Its vote decides and was declared only once: it is read back, and nobody else's.
    assert [turn for turn in asked(again) if turn in BALLOTS] == [f"2/ballot/{ONE}"]
    read_back = prompt_of(again, f"2/ballot/{ONE}").user
    assert f"Took over from another: {argument}" in read_back
    assert NAMES[TWO] not in read_back, "who said what is no business of its reader"
    assert (
        f"{NAMES[ONE]} went from “yes” to “no” by an argument of {NAMES[TWO]}: {argument}."
    ) in verdict_of(state).changed_minds
    seat = ending(state).seat(ONE)
    assert seat is not None
    assert (seat.moved, seat.gave_in) == (True, False)


@pytest.mark.requirement("Z-04", "Z-25")
@pytest.mark.parametrize(
    "because", ["", "everybody else", "the majority is surely right", "most want it"]
)
def test_a_sycophant_is_asked_once_and_then_marked_as_having_given_in(because: str) -> None:
    over = {"choice": "o1 > o2", "confidence": 99}
    if because:
        over["adopted"] = moved("A", because)
    at = table({ONE: ("o1", "o1"), TWO: ("o1", "o1"), THREE: ("o2", over)})
    state = hold(at)
    assert asked(at).count(f"2/ballot/{THREE}") == 1
    assert not {f"2/ballot/{ONE}", f"2/ballot/{TWO}"} & set(asked(at))
    assert (
        f"{NAMES[THREE]} went from “no” to “yes” without naming an argument: it gave in."
    ) in verdict_of(state).changed_minds
    assert ending(state).end == "hollow"
    assert [(d.participant, d.gave_in) for d in verdict_of(state).dissent] == [(THREE, True)]


@pytest.mark.requirement("Z-23", "Z-24")
@pytest.mark.parametrize("clerk", [None, "nonsense"])
def test_whoever_says_it_held_all_along_what_it_gave_in_to_is_asked_and_has_moved(
    clerk: str | None,
) -> None:
    over = {"votes": [vote("o1", before="o1")]}
    votes: Votes = {ONE: ("Postgres.", "o1"), TWO: ("Postgres.", "o1"), THREE: ("SQLite.", over)}
    at = table(votes, {CLERK: bare(clerk)} if clerk else {})
    state = hold(at, OPEN_QUESTION)
    told = "You say that you held o1 before, but you had declared o2. Name what changed your mind"
    assert told in prompt_of(at, f"2/ballot/{THREE}").user
    seat = ending(state).seat(THREE)
    assert seat is not None
    assert (seat.opening, seat.gave_in, seat.misstated) == ("o2", True, True)
    assert ending(state).end == "hollow"
    assert "independently" not in verdict_of(state).agreement


@pytest.mark.requirement("Z-22")
def test_whose_words_read_otherwise_than_its_vote_is_asked_once_more() -> None:
    def says_no(request: SpeakRequest) -> str:
        words = review(ONE, Answer="I have thought about it. I vote no.")
        return spoken(words, request, votes=[vote("o1")], position="As I said.")

    def means_no(request: SpeakRequest) -> str:
        return spoken("-", request, votes=[vote("o2", before="o1")], abstain=None)

    acts: dict[str, Act] = {f"2/critique/{ONE}": says_no}
    kept = table(SPLIT, acts)
    state = hold(kept)
    told = "You are recorded as holding o1, and your words read otherwise. Confirm it, or correct"
    assert told in prompt_of(kept, f"2/ballot/{ONE}").user
    assert [each.code for each in doubtful_votes(state)] == ["words_differ"]
    corrected = hold(table(SPLIT, {**acts, f"2/ballot/{ONE}": means_no}))
    assert ending(corrected).delivered == "o2"
    # It is set right: nothing is left to doubt in its vote.
    assert [each.code for each in doubtful_votes(corrected)] == []


# Somebody does not answer


@pytest.mark.requirement("X-13")
@pytest.mark.parametrize("dead", EXPERTS)
@pytest.mark.parametrize("act", [DEAD, None, " "])
def test_with_one_expert_dead_the_others_go_on_and_it_is_said(dead: str, act: Act) -> None:
    at = table(turns={dead: act})
    state = hold(at)
    assert state.status == "concluded"
    (note,) = [note for note in state.notes if note.code in ("missing", "timed_out")]
    assert note.text.startswith(f"{NAMES[dead]} did not answer in round 1: ")
    assert note.text.endswith(" So its view is missing.")
    assert f"2/critique/{dead}" not in asked(at)


@pytest.mark.parametrize("alive", [None, ONE, THREE])
def test_with_fewer_than_two_answers_there_is_no_deliberation(alive: str | None) -> None:
    at = table(turns={f"1/answer/{who}": DEAD for who in EXPERTS if who != alive})
    state = hold(at)
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("failed", "too_few_answers")
    assert state.closed.detail.startswith(f"{1 if alive else 0} of 3 experts answered")
    assert state.verdict is None
    assert asked(at) == ROUND_1


def test_whoever_dies_in_the_critique_keeps_its_first_vote() -> None:
    state = deliberate({**SPLIT, ONE: ("o1", "o2")}, {f"2/critique/{THREE}": None})
    (note,) = [note for note in state.notes if note.code == "timed_out"]
    assert note.text.endswith(" So its view of round 1 stands.")
    assert ending(state).counts == {"o1": 1, "o2": 2}
    assert [(d.turn_id, d.gave_in) for d in verdict_of(state).dissent] == [
        (f"1/answer/{THREE}", False),
        (f"1/answer/{ONE}", True),
    ]


def test_whoever_dies_before_it_could_vote_is_said_not_to_be_counted() -> None:
    state = deliberate(SPLIT, {f"2/critique/{THREE}": None}, topic="Which drink is best?")
    (note,) = [note for note in state.notes if note.code == "timed_out"]
    assert note.text.endswith("so its view of round 1 is told but not counted.")
    question = record_of(state).question
    assert question is not None
    assert not record_of(state).vote(question, THREE).choice


def test_when_nobody_survives_the_critique_the_first_vote_stands() -> None:
    state = deliberate(turns={"2/critique": DEAD})
    assert (state.status, ending(state).end) == ("concluded", "majority")
    assert verdict_of(state).changed_minds == ""


@pytest.mark.requirement("Z-08", "X-14")
@pytest.mark.parametrize("act", [DEAD, None, " "])
def test_a_dead_host_still_gives_a_verdict_with_the_vote_counted(act: Act) -> None:
    state = deliberate(turns={"/host": act})
    found = verdict_of(state)
    assert (state.status, found.method, found.author) == ("concluded", "extractive", "")
    assert found.answer.startswith("The vote is for: yes (2 of 3)")
    for who in EXPERTS:
        assert f"- **{NAMES[who]}** (2/critique/{who}): The position of {who}." in found.answer
    assert found.agreement.startswith("Majority: 2 of 3.")
    assert [d.participant for d in found.dissent] == [TWO]
    assert "extracted_verdict" in codes(state)


# Budgets and time


@pytest.mark.requirement("Z-09", "I-11")
@pytest.mark.parametrize(
    ("calls", "answers", "critiques"), [(2, 1, 0), (3, 2, 0), (4, 3, 0), (5, 3, 1), (6, 3, 2)]
)
def test_a_limit_of_calls_ends_it_with_a_partial_verdict(
    calls: int, answers: int, critiques: int
) -> None:
    at = table()
    state = hold(at, budget=Budget(max_calls=calls))
    assert len(at.requests) == calls
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("stopped", "budget")
    found = verdict_of(state)
    assert (found.partial, found.method) == (True, "written")
    assert len(state.spoken_in("answer", 1)) == answers
    assert len(state.spoken_in("critique", 2)) == critiques


@pytest.mark.requirement("Z-09")
def test_a_limit_that_allows_no_answer_ends_with_advice() -> None:
    state = deliberate(budget=Budget(max_tokens=10))
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("failed", "budget")
    assert "Raise the limit" in state.closed.remedy


@pytest.mark.requirement("Z-09", "Z-35")
def test_a_limit_of_one_call_ends_with_the_one_answer_that_it_pays() -> None:
    state = deliberate(budget=Budget(max_calls=1))
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("stopped", "budget")
    assert (len(state.speeches), state.usage.calls) == (1, 1)
    assert state.verdict is not None
    assert (state.verdict.partial, state.verdict.method) == (True, "extractive")


@pytest.mark.requirement("Z-09")
@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_a_cost_limit_leaves_room_for_the_verdict(share: float) -> None:
    whole = hold(Table({"*": Billed(voice().script, words=300)})).usage.priced_usd
    state = hold(
        Table({"*": Billed(voice().script, words=300)}), budget=Budget(max_cost_usd=share * whole)
    )
    assert state.usage.priced_usd <= share * whole
    assert state.verdict is not None
    if share >= 0.7:
        assert state.verdict.method == "written"


@pytest.mark.requirement("Z-09")
def test_a_time_limit_ends_with_an_extract() -> None:
    at = Table({"*": Slow(voice().script)})
    state = hold(at, budget=Budget(max_seconds=15))
    assert state.closed is not None
    assert (state.closed.stop_reason, verdict_of(state).method) == ("budget", "extractive")


def test_a_clerk_that_no_budget_is_left_for_is_done_without() -> None:
    at = table(DATABASES)
    state = hold(at, OPEN_QUESTION, budget=Budget(max_calls=4))
    assert asked(at) == [*ROUND_1, SYNTHESIS]
    assert "rough_options" in codes(state)
    # What nobody could confirm any more is listed, and not counted.
    assert [o.text for o in ending(state).decision.options] == ["Postgres.", "SQLite."]
    assert verdict_of(state).agreement.startswith("Not counted: 0 of 3 voted")


# Stop, speak, resume


@pytest.mark.requirement("I-07")
@pytest.mark.parametrize(
    ("seconds", "cites", "declared"),
    [(5, [], 0), (11, ROUND_1, 3), (15, ROUND_1, 3), (21, ROUND_2, 6)],
)
def test_a_stop_at_any_stage_keeps_what_was_said_and_counts_it(
    seconds: float, cites: list[str], declared: int
) -> None:
    at = Table({"*": Slow(voice().script)})

    async def main() -> State:
        state = await at.service.open(OpenRequest(topic=QUESTION, procedure="deliberation"))
        run = asyncio.create_task(at.service.run(state.discussion_id))
        await asyncio.sleep(seconds)
        await at.service.stop(state.discussion_id, by="anna")
        return await run

    state = run_in_virtual_time(main())
    assert state.status == "stopped"
    assert list(state.verdict.cites if state.verdict else ()) == cites
    assert len(record_of(state).statements) == declared


@pytest.mark.requirement("I-07", "Z-01")
def test_a_stop_in_mid_round_counts_the_votes_of_those_who_spoke() -> None:
    at = table({**SPLIT, ONE: ("o1", "o2")}, {f"2/critique/{TWO}": None})

    async def main() -> State:
        state = await at.service.open(OpenRequest(topic=QUESTION, procedure="deliberation"))
        run = asyncio.create_task(at.service.run(state.discussion_id))
        await asyncio.sleep(10)
        await at.service.stop(state.discussion_id, by="anna")
        return await run

    state = run_in_virtual_time(main())
    last = {seat.participant: (seat.round, seat.final) for seat in ending(state).seats}
    assert last == {ONE: (2, "o2"), TWO: (1, "o2"), THREE: (2, "o1")}
    assert verdict_of(state).partial


@pytest.mark.requirement("Z-01")
@pytest.mark.parametrize("seconds", [0.5, 1.5, 2.5, 3.5])
def test_an_interrupted_deliberation_goes_on_and_asks_nobody_twice(seconds: float) -> None:
    at = table()

    async def main() -> State:
        state = await at.service.open(OpenRequest(topic=QUESTION, procedure="deliberation"))
        run = asyncio.create_task(at.service.run(state.discussion_id))
        await asyncio.sleep(seconds)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        return await at.service.run(state.discussion_id)

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    records = run_in_virtual_time(at.records(state))
    stages = [(r.event.stage, r.event.round) for r in records if isinstance(r.event, StageOpened)]
    assert stages == [("answer", 1), ("critique", 2), ("synthesis", 0)]
    assert len(record_of(state).statements) == 6


def test_somebody_can_answer_from_outside_and_the_chair_can_remark() -> None:
    at = table(turns={f"1/answer/{TWO}": None})

    async def main() -> State:
        state = await at.service.open(OpenRequest(topic=QUESTION, procedure="deliberation"))
        run = asyncio.create_task(at.service.run(state.discussion_id))
        await asyncio.sleep(5)
        await at.service.speak(state.discussion_id, "coordinator", "Think of the winter.")
        block = '```declaration\n{"votes": [{"on": "d1", "choice": "o2"}], "position": "No."}\n```'
        said = f"{answer(TWO, Answer='Mine: no.')}\n\n{block}"
        await at.service.speak(state.discussion_id, TWO, said)
        return await run

    state = run_in_virtual_time(main())
    first = record_of(state).of(TWO)[0]
    assert [v.choice for v in first.declaration.votes] == ["o2"]
    assert "Think of the winter." in prompt_of(at, f"2/critique/{ONE}").user
    assert "Mine: no." in prompt_of(at, f"2/critique/{ONE}").user


# The demonstration model


@pytest.mark.requirement("I-02", "I-30")
@pytest.mark.parametrize("topic", [QUESTION, OPEN_QUESTION])
def test_the_demonstration_model_has_no_vote_and_its_words_are_extracted(topic: str) -> None:
    def small(request: SpeakRequest) -> str:
        return "\n".join(f"## {shape.heading}\nWords. Choice: o1" for shape in request.shape)

    at = Table({"*": Voice(small)}, cast=Cast(facts={"demonstration": True}))
    state = hold(at, topic)
    assert asked(at) == [*ROUND_1, *ROUND_2]
    assert codes(state) == ["demonstration"]
    assert record_of(state).statements == ()
    assert record_of(state).demonstration == EXPERTS
    found = verdict_of(state)
    assert (found.method, found.meaningful, found.confidence) == ("extractive", False, None)
    assert (found.dissent, found.changed_minds) == ((), "")
    assert found.cites == tuple(ROUND_2)


@pytest.mark.requirement("Z-22")
def test_a_ballot_that_declares_nothing_leaves_the_last_vote_and_no_vote_where_there_is_none() -> (
    None
):
    says_nothing: dict[str, Act] = {"2/ballot": bare("Words.")}
    told = "declared nothing that can be counted in the closing ballot, so"
    over = {"choice": "o2 > o1"}
    voted = deliberate({**SPLIT, ONE: ("o1", over)}, says_nothing)
    seat = ending(voted).seat(ONE)
    assert seat is not None
    assert seat.final == "o2"
    assert f"{NAMES[ONE]} {told} its last vote stands." in [note.text for note in voted.notes]
    mute = {**says_nothing, "2/critique": bare("More words."), CLERK: bare("nonsense")}
    unvoted = deliberate(DATABASES, mute, topic=OPEN_QUESTION)
    assert ending(unvoted).end is None
    notes = [note.text for note in unvoted.notes if note.code == "closing_unanswered"]
    assert notes == [f"{NAMES[who]} {told} it has no vote." for who in EXPERTS]
    held, vote_, *_ = positions(unvoted)
    assert isinstance(held, Grid)
    assert [row[1] for row in held.rows] == ["Postgres.", "SQLite.", "Postgres."]
    assert isinstance(vote_, Grid)
    assert {row[2] for row in vote_.rows} == {"—"}, "nobody said to which option that belongs"
