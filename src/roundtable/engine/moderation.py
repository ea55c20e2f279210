"""What a chair does by hand: pausing, skipping, ending a round, concluding. Each is a recorded act.

Pure: from the newest state to the events, or NotAllowed. The service appends them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

from ..core.budget import LIMITS, none_left, passed, told
from ..core.condensing import ROOM, condensed, condensed_note
from ..core.decide import Procedure, advanced, decide
from ..core.effects import Record, TakeTurn, TurnPlan, turn_id
from ..core.errors import NotAllowed, UnknownName, is_closed
from ..core.events import (
    ChoiceMade,
    DiscussionPaused,
    DiscussionResumed,
    EndVoted,
    Event,
    LimitsRaised,
    MaterialAdded,
    OutcomeRecorded,
    ParticipantsSeated,
    RoundAdvanced,
    RoundsExtended,
    SpeechGiven,
    StageOpened,
    StageReopened,
    TurnFailed,
)
from ..core.limits import FLAGS, NO_LIMITS, WORDS, Limits, is_cap, is_raised
from ..core.material import material_size, refuse_too_much, size_of
from ..core.state import State
from ..core.stopping import spent_so_far
from ..core.text import readable
from ..core.values import HOST_WIRE_NAME, OUTSIDE, Material, Participant, TurnedOut
from ..procedures.casting import open_questions
from .caps import limits_of, within

CONCLUSION = "conclusion"
"""The stage of the host's last word, in every procedure that can be concluded by hand."""


MOST_EXTRA_ROUNDS = 20
LONGEST_NOTE = 2_000
LONGEST_SPEECH = 200_000
"""Characters. Longer material belongs into the context."""


def checked_words(
    what: str, text: str, instead: str, declared: Mapping[str, Any] | None = None
) -> str:
    """What somebody from outside says, whichever way it came. NotAllowed if it is empty, with what
    to do `instead`, or so long that no later prompt could carry it. Where something is `declared`
    the turn says whether words are needed."""
    if not text.strip() and not declared:
        raise NotAllowed(f"The {what} is empty.", instead)
    if len(text) > LONGEST_SPEECH:
        raise NotAllowed(
            f"The {what} has {len(text):,} characters; at most {LONGEST_SPEECH:,} fit.",
            "Say it in 200 to 500 words, and give long material as context.",
        )
    return readable(text)


def paused(state: State, by: str, reason: str) -> list[tuple[Event, str | None]]:
    """Let nobody begin a new turn. Pausing twice says nothing new."""
    _refuse_closed(state)
    return [] if state.paused else [(DiscussionPaused(by=by, reason=reason), None)]


def resumed(state: State, by: str) -> list[tuple[Event, str | None]]:
    """Let a paused discussion go on; one that is not paused goes on anyway."""
    return [(DiscussionResumed(by=by), None)] if state.paused and state.closed is None else []


def skipped(
    state: State, procedure: Procedure, participant: str, by: str
) -> list[tuple[Event, str | None]]:
    """Do without a participant's open turn; a call that is under way for it is given up."""
    _refuse_closed(state)
    registered(state, participant)
    plans = open_turns(state, procedure)
    plan = next((plan for plan in plans if plan.participant.id == participant), None)
    if plan is None:
        raise NotAllowed(
            f"{participant} has no open turn in {state.discussion_id}.",
            "A turn can be skipped while it is that participant's.",
        )
    return [(_absent(plan, f"{by} skipped this turn."), state.outcome_key(plan.turn_id))]


def material_added(state: State, material: Material, by: str) -> list[tuple[Event, str | None]]:
    """Put a document on the table: every later prompt carries it. Where the documents have a room
    that they share, all have less of it from now on, and that is said."""
    _refuse_closed(state)
    refuse_too_much(material_size(state) + size_of([material]))
    added: list[tuple[Event, str | None]] = [(MaterialAdded(material=material, by=by), None)]
    room = state.start.options.get(ROOM)
    if isinstance(room, int):
        cuts = condensed((*state.context, material), state.start.topic, room).cuts
        added.append((condensed_note(cuts, (*state.participants, state.start.host)), None))
    return added


