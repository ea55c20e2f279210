"""Who may use which tools, and why somebody cannot reach them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ...core.errors import NotAllowed, UnknownName
from ...core.state import State
from ...core.values import HOST_WIRE_NAME, OUTSIDE
from ...settings import Choices
from ..tokens.capability import OWNER, Capability
from ..tokens.rules import TOOLS

READING = frozenset({"read", "status", "summarize", "list", "compare"})
SEAT = READING | {"speak", "vote", "join", "leave"}
LEADING = frozenset({"pause", "resume", "skip", "material", "extend"})
HOST_ONLY = frozenset({"init", "end", "advance", "notify", "invite", "outcome"}) | LEADING
TOOLSETS: dict[str, frozenset[str]] = {
    "roundtable": SEAT | HOST_ONLY | {"ask", "poll", "answer", "collect", "schedule"},
    "roundtable-seat": SEAT,
    "roundtable-read": READING,
}


@dataclass(frozen=True, slots=True)
class Access:
    """What one caller may do. Without a profile it may speak for everybody."""

    profile: str = ""
    toolsets: tuple[str, ...] = ("roundtable",)
    registered: bool = True
    """Whether the profile stands in the settings, where those list any."""
    held: Capability = OWNER
    """What it holds; a session that the user started holds everything."""

    @property
    def tools(self) -> frozenset[str]:
        allowed = frozenset(
            tool
            for name in self.toolsets
            for tool in TOOLSETS[name]
            if tool in TOOLS and self.held.may(TOOLS[tool])
        )
        return allowed - HOST_ONLY if self.profile not in ("", HOST_WIRE_NAME) else allowed

    def check(self, tool: str) -> None:
        """NotAllowed, with what is missing, if this caller may not use the tool."""
        if tool in self.tools:
            return
        if reasons := diagnosis(self):
            raise NotAllowed(reasons[0].what, reasons[0].remedy)
        if tool in HOST_ONLY and self.profile:
            raise NotAllowed(
                f"{tool} belongs to the coordinator; this session speaks for {self.profile!r}.",
                "Ask the coordinator, or vote to end.",
            )
        if tool in TOOLS:
            self.held.check(TOOLS[tool])
        raise NotAllowed(
            f"The tool {tool} is in none of the enabled toolsets: {', '.join(self.toolsets)}.",
            "Enable the toolset roundtable for this profile.",
        )

    def check_call(self, tool: str, given: Mapping[str, Any]) -> None:
        """Forbidden if what this caller holds is not for the discussion of this call."""
        discussion_id = given.get("discussion_id")
        if isinstance(discussion_id, str):
            self.held.check(TOOLS[tool], discussion_id)

    def sees(self, discussion_id: str) -> bool:
        """Whether a discussion is among those that this caller knows of."""
        return self.held.may("results", discussion_id)

    def may_drive(self, discussion_id: str) -> bool:
        """Whether a discussion goes on because this caller came: who only watches costs nobody
        anything."""
        return self.held.may("speak", discussion_id)

    def check_voice(self, participant: str) -> None:
        """NotAllowed if this caller may not speak as that participant."""
        self.held.check_voice(participant)
        if self.profile and participant != self.profile:
            raise NotAllowed(
                f"This session speaks for {self.profile!r} only, not for {participant!r}.",
                f"Speak as {self.profile!r}, or start the server without --as.",
            )


@dataclass(frozen=True, slots=True)
class Reason:
    """Why tools cannot be reached, and what to do about it."""

    what: str
    remedy: str


def access(choices: Choices, profile: str = "", enabled: Collection[str] = ()) -> Access:
    """What a profile may do: by the toolsets enabled for this start, else by the settings. Where
    the settings list profiles, one that is not among them may do nothing."""
    for name in (*enabled, *(n for each in choices.profiles.values() for n in each.toolsets)):
        if name not in TOOLSETS:
            raise UnknownName("toolset", name, TOOLSETS)
    if enabled:
        return Access(profile, tuple(enabled))
    if profile in choices.profiles:
        return Access(profile, choices.profiles[profile].toolsets)
    if profile and choices.profiles:
        return Access(profile, (), registered=False)
    return Access(profile)


def diagnosis(held: Access, state: State | None = None) -> list[Reason]:
    """Everything that keeps this caller from its tools, or from its seat in a discussion."""
    found = []
    name = held.profile or "this session"
    if not held.registered:
        found.append(
            Reason(
                f"The profile {name!r} is not registered: the settings list others only.",
                f'Add it to config.toml: [profiles.{name}] with toolsets = ["roundtable"].',
            )
        )
    elif not held.toolsets:
        found.append(
            Reason(
                f"No toolset is enabled for {name!r}.",
                f'Set toolsets = ["roundtable"] under [profiles.{name}] in config.toml, or start '
                "with --toolset roundtable.",
            )
        )
    if state is not None and held.profile and held.profile != HOST_WIRE_NAME:
        seated = next((p for p in state.participants if p.id == held.profile), None)
        if seated is None:
            known = ", ".join(p.id for p in state.participants)
            found.append(
                Reason(
                    f"The profile {name!r} is not registered in {state.discussion_id}: it has "
                    f"{known}.",
                    "Names match exactly. Take a seat with join, or start with the right --as.",
                )
            )
        elif seated.speaker.model != OUTSIDE:
            found.append(
                Reason(
                    f"The seat {name!r} is spoken for by {seated.speaker.model}.",
                    "It needs no tools: its words are recorded from its answers.",
                )
            )
    return found
