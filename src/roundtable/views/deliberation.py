"""How the verdict of a deliberation is delivered, and the report that it leaves."""

from __future__ import annotations

from datetime import datetime

from ..core.state import State
from ..core.text import redact, slug
from ..core.values import Verdict
from .estimate import Estimate, estimate_calls
from .output_file import OutputFile
from .transcript import transcript

REPORTS = "memory/deliberations"


def delivery(state: State, version: str) -> str:
    """The verdict as a person reads it; empty if there is none."""
    verdict = state.verdict
    if verdict is None:
        return ""
    lines = [
        "⚖️ **Verdict**" + (" (partial)" if verdict.partial else ""),
        "",
        verdict.answer,
        "",
        f"**Confidence:** {_confidence(verdict)}",
        f"**Agreement:** {verdict.agreement}",
    ]
    if votes := _votes(state):
        lines.append(f"**Vote:** {votes}")
    lines.append(f"**Dissent:** {_dissent(state, verdict)}")
    if verdict.changed_minds:
        lines += ["", f"**What talk changed:** {verdict.changed_minds}"]
    saved = [note.text for note in state.notes if note.code == "early_stop"]
    lines += [f"**Early stop:** {text}" for text in saved]
    if verdict.gaps:
        lines += ["", f"**Gaps and risks:** {verdict.gaps}"]
    if verdict.flags:
        lines.append(f"**Flags:** {' '.join(verdict.flags)}")
    lines += ["", "---", _footer(state, version)]
    return redact("\n".join(lines))


def outputs(state: State, at: datetime) -> tuple[OutputFile, ...]:
    """A report with everything that was said."""
    name = f"{at.strftime('%Y-%m-%d-%H-%M')}-{slug(redact(state.start.topic))}.md"
    return (OutputFile(f"{REPORTS}/{name}", transcript(state, delivery(state, state.start.program_version))),)


def deliberation_estimate(state: State) -> Estimate:
    """The estimate for a deliberation that has just been opened, at its longest."""
    rounds = 2 if state.start.options.get("critique") else 1
    host = state.start.host
    clerk = 0 if state.start.options.get("choices") else 1
    host_calls = 0 if host.speaker.demonstration else 1 + clerk
    seats = state.start.participants * rounds
    return estimate_calls(seats, [host] * host_calls, f"up to ~{len(seats) + host_calls}x")


def _confidence(verdict: Verdict) -> str:
    if not verdict.meaningful:
        return "not meaningful (no countable vote)"
    return verdict.confidence.capitalize() if verdict.confidence else "not stated"


def _votes(state: State) -> str:
    last = {ballot.participant: ballot for ballot in state.ballots if ballot.meaningful}
    counted: dict[str, int] = {}
    for ballot in last.values():
        counted[ballot.position] = counted.get(ballot.position, 0) + 1
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return "; ".join(f"{position}: {votes}" for position, votes in ranked)


def _dissent(state: State, verdict: Verdict) -> str:
    if not verdict.dissent:
        return "none"
    names = {p.id: p.name for p in state.participants}
    return "".join(
        f"\n- {names[each.participant]} ({each.turn_id}): {' '.join(each.position.split())}"
        for each in verdict.dissent
    )


def _footer(state: State, version: str) -> str:
    seats = [f"{p.name}: {p.speaker.model}" for p in (*state.participants, state.start.host)]
    return " · ".join([*seats, f"roundtable v{version}"])
