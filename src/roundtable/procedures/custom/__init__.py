"""Custom procedures: a user's own, from a file, interpreted by one generic procedure.

A definition is looked up by name when a discussion is opened, and stored with it. From then on the
discussion's procedure is `custom:NAME`, for which no file is needed: resuming and showing it work
in every folder, and after the file has changed or gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from ...core.errors import NotAllowed
from ...ports import Models
from ..opening import OpenRequest, Seating
from ..spec import PREFIX as PREFIX
from ..spec import ProcedureSpec
from . import delivery, seating
from .checks import define as define
from .model import Definition as Definition
from .procedure import Custom as Custom


class UserProcedures(Protocol):
    """Where the user's own procedures are found."""

    def names(self) -> tuple[str, ...]:
        """Those that there are, good or not."""
        ...

    def find(self, name: str) -> Definition | None:
        """The definition of this name, None if there is none. BadSetting or UnknownName if the
        file is not as it must be."""
        ...


def spec(definition: Definition) -> ProcedureSpec:
    """A definition as a procedure that can be opened."""
    return ProcedureSpec(
        Custom(f"{PREFIX}{definition.name}"),
        definition.summary,
        seating.CustomFlags,
        partial(seating.seat, definition),
        delivery.estimate,
        delivery.deliver,
        delivery.outputs,
        casting_request=partial(seating.casting_request, definition),
        progress=delivery.progress,
    )


def stored_spec(name: str) -> ProcedureSpec:
    """The procedure of a discussion that carries its definition with it."""

    def seat(_: OpenRequest, __: Models, ___: Mapping[str, Any]) -> Seating:
        own = name.removeprefix(PREFIX)
        raise NotAllowed(
            f"{name} is what a discussion calls its procedure once it is open.",
            f"Open one with --procedure {own}; `roundtable procedures` shows what there is.",
        )

    return ProcedureSpec(
        Custom(name),
        "A procedure of the user's own, as it was when the discussion was opened",
        seating.CustomFlags,
        seat,
        delivery.estimate,
        delivery.deliver,
        delivery.outputs,
        progress=delivery.progress,
    )
