"""The meeting's rules: the host opens, rounds of speeches one after another, the host sums up
between them and concludes.

P participants and R rounds are P × R calls to participants, each with its own context. A round
ends when everybody has spoken or is absent; the next begins by itself. The meeting goes to its end
when all who sit there declared the same answer and converged on its points (where that was asked
for), when all vote for it, when the rounds are used up, when fewer than two are left, or when the
chair says so. A coordinator from outside is waited for then: the meeting ends with its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from ...core.convergence_rules import Measures, converged
from ...core.effects import DELIVERED, KEPT, Deliver, Effect, Record, TakeTurn, TurnPlan, turn_id
from ...core.events import (
    DiscussionClosed,
    Event,
    NoteAdded,
    SpeechGiven,
    StageClosed,
    TurnFailed,
    VerdictReached,
)
from ...core.shared import Trail
from ...core.stages import Closing, closed_stage, run_stage
from ...core.state import State
from ...core.stopping import Stop, budget_exhausted, stop_requested
from ...core.text import all_of
from ...core.values import OUTSIDE
from ...views.meeting import closing_speech, is_empty, written_conclusion
from ...views.meeting_status import (
    CONCLUSION,
    DISCUSSION,
    called,
    current_round,
    round_report,
    speaks_from_outside,
)
from ..clerk import CLERK, tabled_by_asker, tabled_by_clerk, with_own_positions
from ..closing import CLOSING, closing_ballot
from ..endings import may_open, reasons, to_let_finish, to_raise
from . import turns
from .conclusion import reached
from .meeting_table import MeetingTable

MINIMUM = 2
"""How many must speak in a round for the meeting to go on."""
WrapUp = Literal["converged", "votes", "max_rounds", "too_few", "budget", "chair"]
WRAP_UP = "wrap_up/"
_CONVERGED = converged()


class Meeting:
    """Participants with roles of their own, led by a coordinator."""

    name = "meeting"

    def advance(self, state: State) -> tuple[Effect, ...]:
        table = MeetingTable(state, self.name, open_names=True)
        if not state.tabled and (tabled := tabled_by_asker(table)) is not None:
            # The turn after it is named too, with the options on its form, so that whoever is
            # first may speak already.
            with_options = replace(state, tabled=Trail([tabled]), _derived={})
            table = MeetingTable(with_options, self.name, open_names=True)
            then = (effect for effect in _go_on(table) if isinstance(effect, TakeTurn))
            return (Record((tabled,)), *then)
        return _go_on(table)


def declares_later(state: State, participant: str) -> TurnPlan | None:
    """The turn in which a seat adds to what it declared, or sets it right, without speaking."""
    table = MeetingTable(state, Meeting.name, open_names=True)
    seat = next((each for each in table.seats if each.id == participant), None)
    over = state.closed is not None or _wrapped_up(state) or closing_speech(state) is not None
    return None if over or seat is None else turns.later(table, seat)


def _go_on(table: MeetingTable) -> tuple[Effect, ...]:
    if stop := stop_requested(table.state):
        return _end_early(table, stop)
    if _wrapped_up(table.state) is None:
        return _end_at_once(table) or _open(table) or _rounds(table)
    return _closing(table) or _conclude(table)


# --- the course --------------------------------------------------------------------------------


def _end_at_once(table: MeetingTable) -> tuple[Effect, ...]:
    """The chair has concluded, all have voted for the end, or nothing is left to spend: the
    meeting does not wait for the end of its round."""
    state = table.state
    if closing_speech(state) is not None:
        return _wrap_up(table, "chair", "The chair concluded the meeting.")
    if all(state.end_votes.get(seat.id) for seat in table.seats):
        return _wrap_up(table, "votes", f"{all_of(len(table.seats))} participants voted to end.")
    if state.exhausted is not None and not _under_way(state):
        return _wrap_up(table, "budget", f"The {state.exhausted.limit} limit ended it.")
    return ()


def _open(table: MeetingTable) -> tuple[Effect, ...]:
    if not table.host_writes or (DISCUSSION, 1) in table.state.stages:
        return ()
    failed = _host_failed("open the meeting")
    return run_stage(table.state, [turns.opening(table)], closing=failed).effects


def _rounds(table: MeetingTable) -> tuple[Effect, ...]:
    state = table.state
    for round_ in range(1, table.max_rounds + 1):
        held = state.stages.get((DISCUSSION, round_))
        if held is None or held.closed is None:
            plans = turns.speeches(table, round_)
            order: Literal["parallel", "sequential"] = (
                "parallel" if table.parallel else "sequential"
            )
            return run_stage(state, plans, order, _absences(state)).effects
        if round_ < current_round(state):
            continue  # it went on
        if ended := _after_round(table, round_, len(held.closed.spoke)):
            return ended
        if round_ < table.max_rounds and (between := _between(table, round_)):
            return between
    count = table.max_rounds
    rounds = "The one round was" if count == 1 else f"{all_of(count)} rounds were"
    return _wrap_up(table, "max_rounds", f"{rounds} held.")


def _after_round(table: MeetingTable, round_: int, spoke: int) -> tuple[Effect, ...]:
    """The end, if the meeting does not go on after this round."""
    state = table.state
    if spoke < MINIMUM and round_ not in state.advanced:
        text = f"{spoke} of {len(table.seats)} spoke in round {round_}; it takes two."
        return _wrap_up(table, "too_few", text)
    if round_ == table.max_rounds or not table.ends_early:
        return ()
    ballot = state.stages.get((CLOSING, round_))
    if ballot is not None and ballot.closed is None:
        return closing_ballot(table, round_)
    if (detail := _agreed(table, round_)) is None:
        return ()
    # Nothing ends on a vote that was said only once: it is read back first.
    return closing_ballot(table, round_) or _wrap_up(
        table, "converged", f"After round {round_} of {table.max_rounds}: {detail}."
    )


def _agreed(table: MeetingTable, round_: int) -> str | None:
    """Why the meeting can end after this round: all declared the same answer, and more than four
    fifths of the points they settled are agreed. None if they did not, whatever their words
    sound like, and however politely they agree with each other's points."""
    if not table.standing.unanimous:
        return None
    question = table.standing.question
    assert question is not None, "a vote is unanimous on something"
    told = question.reason.rstrip(".").lower()
    if not any(point.status != "withdrawn" for point in table.record.points):
        return f"{told} hold the same answer"
    score = round_report(table.state, round_).convergence_score
    fired = _CONVERGED(Measures(round=round_, convergence_score=score))
    return f"{told} hold the same answer, and {fired.detail}" if fired else None


