"""Reading the library: the shipped files, and the user's own laid over them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ..config_files import text_of, toml_table
from ..core.errors import BadSetting
from ..kept import keep, read_kept
from ..trust import Folder
from ..version import __version__
from .expert import Expert


class OwnFile(NamedTuple):
    """A file with experts, as it was read."""

    path: Path
    data: bytes


def read_library(own: Iterable[OwnFile] = (), cache: Path | None = None) -> dict[str, Expert]:
    """All experts by id, in the order of the files. An own expert replaces a shipped one of the
    same id. In the folder `cache` the shipped ones are kept as they were read. BadSetting names the
    file, the line, the key and what was expected."""
    return {**{expert.id: expert for expert in _shipped(cache)}, **read_own(own)}


def read_own(files: Iterable[OwnFile]) -> dict[str, Expert]:
    """The user's experts by id; of one id the last counts. Errors as in `read_library`."""
    return {expert.id: expert for file in files for expert in _experts(str(file.path), file.data)}


def own_files(*folders: Folder) -> list[OwnFile]:
    """The user's files, folder by folder, each in order of their names; of a project's only those
    that are trusted. BadSetting if one cannot be read."""
    return [
        OwnFile(path, data)
        for folder in folders
        for path in folder.files("*.toml")
        if (data := folder.read(path.name)) is not None
    ]


_once: list[tuple[Expert, ...]] = []


def _shipped(cache: Path | None) -> tuple[Expert, ...]:
    """Read once in a process: it takes a moment, and the package does not change."""
    if not _once:
        _once.append(shipped_experts() if cache is None else kept_experts(cache))
    return _once[0]


def shipped_experts() -> tuple[Expert, ...]:
    """The experts that come with the program, from its own files."""
    return tuple(
        expert for file in shipped_files() for expert in _experts(file.name, file.read_bytes())
    )


def kept_experts(folder: Path) -> tuple[Expert, ...]:
    """The same, from the file that is kept of them. Files of a package are seldom changed, but they
    can be: then their sizes or times differ, and all are read anew."""
    import hashlib

    from pydantic import TypeAdapter

    stats = [(file.name, file.stat()) for file in shipped_files()]
    source = [__version__, *(f"{n} {stat.st_size} {stat.st_mtime_ns}" for n, stat in stats)]
    key = hashlib.sha256("\n".join(source).encode()).hexdigest()[:32]
    path = folder / f"library-{key}.txt"
    form = TypeAdapter(tuple[Expert, ...])
    if (data := read_kept(path)) is not None:
        with suppress(ValueError):
            return form.validate_json(data)
    experts = shipped_experts()
    keep(path, form.dump_json(experts))
    return experts


def shipped_files() -> list[Path]:
    """The files of the library that comes with the program, in order of their names."""
    return sorted((Path(__file__).parent / "library").glob("*.toml"))


def _experts(where: str, data: bytes) -> Iterator[Expert]:
    text = text_of(data, where)
    tables = toml_table(text, where)
    if stray := next((key for key in tables if key != "expert"), None):
        raise BadSetting(_where(where, text, 0, stray), stray, "nothing but [[expert]] tables")
    rows = tables.get("expert", [])
    if not isinstance(rows, list):
        raise BadSetting(where, "expert", "a list: write [[expert]], not [expert]")
    seen: set[str] = set()
    for number, row in enumerate(rows):
        expert = _expert(where, text, number, row)
        if expert.id in seen:
            at = _where(where, text, number, "id")
            raise BadSetting(at, "id", f"a name of its own, {expert.id!r} is taken")
        seen.add(expert.id)
        yield expert


def _expert(where: str, text: str, number: int, row: Any) -> Expert:
    try:
        return Expert.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "expert"
        field = Expert.model_fields.get(str(first["loc"][0])) if first["loc"] else None
        if first["type"] == "extra_forbidden":
            expected = f"one of {', '.join(Expert.model_fields)}"
        elif field is not None and field.description:
            expected = field.description
        else:
            expected = "a table"
        if first["type"] == "missing":
            expected += "; it is missing"
        raise BadSetting(_where(where, text, number, key), key, expected) from None


def _where(where: str, text: str, number: int, key: str) -> str:
    """The file and the line of a key of the n-th expert, or else of the expert itself."""
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if re.match(r"\s*\[\[expert\]\]", line)]
    begin = starts[number] if number < len(starts) else 0
    end = starts[number + 1] if number + 1 < len(starts) else len(lines)
    # A key of a key stands deeper: tags.de is found at `de = …`, or at the table of tags.
    for name in reversed([part for part in key.split(".") if not part.isdigit()]):
        for n in range(begin, end):
            if re.match(rf"\s*(?:\[+[\w.]*\b{re.escape(name)}\]+|{re.escape(name)}\s*=)", lines[n]):
                return f"{where}:{n + 1}"
    return f"{where}:{begin + 1}"
