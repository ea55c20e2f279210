"""An archived discussion: one file from which it comes back as it was, and gone from the ledger.

A chain of lines like a bundle, but nothing is taken out of it: each event is the very text that was
stored, with its number, its time and its key. So it is its owner's alone, and not for others; a
bundle is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from ..core.chain import ChainBroken, Line, chained, read_chain
from ..core.events import NewEvent, StoredEvent, dump, load
from ..version import __version__
from .reading import BundleBroken, BundleUnknown

FORMAT = 1
SUFFIX = ".archive.jsonl"
_REMEDY = "Take the file from a backup: this one was changed or cut."


def make_archive(records: Sequence[StoredEvent]) -> bytes:
    """A whole discussion, from its first event on. The same records give the same bytes."""
    return b"".join(line for _, line in chained(_bodies(records)))


def read_archive(data: bytes) -> tuple[str, list[NewEvent]]:
    """The discussion's id, and its events in order, as they are to be appended. BundleBroken if
    the file is not as it was made, BundleUnknown if it is of a newer Roundtable."""
    try:
        lines = list(read_chain(data))
    except ChainBroken as broken:
        raise BundleBroken(f"Line {broken.line} {broken.why}.", _REMEDY, broken.line) from None
    if len(lines) < 3 or lines[0].body.get("kind") != "archive":
        raise BundleBroken("This is no archived discussion.", "Give a file that `archive` wrote.")
    if lines[0].body.get("format") != FORMAT:
        raise BundleUnknown("The file is of a newer Roundtable.", "Upgrade Roundtable.")
    events = lines[1:-1]
    end = {"kind": "end", "events": len(events)}
    if lines[-1].body != end:
        raise BundleBroken("The file is cut short: its end is missing.", _REMEDY)
    return str(lines[0].body["discussion_id"]), [
        _event(line, seq) for seq, line in enumerate(events, 1)
    ]


def _bodies(records: Sequence[StoredEvent]) -> Iterator[dict[str, Any]]:
    yield {
        "kind": "archive",
        "format": FORMAT,
        "discussion_id": records[0].discussion_id,
        "written_by": __version__,
    }
    for record in records:
        yield {
            "kind": "event",
            "seq": record.seq,
            "at": record.at.astimezone(UTC).isoformat(timespec="microseconds"),
            "key": record.key,
            "data": dump(record.event),
        }
    yield {"kind": "end", "events": len(records)}


def _event(line: Line, seq: int) -> NewEvent:
    body = line.body
    if body.get("kind") != "event" or body.get("seq") != seq:
        raise BundleBroken(f"Line {line.number} should hold event {seq}.", _REMEDY, line.number)
    try:
        return NewEvent(load(body["data"]), datetime.fromisoformat(body["at"]), body["key"])
    except (KeyError, TypeError, ValueError):
        raise BundleUnknown(
            f"Line {line.number} (event {seq}) is of a kind that this Roundtable does not know.",
            "Upgrade Roundtable.",
            line.number,
        ) from None
