"""The deliberation: who is asked what and when, and how a debate ends."""

from __future__ import annotations

import asyncio

import pytest
from roundtable.procedures.deliberation.contracts import UNCOUNTED
from roundtable.procedures.deliberation.sitting import Sitting
from roundtable.procedures.deliberation.verdict import RULES_DISAGREE

from roundtable.core.convergence import Ending
from roundtable.core.errors import SpeakerError
from roundtable.core.events import AttemptStarted, BallotCast, StageOpened
from roundtable.core.state import State
from roundtable.core.values import Budget
from roundtable.ports import SpeakRequest
from roundtable.procedures.opening import OpenRequest
from tests.rehearsal import Cast, Table, Voice, run_in_virtual_time

from .deliberation_table import (
    CLERK,
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
    Slow,
    Votes,
    answer,
    asked,
    codes,
    deliberate,
    hold,
    prompt_of,
    review,
    table,
    verdict_of,
    voice,
)

ALL_YES: Votes = dict.fromkeys(EXPERTS, ("o1", "o1"))


def ending(state: State) -> Ending:
    return Sitting(state).ending


# The course of it, and what it costs


@pytest.mark.requirement("Z-07")
def test_a_yes_no_question_takes_three_answers_three_critiques_and_a_verdict() -> None:
    at = table()
    state = hold(at)
    assert asked(at) == [*ROUND_1, *ROUND_2, SYNTHESIS]
    assert (state.status, state.usage.calls) == ("concluded", 7)
    assert at.voices["*"].most_at_once == 3


def test_an_open_question_takes_a_clerk_as_well() -> None:
    at = table({ONE: ("Postgres.", "o1"), TWO: ("SQLite.", "o2"), THREE: ("Postgres.", "o1")})
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
        "All 3 independent answers came to the same, so the critique was left out: 3 calls "
        "saved, about $0.0300."
    )
    assert ending(state).end == "consensus"
    assert verdict_of(state).agreement.startswith("Consensus: all 3 hold it (agreement 100%).")


@pytest.mark.requirement("Z-07")
def test_unanimity_can_be_examined_all_the_same() -> None:
    at = table(ALL_YES)
    state = hold(at, options={"always_critique": True})
    assert asked(at) == [*ROUND_1, *ROUND_2, SYNTHESIS]
    assert "early_stop" not in codes(state)


@pytest.mark.requirement("Z-07")
@pytest.mark.parametrize("act", [DEAD, answer(TWO, "Choice: no idea")])
def test_unanimity_of_those_who_can_be_counted_is_none(act: str | SpeakerError) -> None:
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
    assert (found.end, found.agreement, found.stability) == ("impasse", 0.0, 1.0)
    assert verdict_of(state).confidence == "low"
    assert [d.participant for d in verdict_of(state).dissent] == [ONE, TWO]


@pytest.mark.requirement("Z-02")
def test_opposite_but_confident_is_an_impasse_and_no_high_confidence() -> None:
    sure = "Ranking: {}\nConfidence: 100"
    state = deliberate(
        {ONE: ("o1", sure.format("o1")), TWO: ("o2", sure.format("o2"))}, options={"seats": 2}
    )
    assert ending(state).end == "impasse"
    assert verdict_of(state).confidence == "low"


@pytest.mark.requirement("Z-02")
def test_when_all_flip_in_the_last_round_the_new_view_is_the_result() -> None:
    votes = dict.fromkeys(EXPERTS, ("o1", "o2"))
    state = deliberate(votes, options={"always_critique": True})
    found = ending(state)
    assert (found.end, found.position, found.stability) == ("consensus", "o2", 0.0)
    assert "Without talk the vote would have said “yes”; after it, it says “no”." in (
        verdict_of(state).changed_minds
    )


@pytest.mark.requirement("Z-02")
def test_the_same_words_with_opposite_votes_are_a_disagreement() -> None:
    same = "It depends on the price and on the people."
    turns = {
        f"1/answer/{ONE}": answer(ONE, "o1", Answer=same, Reasons=f"1. {same}"),
        f"1/answer/{TWO}": answer(TWO, "o2", Answer=same, Reasons=f"1. {same}"),
        f"2/critique/{ONE}": review(ONE, "o1 > o2", Answer=same, Stances="p1: agree"),
        f"2/critique/{TWO}": review(TWO, "o2 > o1", Answer=same, Stances="p1: agree"),
    }
    state = deliberate(turns=turns, options={"seats": 2})
    assert ending(state).end == "impasse"


