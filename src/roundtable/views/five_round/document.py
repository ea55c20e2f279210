"""The JSON report of a five-round discussion: everything that the Markdown report says, as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...core.record import record_of
from ...core.state import State
from ...core.text import count_words
from ..notes import notes
from ..outgoing import outgoing_document
from . import forms
from .report import Prompts
from .rounds import ACTIONABLE, ARBITRATION, CRITIQUE, ROUNDS, held
from .skipped import forced, skipped
from .standing import challenges, disputes, measures, positions, replies
from .statistics import statistics, summary_speech


def document(state: State, prompts: Prompts = ()) -> dict[str, Any]:
    """The whole discussion, free of anything that looks like a secret."""
    start = state.start
    found = statistics(state)
    summary = summary_speech(state)
    text = summary.text if summary else ""
    answered = replies(state)
    content: dict[str, Any] = {
        "topic": start.topic,
        "discussion_id": state.discussion_id,
        "procedure": start.procedure,
        "depth": start.options.get("depth"),
        "status": state.status,
        "stop_reason": state.closed.stop_reason if state.closed else None,
        "language": start.language,
        "experts": [
            {
                "id": seat.id,
                "name": seat.name,
                "role": seat.role,
                "perspective": seat.perspective,
                "looks_at": seat.looks_at,
                "why": seat.why,
                "models": [speaker.model for speaker in seat.speakers],
            }
            for seat in state.participants
        ],
        "host": {"name": start.host.name, "models": [s.model for s in start.host.speakers]},
        "rounds": [*_rounds(state), *_summary(state)],
        "skipped_rounds": [asdict(each) for each in skipped(state)],
        "risks": _findings(state, "risk"),
        "defects": _findings(state, "defect"),
        "points": [
            {
                "id": point.id,
                "text": point.text,
                "raised_by": point.author,
                "stances": positions(point),
            }
            for point in record_of(state).points
        ],
        "challenges": [
            {
                "id": each.id,
                "by": each.author,
                "against": each.target,
                "kind": each.finding.kind,
                "text": each.finding.text,
                "support": each.finding.support,
                "reply": answered[each.number].reply if each.number in answered else None,
            }
            for each in challenges(state)
        ],
        "disputes": [{"id": each.id, **asdict(each)} for each in disputes(state)],
        "rulings": [{**asdict(r), "dispute": f"X{r.dispute}"} for r in forms.rulings(text)],
        "plan": [{**asdict(task), "week": f"W{task.week}"} for task in forms.plan(text)],
        "top_risks": [asdict(risk) for risk in forms.top_risks(text)],
        "actionability": {"percent": found.actionability_pct, "goal": ACTIONABLE},
        "convergence": [_convergence(state, *each) for each in held(state)],
        "force_arbitrate": forced(state),
        "statistics": asdict(found),
        "verdict": state.verdict.model_dump(mode="json") if state.verdict else None,
        "prompts": [
            {"label": label, "template": p.template, "system": p.system, "user": p.user}
            for label, p in prompts
        ],
        "notes": [asdict(note) for note in notes(state)],
        "program_version": start.program_version,
    }
    cleaned: dict[str, Any] = outgoing_document(content)
    return cleaned


def _rounds(state: State) -> list[dict[str, Any]]:
    return [
        {
            "number": ROUNDS[stage].number,
            "title": ROUNDS[stage].title,
            "speeches": _speeches(state, stage, number),
            "missing": [
                {"expert": failure.participant, "cause": failure.cause, "message": failure.message}
                for failure in state.failures
                if (failure.stage, failure.round) == (stage, number)
            ],
        }
        for number, stage in held(state)
    ]


def _summary(state: State) -> list[dict[str, Any]]:
    if (ARBITRATION, 0) not in state.stages:
        return []
    return [
        {
            "number": ROUNDS[ARBITRATION].number,
            "title": ROUNDS[ARBITRATION].title,
            "speeches": _speeches(state, ARBITRATION, 0),
            "missing": [],
        }
    ]


def _speeches(state: State, stage: str, number: int) -> list[dict[str, Any]]:
    return [
        {
            "turn_id": speech.turn_id,
            "expert": speech.participant,
            "model": speech.model,
            "words": count_words(speech.text),
            "flags": list(speech.flags),
            "text": speech.text,
        }
        for speech in state.spoken_in(stage, number)
    ]


def _findings(state: State, kind: forms.Kind) -> list[dict[str, Any]]:
    return [
        {
            "expert": speech.participant,
            "number": finding.number,
            "text": finding.text,
            "support": finding.support,
        }
        for speech in state.spoken_in(CRITIQUE, 3)
        for finding in forms.findings(speech.text)
        if finding.kind == kind
    ]


def _convergence(state: State, number: int, stage: str) -> dict[str, Any]:
    found = measures(state, number, stage)
    return {
        "round": number,
        "stage": stage,
        "overlap": found.overlap.value,
        "consensus_points": found.consensus_points,
        "divergence": found.divergence,
        "convergence_score": found.convergence_score.value,
    }
