"""Reading a bundle: its chain and its form. What it says is the business of the checks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from ..core.chain import ChainBroken, Line, read_chain
from ..core.errors import RoundtableError
from ..core.events import StoredEvent, load
from ..core.text import REDACTED
from .writing import FORMAT

MAX_BYTES = 256 * 1024 * 1024
"""A bundle is read whole; a discussion of thousands of speeches has a few dozen megabytes."""
_FETCH = "Get the file anew from whoever made it, and compare the head."
_KIND = re.compile(rb'"kind":"([a-z]{1,12})"')
_SEQ = re.compile(rb'"seq":(\d{1,9})\b')
_TYPE = re.compile(rb'"type":"([A-Za-z]{1,40})"')


class BundleBroken(RoundtableError):
    """The file is not a bundle, or not as it was made. `line` is where, counted from 1."""

    def __init__(self, message: str, remedy: str = _FETCH, line: int | None = None) -> None:
        super().__init__(message, remedy)
        self.line = line


class BundleUnknown(BundleBroken):
    """The chain is whole, but what it holds is of a kind that is not known here: nobody can say
    whether it is right."""


@dataclass(frozen=True, slots=True)
class Signature:
    public_key: str
    signature: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle whose chain is whole."""

    discussion_id: str
    program_version: str
    redacted: int
    """How many texts were changed, as the file says."""
    marked: int
    """How many texts show that something was taken out."""
    records: tuple[StoredEvent, ...]
    tally: list[Any]
    head: str
    lines: int
    signature: Signature | None


def read_bundle(data: bytes) -> Bundle:
    """The bundle that these bytes are. BundleBroken names the line that is wrong, and how."""
    if len(data) > MAX_BYTES:
        raise too_large(len(data))
    if not data.strip():
        raise BundleBroken("The file is empty.")
    if not data.startswith(b'{"hash":"'):
        found = "an archive" if data[:2] in (b"PK", b"\x1f\x8b") else "something else"
        raise BundleBroken(
            f"Line 1: this is no bundle but {found}: a bundle begins with a line of its chain.",
            "Make one with: roundtable export ID --bundle FILE",
            1,
        )
    try:
        lines = list(read_chain(data))
    except ChainBroken as broken:
        named = _named(broken.body)
        message = f"Line {broken.line}{f' ({named})' if named else ''} {broken.why}."
        raise BundleBroken(message, line=broken.line) from None
    return _Reader(lines).bundle()


def too_large(size: int) -> BundleBroken:
    return BundleBroken(
        f"The file has {size:,} bytes; a bundle has at most {MAX_BYTES:,}.",
        "Is it the right file?",
    )


class _Reader:
    """The form: one beginning, the events in order, the tally, the end, perhaps a signature."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = iter(lines)
        self._last = lines[-1]
        self._count = len(lines)

    def bundle(self) -> Bundle:
        line, first = self._next("bundle")
        version = first.get("format")
        if version != FORMAT:
            raise BundleUnknown(
                f"The bundle has format {version!r}; this Roundtable reads format {FORMAT}.",
                "Upgrade Roundtable.",
                line.number,
            )
        discussion_id = self._text(line, "discussion_id")
        program_version = self._text(line, "program_version")
        redacted = first.get("redacted")
        if not isinstance(redacted, int) or isinstance(redacted, bool):
            raise self._bad(line, "does not say how many texts were redacted")
        records: list[StoredEvent] = []
        marked = 0
        for line in self._lines:
            if line.body.get("kind") != "event":
                break
            records.append(_record(line, discussion_id, len(records) + 1))
            marked += _marked(line.body.get("event"))
        tally = line.body.get("rounds")
        if line.body.get("kind") != "tally" or not isinstance(tally, list):
            raise self._bad(line, "should hold an event or the tally")
        line, last = self._next("end")
        if last.get("events") != len(records):
            raise self._bad(line, f"counts {last.get('events')} events; there are {len(records)}")
        return Bundle(
            discussion_id=discussion_id,
            program_version=program_version,
            redacted=redacted,
            marked=marked,
            records=tuple(records),
            tally=tally,
            head=line.hash,
            lines=self._count,
            signature=self._signature(),
        )

    def _signature(self) -> Signature | None:
        line = next(self._lines, None)
        if line is None:
            return None
        if line.body.get("kind") != "signature" or line.body.get("algorithm") != "ed25519":
            raise self._bad(line, "stands after the end and is no signature")
        found = Signature(self._text(line, "public_key"), self._text(line, "signature"))
        if (more := next(self._lines, None)) is not None:
            raise self._bad(more, "stands after the end")
        return found

    def _next(self, kind: str) -> tuple[Line, dict[str, Any]]:
        line = next(self._lines, None)
        if line is None:
            raise BundleBroken(
                f"The bundle is cut short after line {self._last.number}: its {kind} is missing.",
                line=self._last.number,
            )
        if line.body.get("kind") != kind:
            raise self._bad(line, f"should be the {kind}")
        return line, line.body

    def _text(self, line: Line, key: str) -> str:
        value = line.body.get(key)
        if not isinstance(value, str):
            raise self._bad(line, f"has no {key}")
        return value

    def _bad(self, line: Line, why: str) -> BundleBroken:
        if line is self._last and line.body.get("kind") == "event":
            return BundleBroken(
                f"The bundle is cut short after line {line.number}: its end is missing.",
                line=line.number,
            )
        return BundleBroken(f"Line {line.number} {why}.", line=line.number)


def _record(line: Line, discussion_id: str, seq: int) -> StoredEvent:
    body = line.body
    if body.get("seq") != seq:
        raise BundleBroken(
            f"Line {line.number} holds event {body.get('seq')} where event {seq} should stand: "
            "one was taken out, added or moved.",
            line=line.number,
        )
    try:
        at = datetime.fromisoformat(body["at"])
        return StoredEvent(discussion_id, seq, at, load(json.dumps(body["event"])))
    except (KeyError, TypeError, ValueError) as error:
        newer = isinstance(error, ValidationError) and any(
            each["type"] == "union_tag_invalid" for each in error.errors()
        )
        kind = BundleUnknown if newer else BundleBroken
        raise kind(
            f"Line {line.number} (event {seq}) is of a kind that this Roundtable does not know."
            if newer
            else f"Line {line.number} (event {seq}) is no event.",
            "Upgrade Roundtable." if newer else _FETCH,
            line.number,
        ) from None


def _marked(value: Any) -> int:
    """The texts in there in which something was replaced."""
    match value:
        case str():
            return int(REDACTED in value)
        case dict():
            return sum(map(_marked, value.values()))
        case list():
            return sum(map(_marked, value))
        case _:
            return 0


def _named(body: bytes) -> str:
    """What a line says it is, as far as that can still be read."""
    return ", ".join(_names(body))


def _names(body: bytes) -> Iterator[str]:
    kind, seq, type_ = (each.findall(body) for each in (_KIND, _SEQ, _TYPE))
    if seq:
        yield f"event {seq[-1].decode()}"
    elif kind and kind[-1] != b"event":
        yield kind[-1].decode()
    if type_:
        yield type_[-1].decode()