@pytest.mark.requirement("Z-02")
def test_opposite_sentences_are_two_positions_whatever_the_clerk_says() -> None:
    one, two = "We should rewrite it now.", "We should not rewrite it now."
    at = table(
        {ONE: (one, "o1"), TWO: (two, "o2")},
        {
            CLERK: lambda _: (
                "OPTION: Rewrite it\n"
                + "\n".join(
                    f'ANSWER {letter}: "The view of {who} in plain words"'
                    for letter in "AB"
                    for who in (ONE, TWO)
                )
            )
        },
    )
    state = hold(at, OPEN_QUESTION, options={"seats": 2})
    assert "early_stop" not in codes(state)
    assert list(Sitting(state).options.values()) == [one, two]
    assert ending(state).end == "impasse"


@pytest.mark.requirement("Z-02")
def test_positions_that_move_and_do_not_meet_are_a_drift() -> None:
    state = deliberate({ONE: ("o1", "o2"), TWO: ("o2", "o1")}, options={"seats": 2})
    assert (ending(state).end, ending(state).stability) == ("drift", 0.0)
    assert verdict_of(state).agreement.startswith("Drift: positions move and none prevails")


@pytest.mark.requirement("Z-02")
def test_two_of_three_are_a_majority_and_the_third_its_dissent() -> None:
    state = deliberate()
    assert (ending(state).end, ending(state).position) == ("majority", "o1")
    (dissent,) = verdict_of(state).dissent
    assert (dissent.participant, dissent.turn_id) == (TWO, f"2/critique/{TWO}")
    assert dissent.position == f"The later view of {TWO}."
    assert dissent.reason == f"The cost that {TWO} sees."


@pytest.mark.requirement("Z-02")
def test_reasons_become_points_and_stances_are_taken_on_them() -> None:
    state = deliberate()
    assert [p.text for p in state.points.values()] == [
        f"The {what} that {who} sees." for who in EXPERTS for what in ("cost", "risk")
    ]
    second = [(s.participant, s.point_id, s.position) for s in state.stances if s.round == 2]
    assert second == [
        (who, point, position)
        for who in EXPERTS
        for point, position in (("p1", "agree"), ("p3", "disagree"))
    ]


def test_contradictory_and_unknown_stances_are_unsure_and_left_out() -> None:
    stances = "p1: agree\np1: disagree\np99: agree\nq1: agree"
    state = deliberate(turns={f"2/critique/{ONE}": review(ONE, "o1", Stances=stances)})
    mine = [(s.point_id, s.position) for s in state.stances if s.participant == ONE and s.round > 1]
    assert mine == [("p1", "unsure")]


# The count


@pytest.mark.requirement("Z-03")
def test_only_the_last_ballots_count() -> None:
    state = deliberate({ONE: ("o1", "o2"), TWO: ("o2", "o2"), THREE: ("o1", "o1")})
    sitting = Sitting(state)
    assert sitting.count(sitting.last_ballots).outcomes["plurality"].scores == {"o1": 1, "o2": 2}
    assert len(state.ballots) == 6


@pytest.mark.requirement("Z-03")
def test_an_alarm_is_raised_when_the_rules_name_different_winners() -> None:
    # Two first choices for o1, but o2 is everybody's second and beats it with the other three.
    rankings = ["o1 > o2 > o3", "o1 > o2 > o3", "o2 > o3 > o1", "o3 > o2 > o1", "o2 > o3 > o1"]
    seats = ("first-principles", "precedent", "pre-mortem", "affected-people", "numbers")
    sure = [100, 100, 61, 61, 61]
    votes = {
        who: (ranking[:2], f"Ranking: {ranking}\nConfidence: {confidence}")
        for who, ranking, confidence in zip(seats, rankings, sure, strict=True)
    }
    state = deliberate(votes, options={"seats": 5, "choices": ["tea", "coffee", "milk"]})
    assert RULES_DISAGREE in verdict_of(state).flags
    calm = deliberate(SPLIT)
    assert RULES_DISAGREE not in verdict_of(calm).flags


def test_a_tie_is_called_one() -> None:
    state = deliberate({ONE: ("o1", "o1"), TWO: ("o2", "o2")}, options={"seats": 2})
    assert verdict_of(state).changed_minds == (
        "Talk did not change the result: a tie of “yes” and “no”."
    )


