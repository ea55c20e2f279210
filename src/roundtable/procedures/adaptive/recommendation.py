"""A recommendation: the workflow, rounds, seats and synthesiser that one meta-analyst wants, read
from its words.

The prompt asks for four sections; a JSON object is understood as well. What cannot be read is left
out; a text that names no workflow is no recommendation at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from ...core.contracts import Contract, parse_sections
from ...core.text import clip
from ...core.values import Value
from .panels import plain_role

Workflow = Literal["parallel_debate", "sequential", "hybrid"]
SECTIONS = ("Workflow", "Rounds", "Stages", "Synthesiser")
META_CONTRACT = Contract(sections=SECTIONS)

MAX_TASK = 600
_WORKFLOW = re.compile(r"\b(?:(parallel)[\s_-]*(?:debate)?|(sequential)|(hybrid))\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\d.])\d{1,2}(?![\d.]*\d)")
_ROW = re.compile(r"^[\s>|*•-]*(?:stage\s*)?([12])\s*[|:.)]\s*(.+?)[\s|]*$", re.IGNORECASE)
_RULE = re.compile(r"[\s|:.-]+")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_COUNT_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}


class Position(Value):
    """One seat that an analyst recommends."""

    stage: Literal[1, 2] = 1
    role: str = ""
    model: str
    task: str = ""


class Recommendation(Value):
    """What one analyst recommends."""

    analyst: str
    workflow: Workflow
    rounds: int | None = None
    positions: tuple[Position, ...] = ()
    synthesiser: str = ""


def read_recommendation(analyst: str, text: str) -> Recommendation | None:
    """The recommendation in an analyst's words, or None if there is none to be found."""
    found = _from_json(analyst, text)
    if found is not None:
        return found
    parts = parse_sections(text, (*SECTIONS, "Synthesizer", "Synthesis"))
    workflow = _workflow(parts.get("Workflow", ""))
    if workflow is None:
        return None
    writer = next(
        (parts[n] for n in ("Synthesiser", "Synthesizer", "Synthesis") if parts.get(n)), ""
    )
    return Recommendation(
        analyst=analyst,
        workflow=workflow,
        rounds=_rounds(parts.get("Rounds", "")),
        positions=_positions(parts.get("Stages", "")),
        synthesiser=_first_line(writer),
    )


def _workflow(text: str) -> Workflow | None:
    """The one workflow that a text names; None if it names none or several."""
    named: set[Workflow] = set()
    for parallel, sequential, _ in _WORKFLOW.findall(text):
        named.add("parallel_debate" if parallel else "sequential" if sequential else "hybrid")
    return named.pop() if len(named) == 1 else None


def _rounds(text: str) -> int | None:
    match = _NUMBER.search(text)
    if match is not None:
        return int(match[0]) or None
    return next((n for word, n in _COUNT_WORDS.items() if word in text.casefold().split()), None)


def _positions(text: str) -> tuple[Position, ...]:
    """Rows `stage | role | model | task`."""
    found = []
    for line in text.splitlines():
        match = _ROW.match(line)
        if match is None or _RULE.fullmatch(line):
            continue
        cells = [cell.strip(" *`") for cell in match[2].split("|")]
        if len(cells) < 2 or not cells[1]:
            continue
        found.append(_position(match[1], cells[0], cells[1], " | ".join(cells[2:])))
    return tuple(found)


def _position(stage: str, role: str, model: str, task: str) -> Position:
    return Position(
        stage=2 if stage == "2" else 1,
        role=plain_role(role),
        model=clip(model, 200),
        task=clip(" ".join(task.split()), MAX_TASK),
    )


def _from_json(analyst: str, text: str) -> Recommendation | None:
    match = _OBJECT.search(text)
    if match is None:
        return None
    try:
        values = json.loads(match[0])
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    workflow = _workflow(str(_any(values, "workflow", "workflow_type", "type") or ""))
    if workflow is None:
        return None
    rows = _any(values, "stages", "seats", "panel")
    return Recommendation(
        analyst=analyst,
        workflow=workflow,
        rounds=_rounds(str(_any(values, "rounds") or "")),
        positions=tuple(
            _position(
                str(row.get("stage", 1)),
                str(row.get("role") or ""),
                str(row["model"]),
                str(row.get("task") or ""),
            )
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, dict) and row.get("model")
        ),
        synthesiser=_first_line(
            str(_any(values, "synthesiser", "synthesizer", "synthesis_model", "synthesis") or "")
        ),
    )


def _any(values: Mapping[str, Any], *names: str) -> Any:
    return next((values[name] for name in names if name in values), None)


def _first_line(text: str) -> str:
    lines = [line.strip(" -*`>") for line in text.splitlines()]
    return clip(next((line for line in lines if line), ""), 200)
