"""The meeting's rules: the host opens, rounds of speeches one after another, the host sums up
between them and concludes.

P participants and R rounds are P × R calls to participants, each with its own context. A round
ends when everybody has spoken or is absent; the next begins by itself. The meeting goes to its end
when its positions have converged, all vote for it, the rounds are used up, fewer than two are
left, or the chair says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...core.effects import DELIVERED, KEPT, Deliver, Effect, Record, TakeTurn
from ...core.events import (
    DiscussionClosed,
    EndVoted,
    Event,
    NoteAdded,
    SpeechGiven,
    StageClosed,
    TurnFailed,
    VerdictReached,
)
from ...core.stages import Closing, closed_stage, run_stage
from ...core.state import State
from ...core.stopping import Stop, budget_exhausted, stop_requested
from ...views.meeting import closing_speech
from ...views.meeting_status import CONCLUSION, DISCUSSION, MINUTES, called, current_round
from ..endings import may_open
from ..minutes import minutes_of, rough_note
from . import tasks
from .reading import merged, on_the_table, silent, unread
from .sitting import MINIMUM, Sitting, WrapUp, wrap_up_note
from .verdict import reached


class Meeting:
    """Participants with roles of their own, led by a coordinator."""

    name = "meeting"

    def advance(self, state: State) -> tuple[Effect, ...]:
        sitting = Sitting(state)
        if minutes := unread(sitting):
            # The turn after it is named too, so that whoever is next may speak already.
            turns = (e for e in self._go_on(sitting) if isinstance(e, TakeTurn))
            return (Record(minutes), *turns)
        return self._go_on(sitting)

    def _go_on(self, sitting: Sitting) -> tuple[Effect, ...]:
        if stop := stop_requested(sitting.state):
            return self._end_early(sitting, stop)
        if sitting.wrap_up is None:
            return self._end_at_once(sitting) or self._open(sitting) or self._rounds(sitting)
        return self._conclude(sitting)

    def _end_at_once(self, sitting: Sitting) -> tuple[Effect, ...]:
        """The chair has concluded, all have voted for the end, or nothing is left to spend: the
        meeting does not wait for the end of its round."""
        state = sitting.state
        if closing_speech(state) is not None:
            return self._wrap_up(sitting, "chair", "The chair concluded the meeting.")
        if sitting.all_vote_to_end:
            count = len(state.participants)
            return self._wrap_up(sitting, "votes", f"All {count} participants voted to end.")
        if state.exhausted is not None and not self._under_way(sitting):
            return self._wrap_up(
                sitting, "budget", f"The {state.exhausted.limit} limit was reached."
            )
        return ()

    def _open(self, sitting: Sitting) -> tuple[Effect, ...]:
        if not sitting.host_writes or (DISCUSSION, 1) in sitting.state.stages:
            return ()
        plan = tasks.opening(sitting)
        return run_stage(sitting.state, [plan], closing=_host_failed("open the meeting")).effects

    def _rounds(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        for round_ in range(1, sitting.max_rounds + 1):
            held = state.stages.get((DISCUSSION, round_))
            if held is None or held.closed is None:
                plans = tasks.speeches(sitting, round_)
                order: Literal["parallel", "sequential"] = (
                    "parallel" if sitting.parallel else "sequential"
                )
                return run_stage(state, plans, order, _Closing(sitting)).effects
            if clerk := self._minutes(sitting, round_):
                return clerk
            if ended := self._after_round(sitting, round_, len(held.closed.spoke)):
                return ended
            if round_ < sitting.max_rounds and sitting.sums_up and not sitting.summed_up(round_):
                plan = tasks.summary(sitting, round_)
                return run_stage(state, [plan], closing=_Summed(sitting)).effects
        count = sitting.max_rounds
        rounds = "The one round was" if count == 1 else f"All {count} rounds were"
        return self._wrap_up(sitting, "max_rounds", f"{rounds} held.")

    def _minutes(self, sitting: Sitting, round_: int) -> tuple[Effect, ...]:
        """Where speeches of a round declare nothing, the host reads them as a clerk."""
        stage = f"{MINUTES}-{round_}"
        if not sitting.minutes or closed_stage(sitting.state, stage, 0) is not None:
            return ()
        heard = silent(sitting, round_)
        if not heard or not may_open(sitting.state, stage, 0):
            return ()

        def closing(
            speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
        ) -> tuple[Event, ...]:
            known = on_the_table(sitting.state, round_, heard)
            if minutes_of(next(iter(speeches), None), heard, known) is not None:
                return ()
            return (rough_note("coordinator", "".join(f.message for f in failures)),)

        plan = tasks.minutes(sitting, round_, heard)
        return run_stage(sitting.state, [plan], closing=closing).effects

    def _after_round(self, sitting: Sitting, round_: int, spoke: int) -> tuple[Effect, ...]:
        """The end, if the meeting does not go on after this round."""
        state = sitting.state
        if round_ < current_round(state):
            return ()  # it went on
        if spoke < MINIMUM and round_ not in state.advanced:
            text = f"{spoke} of {len(state.participants)} spoke in round {round_}; it takes two."
            return self._wrap_up(sitting, "too_few", text)
        fired = sitting.converged_after(round_)
        if fired is not None:
            text = f"After round {round_} of {sitting.max_rounds}: {fired.detail}."
            return self._wrap_up(sitting, "converged", text)
        return ()

    def _wrap_up(self, sitting: Sitting, why: WrapUp, text: str) -> tuple[Effect, ...]:
        """Decide the end, and close what is still open."""
        events: list[Event] = []
        for (name, round_), stage in sitting.state.stages.items():
            if stage.closed is None and name != CONCLUSION:
                spoke = [s.participant for s in sitting.state.spoken_in(name, round_)]
                seats = [turn.rsplit("/", 1)[1] for turn in stage.opened.turns]
                missing = tuple(who for who in seats if who not in spoke)
                events.append(
                    StageClosed(stage=name, round=round_, spoke=tuple(spoke), missing=missing)
                )
        return (Record((*events, wrap_up_note(why, text))),)

    def _conclude(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        needed = MINIMUM if sitting.wrap_up == "too_few" else 1
        if len(sitting.speakers) < needed and closing_speech(state) is None:
            return self._too_few(sitting)
        notes: tuple[Event, ...] = ()
        if sitting.host_writes and sitting.wrap_up != "chair":
            stage = run_stage(state, [tasks.conclusion(sitting, current_round(state))])
            if not stage.over:
                return stage.effects
            notes = () if stage.speeches else (EXTRACTED_NOTE,)
        if not _delivered(state):
            return (Deliver(),)
        verdict = reached(state)
        closed = DiscussionClosed(status="concluded", stop_reason="verdict")
        if spent := budget_exhausted(state):
            closed = DiscussionClosed(
                status="stopped",
                stop_reason="budget",
                detail=f"Stopped by {spent.detail}.",
                remedy="Raise the limit to let the meeting finish.",
            )
        elif sitting.wrap_up == "too_few":
            closed = DiscussionClosed(
                status="stopped",
                stop_reason="too_few_answers",
                detail="The meeting ended early: fewer than two participants were left.",
                remedy="Give the seats other models, or more time with turn_seconds.",
            )
        partial = closed.status == "stopped"
        verdict = verdict.model_copy(update={"partial": partial})
        return (Record((*notes, VerdictReached(verdict=verdict), closed)),)

    def _end_early(self, sitting: Sitting, stop: Stop) -> tuple[Effect, ...]:
        """End now, with what exists and without another call."""
        events: list[Event] = []
        if sitting.speakers:
            if not _delivered(sitting.state):
                return (Deliver(),)
            verdict = reached(sitting.state).model_copy(update={"partial": True})
            events.append(VerdictReached(verdict=verdict))
        events.append(
            DiscussionClosed(status="stopped", stop_reason=stop.reason, detail=stop.detail)
        )
        return (Record(tuple(events)),)

    def _too_few(self, sitting: Sitting) -> tuple[Effect, ...]:
        spent = budget_exhausted(sitting.state)
        count = len(sitting.speakers)
        closed = DiscussionClosed(
            status="failed",
            stop_reason="budget" if spent else "too_few_answers",
            detail=f"The budget ended the meeting before anybody had spoken: {spent.detail}."
            if spent
            else f"Sorry: {count} of {len(sitting.state.participants)} participants spoke, and a "
            "meeting needs at least two.",
            remedy="Raise the limit and ask again."
            if spent
            else "Give the seats other models: `roundtable models` shows which can be used now.",
        )
        return (Record((closed,)),)

    def _under_way(self, sitting: Sitting) -> bool:
        """Whether somebody is speaking: a spent budget opens nothing, but cuts nobody short."""
        return any(
            attempt.in_flight
            for turn in sitting.state.turns.values()
            for attempt in turn.attempts
            if not turn.over
        )


class _Closing:
    """What is recorded when a round closes: who is absent, and the votes that speeches declare."""

    def __init__(self, sitting: Sitting) -> None:
        self.sitting = sitting

    def __call__(
        self, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
    ) -> tuple[Event, ...]:
        votes = self.sitting.votes_in(list(speeches))
        cast = (
            EndVoted(participant=who, in_favour=vote)
            for who, vote in votes.items()
            if self.sitting.state.end_votes.get(who) is not vote
        )
        return (*cast, *(self._absent(failure) for failure in failures))

    def _absent(self, failure: TurnFailed) -> NoteAdded:
        seated = self.sitting.state.participant(failure.participant)
        who = called(seated) if seated else failure.participant
        return NoteAdded(
            code="absent",
            text=f"{who} is absent from round {failure.round}: {failure.message}",
            remedy=failure.remedy,
        )


class _Summed:
    """What is recorded when a summary closes: the points it calls the same."""

    def __init__(self, sitting: Sitting) -> None:
        self.sitting = sitting

    def __call__(
        self, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
    ) -> tuple[Event, ...]:
        merges = (event for speech in speeches for event in merged(self.sitting.state, speech))
        return (*merges, *_host_failed("sum the round up")(speeches, failures))


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


def _delivered(state: State) -> bool:
    return any(note.code in (DELIVERED, KEPT) for note in state.notes)


EXTRACTED_NOTE = NoteAdded(
    code="extracted_verdict",
    text="The coordinator could not write the conclusion, so it is an extract of what the "
    "participants declared, made without a model.",
    remedy="Ask again to get a written one.",
)