def extended(state: State, rounds: int, by: str) -> list[tuple[Event, str | None]]:
    """Give the table more rounds."""
    _refuse_closed(state)
    if not 1 <= rounds <= MOST_EXTRA_ROUNDS - state.extra_rounds:
        raise NotAllowed(
            f"{rounds} more rounds cannot be added: {state.extra_rounds} were added already.",
            f"Between 1 and {MOST_EXTRA_ROUNDS} may be added in all.",
        )
    return [(RoundsExtended(rounds=rounds, by=by), None)]


def limits_raised(
    state: State, limits: Limits, by: str, caps: Limits = NO_LIMITS
) -> list[tuple[Event, str | None]]:
    """Let a discussion spend up to these limits, be they higher than before, lower or the first.
    One that a spent budget ended goes on from there, with more of what was spent: NotAllowed
    without that, and for one that ended otherwise."""
    spent = state.exhausted
    more = spent is not None and is_raised(LIMITS[spent.limit], state.budget, limits.budget)
    if state.closed is not None and (spent is None or state.closed.stop_reason != "budget"):
        raise NotAllowed(
            f"{state.discussion_id} was not ended by a limit, so there is nothing to raise.",
            f'To ask the same table further: roundtable follow-up {state.discussion_id} "…"',
        )
    if state.closed is not None and spent is not None and not more:
        raise NotAllowed(
            f"The {spent.limit} limit ended it ({spent_so_far(state)}); this does not raise it.",
            _how_to_raise(state, limits, LIMITS[spent.limit], caps),
        )
    return _limited(state, limits, by, state.to_ask_anew() if more else ())


def _how_to_raise(state: State, limits: Limits, name: str, caps: Limits) -> str:
    """What raises a limit: first a cap of now, if it is one; a cap of then may be gone, and what it
    left in the discussion is raised like any other limit."""
    higher = f"Give a higher {WORDS[name]} ({FLAGS[name]} on the command line)."
    origin = limits.origins.get(name, "")
    if not is_cap(origin) or origin != caps.origins.get(name):
        return higher
    kept = getattr(state.budget, name) == getattr(limits.budget, name)
    return f"First raise {origin}." + (f" Then g{higher[1:]}" if kept else "")


def _limited(
    state: State, limits: Limits, by: str, turns: tuple[str, ...] = ()
) -> list[tuple[Event, str | None]]:
    """The same limits again say nothing new."""
    if limits.budget == state.budget:
        return []
    origins = dict(limits.origins)
    event = LimitsRaised(budget=limits.budget, by=by, limits_from=origins, turns=turns)
    return [(event, None)]


def joined(state: State, participant: Participant, by: str) -> list[tuple[Event, str | None]]:
    """Seat one more at the table, as the last one to speak. Joining twice says nothing new."""
    _refuse_closed(state)
    if participant in state.participants:
        return []
    if participant.id in (HOST_WIRE_NAME, state.start.host.id):
        raise NotAllowed(
            f"{participant.id} is the host's name.", "Choose another name for the seat."
        )
    if participant.id in {seated.id for seated in state.participants}:
        raise NotAllowed(
            f"{participant.id} already has a seat in {state.discussion_id}.", "Choose another name."
        )
    seats = (*state.participants, participant)
    return [(ParticipantsSeated(participants=seats, reason=f"{by} seated {participant.id}"), None)]


def left(state: State, participant: str, by: str) -> list[tuple[Event, str | None]]:
    """Take somebody from the table; two must stay."""
    _refuse_closed(state)
    registered(state, participant)
    seats = tuple(seated for seated in state.participants if seated.id != participant)
    if len(seats) < 2:
        raise NotAllowed("Two participants must stay at the table.", "Stop the discussion instead.")
    return [(ParticipantsSeated(participants=seats, reason=f"{by} took {participant} away"), None)]


