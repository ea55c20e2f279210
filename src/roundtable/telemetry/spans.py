"""Spans: a discussion, its turns and their calls, as tracing tools know them.

They follow from the events alone, so a span has the same ids whichever process ends it: after a
takeover the turns of two workers stand in one trace. Names and attributes are those of
OpenTelemetry's conventions for generative AI. What was asked and said is not among them, unless
that is wanted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias

from ..core.events import (
    AttemptFailed,
    AttemptFinished,
    DiscussionClosed,
    SpeechGiven,
    StoredEvent,
    TurnFailed,
)
from ..core.state import Attempt, State, Turn
from ..core.text import redact
from ..core.values import Prompt, Usage

Attributes: TypeAlias = Mapping[str, str | int | float | bool | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class SpanEnded:
    """One span, told when it is over."""

    name: str
    kind: Literal["client", "internal"]
    trace_id: int
    span_id: int
    parent_id: int | None
    begun: datetime
    ended: datetime
    attributes: Attributes
    error: str = ""
    """The kind of failure that ended it, if one did."""


def spans_ended(record: StoredEvent, state: State, *, content: bool = False) -> Iterator[SpanEnded]:
    """The spans that this event ends; `state` is what it led to. With `content`, calls carry what
    was asked and answered, without what looks like a secret."""
    match event := record.event:
        case AttemptFinished() | AttemptFailed():
            turn = state.turn(event.turn_id)
            if turn is not None and event.attempt <= len(turn.attempts):
                yield _call(record, turn, event, content=content)
        case SpeechGiven() | TurnFailed():
            yield _turn(record, state, event)
        case DiscussionClosed():
            yield _discussion(record, state, event)
        case _:
            return


def trace_of(discussion_id: str) -> int:
    """The trace in which all of a discussion stands."""
    return _number(f"trace {discussion_id}", 16)


def _number(name: str, size: int) -> int:
    return int.from_bytes(sha256(name.encode()).digest()[:size], "big") or 1


def _discussion_span(discussion_id: str) -> int:
    return _number(f"discussion {discussion_id}", 8)


def _turn_span(discussion_id: str, turn: Turn) -> int:
    return _number(f"turn {discussion_id} {turn.outcome_key}", 8)


def _discussion(record: StoredEvent, state: State, closed: DiscussionClosed) -> SpanEnded:
    """The whole of it. One that goes on after its end is told once more, from the same beginning
    to its new end."""
    id_ = record.discussion_id
    procedure = state.start.procedure
    return SpanEnded(
        name=f"invoke_workflow {procedure}",
        kind="internal",
        trace_id=trace_of(id_),
        span_id=_discussion_span(id_),
        parent_id=None,
        begun=state.opened_at or record.at,
        ended=record.at,
        attributes={
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": procedure,
            "gen_ai.conversation.id": id_,
            "roundtable.status": closed.status,
            "roundtable.stop_reason": closed.stop_reason,
            "roundtable.seats": len(state.voters),
            "gen_ai.usage.input_tokens": state.usage.input_tokens,
            "gen_ai.usage.output_tokens": state.usage.output_tokens,
        },
        error=closed.stop_reason if closed.status == "failed" else "",
    )


def _turn(record: StoredEvent, state: State, over: SpeechGiven | TurnFailed) -> SpanEnded:
    id_ = record.discussion_id
    turn = state.turns.get(over.turn_id, Turn(over.turn_id))
    newest = turn.attempts[turn.before :]
    return SpanEnded(
        name=f"invoke_agent {over.participant}",
        kind="internal",
        trace_id=trace_of(id_),
        span_id=_turn_span(id_, turn),
        parent_id=_discussion_span(id_),
        # Words from outside come without a call of ours: nobody knows how long they took.
        begun=newest[0].at if newest else record.at,
        ended=record.at,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": over.participant,
            "gen_ai.conversation.id": id_,
            "roundtable.turn": over.turn_id,
            "roundtable.stage": over.stage,
            "roundtable.round": over.round,
            "roundtable.attempts": len(newest),
        },
        error=over.cause if isinstance(over, TurnFailed) else "",
    )


def _call(
    record: StoredEvent,
    turn: Turn,
    outcome: AttemptFinished | AttemptFailed,
    *,
    content: bool,
) -> SpanEnded:
    id_ = record.discussion_id
    attempt = turn.attempts[outcome.attempt - 1]
    started = attempt.started
    provider, _, model = started.model.partition("/")
    attributes: dict[str, str | int | float | bool | tuple[str, ...]] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model or provider,
        "gen_ai.request.max_tokens": started.reserved.output_tokens,
        "gen_ai.agent.id": started.participant,
        "gen_ai.conversation.id": id_,
        "roundtable.turn": started.turn_id,
        "roundtable.stage": started.stage,
        "roundtable.round": started.round,
        "roundtable.attempt": started.attempt,
        "roundtable.purpose": started.purpose,
        "gen_ai.prompt.name": started.prompt.template,
    }
    if outcome.usage is not None:
        attributes |= _used(outcome.usage)
    if isinstance(outcome, AttemptFinished):
        attributes |= _answered(outcome)
    if content:
        attributes |= _content(started.prompt, outcome)
    return SpanEnded(
        name=f"chat {model or provider}",
        kind="client",
        trace_id=trace_of(id_),
        span_id=_number(f"call {id_} {turn.id} {outcome.attempt}", 8),
        parent_id=_turn_span(id_, turn),
        begun=attempt.at,
        ended=max(_ended(attempt, outcome, record.at), attempt.at),
        attributes=attributes,
        error=outcome.cause if isinstance(outcome, AttemptFailed) else "",
    )


def _ended(
    attempt: Attempt, outcome: AttemptFinished | AttemptFailed, stored_at: datetime
) -> datetime:
    """A call that was lost with its process ended with it, not when somebody found out."""
    lost = isinstance(outcome, AttemptFailed) and outcome.cause == "lost"
    return attempt.at if lost else stored_at


def _used(usage: Usage) -> Attributes:
    attributes: dict[str, str | int | float | bool | tuple[str, ...]] = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
    }
    if usage.cost_usd is not None:
        attributes["roundtable.cost_usd"] = usage.cost_usd
    return attributes


def _answered(finished: AttemptFinished) -> Attributes:
    attributes: dict[str, str | int | float | bool | tuple[str, ...]] = {}
    if finished.served_by:
        attributes["gen_ai.response.model"] = finished.served_by
    if finished.finish_reason:
        attributes["gen_ai.response.finish_reasons"] = (finished.finish_reason,)
    return attributes


def _content(prompt: Prompt, outcome: AttemptFinished | AttemptFailed) -> Attributes:
    told = {
        "gen_ai.system_instructions": _parts(prompt.system),
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": _text(prompt.user)}]),
    }
    if isinstance(outcome, AttemptFinished):
        answer = {
            "role": "assistant",
            "parts": _text(outcome.text),
            "finish_reason": outcome.finish_reason,
        }
        told["gen_ai.output.messages"] = json.dumps([answer])
    return told


def _parts(text: str) -> str:
    return json.dumps(_text(text))


def _text(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "content": redact(text)}]
