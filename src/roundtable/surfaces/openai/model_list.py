"""The models that this endpoint offers: procedures under names that chat clients can pick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import RoundtableError, UnknownName
from ...procedures import PROCEDURES, infer_procedure, procedure_spec
from ...settings import Settings
from ...user_procedures import ProcedureFiles

DEFAULT = "roundtable"
PREFIX = f"{DEFAULT}/"
QUICK = f"{PREFIX}quick"


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A procedure as a model."""

    id: str
    procedure: str
    summary: str
    options: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False


def offered_models(settings: Settings) -> dict[str, OfferedModel]:
    """All of them by id. A user's procedure whose file is broken is none."""
    own = ProcedureFiles(settings.procedure_folders)
    usual = procedure_spec(settings.choices.procedure, own)
    quick = infer_procedure(["quick"], usual.name, own)
    found = [
        OfferedModel(DEFAULT, usual.name, usual.summary),
        OfferedModel(QUICK, quick.name, f"The short form: {quick.summary}", {"quick": True}),
        *(
            OfferedModel(PREFIX + spec.name, spec.name, spec.summary)
            for spec in PROCEDURES.values()
        ),
    ]
    for name in own.names():
        try:
            definition = own.find(name)
        except RoundtableError:
            continue
        if definition is not None:
            found.append(OfferedModel(PREFIX + name, name, definition.summary, own=True))
    return {each.id: each for each in found}


def find_model(name: str, settings: Settings) -> OfferedModel:
    """The model of this name. UnknownName with the nearest ones, or what is wrong with the file
    of the user's procedure that it means."""
    models = offered_models(settings)
    if name in models:
        return models[name]
    if name.startswith(PREFIX):
        ProcedureFiles(settings.procedure_folders).find(name.removeprefix(PREFIX))
    raise UnknownName("model", name, models)
