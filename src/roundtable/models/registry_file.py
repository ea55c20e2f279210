"""The registry's two files: the one we ship, and a user's of the same form laid over it.

A user's `models.toml` adds providers and models or corrects single keys of those that exist. Its
`[aliases]` table gives further names to models, its `[families]` table further words that give a
family away. What the user says wins, and comes first in order.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ..config_files import contents, text_of, toml_table
from ..core.errors import BadSetting
from ..core.numbers import WANTED, truth_for_number
from ..core.values import Value
from .entry import ModelEntry, guess_family
from .provider import Provider

Contents = tuple[dict[str, Provider], dict[str, ModelEntry], dict[str, str], dict[str, str]]
"""Providers and models by id, model ids by alias, families by word."""

_SECTIONS = ("providers", "models", "aliases", "families")
_NOT_WRITTEN = {"id", "configured", "own", "added", "guessed", "passed_on"}
_Row = TypeVar("_Row", bound=Value)


def read(extra: Path | None) -> Contents:
    """Read, merge and check. Raises BadSetting naming the file, the key and what is expected."""
    if extra is None:
        providers, models, aliases, families = _as_shipped()
        return dict(providers), dict(models), dict(aliases), dict(families)
    return _read(extra)


@cache
def _as_shipped() -> Contents:
    return _read(None)


def _read(extra: Path | None) -> Contents:
    shipped = _shipped()
    own: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
    where = "registry.toml"
    if extra is not None:
        where = str(extra)
        own.update(_read_own(extra))
    families: dict[str, str] = {**own["families"], **shipped["families"]}
    providers = _providers(where, shipped["providers"], own["providers"])
    models = _models(where, shipped["models"], own["models"], providers, families)
    return providers, models, _aliases(where, models, own, providers), families


@cache
def _shipped() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("registry.toml").read_text(encoding="utf-8"))


def _read_own(path: Path) -> dict[str, dict[str, Any]]:
    where = str(path)
    data = contents(path, ours=True)  # it says where keys are sent
    if data is None:
        raise BadSetting(where, "the file", "a readable file (there is none)")
    own = toml_table(text_of(data, where), where)
    for section, table in own.items():
        if section not in _SECTIONS:
            raise BadSetting(where, section, f"one of the tables {', '.join(_SECTIONS)}")
        if not isinstance(table, dict):
            raise BadSetting(where, section, "a table")
        rows_are_tables = section in ("providers", "models")
        for key, row in table.items():
            if rows_are_tables != isinstance(row, dict) or not isinstance(row, dict | str):
                expected = "a table" if rows_are_tables else "a text in quotes"
                raise BadSetting(where, f'{section}."{key}"', expected)
    return own


def _providers(where: str, shipped: dict[str, Any], own: dict[str, Any]) -> dict[str, Provider]:
    rows = {
        **{name: {"label": name, **shipped.get(name, {}), **own[name]} for name in own},
        **{name: row for name, row in shipped.items() if name not in own},
    }
    return {
        name: _valid(
            Provider, where, f"providers.{name}", {**row, "id": name, "configured": name in own}
        )
        for name, row in rows.items()
    }


def _models(
    where: str,
    shipped: dict[str, Any],
    own: dict[str, Any],
    providers: dict[str, Provider],
    families: dict[str, str],
) -> dict[str, ModelEntry]:
    models: dict[str, ModelEntry] = {}
    for model_id in {**own, **shipped}:
        said = own.get(model_id, {})
        key = f'models."{model_id}"'
        for unwritten in _NOT_WRITTEN & set(said):
            keys = [name for name in ModelEntry.model_fields if name not in _NOT_WRITTEN]
            raise BadSetting(where, f"{key}.{unwritten}", f"one of the keys {', '.join(keys)}")
        origin = {"own": frozenset(said), "added": model_id not in shipped}
        row = {**shipped.get(model_id, {}), **said, "id": model_id, **origin}
        entry = _valid(ModelEntry, where, key, row)
        if entry.provider not in providers:
            expected = f"a known provider ({', '.join(providers)}) or a table for it"
            raise BadSetting(where, key, expected)
        if not entry.family:
            family = guess_family(entry.name, families, entry.provider)
            entry = entry.model_copy(update={"family": family})
        models[model_id] = entry
    return models


def _aliases(
    where: str,
    models: dict[str, ModelEntry],
    own: dict[str, dict[str, Any]],
    providers: dict[str, Provider],
) -> dict[str, str]:
    aliases: dict[str, str] = {}
    for entry in models.values():
        declared = "aliases" in own["models"].get(entry.id, {})
        for alias in entry.aliases:
            # The user's models come first, so a shipped model never takes a name from them.
            owner = aliases.setdefault(alias.casefold(), entry.id)
            if declared and owner != entry.id:
                expected = f"names of its own ({alias!r} is {owner}'s)"
                raise BadSetting(where, f'models."{entry.id}".aliases', expected)
    for alias, target in own["aliases"].items():
        provider, slash, model = target.partition("/")
        if not (slash and model and provider in providers):
            raise BadSetting(where, f"aliases.{alias}", "a full model id, provider/model")
        aliases[alias.casefold()] = target
    return aliases


def _valid(kind: type[_Row], where: str, key: str, row: dict[str, Any]) -> _Row:
    if name := truth_for_number(kind, row):
        raise BadSetting(where, f"{key}.{name}", WANTED)
    try:
        return kind.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = "".join(f".{part}" for part in first["loc"] if isinstance(part, str))
        if first["type"] == "extra_forbidden":
            keys = [name for name in kind.model_fields if name not in _NOT_WRITTEN]
            expected = f"one of the keys {', '.join(keys)}"
        else:
            expected = first["msg"].removeprefix("Input should be ").rstrip(".")
        raise BadSetting(where, key + at, expected) from error
