"""A specification: everything the program needs to know of one procedure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..core.decide import Procedure
from ..core.effects import TurnPlan
from ..core.state import State
from ..ports import CastingRequest, Models
from ..views.output_file import OutputFile
from .opening import OpenRequest, Seating
from .options import ProcedureOptions

PREFIX = "custom:"
"""Before the name of a user's own procedure in what is stored: a later built-in one of the same
name is another."""


@dataclass(frozen=True, slots=True)
class ProcedureSpec:
    """A procedure, how a request is seated for it, and how its results are shown."""

    procedure: Procedure
    summary: str
    options: type[ProcedureOptions]
    """What it can be asked for, and the only place where that is written."""
    seat: Callable[[OpenRequest, Models, Mapping[str, Any]], Seating]
    deliver: Callable[[State, str], str]
    """The verdict as a person reads it, in Markdown, with the program's version."""
    outputs: Callable[[State, datetime], tuple[OutputFile, ...]]
    """The files for the workspace; the time is local and carries its zone."""
    moderation: bool = False
    """Whether its rounds may be ended, voted on and concluded by hand, and whether it moves on
    without a driver when others speak in it."""
    extends: bool = False
    """Whether the chair may give it more rounds."""
    progress: Callable[[State], str] = lambda _: ""
    """How far it is, in a few words, for whoever watches."""
    casting_request: Callable[[OpenRequest, Mapping[str, Any]], CastingRequest | None] = (
        lambda _, __: None
    )
    """Which experts it wants from the library for this request, if any."""
    clarifies: Callable[[OpenRequest], str | None] = lambda _: None
    """Where its host casts nobody: the stage in whose words it says what is missing, empty for a
    call of its own, or None where it says nothing of the kind."""
    compares: Callable[[State], str] | None = None
    """How it compares to a single answer, where it promises that in words of its own."""
    declares_later: Callable[[State, str], TurnPlan | None] = lambda _, __: None
    """The turn in which a seat may add to its declaration, or set it right, without speaking."""

    @property
    def name(self) -> str:
        return self.procedure.name