@pytest.mark.parametrize("stated", ["o9", "maybe", "o9 > o8", "no idea", "neither", ""])
def test_a_ballot_for_no_known_option_is_asked_for_once_more_and_then_not_counted(
    stated: str,
) -> None:
    broken = review(TWO, f"Ranking: {stated}\nConfidence: 90")
    at = table(ALL_YES, {f"2/critique/{TWO}": broken})
    state = hold(at, options={"always_critique": True})
    assert asked(at).count(f"2/critique/{TWO}") == 2
    speech = state.speech(f"2/critique/{TWO}")
    assert speech is not None
    assert speech.flags == (UNCOUNTED,)
    (cast,) = [b for b in state.ballots if b.round == 2 and b.participant == TWO]
    assert (cast.ranking, cast.meaningful) == ((), False)
    # It spoke again and nobody knows what it holds now: its vote of round 1 is not put in.
    assert (ending(state).end, ending(state).dissenting) == ("majority", (TWO,))
    sitting = Sitting(state)
    assert sitting.count(sitting.last_ballots).voters == (ONE, THREE)


def test_a_repaired_ballot_counts() -> None:
    said = iter([review(TWO, "Ranking: neither\nConfidence: 1"), review(TWO, "o2 > o1")])
    at = table(turns={f"2/critique/{TWO}": lambda _: next(said)})
    state = hold(at)
    assert [b.ranking for b in state.ballots if b.participant == TWO][-1] == (("o2",), ("o1",))
    repair = at.requests[-2].user
    assert "Name them by their ids: o1, o2." in repair


@pytest.mark.parametrize(
    "text", ["", " ", "}}{{ null", "## Ballot", "## Ballot\n\n## Ballot", "Ranking: o1", "\x00p1:"]
)
def test_garbled_speeches_break_nothing(text: str) -> None:
    state = deliberate(turns={"2/critique": text or DEAD, f"1/answer/{ONE}": text or DEAD})
    assert state.status == "concluded"
    assert verdict_of(state).answer


# The control group, and what talk changed


@pytest.mark.requirement("Z-04")
def test_the_ballots_before_talk_are_kept_as_the_control_group() -> None:
    state = deliberate({ONE: ("o1", "o2"), TWO: ("o2", "o2"), THREE: ("o1", "o1")})
    first = [(b.participant, b.position) for b in state.ballots if b.round == 1]
    assert first == [(ONE, "yes"), (TWO, "no"), (THREE, "yes")]
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
    moved = f"Ranking: o2 > o1\nConfidence: 70\nBecause: Answer {letter}: the licence costs more"
    state = deliberate({**SPLIT, ONE: ("o1", moved)})
    assert (
        f"- {NAMES[ONE]} went from “yes” to “no” because of {NAMES[TWO]} (1/answer/{TWO}): the "
        "licence costs more."
    ) in verdict_of(state).changed_minds
    (change,) = Sitting(state).changes
    assert (change.argument, change.capitulation) == (f"1/answer/{TWO}", False)


@pytest.mark.requirement("Z-04")
@pytest.mark.parametrize(
    "because", ["none", "", "everybody else", "Answer Z", "the majority is surely right"]
)
def test_a_sycophant_is_marked_as_a_capitulation(because: str) -> None:
    votes = {
        ONE: ("o1", "o1"),
        TWO: ("o1", "o1"),
        THREE: ("o2", f"Ranking: o1 > o2\nConfidence: 99\nBecause: {because}"),
    }
    state = deliberate(votes)
    assert (
        f"- {NAMES[THREE]} went from “no” to “yes” without naming a new argument: a capitulation."
    ) in verdict_of(state).changed_minds
    assert ending(state).end == "consensus"


# Somebody does not answer


@pytest.mark.requirement("X-13")
@pytest.mark.parametrize("dead", EXPERTS)
@pytest.mark.parametrize("act", [DEAD, None, " "])
def test_with_one_expert_dead_the_others_go_on_and_it_is_said(
    dead: str, act: SpeakerError | str | None
) -> None:
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
    sitting = Sitting(state)
    assert sitting.count(sitting.last_ballots).outcomes["plurality"].scores == {"o1": 1, "o2": 2}
    assert [d.turn_id for d in verdict_of(state).dissent] == [f"1/answer/{THREE}"]


def test_when_nobody_survives_the_critique_the_first_vote_stands() -> None:
    state = deliberate(turns={"2/critique": DEAD})
    assert (state.status, ending(state).end) == ("concluded", "majority")
    assert verdict_of(state).changed_minds == ""


@pytest.mark.requirement("Z-08", "X-14")
@pytest.mark.parametrize("act", [DEAD, None, " "])
def test_a_dead_host_still_gives_a_verdict_with_the_vote_counted(
    act: SpeakerError | str | None,
) -> None:
    state = deliberate(turns={"/host": act})
    found = verdict_of(state)
    assert (state.status, found.method, found.author) == ("concluded", "extractive", "")
    assert found.answer.startswith("The vote is for “yes”.")
    for who in EXPERTS:
        assert f"- **{NAMES[who]}** (2/critique/{who}): The later view of {who}." in found.answer
    assert found.agreement.startswith("Majority: 2 of 3 hold it")
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
    state = deliberate(budget=Budget(max_calls=1))
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("failed", "budget")
    assert "Raise the limit" in state.closed.remedy


