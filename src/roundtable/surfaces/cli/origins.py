"""`roundtable config`: what is stored; with `--origin` every setting in force, where it comes from,
and what does not count and why."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...bootstrap import provider_keys
from ...config_files import line_of, text_at, text_of, toml_table
from ...core.errors import RoundtableError
from ...core.limits import FIELDS, WORDS
from ...core.text import clip, redact
from ...core.visible import written
from ...models.keyed import Keyed, server_of
from ...models.registry import Registry
from ...models.routing_files import CONFIG_YAML, LOCAL_MODELS
from ...private import keep_private
from ...project import MAY_SET, PROJECT_TOML
from ...project_notes import ODD
from ...provider_keys import FILE as KEYS_FILE
from ...setting_lines import BUILT_IN, SettingLines
from ...settings import CONFIG_JSON, CONFIG_TOML, Choices, Settings, home_folder
from ...trust import ProjectFile
from ...views.council import SESSION_LOGS
from ..own_files import Trouble, read_all
from ..setup.stored import stored_config
from ..setup.stronger import kept_in_vain
from .here import workspace_here
from .terminal import echo, echo_error, print_json

LONGEST = 200
"""Characters of a value that are shown in a line."""
_LIMITS = ("budget", "caps")
_SECRET = ("channels", "commands")
"""Tables whose values may hold passwords: only their keys are shown."""


@dataclass(frozen=True, slots=True)
class Row:
    """One setting. With a reason it does not count."""

    key: str
    value: Any
    origin: str
    line: int = 0
    ignored: str = ""

    @property
    def place(self) -> str:
        return f"{self.origin}:{self.line}" if self.line else self.origin


def origins_command(*, as_json: bool) -> int:
    settings, broken = read_all(os.environ, workspace_here())
    in_vain = list(ignored(settings))
    in_force = list(values_in_force(settings, os.environ, broken))
    rows = [*in_force, *in_vain]
    if as_json:
        # Whoever makes a table of it by key is left with what counts.
        print_json([_document(row) for row in (*in_vain, *in_force)])
    else:
        width = max(len(row.key) for row in rows)
        for row in rows:
            shown = _shown(row.value)
            why = f"; ignored: {row.ignored}" if row.ignored else ""
            echo(f"{row.key:<{width}}  {shown}  ({row.place}{why})")
    _tell(broken)
    return 1 if broken else 0


def _tell(broken: Sequence[Trouble]) -> None:
    for each in broken:
        echo_error(f"Ignored: {each.error}")


def config_command() -> int:
    """What is stored, and on stderr what is stronger now."""
    home = home_folder(os.environ)
    text = stored_config(home)
    if text is None:
        echo("There is no config.json yet. Make one with: roundtable setup")
    else:
        echo_error(str(home / CONFIG_JSON))
        echo(text)
    try:
        settings, broken = read_all(os.environ, workspace_here())
    except RoundtableError as error:
        echo_error(f"Ignored: {error}")
        return 0
    keep_private(settings.home)
    _tell(broken)
    stronger = [
        row
        for row in values_in_force(settings, os.environ, broken)
        if not row.ignored
        and row.origin not in (BUILT_IN, str(home / CONFIG_JSON))
        and row.key not in _FILES
    ]
    if stronger:
        echo_error("Also in force:" if text else "In force now:")
    for row in stronger:
        echo_error(f"  {row.key} = {_shown(row.value)}  ({row.place})")
    echo_error("To see every setting and where it comes from: roundtable config --origin")
    return 0


def values_in_force(
    settings: Settings, env: Mapping[str, str], broken: Sequence[Trouble]
) -> Iterator[Row]:
    """Every setting; a table has a row for each of its keys."""
    home = "ROUNDTABLE_HOME" if env.get("ROUNDTABLE_HOME") else BUILT_IN
    yield Row("home", str(settings.home), home)
    lines = SettingLines(settings)

    def row(key: str, value: Any) -> Row:
        return Row(key, value, lines.origin(key), lines.line(key))

    for key, value in settings.choices.model_dump(mode="json").items():
        if key == "db":
            yield row(key, redact(settings.db))
        elif key == "db_listen" and value:
            yield row(key, redact(value))
        elif isinstance(value, dict) and value:
            for inner, each in value.items():
                shown = "(set)" if key in _SECRET else _without_secrets(each)
                why = kept_in_vain({inner: each}) if key == "council" else ()
                told = row(f"{key}.{inner}", shown)
                name = f"{key}.{WORDS.get(inner, inner) if key in _LIMITS else inner}"
                yield replace(told, key=name, ignored=_LOG_PLACE if why else "")
        else:
            yield row(key, _without_secrets(value))
    not_counting = {each.path for each in broken}
    for path in extra_files(settings):
        if path in not_counting:
            continue
        yield Row("models from", path.name, str(path))
    yield from _addresses(settings, env)


def _addresses(settings: Settings, env: Mapping[str, str]) -> Iterator[Row]:
    """Where providers are that were moved, by a variable or with a stored key."""
    try:
        registry = Registry.load(settings.models_file, settings.agents)
    except RoundtableError:
        registry = Registry.load(None, settings.agents)
    keyed = Keyed(env, provider_keys(settings, registry), registry.providers.values())
    for provider in registry.providers.values():
        if name := provider.base_url_variable(keyed):
            place = "the environment" if env.get(name) else str(settings.home / KEYS_FILE)
            shown = redact(server_of(provider.address(keyed) or ""))
            trouble = provider.address_trouble(keyed).removeprefix(f"{name}: ")
            yield Row(name, shown, place, ignored=trouble.removesuffix("."))


_LOG_PLACE = f"a council's log goes to {SESSION_LOGS}/ only"
_FILES = ("home", "models from")


def ignored(settings: Settings) -> Iterator[Row]:
    """What the project's files say in vain, and limits that are not the lowest, and why."""
    yield from _of_own_budget(settings)
    for name in settings.trust.odd():
        yield Row(name, "", str(settings.workspace / name), ignored=ODD)
    for file in settings.trust.files():
        where = str(settings.workspace / file.name)
        if file.name == PROJECT_TOML:
            yield from _of_project(file, settings)
        elif file.standing != "trusted":
            yield Row(file.shown, "", where, ignored=_untrusted(file))