def _between(table: MeetingTable, round_: int) -> tuple[Effect, ...]:
    """Between two rounds the host sums up, and what was said becomes what is voted on."""
    state = table.state
    if table.sums_up and not table.summed_up(round_):
        plan = turns.summary(table, round_)
        failed = _host_failed("sum the round up")
        return run_stage(state, [plan], closing=failed).effects
    if table.rounds_wait and not table.summed_up(round_):
        return run_stage(state, [turns.awaited_summary(table, round_)]).effects
    return _options(table, round_)


def _options(table: MeetingTable, round_: int) -> tuple[Effect, ...]:
    """Positions as options: as the host lists them, or in the words of whoever holds them."""
    state = table.state
    if not state.tabled:
        if not any(each.declaration.position for each in table.record.statements):
            return ()
        listing = table.summary_of(round_)
        if not table.sums_up or round_ == table.max_rounds:
            # No summary asks for the list: the host is asked for it alone.
            asked = closed_stage(state, CLERK, 0) is not None or not table.host_writes
            if not asked and may_open(state, CLERK, 0):
                return run_stage(state, [turns.clerk(table)]).effects
            listing = next(iter(state.spoken_in(CLERK, 0)), None)
        return (Record((tabled_by_clerk(table, listing),)),)
    tabled = with_own_positions(table)
    return (Record((tabled,)),) if tabled is not None else ()


# --- the end -----------------------------------------------------------------------------------


