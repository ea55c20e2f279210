"""Everything that somebody may bring to a door: what is valid, and what only looks so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from roundtable.core.state import State
from roundtable.surfaces.tokens.capability import Act, Capability
from roundtable.surfaces.web.links import Links

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
SEAT = "tea"
Valid = Literal[
    "viewer link",
    "seat link",
    "host link",
    "results token",
    "watch token",
    "seat token",
    "lead token",
    "lead-all token",
    "client token",
    "opener token",
    "other seat",
    "other discussion",
]
Bad = Literal[
    "expired link",
    "expired token",
    "ended link",
    "ended token",
    "ended with its parent",
    "tampered link",
    "tampered token",
    "foreign link",
    "foreign token",
    "locked link",
    "owner's key",
    "session",
    "garbage",
]
VALID: tuple[Valid, ...] = get_args(Valid)
BAD: tuple[Bad, ...] = get_args(Bad)
HERE: frozenset[Valid] = frozenset(VALID) - {"client token", "other discussion"}
"""Those that know the discussion at all."""
MAY: dict[Act, frozenset[Valid]] = {
    "results": HERE,
    "watch": HERE - {"results token"},
    "speak": HERE - {"results token", "viewer link", "watch token"},
    "lead": frozenset({"host link", "lead token", "lead-all token", "opener token"}),
    "open": frozenset({"client token", "opener token"}),
    "own": frozenset(),
}
"""Written by hand, and not by the code that it is to show."""


def made(links: Links, kind: Valid | Bad, state: State, elsewhere: str = "rt_00000000") -> str:
    """One of them, for this discussion."""
    id_ = state.discussion_id
    tokens = links.tokens
    only = frozenset({id_})

    def token(*acts: Act, **more: Any) -> str:
        return tokens.add(Capability(frozenset(acts), **{"discussions": only, **more}))[0]

    def changed(secret: str) -> str:
        return secret[:-1] + ("A" if secret[-1] != "A" else "B")

    def ended(secret: str) -> str:
        tokens.end_given(secret)
        return secret

    match kind:
        case "viewer link":
            return links.token(id_)
        case "seat link":
            return links.token(id_, "seat", seat=SEAT)
        case "host link":
            return links.token(id_, "host")
        case "results token" | "watch token" | "lead token":
            act: Act = {"r": "results", "w": "watch", "l": "lead"}[kind[0]]  # type: ignore[assignment]
            return token(act)
        case "seat token":
            return token("speak", seat=SEAT)
        case "other seat":
            return token("speak", seat="coffee")
        case "lead-all token":
            return token("lead", discussions=None)
        case "client token":
            return token("open", discussions=frozenset())
        case "opener token":
            secret = token("open", discussions=frozenset())
            held = tokens.find(secret)
            assert held is not None
            tokens.opened(held, "", id_)
            return secret
        case "other discussion":
            return links.token(elsewhere, "host")
        case "expired link":
            return links.token(id_, "host", expires=LONG_AGO)
        case "expired token":
            secret, real = "", tokens.now
            try:
                tokens.now = lambda: LONG_AGO
                secret = token("lead", expires=LONG_AGO + timedelta(seconds=1))
            finally:
                tokens.now = real
            return secret
        case "ended link":
            return ended(links.token(id_, "host", expires=datetime(2100, 1, 1, tzinfo=UTC)))
        case "ended token":
            return ended(token("lead"))
        case "ended with its parent":
            parent = token("lead")
            held = tokens.find(parent)
            assert held is not None
            child = links.token(id_, "host", by=held)
            tokens.end_given(parent)
            return child
        case "tampered link":
            return changed(links.token(id_, "host"))
        case "tampered token":
            return changed(token("lead"))
        case "foreign link":
            return Links(b"x" * 32).token(id_, "host")
        case "foreign token":
            return "rtk_" + "x" * 32
        case "locked link":
            return links.token(id_, "host", password="sesame")
        case "owner's key":
            return links.owner_key
        case "session":
            return links.session
        case "garbage":
            return "rtk_"
