"""The rules: what each route, tool, resource and prompt asks of whoever calls it.

One table for every door. What has no row here is refused, and a test fails.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .capability import Act, Capability

Needs = Act | Literal["public", "any", "link", "tool", "seat", "opened"]
"""`public`: nobody is asked. `any`: whoever holds something that is valid; what it gets to see
depends on that. `link`: a link, locked or not. `tool`: what the tool of that name needs. `seat`:
to hold one. `opened`: to have opened that discussion."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a route needs, and who can bring it."""

    needs: Needs
    clients: bool = False
    """Only for programs: the owner's key, which belongs to a browser, is refused here."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address of a request asks for."""

    rule: Rule
    token: str | None = None
    """The link in the address, which is then what is asked."""
    discussion_id: str | None = None
    tool: str | None = None

    @property
    def act(self) -> Act | None:
        """What is needed, on `discussion_id`; None if any valid caller will do. KeyError for a
        tool without a rule."""
        match self.rule.needs:
            case "public" | "any" | "link":
                return None
            case "tool":
                return TOOLS[self.tool or ""]
            case "seat":
                return "speak"
            case "opened":
                return "lead"
            case act:
                return act

    @property
    def looks(self) -> bool:
        """Whether it is a tool that changes nothing."""
        return self.tool is not None and self.act in ("results", "watch")


TOOLS: Mapping[str, Act] = {
    "init": "open",
    "ask": "open",
    "schedule": "open",
    "read": "watch",
    "status": "watch",
    "summarize": "watch",
    "list": "results",
    "poll": "watch",
    "answer": "lead",
    "collect": "results",
    "compare": "results",
    "speak": "speak",
    "vote": "speak",
    "join": "speak",
    "end": "lead",
    "advance": "lead",
    "outcome": "lead",
    "notify": "lead",
    "invite": "lead",
    "pause": "lead",
    "resume": "lead",
    "skip": "lead",
    "material": "lead",
    "extend": "lead",
    "leave": "speak",
}
"""By a tool's short name; on the discussion that its arguments name."""

RESOURCES: Mapping[str, Act] = {
    "roundtable://discussions": "results",
    "roundtable://{discussion_id}/transcript": "watch",
    "roundtable://{discussion_id}/events{?after}": "watch",
}
"""By address, to read it and to subscribe to it alike."""

PROMPTS: Mapping[str, Act] = {
    "coordinate": "open",
    "participate": "speak",
    "second_opinion": "open",
}

