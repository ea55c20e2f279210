"""Callers: what the client behind each single request holds. Many clients may share one server, and
what one of them holds can be ended while its session lasts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext

from ...core.errors import Forbidden
from ..tokens.capability import Capability
from ..web.lasting import until_ended, while_held
from ..web.links import Links

T = TypeVar("T")
BY = "roundtable.by"
"""Where the scope of an HTTP request has the token that let it in."""
Context = ServerRequestContext[Any, Any]


class Callers:
    """Reads what a request holds from its token: the one it brought, or the server's own."""

    def __init__(self, links: Links | None = None, token: str = "") -> None:
        """Without links nobody needs a token. `token` is for a server that has one client."""
        self._links = links
        self._token = token

    def held(self, ctx: Context) -> Capability | None:
        """What this request holds; None where nobody needs anything. Forbidden if its token was
        ended or has run out."""
        if self._links is None:
            return None
        found = self._links.held(self.token(ctx), now=_now())
        if isinstance(found, Capability) and not found.locked:
            return found
        why = "" if isinstance(found, Capability) else found.why
        raise Forbidden(
            f"This token {why}." if why else "This token is not known here.",
            "Ask whoever gave it to you for another: roundtable tokens add.",
        )

    def token(self, ctx: Context) -> str:
        scope = getattr(ctx.request, "scope", None)
        return self._token if scope is None else str(scope.get(BY, ""))

    def lasting(self, ctx: Context, source: AsyncIterator[T]) -> AsyncIterator[T]:
        """What comes, for as long as the request's token stands."""
        if self._links is None:
            return source
        return while_held(source, self._links, self.token(ctx), _now)

    async def ended(self, ctx: Context) -> None:
        """Return when the request's token opens nothing any more; never where none is needed."""
        if self._links is None:
            await asyncio.Event().wait()
        else:
            await until_ended(self._links, self.token(ctx), _now)


def _now() -> datetime:
    return datetime.now(UTC)
