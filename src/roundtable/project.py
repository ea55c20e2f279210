"""What a project may say once it is trusted: which models and rules, and less to spend.

It never says where models are served, which programs run, who is told, what is paid for a model or
where data goes. These things are the user's own, in ROUNDTABLE_HOME.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .config_files import json_object, text_of, toml_table
from .core.agents import names_program
from .core.errors import BadSetting, UnknownName
from .core.values import Budget
from .procedures.checking import checked, checked_limits, split_list
from .procedures.council.options import LEVELS, CouncilConfig

PROJECT_TOML = "roundtable.toml"
PANELS_JSON = "panels.json"
MAY_SET = ("default_model", "procedure", "language", "budget", "council", "models")
COUNCIL_MAY_SET = ("models", "preset", "round2", "language", "max_budget")
PANELS_MAY_SET = (
    *("orchestrator", "synthesis", "maxPanel", "rounds"),
    *("meta", "panels", "profiles", "timeouts"),
)


def project_choices(data: bytes, home: Path, known: Iterable[str]) -> dict[str, Any]:
    """What a project's `roundtable.toml` sets. BadSetting or UnknownName for what it may not, or
    what nobody knows; `known` are the settings that there are."""
    values = checked_limits(toml_table(text_of(data, PROJECT_TOML), PROJECT_TOML), PROJECT_TOML)
    if refused := next((key for key in values if key not in MAY_SET), None):
        if refused in known:
            raise BadSetting(
                PROJECT_TOML,
                refused,
                f"only {', '.join(MAY_SET)} in a project's file; "
                f"{refused} may be set in {home / 'config.toml'}",
            )
        raise UnknownName(f"key in {PROJECT_TOML}:", refused, MAY_SET)
    council = values.get("council")
    if isinstance(council, Mapping):
        CouncilConfig.parse(council, PROJECT_TOML)
        _refuse(PROJECT_TOML, "council.", council, COUNCIL_MAY_SET, home / "config.json")
    _refuse_programs(PROJECT_TOML, [("default_model", values.get("default_model"))])
    if isinstance(values.get("models"), str):
        values["models"] = list(split_list(values["models"]))
    _refuse_programs(PROJECT_TOML, _texts({"models": values.get("models")}))
    if isinstance(council, Mapping) and isinstance(council.get("models"), Mapping):
        models = council["models"]
        _refuse_programs(PROJECT_TOML, [(f"council.models.{key}", models[key]) for key in models])
    return values


def project_panels(data: bytes, where: Path, home: Path) -> dict[str, Any]:
    """What a project's `panels.json` sets. Errors as in `project_choices`."""
    panels = json_object(text_of(data, str(where)), str(where))
    from .procedures.adaptive.panels import Panels

    Panels.parse(panels, str(where))
    _refuse(PANELS_JSON, "", panels, PANELS_MAY_SET, home / PANELS_JSON)
    _refuse_programs(PANELS_JSON, _texts(panels))
    return panels


def tightened(values: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any]:
    """A project's choices without what would loosen a limit of the user's: the lowest wins."""
    merged = lowest(values, below, PROJECT_TOML)
    council = merged.get("council")
    cap = below.get("council", {}).get("max_budget")
    if isinstance(council, Mapping) and cap is not None and council.get("max_budget") is not None:
        level = min(cap, council["max_budget"], key=LEVELS.index)
        merged["council"] = {**council, "max_budget": level}
    return merged


def lowest(values: Mapping[str, Any], below: Mapping[str, Any], where: str) -> dict[str, Any]:
    """These settings without limits of the usual budget that are not lower than those below."""
    if "budget" not in values:
        return dict(values)
    asked = checked(Budget, values["budget"], where).model_dump(exclude_none=True)
    limits = checked(Budget, below.get("budget", {}), where).model_dump(exclude_none=True)
    lower = {k: v for k, v in asked.items() if k not in limits or v < limits[k]}
    rest = {key: value for key, value in values.items() if key != "budget"}
    return {**rest, "budget": lower} if lower else rest


def capped(limits: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any]:
    """These limits as caps, without those that are not the lowest."""
    caps = dict(below.get("caps", {}))
    lower = {k: v for k, v in limits.items() if caps.get(k) is None or v < caps[k]}
    return {"caps": lower} if lower else {}


def models_named(choices: Mapping[str, Any], panels: Mapping[str, Any]) -> tuple[str, ...]:
    """Every text of a project's settings that may be the name of a model."""
    council = choices.get("council")
    models = council.get("models") if isinstance(council, Mapping) else None
    named = {
        "default": choices.get("default_model"),
        "models": choices.get("models"),
        "council": models,
        "panels": panels,
    }
    return tuple(dict.fromkeys(text for _, text in _texts(named)))


def _refuse(
    where: str, prefix: str, values: Mapping[str, Any], may: Iterable[str], instead: Path
) -> None:
    if refused := next((key for key in values if key not in may), None):
        expected = f"nothing in a project's file; it belongs into {instead}"
        raise BadSetting(where, f"{prefix}{refused}", expected)


def _refuse_programs(where: str, named: Iterable[tuple[str, Any]]) -> None:
    for key, name in named:
        if isinstance(name, str) and names_program(name):
            expected = "a model; a project cannot let a program of this machine run"
            raise BadSetting(where, key, expected)


def _texts(values: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a tree, with its place."""
    if isinstance(values, str):
        yield key, values
    elif isinstance(values, Mapping):
        for name, value in values.items():
            yield from _texts(value, f"{key}.{name}".lstrip("."))
    elif isinstance(values, list | tuple):
        for number, value in enumerate(values):
            yield from _texts(value, f"{key}[{number}]")