def outcome_recorded(
    state: State, turned_out: str, note: str, by: str
) -> list[tuple[Event, str | None]]:
    """How the decision turned out. A later word replaces it; the same again says nothing new."""
    known: tuple[TurnedOut, ...] = get_args(TurnedOut)
    word = next((each for each in known if each == turned_out.strip().casefold()), None)
    if word is None:
        raise UnknownName("outcome", turned_out, known)
    if state.closed is None:
        raise NotAllowed(
            f"{state.discussion_id} is not over yet.",
            f"Say how it turned out when it has ended: roundtable resume {state.discussion_id}",
        )
    if len(note) > LONGEST_NOTE:
        raise NotAllowed(
            f"The note has {len(note):,} characters; at most {LONGEST_NOTE:,} fit.",
            "Say in a sentence or two what came of it.",
        )
    told = readable(note).strip()
    same = state.outcome and (state.outcome.outcome, state.outcome.note) == (word, told)
    return [] if same else [(OutcomeRecorded(outcome=word, note=told, by=by), None)]


def open_turns(state: State, procedure: Procedure) -> list[TurnPlan]:
    """The turns that are to be taken now, paused or not."""
    if state.closed is not None:
        return []
    return [e.plan for e in advanced(state, procedure) if isinstance(e, TakeTurn)]


def round_ended(state: State, procedure: Procedure, by: str) -> list[tuple[Event, str | None]]:
    """End the open round: whoever has not spoken in it is absent from it."""
    _refuse_closed(state)
    effects = decide(state, procedure)
    for plan in (e.plan for e in effects if isinstance(e, TakeTurn)):
        if _awaited_host(state, plan) and plan.stage != CONCLUSION:
            told = f"{by} let the next round begin without it."
            return [(_absent(plan, told), f"outcome/{plan.turn_id}")]
    round_ = next((e.plan.round for e in effects if isinstance(e, TakeTurn)), 0)
    # What is decided but not yet recorded comes first: the round may open in this very moment.
    pending: list[Event] = [event for e in effects if isinstance(e, Record) for event in e.events]
    opened = [stage.opened for stage in state.stages.values() if stage.closed is None]
    opened += [event for event in pending if isinstance(event, StageOpened)]
    stage = next((each for each in opened if each.round == round_ > 0), None)
    if stage is None:
        raise NotAllowed(
            f"No round is open in {state.discussion_id}: it is the host's turn.",
            "Try again when a participant is to speak; after the last round, conclude or extend.",
        )
    # Whoever joined after the round began has a turn in it too, and whoever left has none.
    turns = [turn_id(round_, stage.stage, seated.id) for seated in state.participants]
    missing = [each for each in turns if not ((t := state.turn(each)) and t.over)]
    absent = tuple(each.rsplit("/", 1)[1] for each in missing)
    failures = [
        TurnFailed(
            turn_id=each,
            stage=stage.stage,
            round=round_,
            participant=who,
            cause="absent",
            message=f"The round was ended by {by} before {who} had spoken.",
        )
        for each, who in zip(missing, absent, strict=True)
    ]
    return [
        *((event, None) for event in pending),
        (RoundAdvanced(round=round_, absent=absent, by=by), None),
        *((failure, state.outcome_key(failure.turn_id)) for failure in failures),
    ]


def vote(state: State, participant: str, in_favour: bool) -> list[tuple[Event, str | None]]:
    """A participant's vote on ending the discussion. The same vote again says nothing new."""
    _refuse_closed(state)
    if participant in (HOST_WIRE_NAME, state.start.host.id):
        raise NotAllowed("The host never votes.", "Vote as a participant, or stop the discussion.")
    registered(state, participant)
    if state.end_votes.get(participant) is in_favour:
        return []
    return [(EndVoted(participant=participant, in_favour=in_favour), None)]


def overdue(state: State, procedure: Procedure, now: datetime) -> list[tuple[Event, str | None]]:
    """The host's turns that somebody from outside was waited for longer than they last, in a
    discussion that nobody drives: it goes on without those words."""
    if state.closed is not None or state.paused is not None or state.updated_at is None:
        return []
    silent = (now - state.updated_at).total_seconds()
    return [
        (_absent(plan, f"Nobody spoke for {plan.participant.name} in time."), key)
        for plan in open_turns(state, procedure)
        if _awaited_host(state, plan) and silent > plan.policy.patience
        for key in (f"outcome/{plan.turn_id}",)
    ]


def _awaited_host(state: State, plan: TurnPlan) -> bool:
    return plan.participant == state.start.host and plan.participant.speaker.model == OUTSIDE


def _absent(plan: TurnPlan, message: str) -> TurnFailed:
    return TurnFailed(
        turn_id=plan.turn_id,
        stage=plan.stage,
        round=plan.round,
        participant=plan.participant.id,
        cause="absent",
        message=message,
    )


