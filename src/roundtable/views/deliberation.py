"""How the verdict of a deliberation is delivered, and the report that it leaves."""

from __future__ import annotations

from datetime import datetime

from ..core.standing import standing_of
from ..core.state import State
from ..core.text import redact, slug
from ..core.values import Verdict
from .estimate import Estimate, estimate_calls
from .output_file import OutputFile
from .report_md import markdown_report

REPORTS = "memory/deliberations"


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
    return estimate_calls(
        seats,
        [host] * host_calls,
        f"up to ~{len(seats) + host_calls}x",
    )


def _confidence(verdict: Verdict) -> str:
    if not verdict.meaningful:
        return "not meaningful (no countable vote)"
    return verdict.confidence.capitalize() if verdict.confidence else "none (nothing prevails)"


def _votes(state: State) -> str:
    """The final vote on the question: each participant's last ballot."""
    question = standing_of(state).question
    if question is None:
        return ""
    counted = {question.text_of(option): votes for option, votes in question.counts.items()}
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return "; ".join(f"{text.rstrip(' .。')}: {votes}" for text, votes in ranked if votes)


def _told(state: State, code: str) -> str:
    return " ".join(note.text for note in state.notes if note.code == code)


def _dissent(state: State, verdict: Verdict) -> str:
    standing = standing_of(state)
    if not verdict.dissent and standing.question and standing.question.delivered is None:
        # Nothing prevails, so nobody dissents from it: what each of them holds stands instead.
        held = [(p.name, standing.record.position(p.id)) for p in state.participants]
        told = [f"- **{name}**: {position}" for name, position in held if position]
        return "\n".join(["**Positions:**", *told]) if told else ""
    if not verdict.dissent:
        return "**Dissent:** none" if verdict.meaningful else ""
    names = {p.id: p.name for p in state.participants}
    lines = ["**Dissent:**"]
    for each in verdict.dissent:
        said = " ".join(each.position.split())
        reason = " ".join(each.reason.split())
        why = f" Reason: {reason}" if reason and reason not in said else ""
        before = " (before it gave in)" if each.gave_in else ""
        lines.append(f"- **{names[each.participant]}**{before} ({each.turn_id}): {said}{why}")
    return "\n".join(lines)


def _footer(state: State, version: str) -> str:
    seats = [f"{p.name}: {p.speaker.model}" for p in (*state.participants, state.start.host)]
    return " · ".join([*seats, f"roundtable v{version}"])
