"""Reading the library: the shipped files, and the user's own laid over them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from ..core.errors import BadSetting
from .expert import Expert


class _File(Protocol):
    @property
    def name(self) -> str: ...

    def read_bytes(self) -> bytes: ...


def read_library(own: Iterable[Path] = ()) -> dict[str, Expert]:
    """All experts by id, in the order of the files. An own expert replaces a shipped one of the
    same id. BadSetting names the file, the line, the key and what was expected."""
    shipped = sorted(
        (f for f in resources.files(__package__).joinpath("library").iterdir() if _is_toml(f.name)),
        key=lambda file: file.name,
    )
    experts = {expert.id: expert for file in shipped for expert in _experts(file)}
    experts.update((expert.id, expert) for file in own for expert in _experts(file))
    return experts


def own_files(folder: Path) -> list[Path]:
    """The user's files, in order of their names."""
    return sorted(path for path in folder.glob("*.toml") if path.is_file())


def _is_toml(name: str) -> bool:
    return name.endswith(".toml")


def _experts(file: _File) -> Iterator[Expert]:
    try:
        text = file.read_bytes().decode("utf-8")
        rows = tomllib.loads(text).get("expert", [])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(file.name, "the file", f"valid TOML ({error})") from None
    if not isinstance(rows, list):
        raise BadSetting(file.name, "expert", "a list: write [[expert]], not [expert]")
    seen: set[str] = set()
    for number, row in enumerate(rows):
        expert = _expert(file.name, text, number, row)
        if expert.id in seen:
            where = _where(file.name, text, number, "id")
            raise BadSetting(where, "id", f"a name of its own, {expert.id!r} is taken")
        seen.add(expert.id)
        yield expert


def _expert(name: str, text: str, number: int, row: dict[str, Any]) -> Expert:
    try:
        return Expert.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        expected = (
            f"one of {', '.join(Expert.model_fields)}"
            if first["type"] == "extra_forbidden"
            else first["msg"]
        )
        raise BadSetting(_where(name, text, number, key), key, expected) from None


def _where(name: str, text: str, number: int, key: str) -> str:
    """The file and the line of a key of the n-th expert, or of the expert itself."""
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if re.match(r"\s*\[\[expert\]\]", line)]
    begin = starts[number]
    end = starts[number + 1] if number + 1 < len(starts) else len(lines)
    first = key.split(".")[0]
    for n in range(begin, end):
        if re.match(rf"\s*{re.escape(first)}\s*=", lines[n]):
            return f"{name}:{n + 1}"
    return f"{name}:{begin + 1}"
