"""A discussion as a download: in one of the forms to keep, or as a bundle."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from fastapi import Response

from ...engine.service import Service
from ..exports import Form, exported_text

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
    text = await asyncio.to_thread(exported_text, records, form, datetime.now(UTC))
    return _file(text.encode(), kind, f"{discussion_id}.{suffix}")


async def bundled(service: Service, discussion_id: str) -> Response:
    """The discussion with its prompts and ballots, chained so that any change shows."""
    from ...bundle import MEDIA_TYPE, make_bundle

    records = await service.records(discussion_id)
    return _file(
        await asyncio.to_thread(make_bundle, records), MEDIA_TYPE, f"{discussion_id}.roundtable"
    )


def _file(data: bytes, kind: str, name: str) -> Response:
    # Always a download: a report is a page of its own and must not run as one of ours.
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=kind, headers=headers)