def _wrap_up(table: MeetingTable, why: WrapUp, text: str) -> tuple[Effect, ...]:
    """Decide the end, and close what is still open; not before a coordinator from outside has
    concluded, or was waited for long enough."""
    if why not in ("chair", "budget") and (waiting := _awaiting(table, why)):
        return waiting
    state = table.state
    events: list[Event] = []
    if _nobody_concluded(table):
        events.append(UNCONCLUDED_NOTE)
    for (name, round_), stage in state.stages.items():
        if stage.closed is None:
            spoke = [s.participant for s in state.spoken_in(name, round_)]
            seats = [turn.rsplit("/", 1)[1] for turn in stage.opened.turns]
            missing = tuple(who for who in seats if who not in spoke)
            events.append(
                StageClosed(stage=name, round=round_, spoke=tuple(spoke), missing=missing)
            )
    return (Record((*events, NoteAdded(code=f"{WRAP_UP}{why}", text=text))),)


def _awaiting(table: MeetingTable, why: WrapUp) -> tuple[Effect, ...]:
    """The turn in which a coordinator from outside concludes. Until it does, seats may still
    declare what they left open, and the coordinator may give the table more rounds."""
    if not table.led_from_outside or not table.speakers or _nobody_concluded(table):
        return ()
    if why in ("votes", "max_rounds") and (ballot := _ballot(table)):
        return ballot
    return run_stage(table.state, [turns.awaited_conclusion(table)]).effects


def _concluded_by_hand(state: State) -> bool:
    speech = closing_speech(state)
    return speech is not None and speech.model == OUTSIDE


def _nobody_concluded(table: MeetingTable) -> bool:
    turn = table.state.turn(turn_id(0, CONCLUSION, table.host.id))
    return table.led_from_outside and turn is not None and turn.failure is not None


def _wrapped_up(state: State) -> WrapUp | None:
    """Why the meeting goes to its end, once that is decided: it is recorded, so that nothing that
    happens afterwards can open it again."""
    note = next((n for n in state.notes if n.code.startswith(WRAP_UP)), None)
    if note is None:
        return None
    whys: tuple[WrapUp, ...] = get_args(WrapUp)
    return next(each for each in whys if note.code == f"{WRAP_UP}{each}")


def _closing(table: MeetingTable) -> tuple[Effect, ...]:
    """Before the host concludes, what is still open is asked for."""
    state = table.state
    if _wrapped_up(state) not in ("votes", "max_rounds") or (CONCLUSION, 0) in state.stages:
        return ()
    return _ballot(table)


def _ballot(table: MeetingTable) -> tuple[Effect, ...]:
    """What is still open: the votes themselves, where the options came only with the last round.
    Where the coordinator is from outside, seats from outside have until it concludes."""
    state = table.state
    round_ = current_round(state)
    called_for = [s for s in table.seats if not speaks_from_outside(s)]
    nobody_reasons = all(seat.speaker.demonstration for seat in called_for)
    if budget_exhausted(state) or (nobody_reasons and not table.led_from_outside):
        return ()
    if not state.tabled and (options := _options(table, round_)):
        return options
    if nobody_reasons:
        tabled = with_own_positions(table)
        return (Record((tabled,)),) if tabled is not None else ()
    question = table.standing.question
    unvoted = question is not None and not any(seat.final for seat in question.seats)
    patience = None if table.led_from_outside else table.patience
    return closing_ballot(table, round_, unvoted=unvoted, patience=patience)


def _conclude(table: MeetingTable) -> tuple[Effect, ...]:
    state = table.state
    why = _wrapped_up(state)
    needed = MINIMUM if why == "too_few" else 1
    if len(table.speakers) < needed and closing_speech(state) is None:
        return _too_few(table)
    notes: tuple[Event, ...] = ()
    if table.host_writes and why != "chair":
        stage = run_stage(state, [turns.conclusion(table, current_round(state))])
        if not stage.over:
            return stage.effects
        notes = () if written_conclusion(state) else (_extracted(state),)
    if not _delivered(state):
        return (Deliver(),)
    closed = DiscussionClosed(status="concluded", stop_reason="verdict")
    if spent := budget_exhausted(state):
        closed = DiscussionClosed(
            status="stopped",
            stop_reason="budget",
            detail=f"Stopped by {spent.detail}.",
            remedy=to_let_finish(state, "the meeting"),
        )
    elif why == "too_few" and not _concluded_by_hand(state):
        closed = DiscussionClosed(
            status="stopped",
            stop_reason="too_few_answers",
            detail="The meeting ended early: fewer than two participants were left.",
            remedy="Give the seats other models, or more time with turn_seconds.",
        )
    verdict = reached(table).model_copy(update={"partial": closed.status == "stopped"})
    return (Record((*notes, VerdictReached(verdict=verdict), closed)),)


