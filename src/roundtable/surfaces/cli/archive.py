"""`roundtable archive`: closed discussions go from the ledger into files, and come back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ...bundle.archive import SUFFIX, make_archive, read_archive
from ...bundle.reading import BundleBroken
from ...core.errors import (
    LedgerConflict,
    LedgerError,
    NotAllowed,
    RoundtableError,
    UnknownDiscussion,
    UsageError,
)
from ...core.events import NewEvent
from ...core.text import counted
from ...ledger import open_ledger
from ...ports import Ledger
from ...private import put_private
from ..tokens.removing import settle_for_good
from .exits import DONE, FAILED
from .here import settings_here
from .spans import ago
from .terminal import echo, echo_error

_MOST_TOLD = 20
"""Discussions that stay, each with its reason; of more, their number."""


def archive_command(flags: Mapping[str, Any]) -> int:
    if flags["restore"]:
        path = Path(flags["restore"])
        return asyncio.run(_restored(path, *read_archive(_read(path))))
    if not flags["to"] or not flags["older_than"]:
        raise UsageError(
            "What is to be archived, and where?",
            "Say --older-than 90d --to FOLDER; or --restore FILE.",
        )
    before = ago(flags["older_than"], "--older-than")
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
            echo_error(f"It would archive {counted(len(rows), 'discussion')}.")
            return 0
        _make(folder)
        done, stay = 0, list[str]()
        for row in rows:
            try:
                put = await _put_away(ledger, row.discussion_id, folder)
            except (RoundtableError, OSError) as error:
                if isinstance(error, LedgerError) and error.temporary:
                    raise  # the database is away, for all of them
                stay.append(f"{row.discussion_id} stays: {_why(error)}")
            else:
                done += put
                if put:
                    echo(row.discussion_id)
    finally:
        await ledger.close()
    for line in stay[:_MOST_TOLD]:
        echo_error(line)
    if len(stay) > _MOST_TOLD:
        echo_error(f"So do {len(stay) - _MOST_TOLD} more.")
    echo_error(f"Archived {counted(done, 'discussion')} in {folder}.")
    return FAILED if stay else DONE


async def _put_away(ledger: Ledger, discussion_id: str, folder: Path) -> bool:
    """Write it, read what was written, and only then remove it; False if it is gone, or not old any
    more."""
    try:
        records = await ledger.read(discussion_id)
    except UnknownDiscussion:
        return False
    path = folder / f"{discussion_id}{SUFFIX}"
    events = [NewEvent(record.event, record.at, record.key) for record in records]
    if path.exists() and not _is_earlier(path.read_bytes(), discussion_id, events):
        raise NotAllowed(
            f"{path} exists already and is another discussion, or another state of it.",
            "Choose another folder with --to.",
        )
    _keep(path, make_archive(records))
    if read_archive(path.read_bytes()) != (discussion_id, events):
        raise NotAllowed(
            f"{path} does not hold what the ledger does; nothing was removed.",
            "Check the disk, and try again.",
        )
    if len(await ledger.read(discussion_id, after=len(records))):
        return False  # somebody has just added to it; what was written is an earlier state
    await settle_for_good(settings_here(tell=False), ledger, discussion_id)
    await ledger.delete(discussion_id)
    return True


def _is_earlier(data: bytes, discussion_id: str, events: Sequence[NewEvent]) -> bool:
    """Whether a file holds nothing that these events do not: it was put away before, brought back,
    and went on, or not. Whatever version wrote it."""
    try:
        whose, held = read_archive(data)
    except BundleBroken:
        return False
    return whose == discussion_id and held == events[: len(held)]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a name that no system takes
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{folder} cannot be made: {why}.", "Choose another folder with --to."
        ) from None


def _why(error: RoundtableError | OSError) -> str:
    if isinstance(error, OSError):
        return f"it cannot be written: {error.strerror}."
    return str(error)


def _keep(path: Path, data: bytes) -> None:
    """Have it on the disk, as its owner's alone, when this returns."""
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
    echo_error(f"Brought back {counted(len(events), 'event')}; {path} stays where it is.")
    return 0