def _of_project(file: ProjectFile, settings: Settings) -> Iterator[Row]:
    try:
        text = text_of(file.data, PROJECT_TOML)
        asked = tomllib.loads(text)
    except (RoundtableError, ValueError, RecursionError):
        if file.standing != "trusted":
            yield Row(file.shown, "", PROJECT_TOML, ignored=_untrusted(file))
        return  # what is trusted and broken is told with its line
    known = Choices.model_fields
    for key, value in asked.items():
        name = clip(written(str(key)), 80)
        at = line_of(text, key)
        if file.standing != "trusted":
            why = _untrusted(file)
        elif key not in known:
            why = "there is no such setting"
        elif key not in MAY_SET:
            why = f"a project may not set this; set it in {settings.home / 'config.toml'}"
        elif key == "budget" and isinstance(value, dict):
            yield from _limits(value, settings, text)
            continue
        elif settings.origins.get(key) != PROJECT_TOML:
            why = f"{settings.origins.get(key, BUILT_IN)} overrides it"
        else:
            continue
        yield Row(name, _without_secrets(_plain(value)), PROJECT_TOML, at, why)


def _limits(asked: Mapping[str, Any], settings: Settings, text: str) -> Iterator[Row]:
    for limit, value in asked.items():
        key, field = f"budget.{limit}", FIELDS.get(limit, limit)
        if settings.origins.get(f"budget.{field}") == PROJECT_TOML:
            continue
        why = "a project can only lower a limit, and yours is already as low"
        if settings.origins.get(f"caps.{field}") == PROJECT_TOML:
            cap = f"caps.{WORDS.get(field, field)}"
            why = f"yours is already as low; whoever asks for more gets at most this ({cap})"
        yield Row(key, _plain(value), PROJECT_TOML, line_of(text, key), why)


def _of_own_budget(settings: Settings) -> Iterator[Row]:
    """The usual limits of config.toml where those of the set-up are as low."""
    path = settings.home / CONFIG_TOML
    if CONFIG_TOML in settings.without:
        return
    text = text_at(path, ours=True)
    asked = toml_table(text, str(path)).get("budget", {})
    for limit, value in asked.items():
        key = f"budget.{limit}"
        field = FIELDS.get(limit, limit)
        if settings.origins.get(f"budget.{field}") == str(settings.home / CONFIG_JSON):
            why = f"the lowest limit applies, and {CONFIG_JSON} has one as low"
            yield Row(key, _plain(value), str(path), line_of(text, key), why)


def _untrusted(file: ProjectFile) -> str:
    changed = " since it changed" if file.standing == "changed" else ""
    return f"you have not trusted this file{changed} (roundtable trust)"


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


def _shown(value: Any) -> str:
    """A value for people."""
    if value is None:
        return "not set"
    if value in ([], {}):
        return "none"
    return clip(json.dumps(value, ensure_ascii=False), LONGEST)


def _document(row: Row) -> dict[str, Any]:
    document = {"key": row.key, "value": row.value, "origin": row.origin}
    if row.line:
        document["line"] = row.line
    return document | ({"ignored": row.ignored} if row.ignored else {})


def _plain(value: Any) -> Any:
    """A value of TOML as JSON has it."""
    return json.loads(json.dumps(value, default=str))


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _without_secrets(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_secrets(each) for each in value]
    return value
