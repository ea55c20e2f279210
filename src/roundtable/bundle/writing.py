"""Making a bundle.

It is JSON lines and not an archive: every byte belongs to a line and every line to the chain, the
same ledger always gives the same bytes, it can be read with any editor, and there is nothing to
unpack that could grow or climb out of its folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Any, Protocol

from ..core.chain import chained
from ..core.events import StoredEvent, dump, load
from ..core.state import State, fold
from ..core.text import redact
from ..version import __version__
from .counting import counted

FORMAT = 1
MEDIA_TYPE = "application/x-ndjson"
SIGNED = b"roundtable bundle 1\n"
"""Stands before the head in what is signed, so that a signature means nothing elsewhere."""


class Signer(Protocol):
    @property
    def public_key(self) -> str: ...

    def sign(self, message: bytes) -> str: ...


def make_bundle(records: Sequence[StoredEvent], signer: Signer | None = None) -> bytes:
    """The bundle of a discussion, from its first event on, free of anything that looks like a
    secret. The same records, program version and key give the same bytes."""
    events, redacted = [], 0
    for record in records:
        clean, changed = _clean(json.loads(dump(record.event)))
        redacted += changed
        events.append(_line(record, clean))
    # What is counted must be countable from the file, so from the words that stand in it.
    state = fold(
        StoredEvent(r.discussion_id, r.seq, r.at, load(json.dumps(line["event"])), r.key)
        for r, line in zip(records, events, strict=True)
    )
    made = list(chained(_bodies(state, events, redacted)))
    lines = [line for _, line in made]
    if signer is not None:
        head = made[-1][0]
        body = {
            "kind": "signature",
            "algorithm": "ed25519",
            "public_key": signer.public_key,
            "signature": signer.sign(SIGNED + head.encode()),
        }
        lines += [line for _, line in chained([body], head)]
    return b"".join(lines)


def _bodies(
    state: State, events: Sequence[dict[str, Any]], redacted: int
) -> Iterator[dict[str, Any]]:
    yield {
        "kind": "bundle",
        "format": FORMAT,
        "discussion_id": state.discussion_id,
        "program_version": state.start.program_version,
        "written_by": __version__,
        "redacted": redacted,
    }
    yield from events
    yield {"kind": "tally", "rounds": counted(state)}
    yield {"kind": "end", "events": len(events)}


def _line(record: StoredEvent, event: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "event",
        "seq": record.seq,
        "at": record.at.astimezone(UTC).isoformat(),
        "event": event,
    }


def _clean(value: Any) -> tuple[Any, int]:
    """The value without secrets, and how many texts held some."""
    match value:
        case str():
            clean = redact(value)
            return clean, int(clean != value)
        case dict():
            pairs = {key: _clean(each) for key, each in value.items()}
            return {key: each for key, (each, _) in pairs.items()}, sum(
                changed for _, changed in pairs.values()
            )
        case list():
            items = [_clean(each) for each in value]
            return [each for each, _ in items], sum(changed for _, changed in items)
        case _:
            return value, 0
