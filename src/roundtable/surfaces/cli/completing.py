"""What a shell may offer in place of a word: discussions, procedures, experts, models, channels.

It must answer between two keystrokes. So it reads the files themselves, with nothing but the
standard library, where everything else goes through the settings and the ledger. Whatever is wrong
with them, it offers nothing: the command itself says what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from pathlib import Path

MOST = 60
"""Values at once; whoever wants others types more of them."""
LONGEST = 70
BUILT_IN = {
    "deliberation": "independent answers, critique, vote, checked verdict",
    "council": "Scholar, Engineer and Muse, led by a Captain",
    "adaptive": "a panel designed for the question",
    "five-round": "a plan in five rounds",
    "meeting": "roles that speak in turn",
}
LANGUAGES = {"en": "English", "de": "German", "es": "Spanish", "zh": "Chinese", "fr": "French"}
Value = tuple[str, str]
"""What may be written, and a few words about it."""
Values = Callable[[], Iterable[Value]]


class DiscussionId(click.ParamType[str]):
    """A discussion by its id, the beginning of it, `last`, or as `example:NAME`."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        del ctx, param
        return offered(discussions, incomplete)


class Offered(click.ParamType[str]):
    """A text for which some values are known; any other is as good."""

    def __init__(self, name: str, values: Values, *, many: bool = False) -> None:
        """`many`: several of them may stand there, with commas between."""
        self.name = name
        self._values = values
        self._many = many

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        del ctx, param
        return offered(self._values, incomplete, many=self._many)


class File(click.ParamType[str]):
    """The name of a file, or -."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        del ctx, param
        return [CompletionItem(incomplete, type="file")]


def offered(values: Values, incomplete: str, *, many: bool = False) -> list[CompletionItem[str]]:
    """The values that go on from what is there. Never an error."""
    before, comma, begun = incomplete.rpartition(",") if many else ("", "", incomplete)
    taken = before.split(",")
    found: list[CompletionItem[str]] = []
    with suppress(Exception):
        for value, about in values():
            if value.casefold().startswith(begun.casefold()) and value not in taken:
                told = " ".join(about.split())[:LONGEST]
                found.append(CompletionItem(f"{before}{comma}{value}", help=told or None))
            if len(found) == MOST:
                break
    return found


# --- what there is --------------------------------------------------------------------------------


def discussions() -> Iterator[Value]:
    """The newest first, then the recorded examples."""
    yield "last", "the newest one"
    with suppress(Exception):
        yield from _stored()
    recorded = _toml(_package() / "examples" / "index.toml").get("examples", {})
    for name, row in recorded.items():
        yield f"example:{name}", str(row.get("title", ""))


def _stored() -> list[Value]:
    import sqlite3  # paid for only where somebody presses Tab
    from pathlib import Path

    file = os.environ.get("ROUNDTABLE_DB") or _settings().get("db") or _home() / "roundtable.db"
    uri = f"{Path(file).expanduser().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=0.2)) as connection:
        asked = "SELECT id, topic FROM discussions ORDER BY updated_at DESC, id LIMIT ?"
        return [(row[0], row[1]) for row in connection.execute(asked, (MOST,))]


def procedures() -> Iterator[Value]:
    yield from BUILT_IN.items()
    for folder in (_home() / "procedures", _project() / "procedures"):
        for file in sorted(folder.glob("*.toml")):
            yield file.stem, str(_toml(file).get("summary", ""))


def experts() -> Iterator[Value]:
    folders = (_package() / "experts" / "library", _home() / "experts")
    for folder in (*folders, _project() / "experts"):
        for file in sorted(folder.glob("*.toml")):
            for each in _toml(file).get("expert", ()):
                yield str(each["id"]), str(each.get("name", ""))


def models() -> Iterator[Value]:
    """Those first that can most likely be used: what a server of one's own has, under the names
    that it gives them; then providers that have a key, by aliases, which are what people write.
    Where an address is not the vendor's, nothing is known of it but what it listed."""
    files = (_home() / "models.toml", _package() / "models" / "registry.toml")
    tables = [_toml(file) for file in files]
    providers = {**tables[1].get("providers", {}), **tables[0].get("providers", {})}
    own = {name for name, row in providers.items() if _is_elsewhere(row)}
    listed = _listed()
    for provider in sorted(own & listed.keys()):
        yield from ((name, f"{provider}/{name}") for name in listed[provider])
    known = {**tables[1].get("models", {}), **tables[0].get("models", {})}
    rows = [(name, row) for name, row in known.items() if _maker(name) not in own]
    keyed = {name for name, row in providers.items() if _is_set(row, "key_env")}
    rows.sort(key=lambda each: _maker(each[0]) not in keyed)
    for name, row in rows:
        if aliases := row.get("aliases"):
            yield str(aliases[0]), name
    yield from ((name, "") for name, _ in rows)
    for provider, names in listed.items():
        yield from ((f"{provider}/{name}", "") for name in names)


