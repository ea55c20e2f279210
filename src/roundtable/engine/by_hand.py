"""What a chair does by hand: ending a round, taking votes, concluding. Each is a recorded act.

Pure: from the newest state to the events, or NotAllowed. The service appends them.
"""

from __future__ import annotations

from ..core.decide import Procedure, decide
from ..core.effects import Record, TakeTurn, turn_id
from ..core.errors import NotAllowed, UnknownName
from ..core.events import EndVoted, Event, RoundAdvanced, SpeechGiven, StageOpened, TurnFailed
from ..core.state import State
from ..core.values import HOST_WIRE_NAME, OUTSIDE

CONCLUSION = "conclusion"
"""The stage of the host's last word, in every procedure that can be concluded by hand."""


def round_ended(state: State, procedure: Procedure, by: str) -> list[tuple[Event, str | None]]:
    """End the open round: whoever has not spoken in it is absent from it."""
    _refuse_closed(state)
    effects = decide(state, procedure)
    round_ = next((e.plan.round for e in effects if isinstance(e, TakeTurn)), 0)
    # What is decided but not yet recorded comes first: the round may open in this very moment.
    pending: list[Event] = [event for e in effects if isinstance(e, Record) for event in e.events]
    opened = [stage.opened for stage in state.stages.values() if stage.closed is None]
    opened += [event for event in pending if isinstance(event, StageOpened)]
    stage = next((each for each in opened if each.round == round_ > 0), None)
    if stage is None:
        raise NotAllowed(
            f"No round is open in {state.discussion_id}: it is the host's turn.",
            "Try again when a participant is to speak.",
        )
    missing = [each for each in stage.turns if not ((t := state.turn(each)) and t.over)]
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
        (RoundAdvanced(round=round_, absent=absent, by=by), f"advanced/{round_}"),
        *((failure, f"outcome/{failure.turn_id}") for failure in failures),
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


def conclusion(state: State, text: str) -> list[tuple[Event, str | None]]:
    """The host's last word, brought from outside: the discussion goes to its end with it."""
    _refuse_closed(state)
    host = state.start.host
    turn = turn_id(0, CONCLUSION, host.id)
    if state.speech(turn) is not None:
        raise NotAllowed(
            f"{state.discussion_id} has its conclusion already.", "It is being closed with it."
        )
    given = SpeechGiven(
        turn_id=turn,
        stage=CONCLUSION,
        round=0,
        participant=host.id,
        model=OUTSIDE,
        text=text,
        after_round=newest_round(state),
    )
    return [(given, f"outcome/{turn}")]


def newest_round(state: State) -> int:
    """The newest round in which somebody has begun to speak: where a word of the host is
    anchored."""
    return max((int(turn.partition("/")[0]) for turn in state.turns), default=0)


def registered(state: State, participant: str) -> None:
    """UnknownName for whoever does not sit at this table; names match exactly."""
    if not any(seated.id == participant for seated in state.participants):
        known = [HOST_WIRE_NAME, *(seated.id for seated in state.participants)]
        raise UnknownName("participant", participant, known)


def _refuse_closed(state: State) -> None:
    if state.closed is not None:
        raise NotAllowed(f"{state.discussion_id} is closed.", "Open a new discussion to go on.")
