"""`roundtable purge`: remove what Roundtable has stored, and nothing else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import NotAllowed, RoundtableError, UsageError
from ...core.text import counted, redact
from ...ledger import open_ledger
from ...ports import DiscussionSummary
from ...provider_keys import ProviderKeys
from ...settings import Settings, home_folder
from ..stored_files import StoredFiles, remove, stored_files
from ..tokens.removing import settle_for_good
from ..web.found import STATE_FILE, running
from .here import settings_here, workspace_here
from .spans import ago
from .terminal import confirmed, echo, echo_error


def purge_command(flags: Mapping[str, Any]) -> int:
    settings = _settings(needed=flags["older_than"] is not None)
    if flags["older_than"] is not None:
        if flags["settings"]:
            raise UsageError("--older-than and --settings exclude each other.", "Give one of them.")
        return asyncio.run(_forget(settings, flags["older_than"], yes=flags["yes"]))
    _refuse_while_in_use(settings)
    found = stored_files(settings, with_settings=flags["settings"])
    rows = asyncio.run(_on_server(settings))
    if not found.paths and not rows:
        echo_error(f"There is nothing of Roundtable's in {settings.home}.")
        return 0
    _list(found, rows, settings)
    if not flags["yes"] and not asyncio.run(confirmed("Remove all of this for good?")):
        echo_error("Nothing was removed.")
        return 0
    if rows:
        asyncio.run(_delete(settings, [row.discussion_id for row in rows]))
    keys = ProviderKeys(settings.home)
    for name in list(keys):  # also those that the system's keyring holds for us
        if keys.kept(name) == "keyring":
            keys.remove(name)
    gone, failed = remove(found)
    echo_error("Removed 1 file or folder." if gone == 1 else f"Removed {gone} files and folders.")
    if failed:
        path, why = failed[0]
        raise NotAllowed(
            f"{len(failed)} could not be removed, the first is {path}: {why}.",
            "Allow it, and run roundtable purge again.",
        )
    echo_error("To remove the program itself: pip uninstall roundtable-council")
    return 0


def _settings(*, needed: bool) -> Settings:
    """Broken settings must not keep anybody from removing what is there."""
    try:
        return settings_here(tell=False)
    except RoundtableError as error:
        if needed:
            raise
        echo_error(f"Note: the settings cannot be read ({error.message}); a database that only "
                   "they name is not found.")  # fmt: skip
        return Settings(home=home_folder(os.environ), workspace=workspace_here())


def _list(found: StoredFiles, rows: list[DiscussionSummary], settings: Settings) -> None:
    for path in found.paths:
        echo(f"{path}{os.sep if path.is_dir() and not path.is_symlink() else ''}")
    if rows:
        echo(f"{counted(len(rows), 'discussion')} in {redact(settings.db)}")
    if found.kept:
        echo_error("\nThese stay:")
        for path in found.kept:
            echo_error(f"  {path}")
    echo_error("Reports in your own folders (memory/, data/roundtable/) stay too.\n")


def _refuse_while_in_use(settings: Settings) -> None:
    if (settings.home / STATE_FILE).exists() and (found := running(settings.home)):
        raise NotAllowed(
            f"The page is being served (process {found.pid}).", "End it: roundtable serve --stop"
        )
    if "://" not in settings.db and not Path(settings.db).expanduser().is_file():
        return
    rows = asyncio.run(_summaries(settings, lenient=True))
    if busy := [row.discussion_id for row in rows if row.driver]:
        raise NotAllowed(
            f"{busy[0]} is being driven by another process.",
            f"Let it end, or stop it: roundtable stop {busy[0]}",
        )


async def _summaries(settings: Settings, *, lenient: bool = False) -> list[DiscussionSummary]:
    try:
        ledger = await open_ledger(settings.db)
    except RoundtableError:
        if lenient:  # a broken database is still to be removed
            return []
        raise
    try:
        return await ledger.summaries()
    finally:
        await ledger.close()


async def _on_server(settings: Settings) -> list[DiscussionSummary]:
    """The discussions in a database that is not a file of ours to remove."""
    return await _summaries(settings) if "://" in settings.db else []


async def _delete(settings: Settings, ids: list[str]) -> None:
    ledger = await open_ledger(settings.db)
    try:
        for discussion_id in ids:
            await settle_for_good(settings, ledger, discussion_id)
            await ledger.delete(discussion_id)
    finally:
        await ledger.close()


async def _forget(settings: Settings, older_than: str, *, yes: bool) -> int:
    before = ago(older_than, "--older-than")
    rows = [
        row for row in await _summaries(settings) if row.updated_at <= before and row.driver is None
    ]
    if not rows:
        echo_error("No discussion has been unchanged for that long.")
        return 0
    for row in rows:
        echo(f"{row.discussion_id}  {row.updated_at:%Y-%m-%d}  {redact(row.topic)[:60]}")
    if not yes and not await confirmed(f"Delete these {len(rows)} for good?"):
        echo_error("Nothing was deleted.")
        return 0
    await _delete(settings, [row.discussion_id for row in rows])
    echo_error(f"Deleted {counted(len(rows), 'discussion')}.")
    return 0
