"""Reading a bundle: its chain and its form. What it says is the business of the checks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from ...core.chain import ChainBroken, Link, read_chain
from ...core.errors import RoundtableError
from ...core.events import Recorded, load
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
    records: tuple[Recorded, ...]
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
        links = list(read_chain(data))
    except ChainBroken as broken:
        named = _named(broken.body)
        message = f"Line {broken.line}{f' ({named})' if named else ''} {broken.why}."
        raise BundleBroken(message, line=broken.line) from None
    return _Reader(links).bundle()


def too_large(size: int) -> BundleBroken:
    return BundleBroken(
        f"The file has {size:,} bytes; a bundle has at most {MAX_BYTES:,}.",
        "Is it the right file?",
    )


class _Reader:
    """The form: one beginning, the events in order, the tally, the end, perhaps a signature."""

    def __init__(self, links: list[Link]) -> None:
        self._links = iter(links)
        self._last = links[-1]
        self._count = len(links)

    def bundle(self) -> Bundle:
        link, first = self._next("bundle")
        version = first.get("format")
        if version != FORMAT:
            raise BundleBroken(
                f"The bundle has format {version!r}; this Roundtable reads format {FORMAT}.",
                "Upgrade Roundtable.",
                link.number,
            )
        discussion_id = self._text(link, "discussion_id")
        program_version = self._text(link, "program_version")
        redacted = first.get("redacted")
        if not isinstance(redacted, int):
            raise self._bad(link, "does not say how many texts were redacted")
        records: list[Recorded] = []
        for link in self._links:
            if link.body.get("kind") != "event":
                break
            records.append(_record(link, discussion_id, len(records) + 1))
        tally = link.body.get("rounds")
        if link.body.get("kind") != "tally" or not isinstance(tally, list):
            raise self._bad(link, "should hold an event or the tally")
        link, last = self._next("end")
        if last.get("events") != len(records):
            raise self._bad(link, f"counts {last.get('events')} events; there are {len(records)}")
        return Bundle(
            discussion_id=discussion_id,
            program_version=program_version,
            redacted=redacted,
            records=tuple(records),
            tally=tally,
            head=link.hash,
            lines=self._count,
            signature=self._signature(),
        )

    def _signature(self) -> Signature | None:
        link = next(self._links, None)
        if link is None:
            return None
        if link.body.get("kind") != "signature" or link.body.get("algorithm") != "ed25519":
            raise self._bad(link, "stands after the end and is no signature")
        found = Signature(self._text(link, "public_key"), self._text(link, "signature"))
        if (more := next(self._links, None)) is not None:
            raise self._bad(more, "stands after the end")
        return found

    def _next(self, kind: str) -> tuple[Link, dict[str, Any]]:
        link = next(self._links, None)
        if link is None:
            raise BundleBroken(
                f"The bundle is cut short after line {self._last.number}: its {kind} is missing.",
                line=self._last.number,
            )
        if link.body.get("kind") != kind:
            raise self._bad(link, f"should be the {kind}")
        return link, link.body

    def _text(self, link: Link, key: str) -> str:
        value = link.body.get(key)
        if not isinstance(value, str):
            raise self._bad(link, f"has no {key}")
        return value

    def _bad(self, link: Link, why: str) -> BundleBroken:
        if link is self._last and link.body.get("kind") == "event":
            return BundleBroken(
                f"The bundle is cut short after line {link.number}: its end is missing.",
                line=link.number,
            )
        return BundleBroken(f"Line {link.number} {why}.", line=link.number)


def _record(link: Link, discussion_id: str, seq: int) -> Recorded:
    body = link.body
    if body.get("seq") != seq:
        raise BundleBroken(
            f"Line {link.number} holds event {body.get('seq')} where event {seq} should stand: "
            "one was taken out, added or moved.",
            line=link.number,
        )
    try:
        at = datetime.fromisoformat(body["at"])
        return Recorded(discussion_id, seq, at, load(json.dumps(body["event"])))
    except (KeyError, TypeError, ValueError) as error:
        newer = isinstance(error, ValidationError) and any(
            each["type"] == "union_tag_invalid" for each in error.errors()
        )
        raise BundleBroken(
            f"Line {link.number} (event {seq}) is of a kind that this Roundtable does not know."
            if newer
            else f"Line {link.number} (event {seq}) is no event.",
            "Upgrade Roundtable." if newer else _FETCH,
            link.number,
        ) from None


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
