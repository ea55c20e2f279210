"""Discussions as resources: their list, their transcripts, their events."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import mcp_types as types

from ...core.errors import BadSetting, UnknownName
from ...core.text import clip
from ...procedures import procedure_spec
from ...version import __version__
from ...views.outgoing import outgoing, outgoing_document
from ...views.page_events import page_event
from ...views.report_md import markdown_report
from ..tokens.rules import RESOURCES
from ..toolset.toolset import Toolset

DISCUSSIONS = "roundtable://discussions"
TRANSCRIPT = "roundtable://{discussion_id}/transcript"
EVENTS = "roundtable://{discussion_id}/events{?after}"
RECENT = 20
"""Discussions whose transcripts are listed."""
AT_ONCE = 200
"""Events in one reading."""
_ADDRESS = re.compile(r"roundtable://(rt_[0-9a-f]{8}|example:[a-z0-9-]{1,80})/(transcript|events)")


class Resources:
    """Reads what a client asks for by its address."""

    def __init__(self, toolset: Toolset) -> None:
        self._toolset = toolset
        self._service = toolset.app.service

    async def listed(self) -> list[types.Resource]:
        self._toolset.access.check("read")
        seen = self._toolset.access.held
        every = await self._service.summaries(limit=RECENT if seen.discussions is None else None)
        rows = [row for row in every if seen.may(RESOURCES[TRANSCRIPT], row.discussion_id)][:RECENT]
        return [
            types.Resource(
                uri=DISCUSSIONS,
                name="discussions",
                title="All discussions",
                mime_type="application/json",
            ),
            *(
                types.Resource(
                    uri=TRANSCRIPT.format(discussion_id=row.discussion_id),
                    name=f"{row.discussion_id}-transcript",
                    title=clip(outgoing(" ".join(row.topic.split())), 80),
                    description=f"{row.procedure}, {row.status}",
                    mime_type="text/markdown",
                )
                for row in rows
            ),
        ]

    def templates(self) -> list[types.ResourceTemplate]:
        return [
            types.ResourceTemplate(
                uri_template=TRANSCRIPT,
                name="transcript",
                title="Everything that was said, and the verdict",
                mime_type="text/markdown",
            ),
            types.ResourceTemplate(
                uri_template=EVENTS,
                name="events",
                title="What happened, in order, after an event's number",
                mime_type="application/json",
            ),
        ]

    async def read(self, uri: str) -> tuple[str, str]:
        """The kind and the text of a resource. UsageError if there is none at this address."""
        check_resource(self._toolset, uri)
        if uri == DISCUSSIONS:
            listed = await self._toolset.list_discussions()
            return "application/json", listed.model_dump_json()
        discussion_id, what = _known(uri)
        if what == "transcript":
            state = await self._service.read(discussion_id)
            delivered = procedure_spec(state.start.procedure).deliver(state, __version__)
            return "text/markdown", markdown_report(state, delivered)
        records = await self._service.records(discussion_id, after=_after(uri), limit=AT_ONCE)
        shown = [_without_html(page_event(record)) for record in records]
        document = {
            "events": shown,
            "after": records[-1].seq if records else _after(uri),
            "more": len(records) == AT_ONCE,
        }
        return "application/json", json.dumps(outgoing_document(document), ensure_ascii=False)


def discussion_of(uri: str) -> tuple[str, str] | None:
    """The discussion that an address names, and what of it."""
    match = _ADDRESS.fullmatch(uri.partition("?")[0])
    return (match[1], match[2]) if match else None


def check_resource(toolset: Toolset, uri: str) -> None:
    """UnknownName if there is no such resource; NotAllowed if this caller may not read it, or hear
    of its changes."""
    if uri == DISCUSSIONS:
        toolset.access.check("list")
        toolset.access.held.check(RESOURCES[DISCUSSIONS])
        return
    discussion_id, what = _known(uri)
    toolset.access.check("read")
    address = TRANSCRIPT if what == "transcript" else EVENTS
    toolset.access.held.check(RESOURCES[address], discussion_id)


def _known(uri: str) -> tuple[str, str]:
    found = discussion_of(uri)
    if found is None:
        raise UnknownName("resource", uri, [DISCUSSIONS, TRANSCRIPT, EVENTS])
    return found


def _after(uri: str) -> int:
    given = parse_qs(urlsplit(uri).query).get("after", ["0"])[-1]
    if not given.isdecimal():
        raise BadSetting(uri, "after", "the number of an event")
    return int(given)


def _without_html(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name != "html"}
