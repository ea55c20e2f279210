"""Which procedure a command line means, and which of its flags belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import UsageError
from ...procedures import PROCEDURES, meant_kit, procedure_kit
from ...procedures.custom import Shelf
from ...procedures.kit import Kit


def meant_procedure(flags: Mapping[str, Any], default: str, own: Shelf | None = None) -> Kit:
    """The procedure that was named, or the one that the flags mean."""
    if flags["procedure"]:
        return procedure_kit(flags["procedure"], own)
    return meant_kit(_given(flags), default, own)


def procedure_options(flags: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """The flags that belong to the procedure; one that belongs to another is an error."""
    given = _given(flags)
    foreign = next((name for name in given if name not in kit.flags), None)
    if foreign is not None:
        takes = ", ".join(_flag(name) for name in kit.flags)
        raise UsageError(
            f"{_flag(foreign)} does not belong to the procedure {kit.name}.", f"It takes {takes}."
        )
    given.pop("output_dir", None)  # where files go is the caller's business, not the table's
    return given


def _given(flags: Mapping[str, Any]) -> dict[str, Any]:
    of_procedures = dict.fromkeys(flag for each in PROCEDURES.values() for flag in each.flags)
    return {name: flags[name] for name in of_procedures if flags.get(name)}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