ROUTES: Mapping[tuple[str, str], Rule] = {
    # The page and its files
    ("GET", "/"): Rule("public"),  # says whose it is, or sees to the owner's session
    ("GET", "/r/{token}"): Rule("public"),  # the empty page, or that the link opens nothing
    ("GET", "/api/health"): Rule("public"),
    ("GET", "/healthz"): Rule("public"),
    ("GET", "/readyz"): Rule("public"),
    ("GET", "/api/openapi.json"): Rule("public"),
    # One discussion by its link
    ("GET", "/api/r/{token}"): Rule("results"),
    ("POST", "/api/r/{token}/unlock"): Rule("link"),
    ("GET", "/api/r/{token}/events"): Rule("watch"),
    ("GET", "/api/r/{token}/feed"): Rule("watch"),
    ("GET", "/api/r/{token}/derived"): Rule("watch"),
    ("GET", "/api/r/{token}/export.{form}"): Rule("watch"),
    ("GET", "/api/r/{token}/bundle"): Rule("lead"),
    ("POST", "/api/r/{token}/speak"): Rule("speak"),
    ("POST", "/api/r/{token}/vote"): Rule("seat"),
    ("POST", "/api/r/{token}/pause"): Rule("lead"),
    ("POST", "/api/r/{token}/resume"): Rule("lead"),
    ("POST", "/api/r/{token}/again"): Rule("lead"),
    ("POST", "/api/r/{token}/answers"): Rule("lead"),
    ("POST", "/api/r/{token}/skip"): Rule("lead"),
    ("POST", "/api/r/{token}/material"): Rule("lead"),
    ("POST", "/api/r/{token}/extend"): Rule("lead"),
    ("POST", "/api/r/{token}/advance"): Rule("lead"),
    ("POST", "/api/r/{token}/stop"): Rule("lead"),
    ("POST", "/api/r/{token}/outcome"): Rule("lead"),
    ("POST", "/api/r/{token}/share"): Rule("lead"),
    ("POST", "/api/r/{token}/address"): Rule("lead"),
    ("GET", "/api/r/{token}/links"): Rule("lead"),
    ("DELETE", "/api/r/{token}/links/{token_id}"): Rule("lead"),
    # All of them
    ("GET", "/api/discussions"): Rule("own"),
    ("GET", "/api/examples"): Rule("own"),
    ("POST", "/api/discussions"): Rule("open"),
    ("DELETE", "/api/discussions/{discussion_id}"): Rule("own"),
    ("POST", "/api/discussions/{discussion_id}/run"): Rule("lead"),
    ("GET", "/api/compare"): Rule("own"),
    ("POST", "/api/drafts"): Rule("own"),
    # What the form needs to know
    ("GET", "/api/procedures"): Rule("open"),
    ("GET", "/api/models"): Rule("open"),
    ("POST", "/api/suggest"): Rule("open"),
    ("POST", "/api/experts"): Rule("open"),
    ("POST", "/api/estimate"): Rule("open"),
    ("POST", "/api/documents"): Rule("open"),
    # The providers' keys
    ("GET", "/api/keys"): Rule("own"),
    ("POST", "/api/keys"): Rule("own"),
    ("DELETE", "/api/keys/{provider}"): Rule("own"),
    # Tokens; each sees and ends what was given out through it
    ("GET", "/api/tokens"): Rule("any"),
    ("POST", "/api/tokens"): Rule("lead"),
    ("DELETE", "/api/tokens/{token_id}"): Rule("any"),
    # Schedules; each sees and stops its own, the owner all
    ("GET", "/api/schedules"): Rule("open"),
    ("POST", "/api/schedules"): Rule("open"),
    ("GET", "/api/schedules/{schedule_id}"): Rule("open"),
    ("POST", "/api/schedules/{schedule_id}/pause"): Rule("open"),
    ("POST", "/api/schedules/{schedule_id}/resume"): Rule("open"),
    ("DELETE", "/api/schedules/{schedule_id}"): Rule("open"),
    # The tools
    ("GET", "/api/tools"): Rule("any"),
    ("POST", "/api/tools/{name}"): Rule("tool"),
    # The table as a model
    ("GET", "/v1/models"): Rule("open", clients=True),
    ("GET", "/v1/models/{name:path}"): Rule("open", clients=True),
    ("POST", "/v1/chat/completions"): Rule("open", clients=True),
    ("GET", "/v1/chat/completions/{completion_id}"): Rule("results", clients=True),
    ("POST", "/v1/responses"): Rule("open", clients=True),
    ("GET", "/v1/responses/{response_id}"): Rule("results", clients=True),
    ("POST", "/v1/responses/{response_id}/cancel"): Rule("lead", clients=True),
    ("DELETE", "/v1/responses/{response_id}"): Rule("opened", clients=True),
}
"""By method and the address as the route is written."""

PUBLIC_FOLDER = "/assets/"
_NAMES = {"completion_id": "chatcmpl-", "response_id": "resp_", "discussion_id": ""}
"""Parts of an address that name a discussion, and what stands before its id there."""


def asked(method: str, path: str) -> Asked | None:
    """What a request asks for, by its address alone; None if there is no such route. `path` is
    decoded, as servers hand it on."""
    method = "GET" if method == "HEAD" else method
    if path.startswith(PUBLIC_FOLDER):
        return Asked(Rule("public"))
    for (known, _), (rule, pattern) in _PATTERNS.items():
        if known != method or (found := pattern.fullmatch(path)) is None:
            continue
        parts = found.groupdict()
        named = next(
            (parts[name].removeprefix(before) for name, before in _NAMES.items() if name in parts),
            None,
        )
        tool = parts.get("name") if rule.needs == "tool" else None
        return Asked(rule, parts.get("token"), named, tool)
    return None


def allows(held: Capability, wanted: Asked) -> bool:
    """Whether what a caller holds is enough for what its address asks. What only the body names
    (a tool's discussion, a seat) is asked for once more where it is known."""
    act = wanted.act
    if act is None:
        return True
    if wanted.rule.needs == "seat" and not held.seat:
        return False
    discussion_id = wanted.discussion_id
    if wanted.rule.needs == "opened" and discussion_id not in held.opened:
        return False
    if wanted.token is not None and held.discussions is not None:
        # A link is for one discussion, and its address names no other.
        discussion_id = next(iter(held.discussions), None)
    return held.may(act, discussion_id)


def _pattern(path: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)(:path)?\}", path)
    found = re.escape(pieces[0])
    for name, whole, after in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        found += f"(?P<{name}>{'.+' if whole else '[^/]+'}){re.escape(after)}"
    return re.compile(found, re.DOTALL)


_PATTERNS = {key: (rule, _pattern(key[1])) for key, rule in ROUTES.items()}
