"""A definition as a procedure that can be opened, and that of a discussion which is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from ...core.errors import NotAllowed
from ...ports import Models
from ..casting import WithCasting
from ..opening import OpenRequest, Seating
from ..spec import PREFIX, ProcedureSpec
from . import delivery, seating
from .model import Definition
from .options import CustomFlags
from .procedure import Custom


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
        WithCasting(Custom(f"{PREFIX}{definition.name}")),
        definition.summary,
        CustomFlags,
        partial(seating.seat, definition),
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
        WithCasting(Custom(name)),
        "A procedure of the user's own, as it was when the discussion was opened",
        CustomFlags,
        seat,
        delivery.deliver,
        delivery.outputs,
        progress=delivery.progress,
    )
