"""Which procedure a command line means, and which of its flags belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import UsageError
from ...procedures import PROCEDURES, infer_procedure, procedure_spec
from ...procedures.custom import UserProcedures
from ...procedures.spec import ProcedureSpec


def meant_procedure(
    flags: Mapping[str, Any], default: str, own: UserProcedures | None = None
) -> ProcedureSpec:
    """The procedure that was named, or the one that the flags mean."""
    if flags["procedure"]:
        return procedure_spec(flags["procedure"], own)
    return infer_procedure(_given(flags), default, own)


def procedure_options(flags: Mapping[str, Any], spec: ProcedureSpec) -> dict[str, Any]:
    """The flags that belong to the procedure; one that belongs to another is an error."""
    given = _given(flags)
    foreign = next((name for name in given if name not in spec.flags), None)
    if foreign is not None:
        takes = ", ".join(_flag(name) for name in spec.flags)
        raise UsageError(
            f"{_flag(foreign)} does not belong to the procedure {spec.name}.", f"It takes {takes}."
        )
    given.pop("output_dir", None)  # where files go is the caller's business, not the table's
    return given


def _given(flags: Mapping[str, Any]) -> dict[str, Any]:
    of_procedures = dict.fromkeys(flag for each in PROCEDURES.values() for flag in each.flags)
    return {name: flags[name] for name in of_procedures if flags.get(name)}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