@pytest.mark.requirement("Z-09")
@pytest.mark.parametrize("cost", [0.05, 0.06, 0.08, 0.1, 0.12])
def test_a_cost_limit_leaves_room_for_the_verdict(cost: float) -> None:
    state = deliberate(budget=Budget(max_cost_usd=cost))
    assert state.usage.priced_usd <= cost
    if state.verdict is not None:
        assert state.verdict.method == "written"


@pytest.mark.requirement("Z-09")
def test_a_time_limit_ends_with_an_extract() -> None:
    at = Table({"*": Slow(voice().script)})
    state = hold(at, budget=Budget(max_seconds=8))
    assert state.closed is not None
    assert (state.closed.stop_reason, verdict_of(state).method) == ("budget", "extractive")


def test_a_clerk_that_no_budget_is_left_for_is_done_without() -> None:
    votes = {ONE: ("Postgres.", "o1"), TWO: ("SQLite.", "o2"), THREE: ("Postgres.", "o1")}
    at = table(votes)
    state = hold(at, OPEN_QUESTION, budget=Budget(max_calls=4))
    assert asked(at) == [*ROUND_1, SYNTHESIS]
    assert "rough_options" in codes(state)
    assert verdict_of(state).agreement.startswith("Majority: 2 of 3 hold it")


# Stop, speak, resume


@pytest.mark.requirement("I-07")
@pytest.mark.parametrize(
    ("seconds", "cites", "ballots"),
    [(5, [], 0), (11, ROUND_1, 3), (15, ROUND_1, 3), (21, ROUND_2, 6)],
)
def test_a_stop_at_any_stage_keeps_what_was_said_and_counts_it(
    seconds: float, cites: list[str], ballots: int
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
    assert len(state.ballots) == ballots


@pytest.mark.requirement("I-07", "Z-01")
def test_a_stop_in_mid_round_counts_the_ballots_of_those_who_spoke() -> None:
    at = table({**SPLIT, ONE: ("o1", "o2")}, {f"2/critique/{TWO}": None})

    async def main() -> State:
        state = await at.service.open(OpenRequest(topic=QUESTION, procedure="deliberation"))
        run = asyncio.create_task(at.service.run(state.discussion_id))
        await asyncio.sleep(10)
        await at.service.stop(state.discussion_id, by="anna")
        return await run

    state = run_in_virtual_time(main())
    last = {b.participant: (b.round, b.position) for b in state.ballots}
    assert last == {ONE: (2, "no"), TWO: (1, "no"), THREE: (2, "yes")}
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
    assert len([r for r in records if isinstance(r.event, BallotCast)]) == 6


def test_somebody_can_answer_from_outside_and_the_chair_can_remark() -> None:
    at = table(turns={f"1/answer/{TWO}": None})

    async def main() -> State:
        state = await at.service.open(OpenRequest(topic=QUESTION, procedure="deliberation"))
        run = asyncio.create_task(at.service.run(state.discussion_id))
        await asyncio.sleep(5)
        await at.service.speak(state.discussion_id, "coordinator", "Think of the winter.")
        await at.service.speak(state.discussion_id, TWO, answer(TWO, "o2", Answer="Mine: no."))
        return await run

    state = run_in_virtual_time(main())
    assert next(b.position for b in state.ballots if b.participant == TWO) == "no"
    assert "Think of the winter." in prompt_of(at, f"2/critique/{ONE}").user
    assert "Mine: no." in prompt_of(at, f"2/critique/{ONE}").user


# The demonstration model


@pytest.mark.requirement("I-02", "I-30")
@pytest.mark.parametrize("topic", [QUESTION, OPEN_QUESTION])
def test_the_demonstration_model_casts_no_ballots_and_its_words_are_extracted(topic: str) -> None:
    def small(request: SpeakRequest) -> str:
        return "\n".join(f"## {shape.heading}\nWords. Choice: o1" for shape in request.shape)

    at = Table({"*": Voice(small)}, cast=Cast(facts={"demonstration": True}))
    state = hold(at, topic)
    assert asked(at) == [*ROUND_1, *ROUND_2]
    assert codes(state) == ["demonstration"]
    assert {ballot.meaningful for ballot in state.ballots} == {False}
    found = verdict_of(state)
    assert (found.method, found.meaningful, found.confidence) == ("extractive", False, None)
    assert (found.dissent, found.changed_minds) == ((), "")
    assert found.cites == tuple(ROUND_2)