def _maker(model: str) -> str:
    return model.partition("/")[0]


def _is_elsewhere(provider: dict[str, Any]) -> bool:
    """Whether its address was set to one that is not its vendor's."""
    from urllib.parse import urlsplit

    hosts = provider.get("vendor_hosts") or ()
    set_to = (os.environ.get(name) for name in provider.get("base_url_env", ()))
    return bool(hosts) and any(each and urlsplit(each).hostname not in hosts for each in set_to)


def _is_set(provider: dict[str, Any], names: str) -> bool:
    return any(os.environ.get(name) for name in provider.get(names, ()))


def _listed() -> dict[str, list[str]]:
    """What endpoints said last that they have, as `models/lists.py` keeps it."""
    import json

    newest: dict[str, tuple[float, list[str]]] = {}
    for file in (_home() / "cache" / "lists").glob("*.json"):
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            kept = json.loads(file.read_bytes())
            names = [str(row["name"]) for row in kept["listing"]["models"]]
            found = (float(kept.get("at") or 0.0), names)
            newest[kept["provider"]] = max(found, newest.get(kept["provider"], found))
    return {provider: names for provider, (_, names) in sorted(newest.items())}


def rosters() -> Iterator[Value]:
    for name, row in _toml(_package() / "experts" / "rosters.toml").items():
        yield name, str(row.get("for", ""))


def languages() -> Iterator[Value]:
    """Some; any other can be named too."""
    yield from LANGUAGES.items()


def channels() -> Iterator[Value]:
    for name in ("stdout", "stderr", "dry-run"):
        yield name, ""
    for name in _settings().get("channels", {}):
        yield name, "config.toml"


def boards() -> Iterator[Value]:
    for name, row in _settings().get("boards", {}).items():
        yield f"{name}:", str(row.get("repo") or row.get("kind", ""))


def _package() -> Path:
    from pathlib import Path

    return Path(__file__).parents[2]


def _project() -> Path:
    from pathlib import Path

    return Path(".roundtable")


def _home() -> Path:
    from pathlib import Path

    if named := os.environ.get("ROUNDTABLE_HOME"):
        return Path(named).expanduser()
    from platformdirs import user_data_path

    return user_data_path("roundtable", appauthor=False)


def _settings() -> dict[str, Any]:
    return _toml(_home() / "config.toml")


def _toml(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


# --- how a shell gets it --------------------------------------------------------------------------

VARIABLE = "_ROUNDTABLE_COMPLETE"
"""Where a shell says that it wants to complete a line (click's own mechanism)."""
INSTALL = {
    "bash": ("~/.bashrc", 'eval "$({variable}=bash_source roundtable)"'),
    "zsh": ("~/.zshrc", 'eval "$({variable}=zsh_source roundtable)"'),
    "fish": (
        "~/.config/fish/completions/roundtable.fish",
        "{variable}=fish_source roundtable | source",
    ),
}
"""For each shell the file, and the line that belongs into it."""


def complete(root: click.Command, wanted: str) -> int:
    """Answer a shell. It prints what can stand there, or nothing; never an error."""
    from click.shell_completion import shell_complete

    with suppress(Exception, SystemExit):
        return shell_complete(root, {}, "roundtable", VARIABLE, wanted)
    return 0
