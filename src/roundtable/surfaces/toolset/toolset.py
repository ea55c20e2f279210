"""The toolset: one core behind every door. Python, MCP, HTTP and the command line call this."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from ...core.errors import UnknownName
from ...core.values import HOST_WIRE_NAME
from ..tokens.capability import Capability
from .ask import AskTools
from .compare import CompareTools
from .lead import LeadTools
from .moderate import ModerateTools
from .operations import PREFIX, OnProgress, Operation, operations_of
from .results import Result
from .scheduling import SchedulingTools
from .seats import SeatTools
from .telling import TellingTools

ALIASES = {
    "create": "init",
    "create_discussion": "init",
    "conclude": "end",
    "end_discussion": "end",
    "list_discussions": "list",
}


class Toolset(
    AskTools, CompareTools, LeadTools, SeatTools, TellingTools, ModerateTools, SchedulingTools
):
    """Discussions that an outside agent coordinates, mixed freely with seats that the program
    drives, and questions that the program answers alone. Every answer says what to do next."""

    every = False
    """Whether clients are shown all tools, and not only the common ones."""

    @property
    def operations(self) -> dict[str, Operation]:
        """The tools that this caller may use, by short name."""
        return {name: each for name, each in OPERATIONS.items() if name in self.access.tools}

    def held_by(self, held: Capability) -> Toolset:
        """The same tools with what another caller holds, of which many may share one server. Who
        holds a token for a seat is that seat."""
        other = copy(self)
        other.access = replace(self.access, held=held, profile=held.seat or self.access.profile)
        return other

    @property
    def listed(self) -> dict[str, Operation]:
        """The tools that a client is shown unless it asks for all: what is rarely needed costs
        every model that reads it. Whoever holds one seat has few, and is shown them all."""
        if self.every or self.access.profile not in ("", HOST_WIRE_NAME):
            return self.operations
        return {name: each for name, each in self.operations.items() if name in COMMON}

    async def call(
        self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress | None = None
    ) -> Result:
        """Call a tool by its name, as a client that speaks JSON does."""
        described = find_operation(name)
        self.access.check(described.name)
        values = await self.found(described.checked(arguments))
        self.access.check_call(described.name, values)
        extra = {"on_progress": on_progress} if described.takes_progress else {}
        return await described.function(self, **values, **extra)


COMMON = frozenset(
    {
        "init", "speak", "read", "status", "summarize", "end", "list", "advance", "notify",
        "vote", "invite", "ask", "answer", "poll", "collect",
    }
)  # fmt: skip
"""What a coordinator needs in every discussion."""
NINE = ("init", "speak", "read", "status", "summarize", "end", "list", "advance", "notify")
_FOUND = operations_of(Toolset)
OPERATIONS = {name: _FOUND[name] for name in (*NINE, *(n for n in _FOUND if n not in NINE))}
"""All tools by their short names, the nine first."""


def find_operation(name: str) -> Operation:
    """The tool of this name, with or without the prefix. UnknownName suggests others."""
    bare = name.removeprefix(PREFIX)
    found = OPERATIONS.get(ALIASES.get(bare, bare))
    if found is None:
        raise UnknownName("tool", name, OPERATIONS)
    return found
