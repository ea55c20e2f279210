"""How an adaptive run is delivered, and the JSON file that it leaves in the workspace."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from ..core.declaration import ANY, OWN
from ..core.scores import INFERRED
from ..core.standing import DecisionStanding, standing_of
from ..core.state import State
from ..core.text import file_slug, redact
from ..core.values import Options, Participant
from .adaptive_meta import (
    NOT_MEASURED,
    agreement,
    agreement_matrix,
    corrections,
    counted,
    degradations,
    lost_seats,
    meta_lines,
    validated,
)
from .delivery import Delivery
from .delivery_md import common, dissent, first_lines, last, says_more, written
from .outgoing import outgoing, outgoing_document
from .output_file import OutputFile

RESULTS = "memory/roundtables"
SYNTHESISER = "synthesiser"
OTHERS = {OWN: "a position of its own", ANY: "no preference"}


def delivery(state: State, version: str) -> str:
    """The result as a person reads it, with its META section; empty if there is no verdict."""
    if state.verdict is None:
        return ""
    told = Delivery.of(state)
    partial = " (partial)" if told.partial else ""
    lines = [f"🎯 **Roundtable** [{task_mode(state).upper()}]{partial}", "", *header(state)]
    lines += ["", *first_lines(told)]
    if says_more(told):
        lines += ["", told.written]
    lines += ["", *written([*common(told), *last(told)])]
    lines += _votes(state)
    if table := _matrix(state):
        lines += ["", "## Agreement scores", "", *table]
    lines += ["", "## META", "", *(f"- {line}" for line in meta_lines(state))]
    lines += ["", "---", f"{state.discussion_id} · roundtable v{version}"]
    return outgoing("\n".join(lines))


def header(state: State) -> list[str]:
    """What was decided about the course of the run: workflow, stages, panel, synthesiser."""
    workflow = state.workflow.workflow if state.workflow else "parallel_debate"
    rounds = state.workflow.rounds if state.workflow else 1
    panel = ", ".join(f"{who.name} ({model_of(state, who)})" for who in panelists(state))
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


def model_of(state: State, who: Participant) -> str:
    """The model that really spoke, which a substitution may have changed; of a seat that never
    spoke, the one that was to."""
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
    name = f"{at.strftime('%Y-%m-%d')}-{file_slug(redact(state.start.topic))}.json"
    document = json.dumps(result_document(state, at), ensure_ascii=False, indent=2)
    return (OutputFile(f"{RESULTS}/{name}", document + "\n"),)


def result_document(state: State, at: datetime) -> dict[str, Any]:
    """The result file's keys, exactly."""
    assert state.verdict is not None, "only a run with a result has a document"
    names = {who.id: model_of(state, who) for who in panelists(state)}
    score = agreement(state).value
    found = [*degradations(state), *lost_seats(state)]
    document = {
        "date": at.strftime("%Y-%m-%d"),
        "topic": state.start.topic,
        "mode": task_mode(state),
        "workflow_type": state.workflow.workflow if state.workflow else "parallel_debate",
        "stages": [
            {
                "model": names.get(str(seat.get("id")), seat.get("model")),
                "role": seat.get("role"),
                "task": str(seat.get("task") or ""),
            }
            for seat in _seats(state)
        ],
        "meta_panel_recommendation": _recommendation(state),
        "panel_degraded": bool(found) or demonstrates(state),
        "panel_degradation_notes": [f"{text} {do}".strip() for text, do in found],
        "consensus_pct": NOT_MEASURED if score is None else round(score, 1),
        "synthesis_model": synthesis_model(state),
        "validated": validated(state),
        "synthesis": whole_synthesis(state),
    }
    clean: dict[str, Any] = outgoing_document(document)
    return clean


def demonstrates(state: State) -> bool:
    """Whether a model too small to reason sits on the panel: nobody wants that one."""
    return any(who.speaker.demonstration for who in panelists(state))


def whole_synthesis(state: State) -> str:
    """The answer with all that belongs to it: how far the panel agrees where that was counted, who
    dissents and why, what is open, what the panel corrects, the sources, the works."""
    told = Delivery.of(state)
    parts = (
        ("Agreement", told.agreement if told.decisions else ""),
        ("Dissent", dissent(told) if told.dissent or told.on_dissent else ""),
        ("Open Questions", told.gaps),
        ("Corrections by the panel", "\n".join(f"- {each}" for each in corrections(state))),
        ("Deliverables", "\n".join(f"- {each}" for each in told.works.told())),
        ("Sources", "\n".join(told.sources)),
    )
    filled = [f"## {title}\n{body.strip()}" for title, body in parts if body.strip()]
    return "\n\n".join([told.written, *filled])


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


def _votes(state: State) -> list[str]:
    """In a vote, the winner and who chose what, as the table's standing counts it."""
    question = standing_of(state).question
    if task_mode(state) != "vote" or question is None or question.end is None:
        return []
    names = {seat: state.name_of(seat) for seat in (s.participant for s in question.seats)}
    chosen: dict[str, list[str]] = {}
    for seat in question.seats:
        if seat.final:
            told = OTHERS.get(seat.final) or question.text_of(seat.final)
            chosen.setdefault(told, []).append(names[seat.participant])
    ranked = sorted(chosen.items(), key=lambda item: (item[0] in OTHERS.values(), -len(item[1])))
    lines = [f"- {option}: {len(who)} ({', '.join(who)})" for option, who in ranked]
    return ["", "## Votes", "", f"**{winner_line(question)}**", "", *lines]


def winner_line(question: DecisionStanding) -> str:
    """`Winner: tea (3 of 4)`, that there is a tie, or that nothing prevails."""
    if question.delivered:
        return f"Winner: {question.answer} ({len(question.holders)} of {question.seated})"
    if question.tied:
        most = f"{question.counts[question.tied[0]]} of {question.seated}"
        options = ", ".join(question.text_of(option) for option in question.tied)
        return f"Tie: {options} ({most} each)"
    return f"No winner: {question.reason}"


def _matrix(state: State) -> list[str]:
    """Who agrees with whom, as a table: rows score columns."""
    rows = agreement_matrix(state)
    doubtful = {
        (state.name_of(row.participant), state.name_of(peer))
        for row in counted(state)
        for peer in row.inferred
    }
    names = list(dict.fromkeys([*rows, *(peer for row in rows.values() for peer in row)]))
    if not rows:
        return []
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for name, row in rows.items():
        cells = [f"{row.get(peer, '–')}{'*' if (name, peer) in doubtful else ''}" for peer in names]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if doubtful:
        lines += ["", f"\\* {INFERRED}: not stated plainly, and not in the consensus."]
    return lines