def _end_early(table: MeetingTable, stop: Stop) -> tuple[Effect, ...]:
    """End now, with what exists and without another call."""
    events: list[Event] = []
    if table.speakers:
        if not _delivered(table.state):
            return (Deliver(),)
        verdict = reached(table).model_copy(update={"partial": True})
        events.append(VerdictReached(verdict=verdict))
    events.append(DiscussionClosed(status="stopped", stop_reason=stop.reason, detail=stop.detail))
    return (Record(tuple(events)),)


def _too_few(table: MeetingTable) -> tuple[Effect, ...]:
    spent = budget_exhausted(table.state)
    count = len(table.speakers)
    closed = DiscussionClosed(
        status="failed",
        stop_reason="budget" if spent else "too_few_answers",
        detail=f"The budget ended the meeting before anybody had spoken: {spent.detail}."
        if spent
        else f"Sorry: {count} of {len(table.seats)} participants spoke, and a meeting needs at "
        f"least two.{reasons(table.state)}",
        remedy=to_raise(table.state)
        if spent
        else "Give the seats other models: `roundtable models` shows which can be used now.",
    )
    return (Record((closed,)),)


# --- what is read of the state -----------------------------------------------------------------


def _under_way(state: State) -> bool:
    """Whether somebody is speaking: a spent budget opens nothing, but cuts nobody short."""
    return any(not state.turns[each.started.turn_id].over for each in state.in_flight)


def _delivered(state: State) -> bool:
    return any(note.code in (DELIVERED, KEPT) for note in state.notes)


def _absences(state: State) -> Closing:
    """A note for everybody who did not speak in a round."""

    def closing(_: Sequence[SpeechGiven], failures: Sequence[TurnFailed]) -> tuple[Event, ...]:
        return tuple(
            NoteAdded(
                code="absent",
                text=f"{called(seated) if seated else failure.participant} is absent from round "
                f"{failure.round}: {failure.message}",
                remedy=failure.remedy,
            )
            for failure in failures
            for seated in (state.participant(failure.participant),)
        )

    return closing


def _host_failed(verb: str) -> Closing:
    """A note for each turn of the host that failed: the meeting can do without it."""

    def closing(_: Sequence[SpeechGiven], failures: Sequence[TurnFailed]) -> tuple[Event, ...]:
        return tuple(
            NoteAdded(
                code="host_failed",
                text=f"The coordinator could not {verb}, and the meeting went on without: "
                f"{failure.message}",
                remedy=failure.remedy,
            )
            for failure in failures
        )

    return closing


def _extracted(state: State) -> NoteAdded:
    """Why the conclusion is an extract: what the coordinator wrote is not, or there is nothing."""
    speech = closing_speech(state)
    if speech is None:
        return EXTRACTED_NOTE
    why = "says nothing" if is_empty(speech) else "is copied from one of the speeches"
    text = (
        f"What the coordinator wrote {why}, so the conclusion is an extract of what the "
        "participants declared, made without a model."
    )
    return EXTRACTED_NOTE.model_copy(update={"text": text})


UNCONCLUDED_NOTE = NoteAdded(
    code="unconcluded",
    text="The coordinator did not conclude in time, so the conclusion is an extract of what "
    "the participants declared.",
    remedy="Give it more time with conclusion_seconds, or let a model coordinate.",
)
EXTRACTED_NOTE = NoteAdded(
    code="extracted_verdict",
    text="The coordinator could not write the conclusion, so it is an extract of what the "
    "participants declared, made without a model.",
    remedy="Ask again to get a written one.",
)
