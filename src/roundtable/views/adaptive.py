"""How an adaptive run is delivered, and the JSON file that it leaves in the workspace."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from ..core.contracts import says_nothing
from ..core.state import State
from ..core.text import redact, slug
from ..core.values import Options, Participant, Verdict
from .adaptive_meta import (
    NOT_MEASURED,
    agreement,
    agreement_matrix,
    degradations,
    meta_lines,
    validated,
)
from .adaptive_votes import tally_lines, winner_line
from .output_file import OutputFile

RESULTS = "memory/roundtables"
SYNTHESISER = "synthesiser"


def delivery(state: State, version: str) -> str:
    """The result as a person reads it, with its META section; empty if there is no verdict."""
    verdict = state.verdict
    if verdict is None:
        return ""
    lines = [
        f"🎯 **Roundtable** [{task_mode(state).upper()}]"
        + (" (partial)" if verdict.partial else ""),
        "",
        *header(state),
        "",
        verdict.answer,
        "",
        f"**Confidence:** {_confidence(verdict)}",
        f"**Agreement:** {verdict.agreement or 'not stated'}",
        f"**Dissent:** {_dissent(state, verdict)}",
        *([""] if verdict.dissent else []),
    ]
    if not says_nothing(verdict.gaps):
        lines.append(f"**Open questions:** {verdict.gaps}")
    if verdict.sources:
        lines.append("**Sources:** " + " · ".join(verdict.sources))
    if winner := winner_line(state):
        lines += ["", "## Votes", "", f"**{winner}**", ""]
        lines += [f"- {line}" for line in tally_lines(state)]
    if table := _matrix(state):
        lines += ["", "## Agreement scores", "", *table]
    lines += ["", "## META", "", *(f"- {line}" for line in meta_lines(state))]
    lines += ["", "---", f"{state.discussion_id} · roundtable v{version}"]
    return redact("\n".join(lines))


def header(state: State) -> list[str]:
    """What was decided about the course of the run: workflow, stages, panel, synthesiser."""
    workflow = state.workflow.workflow if state.workflow else "parallel_debate"
    rounds = state.workflow.rounds if state.workflow else 1
    panel = ", ".join(f"{who.name} ({spoke_as(state, who)})" for who in panelists(state))
    return [
        f"**Workflow:** {workflow} · **Stages:** {stage_count(state)} · **Rounds:** {rounds}",
        f"**Panel:** {panel}",
        f"**Synthesis:** {synthesis_model(state)}",
    ]


def task_mode(state: State) -> str:
    return str(state.start.options.get("task_mode", "default"))


def panelists(state: State) -> list[Participant]:
    """Who debates: everybody at the table but the synthesiser."""
    return [who for who in state.participants if who.id != SYNTHESISER]


def spoke_as(state: State, who: Participant) -> str:
    """The model that really spoke, which a substitution may have changed."""
    spoken = [s.model for s in state.speeches if s.participant == who.id]
    return spoken[-1] if spoken else who.speaker.model


def stage_count(state: State) -> int:
    stages = {seat.get("stage", 1) for seat in _seats(state)}
    return max(1, len(stages))


def synthesis_model(state: State) -> str:
    """Who wrote the result; the one who was to, as long as nobody has."""
    verdict = state.verdict
    if verdict is not None:
        return verdict.author or "none (extract)"
    who = state.participant(SYNTHESISER)
    return who.speaker.model if who else ""


def outputs(state: State, at: datetime) -> tuple[OutputFile, ...]:
    """The result file of a run that came to a result."""
    if state.verdict is None:
        return ()
    # A key in the question must not get into a name that every listing shows.
    name = f"{at.strftime('%Y-%m-%d')}-{slug(redact(state.start.topic))}.json"
    document = json.dumps(result_document(state, at), ensure_ascii=False, indent=2)
    return (OutputFile(f"{RESULTS}/{name}", document + "\n"),)


def result_document(state: State, at: datetime) -> dict[str, Any]:
    """The result file's keys, exactly."""
    assert state.verdict is not None, "only a run with a result has a document"
    names = {who.id: spoke_as(state, who) for who in panelists(state)}
    score = agreement(state).value
    found = degradations(state)
    return {
        "date": at.strftime("%Y-%m-%d"),
        "topic": redact(state.start.topic),
        "mode": task_mode(state),
        "workflow_type": state.workflow.workflow if state.workflow else "parallel_debate",
        "stages": [
            {
                "model": names.get(str(seat.get("id")), seat.get("model")),
                "role": seat.get("role"),
                "task": redact(str(seat.get("task") or "")),
            }
            for seat in _seats(state)
        ],
        "meta_panel_recommendation": _recommendation(state),
        "panel_degraded": bool(found),
        "panel_degradation_notes": [redact(f"{text} {do}".strip()) for text, do in found],
        "consensus_pct": NOT_MEASURED if score is None else round(score, 1),
        "synthesis_model": synthesis_model(state),
        "validated": validated(state),
        "synthesis": redact(state.verdict.answer),
    }


def _seats(state: State) -> list[Options]:
    design = state.workflow.design if state.workflow else {}
    seats = design.get("seats")
    return [seat for seat in seats if isinstance(seat, dict)] if isinstance(seats, list) else []


def _recommendation(state: State) -> dict[str, Any] | None:
    """What the meta-panel recommended and what came of it; None if there was none."""
    workflow = state.workflow
    if workflow is None or workflow.design.get("by") != "meta-panel":
        return None
    return {
        "workflow_type": workflow.workflow,
        "rounds": workflow.rounds,
        "synthesis_model": workflow.design.get("synthesis"),
        "votes": workflow.design.get("votes"),
        "recommendations": workflow.design.get("recommendations"),
    }


def _confidence(verdict: Verdict) -> str:
    if not verdict.meaningful:
        return "not meaningful (demonstration model)"
    return verdict.confidence.capitalize() if verdict.confidence else "not stated"


def _dissent(state: State, verdict: Verdict) -> str:
    if not verdict.dissent:
        return "none"
    lines = []
    for each in verdict.dissent:
        who = state.participant(each.participant)
        turn = f" ({each.turn_id})" if each.turn_id else ""
        lines.append(f"\n- {who.name if who else each.participant}{turn}: ")
        lines.append(" ".join(each.position.split()))
    return "".join(lines)


def _matrix(state: State) -> list[str]:
    """Who agrees with whom, as a table: rows score columns."""
    rows = agreement_matrix(state)
    names = list(dict.fromkeys([*rows, *(peer for row in rows.values() for peer in row)]))
    if not rows:
        return []
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for name, row in rows.items():
        lines.append(f"| {name} | {' | '.join(str(row.get(peer, '–')) for peer in names)} |")
    return lines
