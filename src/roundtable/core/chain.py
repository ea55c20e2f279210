"""A chain of lines: each carries the hash of itself and of all that stands before it.

A line is `{"hash":"…","line":{…}}`: an ordinary line of JSON whose form is fixed to the byte, so
that no byte can change unseen. Whoever makes the whole chain anew can say what he likes; only the
hash of the last line, the head, known from elsewhere, or a signature over it, can show that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

BEGINNING = "0" * 64
"""What the first line follows."""
_BEFORE, _BETWEEN, _AFTER = b'{"hash":"', b'","line":', b"}"
_HASH_ENDS = len(_BEFORE) + 64
_BODY_BEGINS = _HASH_ENDS + len(_BETWEEN)
_HEX = frozenset(b"0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chain whose hash was found to be right."""

    number: int
    """Counted from 1."""
    hash: str
    body: dict[str, Any]


class ChainBroken(ValueError):
    """A line is not what its hash says. `line` is its number."""

    def __init__(self, line: int, why: str, body: bytes = b"") -> None:
        super().__init__(f"line {line} {why}")
        self.line = line
        self.why = why
        self.body = body
        """What the line says it is, for naming it; it is not to be trusted."""


def canonical(value: Any) -> bytes:
    """The one way in which a value is written."""
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode()


def chained(
    bodies: Iterable[dict[str, Any]], after: str = BEGINNING
) -> Iterator[tuple[str, bytes]]:
    """Each body as a line, with its hash."""
    for body in bodies:
        text = canonical(body)
        after = _hash(after, text)
        yield after, _BEFORE + after.encode() + _BETWEEN + text + _AFTER + b"\n"


def read_chain(data: bytes) -> Iterator[Line]:
    """The links of a chain, each checked before it is given. ChainBroken at the first that is
    wrong."""
    after = BEGINNING
    start, number = 0, 0
    while start < len(data):
        number += 1
        end = data.find(b"\n", start)
        if end < 0:
            raise ChainBroken(number, "is cut short", data[start + _BODY_BEGINS :])
        line = data[start:end]
        start = end + 1
        body = line[_BODY_BEGINS : -len(_AFTER)]
        if not _has_form(line):
            raise ChainBroken(number, "is not a line of a bundle", body)
        stated = line[len(_BEFORE) : _HASH_ENDS].decode()
        after = _hash(after, body)
        if after != stated:
            why = "does not match its hash: it was changed or moved, or one before it is missing"
            raise ChainBroken(number, why, body)
        yield Line(number, stated, _parsed(number, body))


def _has_form(line: bytes) -> bool:
    return (
        line.startswith(_BEFORE)
        and line[_HASH_ENDS:_BODY_BEGINS] == _BETWEEN
        and line.endswith(_AFTER)
        and len(line) > _BODY_BEGINS
        and _HEX.issuperset(line[len(_BEFORE) : _HASH_ENDS])
    )


def _hash(after: str, body: bytes) -> str:
    return hashlib.sha256(after.encode() + b"\n" + body).hexdigest()


def _parsed(number: int, body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
        # Another spelling, such as a key given twice, would be read differently by others.
        plain = canonical(value) == body
    except (ValueError, RecursionError):
        raise ChainBroken(number, "holds no JSON", body) from None
    if not isinstance(value, dict) or not plain:
        raise ChainBroken(number, "is not written in the one form of a bundle", body)
    return value
