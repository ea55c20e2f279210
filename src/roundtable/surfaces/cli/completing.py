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

    def __init__(
        self, name: str, values: Values, *, many: bool = False, seats: bool = False
    ) -> None:
        """`many`: several of them may stand there, with commas between; `seats`: each as
        SEAT=VALUE, too."""
        self.name = name
        self._values = values
        self._many = many
        self._seats = seats

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        del ctx, param
        return offered(self._values, incomplete, many=self._many, seats=self._seats)


class File(click.ParamType[str]):
    """The name of a file, or -."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        del ctx, param
        return [CompletionItem(incomplete, type="file")]


def offered(
    values: Values, incomplete: str, *, many: bool = False, seats: bool = False
) -> list[CompletionItem[str]]:
    """The values that go on from what is there. Never an error."""
    before, comma, begun = incomplete.rpartition(",") if many else ("", "", incomplete)
    taken = set(before.split(","))
    if seats and "=" in begun:
        seat, equals, begun = begun.partition("=")
        before, comma = f"{before}{comma}{seat}", equals
    found: list[CompletionItem[str]] = []
    with suppress(Exception):
        for value, about in values():
            if value.casefold().startswith(begun.casefold()) and value not in taken:
                told = " ".join(about.split())[:LONGEST]
                found.append(CompletionItem(f"{before}{comma}{value}", help=told or None))
                taken.add(value)
            if len(found) == MOST:
                break
    return found


# --- what there is --------------------------------------------------------------------------------


def discussions() -> Iterator[Value]:
    """The newest first, then the recorded examples."""
    yield "last", "the newest one"
    with suppress(Exception):
        yield from _stored()
    yield from ((f"example:{name}", title) for name, title in recorded())


def recorded() -> Iterator[Value]:
    """The recorded examples."""
    examples = _toml(_package() / "examples" / "index.toml").get("examples", {})
    yield from ((name, str(row.get("title", ""))) for name, row in examples.items())


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


def helped() -> Iterator[Value]:
    """What `help` tells of: the procedures, and the commands that people are shown."""
    from .app import cli

    yield from procedures()
    for name, command in cli.commands.items():
        if not command.hidden:
            yield name, command.get_short_help_str(LONGEST)


def experts() -> Iterator[Value]:
    own = _package() / "experts"
    folders = (own / "library", _home() / "experts", _project() / "experts")
    files = [file for folder in folders for file in sorted(folder.glob("*.toml"))]
    for file in (*files, own / "methods.toml"):
        for each in _toml(file).get("expert", ()):
            yield str(each["id"]), str(each.get("name", ""))


def models() -> Iterator[Value]:
    """What can be used here, as far as files tell: the models that the settings name; what a server
    of one's own has, under the names that it gives them; then those of providers that have a key,
    by aliases, which are what people write. Where an address is not the vendor's, nothing is known
    of it but what it listed. Where nothing is set up at all, everything that could be."""
    own_file, shipped = (_toml(each) for each in _registries())
    providers = {**shipped.get("providers", {}), **own_file.get("providers", {})}
    stored, listed = _stored_keys(), _listed()
    here = {
        name
        for name, row in providers.items()
        if _is_set_up(row, stored, own=name in own_file.get("providers", {}))
        or (row.get("probe") and name in listed)
    }
    elsewhere = {name for name, row in providers.items() if _is_elsewhere(row, stored)}
    here = here or providers.keys() - elsewhere
    own = own_file.get("models", {})
    known = {**shipped.get("models", {}), **own}
    meant = {alias: name for name, row in known.items() for alias in row.get("aliases", ())}

    def can_be_used(model: str) -> bool:
        provider, _, name = model.partition("/")
        if model in own:
            return provider in here
        known_there = provider not in elsewhere and name in listed.get(provider, [name])
        return provider in here and known_there

    for name in _named_in_settings():
        # A name that nobody here knows is one of a server: its owner knows better.
        maker = _maker(meant.get(name, name))
        if maker in here or maker not in providers:
            yield name, ""
    for provider in sorted(elsewhere & here & listed.keys()):
        yield from ((name, f"{provider}/{name}") for name in listed[provider])
    rows = [(name, row) for name, row in known.items() if can_be_used(name)]
    for name, row in rows:
        if aliases := row.get("aliases"):
            yield str(aliases[0]), name
    yield from ((name, "") for name, _ in rows)
    for provider in sorted(here & listed.keys()):
        yield from ((f"{provider}/{name}", "") for name in listed[provider])


def _maker(model: str) -> str:
    return model.partition("/")[0]


def _registries() -> tuple[Path, Path]:
    """The user's own, and the one that is shipped."""
    return _home() / "models.toml", _package() / "models" / "registry.toml"


def _named_in_settings() -> Iterator[str]:
    """The models that the environment and the files of the home name, which somebody set up."""
    settings, stored = _settings(), _json(_home() / "config.json")
    for named in (
        os.environ.get("ROUNDTABLE_MODELS", "").split(","),
        [os.environ.get("ROUNDTABLE_MODEL")],
        settings.get("models"),
        [settings.get("default_model")],
        list(seats.values()) if isinstance(seats := stored.get("models"), dict) else seats,
        [stored.get("host")],
    ):
        if isinstance(named, list):
            yield from (each.strip() for each in named if isinstance(each, str) and each.strip())


def _stored_keys() -> dict[str, str]:
    """The variables of keys that were entered, each with the address that it is for, if any."""
    kept = _toml(_home() / "keys.toml")
    addresses = kept.get("addresses", {})
    names = [*kept.get("keys", {}), *kept.get("in_keyring", ()), *addresses]
    return {name: str(addresses.get(name, "")) for name in names}


def _is_set_up(provider: dict[str, Any], stored: dict[str, str], *, own: bool) -> bool:
    """Whether there is a way to it: a key or an address, or a table of the user's own that asks
    for no key."""
    keys = _names(provider, "key_env")
    variables = (*keys, *_names(provider, "base_url_env"))
    return (
        any(os.environ.get(name) for name in variables)
        or any(name in stored for name in keys)
        or (own and not keys)
    )


def _is_elsewhere(provider: dict[str, Any], stored: dict[str, str]) -> bool:
    """Whether its address was set to one that is not its vendor's."""
    from ...core.addresses import address_parts

    hosts = provider.get("vendor_hosts") or ()
    set_to = [os.environ.get(name) for name in _names(provider, "base_url_env")]
    if not any(set_to):
        set_to = [stored.get(name) for name in _names(provider, "key_env")]
    set_to = [each for each in set_to if each] or [provider.get("base_url")]
    return bool(hosts) and any(
        each and address_parts(each).hostname not in hosts for each in set_to
    )


def _names(provider: dict[str, Any], key: str) -> tuple[str, ...]:
    found = provider.get(key) or ()
    return (found,) if isinstance(found, str) else tuple(found)


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


def _json(file: Path) -> dict[str, Any]:
    import json

    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


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
    "zsh": (
        "~/.zshrc",
        "(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}; "
        'eval "$({variable}=zsh_source roundtable)"',
    ),
    "fish": (
        "~/.config/fish/completions/roundtable.fish",
        "{variable}=fish_source roundtable | source",
    ),
}
"""For each shell the file, and the line that belongs into it."""


def complete(root: click.Command, wanted: str) -> int:
    """Answer a shell. It prints what can stand there, or nothing; never an error."""
    from click.shell_completion import add_completion_class, shell_complete

    from .completing_bash import Bash

    add_completion_class(Bash)
    with suppress(Exception, SystemExit):
        return shell_complete(root, {}, "roundtable", VARIABLE, wanted)
    return 0
