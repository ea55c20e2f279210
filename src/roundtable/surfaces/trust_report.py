"""What a project's files would change, in words for whoever has to decide about them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ..config_files import text_of
from ..core.agents import BUILT_IN, names_program
from ..core.errors import BadSetting, UnknownName
from ..core.limits import WORDS
from ..core.visible import written
from ..experts.library_files import OwnFile, read_library, read_own
from ..models.registry import Registry
from ..models.routing_files import CONFIG_YAML, LOCAL_MODELS, declared_models, local_models
from ..procedures.checking import checked
from ..project import (
    PANELS_JSON,
    PROJECT_TOML,
    capped,
    models_named,
    project_choices,
    project_panels,
    tightened,
)
from ..settings import Choices, Settings
from ..trust import EXPERTS, ProjectFile
from ..user_procedures import read_definition, refuse_programs

MOST_LINES = 400
"""Of a file that are shown; whoever trusts more has to read it elsewhere."""


def changes(file: ProjectFile, settings: Settings) -> list[str]:
    """What a file would change if it were trusted, and then what it says. BadSetting or
    UnknownName if it could not be used even then."""
    return [written(line) for line in (*_changes(file, settings), *_said(file))]


def _changes(file: ProjectFile, settings: Settings) -> Iterator[str]:
    path = settings.workspace / file.name
    where = str(path)
    registry = Registry.load(settings.models_file, {**BUILT_IN, **settings.choices.commands})
    now = settings.choices.model_dump(mode="json")
    if file.name == PROJECT_TOML:
        asked = project_choices(file.data, settings.home, Choices.model_fields)
        checked(Choices, asked, PROJECT_TOML)
        _refuse_aliases(models_named(asked, {}), where, registry)
        lower = tightened(asked, now)
        yield from _set(lower, now)
        caps = capped(asked.get("budget", {}), now).get("caps", {})
        for limit in asked.get("budget", {}):
            if limit not in lower.get("budget", {}):
                told = "a project can only lower it"
                if limit in caps:
                    told = f"yours is as low; whoever asks for more gets at most {caps[limit]}"
                yield f"budget.{WORDS.get(limit, limit)} is unchanged: {told}"
    elif file.name == PANELS_JSON:
        panels = project_panels(file.data, path, settings.home)
        _refuse_aliases(models_named({}, panels), where, registry)
        yield from _set({"adaptive": panels}, now)
    elif file.name == LOCAL_MODELS:
        routed = local_models(text_of(file.data, where), where, registry)
        _refuse_aliases(routed.values(), where, registry)
        yield from (f"{role} speaks by {model}" for role, model in routed.items())
    elif file.name == CONFIG_YAML:
        declared = declared_models(text_of(file.data, where), where, registry)
        _refuse_aliases([row.id for row in declared], where, registry)
        for row in declared:
            yield f"{row.id} is preferred for {', '.join(row.tags) or 'anything'}"
    elif str(PurePosixPath(file.name).parent) == EXPERTS:
        shipped = read_library()
        for expert in read_own([OwnFile(path, file.data)]).values():
            how = "replaces the library's expert" if expert.id in shipped else "a new expert"
            yield f"{expert.name} ({expert.id}): {how}; its words become part of prompts"
    else:
        definition = read_definition(path, file.data)
        refuse_programs(definition, where, lambda name: names_program(_resolved(name, registry)))
        yield f"a procedure, {definition.name}: {definition.summary}"


def _refuse_aliases(names: Iterable[str], where: str, registry: Registry) -> None:
    for name in names:
        if names_program(_resolved(name, registry)):
            expected = "a model; a project cannot let a program of this machine run"
            raise BadSetting(where, name, expected)


def _set(asked: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key, value in asked.items():
        before = now.get(key)
        if isinstance(value, Mapping):
            inner = before if isinstance(before, Mapping) else {}
            yield from (f"{key}.{line}" for line in _set(value, inner))
        elif value != before:
            was = "" if before is None else f" instead of {json.dumps(before, ensure_ascii=False)}"
            yield f"{WORDS.get(key, key)} = {json.dumps(value, ensure_ascii=False)}{was}"


def _said(file: ProjectFile) -> Iterator[str]:
    lines = file.data.decode("utf-8", "replace").splitlines()
    yield from (f"  | {line}" for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield f"  … and {len(lines) - MOST_LINES:,} more lines: read the file before you trust it"


def _resolved(name: str, registry: Registry) -> str:
    try:
        return registry.resolve(name).id
    except UnknownName:
        return name
