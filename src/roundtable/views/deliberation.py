"""How the verdict of a deliberation is delivered, and the report that it leaves."""

from __future__ import annotations

from datetime import datetime

from ..core.state import State
from ..core.text import redact, slug
from ..core.values import Verdict
from .estimate import Estimate, estimate_calls
from .output_file import OutputFile
from .report_md import markdown_report

REPORTS = "memory/deliberations"
ON_THE_QUESTION = 2
"""The last round that votes on the question; later ballots rank statements."""


def delivery(state: State, version: str) -> str:
    """The verdict as a person reads it; empty if there is none."""
    verdict = state.verdict
    if verdict is None:
        return ""
    parts = [
        "⚖️ **Verdict**" + (" (partial)" if verdict.partial else ""),
        verdict.answer,
        "\n".join(
            f"**{title}:** {text}"
            for title, text in (
                ("Confidence", _confidence(verdict)),
                ("Agreement", verdict.agreement),
                ("Vote", _votes(state)),
                ("Early stop", _told(state, "early_stop")),
                ("Order check", _told(state, "order_check")),
            )
            if text
        ),
        _dissent(state, verdict),
    ]
    if verdict.changed_minds:
        parts.append(f"**What talk changed:** {verdict.changed_minds}")
    if verdict.gaps:
        parts.append(f"**Gaps and risks:** {verdict.gaps}")
    if verdict.flags:
        parts.append(f"**Flags:** {' '.join(verdict.flags)}")
    parts.append(f"---\n{_footer(state, version)}")
    return redact("\n\n".join(part for part in parts if part))


def outputs(state: State, at: datetime) -> tuple[OutputFile, ...]:
    """A report with everything that was said."""
    name = f"{at.strftime('%Y-%m-%d-%H-%M')}-{slug(redact(state.start.topic))}.md"
    shown = delivery(state, state.start.program_version)
    return (OutputFile(f"{REPORTS}/{name}", markdown_report(state, shown)),)


def deliberation_estimate(state: State) -> Estimate:
    """The estimate for a deliberation that has just been opened, at its longest."""
    options, host = state.start.options, state.start.host
    statement = bool(options.get("statement")) and not host.speaker.demonstration
    twice = bool(options.get("critique") and options.get("dual_order"))
    rounds = 1 + bool(options.get("critique")) + twice + statement
    clerk = 0 if options.get("choices") else 1
    host_calls = 0 if host.speaker.demonstration else 1 + clerk + statement
    seats = state.start.participants * rounds
    reads = bool(options.get("minutes") and options.get("critique")) and host_calls > 0
    return estimate_calls(
        seats,
        [host] * host_calls,
        f"up to ~{len(seats) + host_calls}x",
        maybe=[host] * (2 if reads else 0),
    )


def _confidence(verdict: Verdict) -> str:
    if not verdict.meaningful:
        return "not meaningful (no countable vote)"
    return verdict.confidence.capitalize() if verdict.confidence else "not stated"


def _votes(state: State) -> str:
    """The final vote on the question: each participant's last ballot."""
    last = {b.participant: b for b in state.ballots if b.round <= ON_THE_QUESTION}
    counted: dict[str, int] = {}
    for ballot in last.values():
        if ballot.meaningful:
            counted[ballot.position] = counted.get(ballot.position, 0) + 1
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return "; ".join(f"{position.rstrip(' .。')}: {votes}" for position, votes in ranked)


def _told(state: State, code: str) -> str:
    return " ".join(note.text for note in state.notes if note.code == code)


def _dissent(state: State, verdict: Verdict) -> str:
    if not verdict.dissent:
        return "**Dissent:** none" if verdict.meaningful else ""
    # Who stands against what prevailed; where nothing did, everybody.
    title = "Dissent" if len(verdict.dissent) < _spoke(state) else "Positions"
    names = {p.id: p.name for p in state.participants}
    lines = [f"**{title}:**"]
    for each in verdict.dissent:
        said = " ".join(each.position.split())
        reason = " ".join(each.reason.split())
        why = f" Reason: {reason}" if reason and reason not in said else ""
        lines.append(f"- **{names[each.participant]}** ({each.turn_id}): {said}{why}")
    return "\n".join(lines)


def _spoke(state: State) -> int:
    return len({speech.participant for speech in state.speeches if speech.round > 0})


def _footer(state: State, version: str) -> str:
    seats = [f"{p.name}: {p.speaker.model}" for p in (*state.participants, state.start.host)]
    return " · ".join([*seats, f"roundtable v{version}"])
