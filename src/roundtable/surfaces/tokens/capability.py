"""A capability: what whoever holds it may do, on which discussions, and for how long.

Every door turns what a caller brings (the owner's key, a link, a token, a command of the user's
own) into one of these, and asks it alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args

from ...core.errors import Forbidden, UnknownName
from ...core.values import HOST_WIRE_NAME

Act = Literal["results", "watch", "speak", "lead", "open", "own"]
ACTS: tuple[Act, ...] = get_args(Act)
_IMPLIED: dict[Act, tuple[Act, ...]] = {
    "results": (),
    "watch": ("results",),
    "speak": ("results", "watch"),
    "lead": ("results", "watch", "speak"),
    "open": (),
    "own": ACTS,
}
_ON_WHAT_IT_OPENED: tuple[Act, ...] = ("results", "watch", "speak", "lead")
Role = Literal["viewer", "seat", "host"]
ROLES: tuple[Role, ...] = get_args(Role)

MOST_HANDS = 16
"""Through which one can be given out, one after the other."""

TOLD: dict[Act, str] = {
    "results": "read results",
    "watch": "watch discussions",
    "speak": "speak",
    "lead": "lead the discussion",
    "open": "start discussions",
    "own": "do what the owner may",
}


@dataclass(frozen=True, slots=True)
class Capability:
    """What a caller may do. Two places look at `expires` and at whether it was ended: whoever
    reads a token, and whatever goes on for longer than one answer."""

    acts: frozenset[Act]
    id: str = ""
    """By which it is listed and ended; empty for the user of this machine."""
    label: str = ""
    discussions: frozenset[str] | None = None
    """None: all of them."""
    opened: frozenset[str] = frozenset()
    """What was opened with it. There it may do all but what is the owner's."""
    seat: str = ""
    """The only participant for whom it speaks; empty: for whomever it may speak at all."""
    spend: float | None = None
    """US dollars that all that it opens may cost together; None: no limit but the user's."""
    channels: frozenset[str] | None = None
    """Where news may be sent of what it opens; None: everywhere that the settings name."""
    expires: datetime | None = None
    parents: tuple[str, ...] = ()
    """The ids through which it was given out. It ends when one of them does."""
    locked: bool = False
    """Whether it opens only with a password."""

    @property
    def owns(self) -> bool:
        return "own" in self.acts

    @property
    def role(self) -> Role:
        """What the page calls it."""
        if self.seat:
            return "seat"
        return "host" if self._has("lead") else "viewer"

    @property
    def only(self) -> str:
        """The one discussion that it is for; empty if that is not so."""
        if self.discussions is None or len(self.discussions) != 1 or self.may("open"):
            return ""
        return next(iter(self.discussions))

    @property
    def lineage(self) -> tuple[str, ...]:
        """Its own id and those through which it was given out."""
        return (*self.parents, self.id) if self.id else self.parents

    def among(self, called: str) -> str:
        """The one discussion of its own that is meant by the beginning of an id or by `last`. Empty
        for whoever may see all of them. Who may not is told of no other by its beginning."""
        if self.owns or (self.discussions is None and self._has("results")):
            return ""
        own = sorted((self.discussions or frozenset()) | self.opened)
        found = [each for each in own if called == "last" or each.startswith(called)]
        return found[0] if len(found) == 1 else called

    def may(self, act: Act, discussion_id: str | None = None) -> bool:
        """Whether it allows this, on that discussion; without one: on any at all."""
        if act in ("open", "own"):
            return self._has(act)
        if discussion_id is None:
            return self._has(act) or bool(self.opened) or "open" in self.acts
        if discussion_id in self.opened:
            return act in _ON_WHAT_IT_OPENED
        return self._has(act) and (self.discussions is None or discussion_id in self.discussions)

    def check(self, act: Act, discussion_id: str | None = None) -> None:
        """Forbidden, with what to ask for, if it does not allow this."""
        if self.may(act, discussion_id):
            return
        if discussion_id is not None and self.may(act):
            raise Forbidden(
                f"This token may not {TOLD[act]} in {discussion_id}: it is for other discussions.",
                "Ask whoever gave it to you for one that is for this one.",
            )
        raise Forbidden(
            f"This token may not {TOLD[act]}.",
            f"Ask whoever gave it to you for one that may {act!r}.",
        )

    def check_voice(self, participant: str) -> None:
        """Forbidden if it does not speak as that participant."""
        if self.seat and participant != self.seat:
            raise Forbidden(
                f"This token speaks for {self.seat!r} only, not for {participant!r}.",
                f"Speak as {self.seat!r}, or ask whoever leads for another token.",
            )

    @property
    def voice(self) -> str:
        """As whom it speaks where nobody says so."""
        return self.seat or (HOST_WIRE_NAME if self._has("lead") else "")

    def with_lead(self) -> Capability:
        """The same, and it may lead; for the owner who came by somebody's link."""
        return replace(self, acts=self.acts | {"lead"})

    def narrowed(self, wanted: Capability) -> Capability:
        """What is wanted, given out through this one: it ends with it. Forbidden if it would be
        more than this one allows."""
        if self.owns:
            return replace(wanted, parents=self.lineage)
        if len(self.lineage) >= MOST_HANDS:
            raise _too_much("too many hands", "be passed on any further")
        for act in sorted(wanted.acts):
            if act in ("open", "own"):
                self.check(act)
            elif wanted.discussions is None:
                if self.discussions is not None or not self._has(act):
                    raise _too_much("all discussions", f"{TOLD[act]} in all discussions")
            else:
                for each in sorted(wanted.discussions):
                    self.check(act, each)
        if self.seat and wanted.seat != self.seat and wanted.may("speak"):
            raise _too_much("another seat", f"speak for {wanted.seat or 'everybody'!r}")
        # Whatever it may do: no child is told to reach further than its parent.
        if self.channels is not None and (
            wanted.channels is None or not wanted.channels <= self.channels
        ):
            raise _too_much("more channels", "send news to channels that it has not")
        opens = "open" in wanted.acts
        if opens and self.spend is not None and (wanted.spend is None or wanted.spend > self.spend):
            raise _too_much("more money", f"spend more than ${self.spend:g}")
        ends = [each for each in (self.expires, wanted.expires) if each is not None]
        return replace(wanted, expires=min(ends, default=None), parents=self.lineage)

    def _has(self, act: Act) -> bool:
        if act == "speak" and self.acts == {"speak"} and not self.seat:
            return False  # nobody is nobody
        return any(act == each or act in _IMPLIED[each] for each in self.acts)


def _too_much(what: str, told: str) -> Forbidden:
    return Forbidden(
        f"A token cannot give more than it has ({what}): this one may not {told}.",
        "Ask for less, or let the owner make the token: roundtable tokens add.",
    )


OWNER = Capability(frozenset[Act]({"own"}))
"""Whoever holds the key of the installation, or runs its commands."""


def acts_of(names: Iterable[str]) -> frozenset[Act]:
    """Acts by their names. UnknownName for another; what is the owner's cannot be given."""
    given = [act for act in ACTS if act != "own"]
    found: set[Act] = set()
    for name in names:
        match = next((act for act in given if act == name), None)
        if match is None:
            raise UnknownName("act", name, given)
        found.add(match)
    return frozenset(found)
