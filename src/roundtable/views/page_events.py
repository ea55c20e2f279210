"""What the page gets of one event: enough to show it, and no more.

No prompts, no words of attempts (only an accepted speech is read by others), no chat rooms, no
secrets. It depends on the event alone, so that a late reader gets the very same history.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import singledispatch
from typing import Any

from ..core.events import (
    AttemptFailed,
    AttemptFinished,
    AttemptStarted,
    BallotCast,
    BudgetExhausted,
    ChoiceMade,
    CostEstimated,
    DecisionsTabled,
    DiscussionClosed,
    DiscussionOpened,
    DiscussionPaused,
    DiscussionResumed,
    EndVoted,
    FollowUpOpened,
    LimitsRaised,
    MaterialAdded,
    NewsSettled,
    NoteAdded,
    OutcomeRecorded,
    ParticipantsSeated,
    ParticipantSubstituted,
    PointRaised,
    RoundAdvanced,
    RoundsExtended,
    ScoresGiven,
    SearchFailed,
    SearchFinished,
    SpeechGiven,
    StageClosed,
    StageOpened,
    StageReopened,
    StanceTaken,
    StopRequested,
    StoredEvent,
    TurnFailed,
    VerdictReached,
    WorkflowChosen,
)
from ..core.naming import called
from ..core.text import count_words
from ..core.values import Participant, Usage, Value
from .declared import Declared, declared_lines
from .report_parts import anchor, clean, line, unmarked
from .safe_markdown import Surroundings, to_html
from .spoken import first_line, spoken

_TURN = re.compile(r"\d+/[\w-]+/[\w.-]*[\w-]")
_POINT = re.compile(r"p\d{1,6}")
SPEECH_HEADING = 4
"""The level of the heading above a speech."""


def page_event(record: StoredEvent) -> dict[str, Any]:
    """One event as the page gets it: `seq`, `at`, `type` and what is to be shown."""
    return {
        "seq": record.seq,
        "at": record.at.isoformat(),
        "type": record.event.type,
        **_shown(record.event),
    }


def seat(participant: Participant) -> dict[str, Any]:
    """A participant, or the host, as the page knows it."""
    return {
        "id": participant.id,
        "name": called(participant.name),
        "role": line(participant.role),
        "emoji": line(participant.emoji),
        "perspective": line(participant.perspective),
        "models": [line(ref.model) for ref in participant.speakers],
        "demonstration": participant.speaker.demonstration,
    }


class _Citable(Mapping[str, str]):
    """Everything that looks like a turn or a point leads to its place. Whether it is there only
    the page knows, which takes the link away where it is not."""

    def __getitem__(self, name: str) -> str:
        if _TURN.fullmatch(name):
            return anchor("turn", name)
        if _POINT.fullmatch(name):
            return anchor("point", name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


_AROUND = Surroundings(_Citable())


@singledispatch
def _shown(_event: Value) -> dict[str, Any]:
    """An event that nobody wrote a view for: viewers learn that it happened, and no more."""
    return {}


@_shown.register(StageOpened)
@_shown.register(StageClosed)
@_shown.register(StageReopened)
@_shown.register(FollowUpOpened)
@_shown.register(AttemptFailed)
@_shown.register(TurnFailed)
@_shown.register(ParticipantSubstituted)
@_shown.register(EndVoted)
@_shown.register(RoundAdvanced)
@_shown.register(SearchFailed)
@_shown.register(ChoiceMade)
@_shown.register(NoteAdded)
@_shown.register(BudgetExhausted)
@_shown.register(LimitsRaised)
@_shown.register(CostEstimated)
@_shown.register(DiscussionPaused)
@_shown.register(DiscussionResumed)
@_shown.register(RoundsExtended)
@_shown.register(StopRequested)
@_shown.register(OutcomeRecorded)
def _(event: Value) -> dict[str, Any]:
    """Events that hold nothing but what everybody may read."""
    fields: dict[str, Any] = _cleaned(event.model_dump(mode="json", exclude={"type", "v"}))
    return fields


@_shown.register
def _(event: DiscussionOpened) -> dict[str, Any]:
    return {
        "topic": clean(event.topic),
        "procedure": event.procedure,
        "participants": [seat(each) for each in event.participants],
        "host": seat(event.host),
        "language": event.language,
        "budget": event.budget.model_dump(exclude_none=True),
        "material": [{"source": line(m.source), "characters": len(m.text)} for m in event.context],
        "program_version": event.program_version,
        "follows": event.follows,
    }


@_shown.register
def _(event: AttemptStarted) -> dict[str, Any]:
    return {
        "turn_id": event.turn_id,
        "attempt": event.attempt,
        "stage": event.stage,
        "round": event.round,
        "participant": event.participant,
        "model": line(event.model),
        "purpose": event.purpose,
        "may_cost": event.reserved.cost_usd > 0,
    }


@_shown.register
def _(event: AttemptFinished) -> dict[str, Any]:
    return {
        "turn_id": event.turn_id,
        "attempt": event.attempt,
        "usage": usage(event.usage),
        "served_by": line(event.served_by),
        "finish_reason": line(event.finish_reason),
        "seconds": round(event.seconds, 2),
    }


@_shown.register
def _(event: SpeechGiven) -> dict[str, Any]:
    words = clean(spoken(event.text))
    return {
        "turn_id": event.turn_id,
        "stage": event.stage,
        "round": event.round,
        "after_round": event.after_round,
        "participant": event.participant,
        "model": line(event.model),
        "flags": [line(flag) for flag in event.flags],
        "words": count_words(words),
        "first": first_line(words),
        "independent": event.independent,
        "declared": [each.document() for each in declared_lines(event.declaration)],
        "html": to_html(words, below=SPEECH_HEADING, around=_AROUND),
    }


@_shown.register
def _(event: BallotCast) -> dict[str, Any]:
    """How earlier versions of the program kept what a speech declares."""
    sure = round(event.certainty * 100) if event.certainty is not None else None
    held = Declared("holds", text=unmarked(event.position), sure=sure)
    return {"turn_id": event.turn_id, "declared": [held.document()]}


@_shown.register
def _(event: PointRaised) -> dict[str, Any]:
    raised = Declared("raises", (event.point_id,), text=line(event.text))
    return {"turn_id": event.turn_id, "declared": [raised.document()]}


@_shown.register
def _(event: StanceTaken) -> dict[str, Any]:
    if event.source != "declared":
        return {}
    taken = Declared(event.position, (event.point_id,), text=line(event.quote))
    return {"turn_id": event.turn_id, "declared": [taken.document()]}


@_shown.register
def _(event: ParticipantsSeated) -> dict[str, Any]:
    return {
        "participants": [seat(each) for each in event.participants],
        "reason": line(event.reason),
    }


@_shown.register
def _(event: WorkflowChosen) -> dict[str, Any]:
    return {"workflow": line(event.workflow), "rounds": event.rounds}


@_shown.register
def _(event: DecisionsTabled) -> dict[str, Any]:
    return {
        "decisions": [
            {
                "id": each.id,
                "question": line(each.question),
                "options": [{"id": o.id, "text": line(o.text)} for o in each.options],
            }
            for each in event.decisions
        ],
        "given": not event.turn_id,
    }


@_shown.register
def _(event: ScoresGiven) -> dict[str, Any]:
    return {"turn_id": event.turn_id, "participant": event.participant, "round": event.round}


@_shown.register
def _(event: SearchFinished) -> dict[str, Any]:
    return {
        "query": clean(event.query),
        "provider": event.provider,
        "hits": [{"title": line(hit.title), "url": line(hit.url)} for hit in event.hits],
    }


@_shown.register
def _(event: MaterialAdded) -> dict[str, Any]:
    source, characters = line(event.material.source), len(event.material.text)
    return {"material": {"source": source, "characters": characters}, "by": line(event.by)}


@_shown.register
def _(event: NewsSettled) -> dict[str, Any]:
    return {"outcome": event.outcome}


@_shown.register
def _(event: VerdictReached) -> dict[str, Any]:
    """That there is one. Its words come with what is derived, where quotations are verified."""
    verdict = event.verdict
    return {
        "confidence": verdict.confidence,
        "meaningful": verdict.meaningful,
        "partial": verdict.partial,
    }


@_shown.register
def _(event: DiscussionClosed) -> dict[str, Any]:
    return {
        "status": event.status,
        "stop_reason": event.stop_reason,
        "detail": line(event.detail),
        "remedy": line(event.remedy),
    }


def usage(spent: Usage) -> dict[str, Any]:
    return {
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "priced_usd": round(spent.priced_usd, 8),
        "unpriced_calls": spent.unpriced_calls,
        "counted_usd": round(spent.counted_usd, 8),
    }


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case dict():
            return {key: _cleaned(each) for key, each in value.items()}
        case list():
            return [_cleaned(each) for each in value]
        case _:
            return value
