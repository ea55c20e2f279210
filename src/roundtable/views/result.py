"""The result document: what `--json` prints and `export --format json` writes. docs/reports.md
explains its keys."""

from __future__ import annotations

from typing import Any

from ..core.notifications import announcement
from ..core.state import State
from ..core.values import Participant
from .cost import Cost
from .deliverables import deliverables_document
from .delivery import Delivery
from .delivery_json import document
from .influence import influence_document
from .notes import notes
from .outgoing import outgoing_document
from .result_positions import positions


def result(state: State) -> dict[str, Any]:
    """The whole discussion as one JSON document, free of anything that looks like a secret."""
    cost = Cost.of(state)
    found: dict[str, Any] = outgoing_document(
        {
            "discussion_id": state.discussion_id,
            "procedure": state.start.procedure,
            "topic": state.start.topic,
            **document(Delivery.of(state)),
            "status": state.status,
            "stop_reason": state.closed.stop_reason if state.closed else None,
            "detail": state.closed.detail if state.closed else "",
            "remedy": state.closed.remedy if state.closed else "",
            "language": state.start.language,
            "options": state.start.options,
            "opened_at": _iso(state.opened_at),
            "updated_at": _iso(state.updated_at),
            "participants": [_participant(state, p) for p in state.participants],
            "host": _participant(state, state.start.host),
            "speeches": [
                {
                    "turn_id": speech.turn_id,
                    "round": speech.round,
                    "after_round": speech.after_round,
                    "stage": speech.stage,
                    "participant": speech.participant,
                    "model": speech.model,
                    "text": speech.text,
                    "declaration": speech.declaration.model_dump(mode="json", exclude_defaults=True)
                    if speech.declaration
                    else None,
                    "independent": speech.independent,
                    "flags": list(speech.flags),
                    "at": _iso(at),
                }
                for speech, at in zip(state.speeches, state.spoken_at, strict=True)
            ],
            "influence": influence_document(state),
            **positions(state),
            "verdict": state.verdict.model_dump(mode="json") if state.verdict else None,
            "outcome": _outcome(state),
            "follows": state.start.follows or None,
            "follow_ups": list(state.follow_ups),
            "usage": {
                "calls": state.usage.calls,
                "input_tokens": cost.input_tokens,
                "output_tokens": cost.output_tokens,
                "cost_usd": cost.usd,
                **cost.document,
            },
            "notes": [
                {"code": note.code, "text": note.text, "remedy": note.remedy}
                for note in notes(state)
            ],
            "news": announcement(state, chats=False),
            "program_version": state.start.program_version,
        }
    )
    # Works are handed over as they were written: what looks like a key may be a line of code.
    return {**found, "deliverables": deliverables_document(state)}


def _outcome(state: State) -> dict[str, str] | None:
    """How the decision turned out, as somebody said later."""
    told = state.outcome
    return {"outcome": told.outcome, "note": told.note, "by": told.by} if told else None


def _participant(state: State, participant: Participant) -> dict[str, Any]:
    return {
        "id": participant.id,
        "name": participant.name,
        "role": participant.role,
        "emoji": participant.emoji,
        "perspective": participant.perspective,
        "looks_at": participant.looks_at,
        "why": participant.why,
        "model": state.said.last_model(participant.id) or participant.speaker.model,
        "demonstration": participant.speaker.demonstration,
    }


def _iso(at: Any) -> str | None:
    return at.isoformat() if at else None
