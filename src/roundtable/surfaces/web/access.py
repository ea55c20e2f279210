"""Access: who a request speaks for, and what that allows. Every route asks here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Request

from ...bootstrap import App
from .limits import Rate
from .links import Grant, Links
from .running import Running
from .sse import Rooms

PASSWORDS_PER_MINUTE = 5
HOW_TO_GET_IN = "`roundtable serve` prints the owner's link; open that once in this browser."


@dataclass(frozen=True, slots=True)
class Web:
    """What the routes work with; `request.app.state.web` holds it."""

    app: App
    links: Links
    running: Running
    rooms: Rooms
    now: Callable[[], datetime]
    passwords: Rate = field(default_factory=lambda: Rate(PASSWORDS_PER_MINUTE, 5))
    """How often a password may be tried, for each link that really has one."""

    @property
    def owner_cookie(self) -> str:
        return f"rt_owner_{self.links.name}"

    @property
    def pass_cookie(self) -> str:
        return f"rt_pass_{self.links.name}"


class Denied(Exception):
    """An answer instead of what was asked for."""

    def __init__(
        self,
        status: int,
        error: str,
        remedy: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(error)
        self.status = status
        self.headers = headers
        self.body = {"error": error, "remedy": remedy, **more}


def web(request: Request) -> Web:
    found: Web = request.app.state.web
    return found


Here = Annotated[Web, Depends(web)]


def is_owner(request: Request, here: Here) -> bool:
    """Whether the owner's key came with the request, or the owner's browser made it."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and here.links.is_owner(key.strip()):
        return True
    return here.links.is_session(request.cookies.get(here.owner_cookie, ""))


def owner(request: Request, here: Here) -> None:
    """Only the owner may go on."""
    if not is_owner(request, here):
        raise Denied(401, "This needs the owner's key.", HOW_TO_GET_IN)


Owner = Depends(owner)


def link(token: str, here: Here) -> Grant:
    """What the link allows, locked or not."""
    grant = here.links.read(token, now=here.now())
    if grant is None:
        raise Denied(
            404, "This link opens nothing.", "Ask whoever gave it to you; it may have run out."
        )
    return grant


def granted(
    token: str, request: Request, here: Here, grant: Annotated[Grant, Depends(link)]
) -> Grant:
    """What the link allows, once its password was given."""
    if grant.locked and not here.links.is_pass(request.cookies.get(here.pass_cookie, ""), token):
        raise Denied(401, "This link is locked.", "Give its password.", locked=True)
    return grant


Link = Annotated[Grant, Depends(link)]
Granted = Annotated[Grant, Depends(granted)]


def hosting(request: Request, here: Here, grant: Granted) -> Grant:
    """Only who leads the discussion may go on."""
    if grant.role != "host" and not is_owner(request, here):
        raise Denied(403, "This link may not lead the discussion.", "Ask for the host's link.")
    return grant


def seated(grant: Granted) -> Grant:
    """Only who holds a seat may go on."""
    if grant.role != "seat":
        raise Denied(403, "This link holds no seat.", "Ask the host for a link with a seat.")
    return grant


Hosting = Annotated[Grant, Depends(hosting)]
Seated = Annotated[Grant, Depends(seated)]
