"""A discussion as a text to keep: a report, its data, or the page itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from ..core.events import StoredEvent
from ..core.state import State, fold
from ..procedures import procedure_spec
from ..version import __version__

Form = Literal["md", "json", "html", "page"]


def exported_text(records: Sequence[StoredEvent], form: Form, at: datetime | None = None) -> str:
    """The discussion of these events, all of them from the first one on, in one of the forms. `at`
    is the time of the export, which the page names."""
    # Each form is imported when it is wanted: the command line has to start at once.
    state = fold(records)
    match form:
        case "md":
            from ..views.report_md import markdown_report

            return markdown_report(state, _delivered(state))
        case "html":
            from ..views.report_html import html_report

            return html_report(state, _delivered(state))
        case "json":
            from pydantic_core import to_json

            from ..views.result import result

            return to_json(result(state), indent=2).decode() + "\n"
        case "page":
            from .web.html_export import export_html

            return export_html(records, state, __version__, at)


def _delivered(state: State) -> str:
    return procedure_spec(state.start.procedure).deliver(state, __version__)
