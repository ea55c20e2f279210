"""Access: what a request holds, and whether its address may be asked with that. It is decided from
the head of a request alone, before anything of its body is read; every route asks here for what
was decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request, Response
from starlette.requests import cookie_parser

from ...bootstrap import App
from ...core.errors import RoundtableError
from ..tokens.capability import MOST_HANDS, OWNER, TOLD, Capability
from ..tokens.rules import Asked, Rule, allows, asked
from ..tokens.store import id_of, is_token
from .limits import Rate
from .links import Links
from .readiness import Readiness
from .refusal import Refused
from .rows import Rows
from .running import Running
from .sse import Rooms

if TYPE_CHECKING:
    from starlette.types import Scope

PASSWORDS_PER_MINUTE = 5
A_YEAR = 365 * 24 * 3600
"""Seconds for which a browser keeps what it was given."""
HOW_TO_GET_IN = "`roundtable serve` prints the owner's link; open that once in this browser."
HOW_TO_ASK = (
    "A program sends Authorization: Bearer TOKEN, and `roundtable tokens add NAME` prints one; a "
    "browser opens the owner's link, which `roundtable serve` prints."
)
HELD = "roundtable.held"
BY = "roundtable.by"
LOOKS = "roundtable.looks"
"""Where a request's scope says what it holds, by which link or token, and whether it is a tool's
that only looks at something, which is no write although its arguments have a body."""


@dataclass(frozen=True, slots=True)
class Web:
    """What the routes work with; `request.app.state.web` holds it."""

    app: App
    links: Links
    running: Running
    rooms: Rooms
    readiness: Readiness
    now: Callable[[], datetime]
    rows: Rows = field(default_factory=Rows)
    passwords: Rate = field(default_factory=lambda: Rate(PASSWORDS_PER_MINUTE, 5))
    """How often a password may be tried, for each link that really has one."""

    @property
    def owner_cookie(self) -> str:
        return f"rt_owner_{self.links.name}"

    @property
    def pass_cookie(self) -> str:
        return f"rt_pass_{self.links.name}"

    @property
    def hand_cookie(self) -> str:
        """Holds the link by which a browser leads or speaks: its address bar shows only a link to
        watch, which can be passed on."""
        return f"rt_hand_{self.links.name}"


class Denied(Refused):
    """An answer instead of what was asked for."""


@dataclass(frozen=True, slots=True)
class Head:
    """What of a request counts for whether it is let in."""

    method: str
    path: str
    authorization: str = ""
    cookies: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(scope: Scope) -> Head:
        headers = [(name, value.decode("latin-1")) for name, value in scope["headers"]]
        given = [value for name, value in headers if name == b"authorization"]
        cookies = "; ".join(value for name, value in headers if name == b"cookie")
        # Of two keys nobody knows which one counts: neither does.
        key = given[0] if len(given) == 1 else ""
        return Head(scope["method"], scope["path"], key, cookie_parser(cookies))


def admit(here: Web, scope: Scope) -> bool:
    """Let a request in by its head, and note in its scope what it holds. Denied says why not;
    False if its address has no rule: no route answers it."""
    head = Head.of(scope)
    wanted = _wanted(head)
    if wanted is None:
        return False
    try:
        scope[HELD], scope[BY] = decide(here, head, wanted)
        scope[LOOKS] = wanted.looks
    except Denied as denied:
        if wanted.rule.clients:  # as OpenAI's clients tell one from the other
            codes = {401: "invalid_api_key", 403: "not_allowed", 404: "not_found"}
            denied.more["code"] = codes.get(denied.status)
        raise
    return True


def decide(here: Web, head: Head, wanted: Asked) -> tuple[Capability | None, str]:
    """What a request holds that may ask for this, and the link or token that says so; None where
    nobody is asked. Denied if it holds nothing, or not enough."""
    if wanted.rule.needs == "public":
        return None, ""
    if wanted.token is not None:
        return _by_link(here, head, wanted)
    held, secret = _by_bearer(here, head, wanted.rule)
    if not allows(held, wanted):
        if wanted.rule.clients and wanted.discussion_id and held.may(wanted.act or "results"):
            # To a client what is not its own is as if it were not there.
            raise Denied(404, "There is nothing of that id for this token.", "Check the id.")
        raise _too_little(wanted)
    return held, secret


def _wanted(head: Head) -> Asked | None:
    wanted = asked(head.method, head.path)
    if wanted is not None and wanted.tool is not None:
        from ..toolset.toolset import find_operation

        try:
            return replace(wanted, tool=find_operation(wanted.tool).name)
        except RoundtableError:  # the route says that there is no such tool
            return replace(wanted, rule=Rule("any"), tool=None)
    return wanted


def _by_link(here: Web, head: Head, wanted: Asked) -> tuple[Capability, str]:
    """What the link in the address allows, once its password was given; or the link that this
    browser holds in its place."""
    assert wanted.token is not None
    secret = wanted.token
    held = held_by(here, secret)
    if not held.only:
        raise Denied(404, "This token is for no single discussion.", "Use it with the tools.")
    if wanted.rule.needs == "link":
        return held, secret
    if (kept := _in_hand(here, head, held)) is not None:
        secret, held = kept, held_by(here, kept)
    given = head.cookies.get(here.pass_cookie, "")
    if held.locked and not here.links.is_pass(given, secret):
        raise Denied(401, "This link is locked.", "Give its password.", locked=True)
    if allows(held, wanted):
        return held, secret
    if _is_owner(here, head) and allows(held.with_lead(), wanted):
        return held.with_lead(), secret
    match wanted.rule.needs:
        case "seat":
            raise Denied(403, "This link holds no seat.", "Ask the host for a link with a seat.")
        case "speak":
            raise Denied(403, "This link may only watch.", "Ask for a seat, or the host's link.")
        case "lead":
            raise Denied(403, "This link may not lead the discussion.", "Ask for the host's link.")
        case _:
            raise _too_little(wanted)


def _in_hand(here: Web, head: Head, shown: Capability) -> str | None:
    """The link that a browser holds for the one in its address bar: that one was made through it,
    and through no other."""
    kept = head.cookies.get(here.hand_cookie, "")
    if not kept or id_of(kept) not in shown.parents[-1:]:
        return None
    found = here.links.held(kept, now=here.now())
    stands = isinstance(found, Capability) and found.only == shown.only and not found.locked
    return kept if stands else None


def to_show(here: Web, token: str) -> str | None:
    """The link that the address bar shows in place of one by which somebody leads or speaks. None
    for one that may be seen: to watch, or with a password of its own."""
    held = held_by(here, token)
    if held.role == "viewer" or held.locked or not held.only or len(held.lineage) >= MOST_HANDS:
        return None
    return here.links.token(held.only, by=held)


def keep_hand(here: Web, response: Response, token: str, shown: str) -> None:
    """Let a browser hold a link where the address bar shows another."""
    response.set_cookie(
        here.hand_cookie,
        token,
        max_age=A_YEAR,
        path=f"/api/r/{shown}",
        httponly=True,
        samesite="strict",
    )


def hand_of(here: Web, scope: Scope) -> str:
    """The id of the link by which a request comes, for counting; empty where its address names
    none. Whoever watches by the link in an address bar does not use up what its owner may do."""
    path: str = scope["path"]
    if not path.startswith("/api/r/"):
        return ""
    token = path.split("/")[3]
    head = Head.of(scope)
    if here.hand_cookie in head.cookies:
        shown = here.links.held(token, now=here.now())
        if isinstance(shown, Capability) and (kept := _in_hand(here, head, shown)):
            return id_of(kept)
    return id_of(token)


def _by_bearer(here: Web, head: Head, rule: Rule) -> tuple[Capability, str]:
    """What the caller's token, or the owner's key or session, allows."""
    scheme, _, key = head.authorization.partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key:
        if here.links.is_session(head.cookies.get(here.owner_cookie, "")) and not rule.clients:
            return OWNER, ""
        if rule.needs == "own":
            raise Denied(401, "This needs the owner's key.", HOW_TO_GET_IN, headers=_ASK)
        raise Denied(401, "This needs a token.", HOW_TO_ASK, headers=_ASK)
    if here.links.is_owner(key):
        if rule.clients:
            raise Denied(
                401,
                "This is the owner's key, and clients have tokens of their own.",
                HOW_TO_ASK,
                headers=_ASK,
            )
        return OWNER, ""
    found = here.links.held(key, now=here.now())
    if not isinstance(found, Capability):
        told = f"This token {found.why}." if found.why else "This token is not known here."
        raise Denied(401, told, HOW_TO_ASK, headers=_ASK)
    if found.locked:
        raise Denied(401, "A link with a password is no token.", HOW_TO_ASK, headers=_ASK)
    return found, key


_ASK = {"www-authenticate": "Bearer"}


def _too_little(wanted: Asked) -> Denied:
    act = wanted.act
    told = TOLD[act] if act is not None else "do that"
    if wanted.rule.needs == "opened":
        told = "delete what it did not start"
    where = " that discussion" if wanted.discussion_id and act in ("results", "watch") else ""
    return Denied(
        403,
        f"This token may not {told}{' of' if where else ''}{where}.",
        "Ask whoever gave it to you for one that may.",
    )


def held_by(here: Web, token: str) -> Capability:
    """What a link allows, locked or not. Denied if it opens nothing."""
    found = here.links.held(token, now=here.now())
    if isinstance(found, Capability):
        return found
    if found.why:
        raise Denied(404, f"This link {found.why}.", "Ask whoever gave it to you for another.")
    raise Denied(
        404, "This link opens nothing.", "Ask whoever gave it to you; it may have run out."
    )


def _is_owner(here: Web, head: Head) -> bool:
    scheme, _, key = head.authorization.partition(" ")
    if scheme.lower() == "bearer" and here.links.is_owner(key.strip()):
        return True
    return here.links.is_session(head.cookies.get(here.owner_cookie, ""))


# What routes ask for


# Coroutines, because anything else is asked on a thread: a crowd would stand in line for those.


async def web(request: Request) -> Web:
    found: Web = request.app.state.web
    return found


Here = Annotated[Web, Depends(web)]


def is_owner(request: Request, here: Here) -> bool:
    """Whether the owner's key came with the request, or the owner's browser made it."""
    return _is_owner(here, Head.of(request.scope))


def token_beside(request: Request, here: Here) -> Capability | None:
    """What the token allows that came with a request whose address has a link, if it stands."""
    scheme, _, key = Head.of(request.scope).authorization.partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not is_token(key):
        return None
    return here.links.read(key, now=here.now())


async def admitted(request: Request) -> None:
    """Only what was let in goes on: a route without a rule answers nobody."""
    if HELD not in request.scope:
        raise Denied(403, "Nobody may ask for this.", "It has no rule; please report it.")


Admitted = Depends(admitted)


async def held(request: Request) -> Capability:
    """What the request holds."""
    await admitted(request)
    found: Capability | None = request.scope[HELD]
    if found is None:
        raise Denied(401, "This needs a token.", HOW_TO_ASK)
    return found


def secret_of(request: Request) -> str:
    """The link or token by which it holds it; empty for the owner."""
    found: str = request.scope[BY]
    return found


Held = Annotated[Capability, Depends(held)]
