"""`roundtable mcp`: the tools for agents, over standard input and output or over HTTP."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from ...core.errors import NotAllowed, UsageError
from ...core.extras import needs
from ...core.state import State
from ...settings import Settings
from ..toolset.access import access, diagnosis
from .here import settings_here
from .terminal import echo, echo_error


def mcp_command(flags: Mapping[str, Any]) -> int:
    settings = settings_here()
    held = access(settings.choices, flags["profile"] or "", flags["toolset"])
    if flags["check"]:
        return _check(settings, flags)
    if find_spec("mcp") is None or find_spec("uvicorn") is None:
        raise needs("The MCP server", "mcp")
    for reason in diagnosis(held):
        echo_error(f"Warning: {reason.what} {reason.remedy}")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    from ..mcp.serve import serve_http, serve_stdio

    web, every = not flags["no_web"], flags["tools"] == "all"
    if not flags["http"]:
        token = flags["token"] or ""
        if token:
            _check_token(settings, token)
        asyncio.run(serve_stdio(settings, held, web=web, token=token, every=every))
        return 0
    if flags["token"]:
        raise UsageError(
            "Over HTTP each client brings its own token.", "Leave --token and ROUNDTABLE_TOKEN out."
        )

    def ready(address: str) -> None:
        echo_error(f"Roundtable's tools: {address}")
        echo_error("Clients need a token each: roundtable tokens add NAME")

    asyncio.run(
        serve_http(
            settings,
            held,
            host=flags["host"],
            port=flags["port"],
            allow_hosts=flags["allow_host"],
            web=web,
            every=every,
            ready=ready,
        )
    )
    return 0


def _check_token(settings: Settings, token: str) -> None:
    """UsageError if it opens nothing: better said here than to the client, call by call."""
    from datetime import UTC, datetime

    from ..web.links import Refusal, links_of

    links = links_of(settings)
    if links.is_owner(token):
        raise UsageError(
            "This is the owner's key, which is for the page alone.",
            "`roundtable tokens add NAME` makes a token; without one you have your own rights.",
        )
    found = links.held(token, now=datetime.now(UTC))
    if isinstance(found, Refusal) or found.locked:
        why = found.why if isinstance(found, Refusal) else ""
        raise UsageError(
            f"This token {why}." if why else "This token is not known here.",
            "`roundtable tokens add NAME` makes one.",
        )


def _check(settings: Settings, flags: Mapping[str, Any]) -> int:
    """Say why a profile cannot reach its tools, or that it can."""
    held = access(settings.choices, flags["profile"] or "", flags["toolset"])
    state = _discussion(flags["discussion"]) if flags["discussion"] else None
    found = diagnosis(held, state)
    if found:
        told = " ".join(f"{reason.what} {reason.remedy}" for reason in found)
        raise NotAllowed(told)
    echo(f"{len(held.tools)} tools can be used: {', '.join(sorted(held.tools))}")
    return 0


def _discussion(discussion_id: str) -> State:
    from .with_app import with_app

    return with_app(lambda app: app.service.read(discussion_id))
