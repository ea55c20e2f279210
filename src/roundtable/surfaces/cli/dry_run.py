"""`--dry-run`: the first prompts, the plan, the seats and the estimate, without a call."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from ...bootstrap import App
from ...core.decide import Procedure, decide
from ...core.effects import LookUp, Record, TakeTurn, TurnPlan
from ...core.events import Event, NoteAdded, SearchFailed, StoredEvent
from ...core.state import State
from ...core.values import Participant
from ...ledger.memory import MemoryLedger
from ...procedures import procedure_spec
from ...procedures.opening import OpenRequest
from ...prompts import render
from ...rehearsal.estimate import Estimate, estimate_line, over_budget
from ...views.notes import Note, notes
from .terminal import echo, print_json

SHOWN = 600
"""Characters of a document that the plan shows to people: they have it."""


async def dry_run(app: App, request: OpenRequest, *, as_json: bool, verbose: bool) -> int:
    """Show what would happen. Nothing is called, and nothing is stored. Of long documents people
    see the beginning, unless they want all of it."""
    service = app.service.with_ledger(MemoryLedger())
    state = await service.open(request)
    told = await service.estimate(state)
    spec = procedure_spec(state.start.procedure)
    prompts = []
    rehearsed = state.branch()
    if not (as_json or verbose):
        _shorten(rehearsed)
    for plan in _first_turns(rehearsed, spec.procedure):
        speaker = plan.participant.speaker
        room = plan.prompt_room(speaker, state.start.pace)
        asked = plan.task_for(speaker).prompt
        prompt = render(asked, nonce="(drawn for each call)", limit_tokens=room).prompt
        prompts.append((plan.label, prompt))
    seats = (*state.start.participants, state.start.host)
    if as_json:
        document: dict[str, Any] = {
            "dry_run": True,
            "procedure": state.start.procedure,
            "topic": state.start.topic,
            "options": state.start.options,
            "participants": [
                {
                    "id": seat.id,
                    "name": seat.name,
                    "models": _chain(seat),
                }
                for seat in seats
            ],
            "estimate": estimate_document(told, state),
            "prompts": [
                {"label": label, "system": prompt.system, "user": prompt.user}
                for label, prompt in prompts
            ],
            "notes": notes_document(notes(state)),
        }
        print_json(document)
        return 0
    lines: list[str] = []
    # The long part first: what stands on the screen at the end are seats and estimate.
    for label, prompt in prompts:
        lines += [f"First prompt, {label}:", prompt.system, "", prompt.user, ""]
    lines += [f"Procedure: {state.start.procedure}", "Seats:"]
    lines += [f"  {seat.emoji} {seat.name}: {' → '.join(_chain(seat))}" for seat in seats]
    lines += [estimate_line(told, state)]
    lines += [f"This may exceed the limits ({over})." for over in over_budget(told, state.budget)]
    lines += [f"Note: {note.text} {note.remedy}".rstrip() for note in notes(state)]
    echo("\n".join(lines))
    return 0


def estimate_document(told: Estimate, state: State) -> dict[str, Any]:
    """An estimate as JSON."""
    return {
        "calls": told.calls,
        "tokens": told.tokens,
        "cost_usd": told.cost_usd,
        "multiplier": told.multiplier,
        "likely": told.expected.model_dump(),
        "over_budget": over_budget(told, state.budget),
    }


def notes_document(found: Iterable[Note | NoteAdded]) -> list[dict[str, str]]:
    """Notes as JSON."""
    return [{"code": each.code, "text": each.text, "remedy": each.remedy} for each in found]


def _shorten(state: State) -> None:
    context = tuple(
        each.model_copy(update={"text": _beginning(each.text)}) for each in state.start.context
    )
    state.opened = state.start.model_copy(update={"context": context})


def _beginning(text: str) -> str:
    rest = len(text) - SHOWN
    if rest <= SHOWN:
        return text
    return f"{text[:SHOWN]}\n[… {rest:,} more characters; --verbose shows them]"


def _first_turns(state: State, procedure: Procedure) -> list[TurnPlan]:
    """The turns with which it begins, as they would be without a web search."""
    while True:
        effects = decide(state, procedure)
        plans = [effect.plan for effect in effects if isinstance(effect, TakeTurn)]
        events: list[Event] = [
            e for each in effects if isinstance(each, Record) for e in each.events
        ]
        for each in effects:
            if isinstance(each, LookUp):
                message = "Nobody is asked in a dry run."
                events.append(SearchFailed(query=each.query, provider="none", message=message))
        if plans or not events:
            return plans
        for event in events:
            at = state.updated_at or datetime.now(UTC)
            state.apply(StoredEvent(state.discussion_id, state.seq + 1, at, event))


def _chain(seat: Participant) -> list[str]:
    """Who speaks for a seat, and who would if that one failed."""
    return [each.model for each in seat.speakers if not each.spare]
