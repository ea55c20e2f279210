"""How a custom procedure is delivered, and the report that it leaves."""

from __future__ import annotations

from datetime import datetime

from ...core.state import State
from ...core.text import file_slug, redact
from ...views.delivery import Delivery
from ...views.delivery_md import common, first_lines, models, says_more, written
from ...views.outgoing import outgoing
from ...views.output_file import OutputFile
from ...views.report_md import markdown_report
from .schedule import blocks
from .table import table_of

REPORTS = "memory/procedures"
_SHOWN = ("Who holds what", "Why", "Dissent", "Conditions", "What would change it", "Next steps")
"""The common parts that do not stand under a title of its own here."""


def deliver(state: State, version: str) -> str:
    """The verdict as a person reads it; empty if there is none."""
    verdict = state.verdict
    if verdict is None:
        return ""
    definition = table_of(state).definition
    told = Delivery.of(state)
    lines = [
        f"⚖️ **Verdict of {definition.name}**" + (" (partial)" if verdict.partial else ""),
        "",
        *first_lines(told),
        "",
        *([told.written, ""] if says_more(told) else []),
        f"**Confidence:** {told.sureness}",
    ]
    if not verdict.meaningful:
        lines.append("**Counted:** nothing that means anything")
    elif verdict.agreement:
        lines.append(f"**Counted:** {verdict.agreement}")
    lines += written(part for part in common(told) if part[0] in _SHOWN)
    if verdict.changed_minds:
        lines += ["", "**Round by round:**", verdict.changed_minds]
    for note in state.notes:
        if note.code.startswith("early_stop/"):
            lines += ["", f"**Early stop:** {note.text}"]
    if verdict.gaps:
        lines += ["", f"**Gaps and risks:** {verdict.gaps}"]
    if verdict.flags:
        lines += ["", f"**Flags:** {' '.join(verdict.flags)}"]
    lines += ["", "---", models(state, (*state.participants, state.start.host), version)]
    return outgoing("\n".join(lines))


def outputs(state: State, at: datetime) -> tuple[OutputFile, ...]:
    """A report with everything that was said."""
    name = f"{at.strftime('%Y-%m-%d-%H-%M')}-{file_slug(redact(state.start.topic))}.md"
    folder = f"{REPORTS}/{table_of(state).definition.name}"
    delivered = deliver(state, state.start.program_version)
    return (OutputFile(f"{folder}/{name}", markdown_report(state, delivered)),)


def progress(state: State) -> str:
    """How far it is: the round, of how many at most."""
    table = table_of(state)
    most = sum(
        block.repeat
        for block in blocks(table.definition)
        for stage in block.stages
        if not stage.by_host
    )
    return f"{table.definition.name}, round {min(table.rounds + 1, most)} of at most {most}"
