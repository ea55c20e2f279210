"""The files that a five-round discussion leaves."""

from __future__ import annotations

import json
from datetime import datetime

from ...core.state import State
from ...core.text import file_slug, redact
from ..output_file import OutputFile
from .document import document
from .report import Prompts, report

REPORTS = "data/roundtable"


def outputs(state: State, _at: datetime, prompts: Prompts = ()) -> tuple[OutputFile, ...]:
    """The report twice: for machines and for people."""
    if state.verdict is None:
        return ()
    name = file_slug(redact(state.start.topic))
    data = json.dumps(document(state, prompts), ensure_ascii=False, indent=2)
    return (
        OutputFile(f"{REPORTS}/{name}.json", data + "\n"),
        OutputFile(f"{REPORTS}/{name}.md", report(state, prompts)),
    )
