"""`roundtable archive`: closed discussions go from the ledger into files, and come back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...bundle.archive import SUFFIX, make_archive, read_archive
from ...core.errors import LedgerConflict, NotAllowed, UsageError
from ...core.events import NewEvent
from ...ledger import open_ledger
from ...ports import Ledger
from ...private import put_private
from ..tokens.removing import settle_for_good
from .here import settings_here
from .terminal import echo, echo_error
from .tokens import span


def archive_command(flags: Mapping[str, Any]) -> int:
    if flags["restore"]:
        path = Path(flags["restore"])
        return asyncio.run(_restored(path, *read_archive(_read(path))))
    if not flags["to"] or not flags["older_than"]:
        raise UsageError(
            "What is to be archived, and where?",
            "Say --older-than 90d --to FOLDER; or --restore FILE.",
        )
    before = datetime.now(UTC) - span(flags["older_than"], "--older-than")
    return asyncio.run(_archived(before, Path(flags["to"]), dry=flags["dry_run"]))


async def _archived(before: datetime, folder: Path, *, dry: bool) -> int:
    ledger = await open_ledger(settings_here().db)
    try:
        rows = [
            row
            for row in await ledger.summaries()
            if row.status != "running" and row.driver is None and row.updated_at < before
        ]
        if dry:
            for row in rows:
                echo(row.discussion_id)
            echo_error(f"{len(rows)} discussion(s) would be archived.")
            return 0
        for row in rows:
            await _put_away(ledger, row.discussion_id, folder)
            echo(row.discussion_id)
    finally:
        await ledger.close()
    echo_error(f"{len(rows)} discussion(s) archived in {folder}.")
    return 0


async def _put_away(ledger: Ledger, discussion_id: str, folder: Path) -> None:
    """Write it, read what was written, and only then remove it."""
    records = await ledger.read(discussion_id)
    path = folder / f"{discussion_id}{SUFFIX}"
    data = make_archive(records)
    if path.exists() and path.read_bytes() != data:
        raise NotAllowed(
            f"{path} exists already and is another discussion, or another state of it.",
            "Choose another folder with --to.",
        )
    _keep(path, data)
    expected = [NewEvent(record.event, record.at, record.key) for record in records]
    if read_archive(path.read_bytes()) != (discussion_id, expected):
        raise NotAllowed(
            f"{path} does not hold what the ledger does; nothing was removed.",
            "Check the disk, and try again.",
        )
    if len(await ledger.read(discussion_id, after=len(records))):
        return  # somebody has just added to it: it is not old any more
    await settle_for_good(settings_here(tell=False), ledger, discussion_id)
    await ledger.delete(discussion_id)


def _keep(path: Path, data: bytes) -> None:
    """Have it on the disk, as its owner's alone, when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    put_private(path, data.decode())
    for place in (path, path.parent):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}.", "Give a file that `archive` wrote."
        ) from None


async def _restored(path: Path, discussion_id: str, events: list[NewEvent]) -> int:
    ledger = await open_ledger(settings_here().db)
    try:
        await ledger.append(discussion_id, events, expected=0)
    except LedgerConflict:
        raise NotAllowed(
            f"{discussion_id} is in the ledger.", "There is nothing to bring back."
        ) from None
    finally:
        await ledger.close()
    echo(discussion_id)
    echo_error(f"{len(events):,} event(s) are back; {path} stays where it is.")
    return 0
