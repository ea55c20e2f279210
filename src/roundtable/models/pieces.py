"""Pieces of words: how the embedder's texts are cut before they are looked up.

The wheel brings the rules as a list of 61,249 pairs that are joined, in the order in which they
are. A library that reads them all takes longer to do so than everything else together that choosing
experts needs, and a question needs a few hundred. So they are kept as one sorted row of numbers, in
which each is found in some steps. What comes of it is what the library's own cutting gives.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import BadSetting
from ..kept import keep, read_kept

BLANK = "▁"
_KIND = {
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": BLANK},
            {"type": "Replace", "pattern": {"String": " "}, "content": BLANK},
        ],
    },
    "pre_tokenizer": None,
}
_MODEL = {
    "type": "BPE",
    "dropout": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "byte_fallback": True,
    "ignore_merges": False,
}
"""What is followed here; other rules would need another cutting."""
_WORD = re.compile(f"{BLANK}*[^{BLANK}]+|{BLANK}+")
_BITS = 16
"""Of a piece's number, and of a pair's place in the list."""
_LEAST = (1 << _BITS) - 1


class Join(NamedTuple):
    """What comes of two neighbouring pieces."""

    place: int
    """In the list: whoever stands earlier is joined first."""
    piece: int


class Pieces:
    """Cuts texts into pieces, each told by its number."""

    def __init__(
        self, single: Mapping[str, int], of_bytes: list[int], whole: Mapping[str, int], pairs: bytes
    ) -> None:
        """`single` are the pieces of one character; whatever has none becomes those `of_bytes`. A
        `whole` piece stands for itself wherever a text names it."""
        self._single, self._of_bytes, self._whole = single, of_bytes, whole
        self._pairs = array("Q", pairs)
        if sys.byteorder != "little":
            self._pairs.byteswap()
        self._parts = re.compile(f"({'|'.join(map(re.escape, whole))})")
        self._cut = lru_cache(maxsize=10_000)(self._cut_word)

    def cut(self, text: str) -> list[int]:
        """The pieces of a text, in order."""
        found: list[int] = []
        for part in self._parts.split(text):
            if part in self._whole:
                found.append(self._whole[part])
            elif part:
                # No piece has a blank after another character, so that no pair joins two words.
                for word in _WORD.findall(BLANK + part.replace(" ", BLANK)):
                    found += self._cut(word)
        return found

    def _cut_word(self, word: str) -> tuple[int, ...]:
        pieces = list(self._characters(word))
        after = [*range(1, len(pieces)), -1]
        before = [*range(-1, len(pieces) - 1)]
        due: list[tuple[int, int, int]] = []

        def look(at: int) -> None:
            if at >= 0 and after[at] >= 0 and (join := self._join(pieces[at], pieces[after[at]])):
                heappush(due, (join.place, at, join.piece))

        for at in range(len(pieces)):
            look(at)
        while due:
            _, at, piece = heappop(due)
            then = after[at]
            if pieces[at] < 0 or then < 0:
                continue
            join = self._join(pieces[at], pieces[then])
            if join is None or join.piece != piece:
                continue  # what stood here was joined with something else meanwhile
            pieces[at], pieces[then], after[at] = piece, -1, after[then]
            if after[at] >= 0:
                before[after[at]] = at
            look(before[at])
            look(at)
        return tuple(each for each in pieces if each >= 0)

    def _characters(self, word: str) -> Iterator[int]:
        for character in word:
            piece = self._single.get(character)
            if piece is not None:
                yield piece
            else:
                for byte in character.encode("utf-8", "surrogatepass"):
                    yield self._of_bytes[byte]

    def _join(self, left: int, right: int) -> Join | None:
        wanted = left << _BITS | right
        at = bisect_left(self._pairs, wanted << 2 * _BITS)
        if at == len(self._pairs) or (found := self._pairs[at]) >> 2 * _BITS != wanted:
            return None
        return Join(found >> _BITS & _LEAST, found & _LEAST)


def read_pieces(file: Path, version: str, cache: Path | None = None) -> Pieces:
    """The rules of the file, as they were kept in the folder `cache` for this version of it.
    BadSetting if it holds others than can be followed here."""
    if cache is None:
        return _made(_compact(file))
    kept = cache / f"pieces-{hashlib.sha256(version.encode()).hexdigest()[:32]}.bin"
    data = read_kept(kept)
    if data is None:
        data = _compact(file)
        keep(kept, data)
    return _made(data)


def _made(data: bytes) -> Pieces:
    told, _, pairs = data.partition(b"\n")
    known = json.loads(told)
    single = dict(zip(known["characters"], known["numbers"], strict=True))
    return Pieces(single, known["bytes"], known["whole"], pairs)


def _compact(file: Path) -> bytes:
    """A line of JSON with the pieces to begin with, and the sorted pairs."""
    rules = json.loads(file.read_text("utf-8"))
    _check(file, rules)
    numbers: dict[str, int] = rules["model"]["vocab"]
    single = {each: number for each, number in numbers.items() if len(each) == 1}
    told = {
        "characters": "".join(single),
        "numbers": list(single.values()),
        "bytes": [numbers[f"<0x{byte:02X}>"] for byte in range(256)],
        "whole": {each["content"]: each["id"] for each in rules["added_tokens"]},
    }
    pairs = array("Q", sorted(_packed(rules["model"]["merges"], numbers)))
    if sys.byteorder != "little":
        pairs.byteswap()
    return json.dumps(told).encode() + b"\n" + pairs.tobytes()


def _packed(merges: Iterable[str], numbers: Mapping[str, int]) -> Iterator[int]:
    for place, pair in enumerate(merges):
        left, right = pair.split(" ")
        both = numbers[left] << _BITS | numbers[right]
        yield (both << _BITS | place) << _BITS | numbers[left + right]


def _check(file: Path, rules: Mapping[str, Any]) -> None:
    model = rules["model"]
    inner = any(BLANK in piece.lstrip(BLANK) for piece in model["vocab"])
    most = max(len(model["merges"]), *model["vocab"].values())
    same = all(rules.get(name) == value for name, value in _KIND.items()) and all(
        model.get(name) == value for name, value in _MODEL.items()
    )
    plain = not any(each["lstrip"] or each["rstrip"] for each in rules["added_tokens"])
    if not same or not plain or inner or most > _LEAST:
        raise BadSetting(file.name, "wordllama", "the rules of wordllama 0.4: install that version")
