"""`roundtable config show --origin`: every setting in force, and where it comes from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...core.text import redact
from ...models.routing_files import CONFIG_YAML, LOCAL_MODELS
from ...settings import Settings
from .here import settings_here
from .terminal import echo, print_json

BUILT_IN = "built in"
_SECRET = ("channels", "commands")
"""Tables whose values may hold passwords: only their keys are shown."""


def origins_command(*, as_json: bool) -> int:
    settings = settings_here()
    rows = list(values_in_force(settings, os.environ))
    if as_json:
        document = [{"key": key, "value": value, "origin": where} for key, value, where in rows]
        print_json(document)
        return 0
    width = max(len(key) for key, _, _ in rows)
    for key, value, where in rows:
        shown = json.dumps(value, ensure_ascii=False)
        echo(f"{key:<{width}}  {shown}  ({where})")
    return 0


def values_in_force(settings: Settings, env: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    """Key, value and origin of every setting; a table has a row for each of its keys."""
    home = "ROUNDTABLE_HOME" if env.get("ROUNDTABLE_HOME") else BUILT_IN
    yield "home", str(settings.home), home
    origins = settings.origins
    for key, value in settings.choices.model_dump(mode="json").items():
        if key == "db":
            yield key, redact(settings.db), origins.get(key, BUILT_IN)
        elif isinstance(value, dict) and value:
            for inner, each in value.items():
                where = origins.get(f"{key}.{inner}", BUILT_IN)
                yield f"{key}.{inner}", "(set)" if key in _SECRET else each, where
        else:
            yield key, value, origins.get(key, BUILT_IN)
    for path in extra_files(settings):
        yield "models", path.name, str(path)


def extra_files(settings: Settings) -> list[Path]:
    """The files beside the settings from which models are known and routed."""
    folders = settings.routing_folders
    routing = [
        path
        for name in (LOCAL_MODELS, CONFIG_YAML)
        for folder in folders
        for path in folder.files(name)
    ]
    known = settings.models_file
    return [*([known] if known else []), *routing]
