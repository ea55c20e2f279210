"""The two files of a user who wants a say in routing.

`local_models.json` maps roles, domains or seats to models::

    {"engineering": "deepseek/deepseek-v4-flash", "host": "deepseek/deepseek-v4-pro"}

`roundtable_config.yaml` declares models with what they are good at::

    models:
      - id: deepseek/deepseek-v4-pro
        tags: [logic, summary, decision]
        priority: 10

They are looked for in the user's folder and, if they are trusted, in the workspace, which wins.
Whatever else the YAML holds, keys and addresses above all, is left where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..config_files import json_object, known_version, text_of
from ..core.agents import names_program
from ..core.errors import BadSetting, UnknownName
from ..trust import Folder
from .registry import Registry
from .routing import ROLE_TAGS, RoutableModel

LOCAL_MODELS = "local_models.json"
CONFIG_YAML = "roundtable_config.yaml"
_OURS = ("id", "model", "tags", "capabilities", "priority")


@dataclass(frozen=True, slots=True)
class RoutingFiles:
    """What the files say, with full model ids."""

    local: Mapping[str, str] = field(default_factory=dict)
    declared: tuple[RoutableModel, ...] = ()


def read_routing(folders: Iterable[Folder], registry: Registry) -> RoutingFiles:
    """Read both files of every folder, the weakest first. BadSetting names the file, the key and
    what was expected; a file that is not there says nothing."""
    local: dict[str, str] = {}
    declared: dict[str, RoutableModel] = {}
    for folder in folders:
        local |= local_in_folder(folder, registry)
        stronger = declared_in_folder(folder, registry)
        declared = {**stronger, **{k: v for k, v in declared.items() if k not in stronger}}
    return RoutingFiles(local, tuple(declared.values()))


def local_in_folder(folder: Folder, registry: Registry) -> dict[str, str]:
    """What a folder's `local_models.json` says, if it counts. Errors as in `read_routing`."""
    if (text := _text(folder, LOCAL_MODELS)) is None:
        return {}
    path = folder.path / LOCAL_MODELS
    routed = local_models(text, str(path), registry)
    _refuse_programs(folder, path, routed.values())
    return routed


def declared_in_folder(folder: Folder, registry: Registry) -> dict[str, RoutableModel]:
    """What a folder's `roundtable_config.yaml` declares, by id. Errors as in `read_routing`."""
    if (text := _text(folder, CONFIG_YAML)) is None:
        return {}
    path = folder.path / CONFIG_YAML
    declared = {each.id: each for each in declared_models(text, str(path), registry)}
    _refuse_programs(folder, path, declared)
    return declared


def local_models(text: str, where: str, registry: Registry) -> dict[str, str]:
    """The map of `local_models.json`: from role, domain or seat to the id of a model."""
    rows = json_object(text, where)
    models: dict[str, str] = {}
    for key, name in rows.items():
        role = key.strip().casefold()
        if role not in ROLE_TAGS and (near := get_close_matches(role, ROLE_TAGS, 1, 0.8)):
            raise BadSetting(where, key, f"a role such as {near[0]}, a domain or a seat")
        if not isinstance(name, str):
            raise BadSetting(where, key, "a model: provider/model, or an alias")
        models[role] = _model_id(name, where, key, registry)
    return models


def declared_models(text: str, where: str, registry: Registry) -> list[RoutableModel]:
    """The models of `roundtable_config.yaml`, in their order."""
    import yaml

    try:
        tables = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        at = where if mark is None else f"{where}:{mark.line + 1}"
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise BadSetting(at, "the file", f"valid YAML ({problem})") from None
    if tables is None:
        return []
    if not isinstance(tables, dict):
        raise BadSetting(where, "the file", "a mapping with the key models")
    if isinstance(tables.get("version"), int):  # a text is whatever else made the file's
        tables = known_version(tables, where)
    return declared_in(tables.get("models"), where, registry)


def declared_in(models: Any, where: str, registry: Registry) -> list[RoutableModel]:
    """The rows under `models`: a list of tables, or a mapping from model to table."""
    if models is None:
        return []
    rows: list[tuple[str, Any]]
    if isinstance(models, Mapping):
        rows = [(f"models.{name}", _named(name, row)) for name, row in models.items()]
    elif isinstance(models, list):
        rows = [(f"models[{number}]", row) for number, row in enumerate(models)]
    else:
        raise BadSetting(where, "models", "a list of tables with id, tags and priority")
    return [_declared(row, where, key, registry) for key, row in rows]


def _named(name: str, row: Any) -> Any:
    return {"id": name} | {key: row[key] for key in row if key in _OURS} if _is_table(row) else row


def _declared(row: Any, where: str, key: str, registry: Registry) -> RoutableModel:
    if not _is_table(row):
        raise BadSetting(where, key, "a table with id, tags and priority")
    for name in row:
        if name not in _OURS and (near := get_close_matches(str(name), _OURS, 1, 0.8)):
            raise BadSetting(where, f"{key}.{name}", f"{near[0]}, if that is meant")
    name = row["id"] if "id" in row else row.get("model")
    if not isinstance(name, str):
        raise BadSetting(where, f"{key}.id", "a model: provider/model, or an alias")
    tags = row["tags"] if "tags" in row else row.get("capabilities", [])
    if isinstance(tags, str):
        tags = [tags]
    if not isinstance(tags, Sequence) or not all(isinstance(tag, str) for tag in tags):
        raise BadSetting(where, f"{key}.tags", "a list of texts, such as [code, fast]")
    priority = row.get("priority", 0)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise BadSetting(where, f"{key}.priority", "a whole number; the highest wins")
    model = _model_id(name, where, f"{key}.id", registry)
    folded = tuple(dict.fromkeys(tag.strip().casefold() for tag in tags))
    return RoutableModel(model, folded, registry.resolve(model).family, priority)


def _is_table(row: Any) -> bool:
    return isinstance(row, Mapping)


def _model_id(name: str, where: str, key: str, registry: Registry) -> str:
    try:
        return registry.resolve(name).id
    except UnknownName as error:
        expected = f"a model, provider/model or an alias. {error}"
        raise BadSetting(where, key, expected.rstrip(".")) from None


def _text(folder: Folder, name: str) -> str | None:
    data = folder.read(name)
    return None if data is None else text_of(data, str(folder.path / name))


def _refuse_programs(folder: Folder, path: Path, models: Iterable[str]) -> None:
    """A project cannot let a program of this machine run."""
    if folder.trust is not None and (found := next(filter(names_program, models), None)):
        raise BadSetting(str(path), found, "a model; a project cannot let a program run")
