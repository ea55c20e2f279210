"""How the verdict of a deliberation is delivered, and the report that it leaves."""

from __future__ import annotations

from datetime import datetime

from ..core.state import State
from ..core.text import file_slug, redact
from .output_file import OutputFile

REPORTS = "memory/deliberations"


def delivery(state: State, version: str) -> str:
    """The verdict as a person reads it; empty if there is none."""
    if state.verdict is None:
        return ""
    from .delivery import Delivery
    from .delivery_md import markdown, models

    own = [("Early stop", _told(state, "early_stop")), ("Order check", _told(state, "order_check"))]
    return markdown(
        Delivery.of(state),
        "⚖️ **Verdict**",
        own=[part for part in own if part[1]],
        footer=models(state, (*state.participants, state.start.host), version),
    )


def outputs(state: State, at: datetime) -> tuple[OutputFile, ...]:
    """A report with everything that was said."""
    from .report_md import markdown_report

    name = f"{at.strftime('%Y-%m-%d-%H-%M')}-{file_slug(redact(state.start.topic))}.md"
    shown = delivery(state, state.start.program_version)
    return (OutputFile(f"{REPORTS}/{name}", markdown_report(state, shown)),)


def _told(state: State, code: str) -> str:
    return " ".join(note.text for note in state.notes if note.code == code)