def concluded(
    state: State, said: Callable[[State, str], SpeechGiven], key: str | None = None
) -> list[tuple[Event, str | None]]:
    """The host's last word, brought from outside: the discussion goes to its end with it. With the
    key of an earlier call it says nothing new."""
    turn = turn_id(0, CONCLUSION, state.start.host.id)
    earlier = state.speech(turn)
    if key and earlier is not None and earlier.key == key:
        return []
    _refuse_closed(state)
    if earlier is not None:
        raise NotAllowed(
            f"{state.discussion_id} has its conclusion already.", "It is being closed with it."
        )
    return [(said(state, key or ""), state.outcome_key(turn))]


def asked_again(
    state: State, stage: str, by: str, limits: Limits | None = None, caps: Limits = NO_LIMITS
) -> list[tuple[Event, str | None]]:
    """Open the last stage of a closed discussion once more, perhaps with other limits. NotAllowed
    while it runs, for a stage that others were built on, and where the limits, or the caps of now,
    allow no call any more."""
    if state.closed is None:
        raise NotAllowed(
            f"{state.discussion_id} is not over yet: its stages are still being asked.",
            "Wait for its end; where it was interrupted, let it go on: "
            f"roundtable resume {state.discussion_id}; or stop it first: "
            f"roundtable stop {state.discussion_id}",
        )
    if not state.stages:
        raise NotAllowed(f"In {state.discussion_id} nobody was asked anything.", "Ask anew.")
    last = list(state.stages.values())[-1].opened
    if stage != last.stage:
        known = stage in (name for name, _ in state.stages)
        told = "is not its last stage" if known else "is not a stage of it"
        raise NotAllowed(
            f"{stage} {told}: only the last one of {state.discussion_id} can be asked again.",
            f"That is {last.stage}: roundtable resume {state.discussion_id} --again {last.stage}",
        )
    _refuse_spent(state, stage, within(limits or limits_of(state), caps), caps)
    again = StageReopened(stage=stage, round=last.round, turns=last.turns, by=by)
    return [(again, None), *(_limited(state, limits, by) if limits is not None else [])]


def _refuse_spent(state: State, stage: str, limits: Limits, caps: Limits) -> None:
    """Opened, it could only come to the end that it has."""
    if state.updated_at is None:
        return
    used = state.spending(state.updated_at)
    set_now = {name for name, most in limits.budget if most != getattr(state.budget, name)}
    used = replace(used, passed=state.passed | (passed(limits.budget, used) & set_now))
    limit = none_left(limits.budget, used)
    if limit is None:
        return
    name, origin = LIMITS[limit], limits.origins.get(LIMITS[limit], "")
    by = f", limited by {origin}" if origin else ""
    raise NotAllowed(
        f"{stage} cannot be asked again: {told(limits.budget, limit, used)}{by}.",
        _how_to_raise(state, limits, name, caps),
    )


def registered(state: State, participant: str) -> None:
    """UnknownName for whoever does not sit at this table; names match exactly."""
    if not any(seated.id == participant for seated in state.participants):
        known = [HOST_WIRE_NAME, *(seated.id for seated in state.participants)]
        raise UnknownName("participant", participant, known)


def _refuse_closed(state: State) -> None:
    if state.closed is not None:
        raise is_closed(state.discussion_id)


def answered(state: State, answers: Sequence[str]) -> list[tuple[Event, str | None]]:
    """What the host asked is answered, in its order; what stays empty or is left out is assumed."""
    asked = open_questions(state)
    if not asked:
        raise NotAllowed(
            "The host is not waiting for an answer.", "Say it with a remark, or add it as material."
        )
    if len(answers) > len(asked):
        raise NotAllowed(
            f"{len(answers)} answers were given to {len(asked)} questions.",
            "Give one for each, in their order: " + " ".join(each.ask for each in asked),
        )
    given = [*answers, *[""] * (len(asked) - len(answers))]
    return [
        (
            ChoiceMade(question=each.key, answer=text, by="person" if text else "default"),
            f"choice/{each.key}",
        )
        for each, text in zip(asked, given, strict=True)
    ]
