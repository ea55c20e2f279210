"""Every file that a person writes, and how each is judged: by whatever reads it when it counts.

The doctor and `roundtable config` go by this table, so that what one of them calls broken is
broken for the other, and for the commands. A new file joins by a row of TABLE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..core.errors import RoundtableError, UsageError
from ..experts.library_files import OwnFile, read_own
from ..models.registry import Registry
from ..models.routing_files import CONFIG_YAML, LOCAL_MODELS, declared_in_folder, local_in_folder
from ..provider_keys import FILE as KEYS
from ..provider_keys import ProviderKeys
from ..settings import Settings, read_settings
from ..trust import STORE, Folder, stored
from ..user_procedures import ProcedureFiles
from .tokens.store import FILE as TOKENS
from .tokens.store import Tokens


@dataclass(frozen=True, slots=True)
class Trouble:
    """One file that does not count, and why."""

    area: str
    """The doctor's word for what it is about."""
    error: RoundtableError
    path: Path | None = None
    """The file; None where the error alone knows."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file that there may be."""

    area: str
    path: Path
    read: Callable[[], object]
    """Raises what a command that needs it would say."""


def read_all(env: Mapping[str, str], workspace: Path) -> tuple[Settings, list[Trouble]]:
    """The settings without the files that are broken, and everything that is. What is wrong in
    the environment is raised as in `read_settings`."""
    found: list[Trouble] = []

    def forgive(name: str, error: UsageError) -> None:
        found.append(Trouble("trust" if name == STORE else "settings", error))

    settings = read_settings(env, workspace, forgive=forgive)
    return settings, [*found, *troubles(settings)]


def troubles(settings: Settings) -> Iterator[Trouble]:
    """What is broken of the files that are read only when they are needed, and would fail then."""
    for rows in TABLE:
        for file in rows(settings):
            try:
                file.read()
            except RoundtableError as error:
                yield Trouble(file.area, error, file.path)


def _trusted(settings: Settings) -> Iterator[_File]:
    if STORE not in settings.without:  # else it has been told with the settings
        path = settings.home / STORE
        yield _File("trust", path, partial(stored, path))


def _models(settings: Settings) -> Iterator[_File]:
    if path := settings.models_file:
        yield _File("models", path, partial(Registry.load, path, settings.agents))


def _routing(settings: Settings) -> Iterator[_File]:
    try:
        registry = Registry.load(settings.models_file, settings.agents)
    except RoundtableError:
        registry = Registry.load(None, settings.agents)
    for folder in settings.routing_folders:
        read = partial(local_in_folder, folder, registry)
        yield _File("routing", folder.path / LOCAL_MODELS, read)
        read_declared = partial(declared_in_folder, folder, registry)
        yield _File("routing", folder.path / CONFIG_YAML, read_declared)


def _experts(settings: Settings) -> Iterator[_File]:
    for folder in settings.expert_folders:
        for path in folder.files("*.toml"):
            yield _File("experts", path, partial(_experts_of, folder, path))


def _experts_of(folder: Folder, path: Path) -> None:
    if (data := folder.read(path.name)) is not None:
        read_own([OwnFile(path, data)])


def _procedures(settings: Settings) -> Iterator[_File]:
    files = ProcedureFiles(settings.procedure_folders)
    for name in files.names():
        path = settings.procedure_folders[0].path / f"{name}.toml"
        yield _File("procedures", path, partial(files.find, name))


def _keys(settings: Settings) -> Iterator[_File]:
    yield _File("credentials", settings.home / KEYS, ProviderKeys(settings.home).check)


def _tokens(settings: Settings) -> Iterator[_File]:
    if settings.server is None:  # else they are in the database
        yield _File("tokens", settings.home / TOKENS, Tokens(settings.home).check)


TABLE: tuple[Callable[[Settings], Iterator[_File]], ...] = (
    _trusted,
    _models,
    _routing,
    _experts,
    _procedures,
    _keys,
    _tokens,
)
"""The files beside those of the settings, in the order in which a person would mend them."""
