"""Small events and plans for the core's tests, with sensible values for what does not matter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from roundtable.core.contracts import ANYTHING, Contract
from roundtable.core.effects import PromptPlan, Task, TurnPlan, TurnPolicy
from roundtable.core.errors import FailureCause
from roundtable.core.events import (
    AttemptFailed,
    AttemptFinished,
    AttemptStarted,
    DiscussionOpened,
    Event,
    Purpose,
    SpeechGiven,
    StoredEvent,
    TurnFailed,
)
from roundtable.core.values import Budget, Participant, Prompt, Reservation, SpeakerRef, Usage

NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)
A, B, C = (SpeakerRef(model=f"test/{name}") for name in "abc")


def seat(name: str = "scholar", *speakers: SpeakerRef) -> Participant:
    return Participant(id=name, name=name.title(), role=name.title(), speakers=speakers or (A,))


def opened(budget: Budget | None = None) -> DiscussionOpened:
    return DiscussionOpened(
        topic="Tea or coffee?",
        procedure="council",
        participants=(seat("scholar"), seat("engineer"), seat("muse")),
        host=seat("captain"),
        budget=budget or Budget(),
    )


def started(
    turn_id: str = "1/answer/scholar",
    attempt: int = 1,
    model: str = A.model,
    purpose: Purpose = "answer",
    reserved: Reservation | None = None,
) -> AttemptStarted:
    round_, stage, participant = turn_id.split("/")
    return AttemptStarted(
        turn_id=turn_id,
        attempt=attempt,
        stage=stage,
        round=int(round_),
        participant=participant,
        model=model,
        purpose=purpose,
        label=f"council-{participant}-r{round_}",
        prompt=Prompt(template="t", version=1, hash="h", system="s", user="u"),
        reserved=reserved or Reservation(input_tokens=100, output_tokens=400, cost_usd=0.5),
    )


def finished(
    turn_id: str = "1/answer/scholar",
    attempt: int = 1,
    text: str = "Words.",
    usage: Usage | None = None,
    finish_reason: str = "stop",
) -> AttemptFinished:
    usage = usage or Usage(input_tokens=90, output_tokens=60, priced_usd=0.1)
    return AttemptFinished(
        turn_id=turn_id, attempt=attempt, text=text, usage=usage, finish_reason=finish_reason
    )


def failed(
    cause: FailureCause,
    turn_id: str = "1/answer/scholar",
    attempt: int = 1,
    retry_after: float | None = None,
    usage: Usage | None = None,
) -> AttemptFailed:
    return AttemptFailed(
        turn_id=turn_id,
        attempt=attempt,
        cause=cause,
        message=f"It was {cause}.",
        remedy=f"Mend {cause}.",
        retry_after=retry_after,
        usage=usage,
    )


def speech(turn_id: str = "1/answer/scholar", text: str = "Words.") -> SpeechGiven:
    round_, stage, participant = turn_id.split("/")
    return SpeechGiven(
        turn_id=turn_id,
        stage=stage,
        round=int(round_),
        participant=participant,
        model=A.model,
        text=text,
    )


def turn_failed(turn_id: str = "1/answer/scholar", cause: FailureCause = "auth") -> TurnFailed:
    round_, stage, participant = turn_id.split("/")
    return TurnFailed(
        turn_id=turn_id,
        stage=stage,
        round=int(round_),
        participant=participant,
        cause=cause,
        message=f"It was {cause}.",
    )


def recorded(*events: Event, first: int = 1) -> list[StoredEvent]:
    """The events as a ledger numbers them, one a second."""
    return [
        StoredEvent("rt_0000000a", seq, NOON + timedelta(seconds=seq - 1), event)
        for seq, event in enumerate(events, first)
    ]


def plan(
    participant: Participant | None = None,
    policy: TurnPolicy | None = None,
    contract: Contract = ANYTHING,
    stage: str = "answer",
    round_: int = 1,
) -> TurnPlan:
    participant = participant or seat()
    return TurnPlan(
        turn_id=f"{round_}/{stage}/{participant.id}",
        stage=stage,
        round=round_,
        participant=participant,
        label=f"council-{participant.id}-r{round_}",
        task=Task(PromptPlan("council/scholar"), contract),
        policy=policy or TurnPolicy(timeout=90),
    )
