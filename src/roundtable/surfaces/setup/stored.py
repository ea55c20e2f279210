"""config.json: what the set-up wrote, for all surfaces. It is the program's own file; config.toml
is the user's, and nobody writes it but the user."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...config_files import contents, json_object, known_version, text_at
from ...core.errors import BadSetting, NewerFile, NotAllowed, UsageError
from ...core.limits import WORDS, renamed
from ...core.values import Budget
from ...core.visible import shown
from ...private import private_folder, put_private
from ...settings import CONFIG_JSON, SET_UP, of_set_up

_ASKED = (
    *("version", "models", "preset", "round2", "language", "log_sessions"),
    *SET_UP,
)
"""What the set-up asks for; whatever else the file holds stays."""


def read_stored(home: Path) -> dict[str, Any]:
    """What config.json holds, its limits by the names of a `Budget`; nothing if there is none.
    UsageError where `read_settings` would
    refuse it."""
    path = home / CONFIG_JSON
    stored = json_object(text_at(path, ours=True), str(path))
    if stored:
        of_set_up(stored, str(path))
    if isinstance(budget := stored.get("budget"), dict):
        stored["budget"] = renamed(budget, Budget.model_fields)
    return stored


@dataclass(frozen=True, slots=True)
class Stored:
    """What was written, and where what was there before is kept, if that could not be used."""

    path: Path
    before: Path | None = None


def store_config(home: Path, config: Mapping[str, Any]) -> Stored:
    """Write config.json whole or not at all. What the set-up does not ask for stays as it is; a
    file that `read_settings` refuses is kept beside the new one, and nothing of it is taken over.
    NewerFile if this Roundtable does not know what is there, NotAllowed if it cannot be
    written."""
    # Through a link, so that it stays one.
    path = Path(os.path.realpath(home / CONFIG_JSON))
    try:
        private_folder(path.parent)
        try:
            kept, broken = read_stored(home), False
        except NewerFile:
            raise
        except UsageError:
            kept, broken = {}, path.is_file()
        whole = {**config, **{key: value for key, value in kept.items() if key not in _ASKED}}
        if limits := whole.get("budget"):
            whole["budget"] = {WORDS.get(name, name): value for name, value in limits.items()}
        # Nothing is written that would be refused.
        of_set_up(known_version(whole, str(path)), str(path))
        fresh = path.with_name(f"{path.name}.new")
        put_private(fresh, json.dumps(whole, ensure_ascii=False, indent=2) + "\n")
        try:
            before = path.rename(_beside(path)) if broken else None
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from None
    return Stored(home / CONFIG_JSON, before)


def cannot_write(path: Path, error: OSError) -> NotAllowed:
    """The error for a file of settings that cannot be written."""
    remedy = "Make the folder writable, or choose another one with ROUNDTABLE_HOME."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Make room there, or choose another folder with ROUNDTABLE_HOME."
    elif error.errno == errno.EISDIR:
        remedy = "A folder of this name is there: move it away."
    return NotAllowed(f"{path} cannot be written: {error.strerror}.", remedy)


def _beside(path: Path) -> Path:
    """A name for what is there that nobody has yet."""
    names = (path.with_name(f"{path.name}.broken{n or ''}") for n in range(1000))
    return next(name for name in names if not name.exists())


def stored_config(home: Path) -> str | None:
    """What config.json holds, fit to be shown, or None: also what `read_settings` would refuse."""
    path = home / CONFIG_JSON
    try:
        data = contents(path)
    except BadSetting as error:
        raise NotAllowed(
            f"{path} cannot be read: expected {error.expected}.", error.remedy
        ) from None
    return None if data is None else shown(data.decode("utf-8", "replace")).rstrip()
