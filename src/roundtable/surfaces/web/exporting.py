"""A discussion as a file to keep: a report, its data, the page itself, or the verified bundle."""

from __future__ import annotations

import asyncio
import json
from typing import Literal

from fastapi import Response

from ...core.events import Recorded
from ...core.state import State, fold
from ...engine.service import Service
from ...procedures import procedure_kit
from ...version import __version__
from ...views.report_html import html_report
from ...views.report_md import markdown_report
from ...views.result import result

Form = Literal["md", "json", "html", "page"]
_KINDS: dict[Form, tuple[str, str]] = {
    "md": ("text/markdown", "md"),
    "json": ("application/json", "json"),
    "html": ("text/html", "html"),
    "page": ("text/html", "page.html"),
}


async def exported(service: Service, discussion_id: str, form: Form) -> Response:
    """The discussion as it stands, in one of the forms."""
    records = await service.records(discussion_id)
    kind, suffix = _KINDS[form]
    text = await asyncio.to_thread(_text, records, fold(records), form)
    return _file(text.encode(), kind, f"{discussion_id}.{suffix}")


async def bundled(service: Service, discussion_id: str) -> Response:
    """The discussion with its prompts and ballots, chained so that any change shows."""
    from ..bundle import MEDIA_TYPE, make_bundle

    records = await service.records(discussion_id)
    return _file(
        await asyncio.to_thread(make_bundle, records), MEDIA_TYPE, f"{discussion_id}.roundtable"
    )


def _text(records: list[Recorded], state: State, form: Form) -> str:
    delivered = procedure_kit(state.start.procedure).deliver(state, __version__)
    match form:
        case "md":
            return markdown_report(state, delivered)
        case "json":
            return json.dumps(result(state), ensure_ascii=False, indent=2) + "\n"
        case "html":
            return html_report(state, delivered)
        case "page":
            from .html_export import export_html

            return export_html(records, state, __version__)


def _file(data: bytes, kind: str, name: str) -> Response:
    # Always a download: a report is a page of its own and must not run as one of ours.
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=kind, headers=headers)
