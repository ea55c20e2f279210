"""`--dry-run`: the plan, the seats, the first prompts and the estimate, without a call."""

from __future__ import annotations

import json
from typing import Any

import click

from ...bootstrap import App
from ...core.decide import decide
from ...core.effects import TakeTurn
from ...core.text import redact
from ...ledger.memory import MemoryLedger
from ...procedures import procedure_kit
from ...procedures.opening import OpenRequest
from ...prompts import render
from ...views.estimate import estimate_line
from ...views.notes import notes


async def dry_run(app: App, request: OpenRequest, *, as_json: bool) -> int:
    """Show what would happen. Nothing is called, and nothing is stored."""
    state = await app.service.with_ledger(MemoryLedger()).open(request)
    kit = procedure_kit(state.start.procedure)
    prompts = []
    for effect in decide(state, kit.procedure):
        if isinstance(effect, TakeTurn):
            speaker = effect.plan.participant.speaker
            task = effect.plan.task_for(speaker)
            room = speaker.context_window - task.max_tokens
            prompt = render(task.prompt, nonce="(drawn for each call)", limit_tokens=room).prompt
            prompts.append((effect.plan.label, prompt))
    seats = (*state.start.participants, state.start.host)
    if as_json:
        e = kit.estimate(state)
        document: dict[str, Any] = {
            "dry_run": True,
            "procedure": state.start.procedure,
            "topic": state.start.topic,
            "options": state.start.options,
            "participants": [
                {"id": seat.id, "name": seat.name, "models": [s.model for s in seat.speakers]}
                for seat in seats
            ],
            "estimate": {
                "calls": e.calls,
                "tokens": e.tokens,
                "cost_usd": e.cost_usd,
                "multiplier": e.multiplier,
            },
            "prompts": [
                {"label": label, "system": prompt.system, "user": prompt.user}
                for label, prompt in prompts
            ],
            "notes": [
                {"code": note.code, "text": note.text, "remedy": note.remedy}
                for note in notes(state)
            ],
        }
        click.echo(redact(json.dumps(document, ensure_ascii=False, indent=2)))
        return 0
    lines = [f"Procedure: {state.start.procedure}", "Seats:"]
    lines += [
        f"  {seat.emoji} {seat.name}: {' → '.join(s.model for s in seat.speakers)}"
        for seat in seats
    ]
    lines += [estimate_line(kit.estimate(state), state)]
    lines += [f"Note: {note.text} {note.remedy}".rstrip() for note in notes(state)]
    for label, prompt in prompts:
        lines += ["", f"First prompt, {label}:", prompt.system, "", prompt.user]
    click.echo(redact("\n".join(lines)))
    return 0
