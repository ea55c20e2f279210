"""Quotations: whether quoted words stand in a speech or a document, and whether they are its own.

Words may not differ; numbers count with sign and unit. An ellipsis stands for words left out of
one paragraph, in their order, and never for a negation. What a speaker itself only quotes is not
its own assertion.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .pattern import pattern
from .quotation_marks import passages
from .text import count_words
from .wording import Wording, masked, vocabulary, worded

SHORTEST_QUOTATION = 3
"""Words (five characters in Chinese). Fewer between quotation marks are a name or a term."""
LONGEST_GAP = 60
"""Words that an ellipsis may stand for: beyond that, the parts no longer belong together."""
_GAP_OF_ONE_WORD = 8
"""The same beside a part of a single word: with more, any sentence can be made of any text."""
_MOST_PARTS = 8
_MOST_PLACES = 50
"""Places in one source that are looked at: where words come more often, they prove nothing."""
_WHOLE = 0.9
"""Of a speech. Who puts all of it between quotation marks quotes nobody."""
_ELLIPSIS = pattern(r"[\[(]?(?:…+|⋯+|\.{3,}|\.(?: \.){2,})[\])]?")
_SENTENCE_END = pattern(r"[.!?;:。！？；：,，\n]")
_SLIGHT = vocabulary(
    "a an the to be been any means need needs reason want wants wish wishes going really very yet",
    "ever in way at all zu ein eine einen der die das gar auf wirklich un una el la lo de que ser",
    "应 该 能 会 要 可 以 必 需",
)
_BUT = frozenset([("anything", "but"), ("far", "from")])

SourceKind = Literal["speech", "document", "question", "host"]
Fit = Literal["own", "second_hand", "cut_negation", "number", "negation", "stitched"]
"""How quoted words stand in a source: as its own; only where it quotes somebody; cut right at a
negation; with another number, sign or unit; with a negation under the ellipsis; out of order, or
from paragraphs that do not belong together."""


@dataclass(frozen=True, slots=True)
class Source:
    """Something that a verdict may quote. The host's own text is known, but proves nothing."""

    id: str
    """A turn (`1/answer/security`), `document:NAME`, `question` or `options`."""
    text: str
    speaker: str = ""
    name: str = ""
    kind: SourceKind = "speech"
    round: int = 0


@dataclass(frozen=True, slots=True)
class Quoted:
    """Quoted words in their parts, between which an ellipsis stood."""

    parts: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, words: str) -> Quoted:
        """Words without their quotation marks."""
        parts = (tuple(worded(part).keys) for part in _ELLIPSIS.split(words))
        return cls(tuple(part for part in parts if part))

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for part in self.parts for key in part)


class Evidence:
    """One source, made ready to be searched."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @cached_property
    def wording(self) -> Wording:
        return worded(self.source.text)

    @cached_property
    def _quoted(self) -> list[tuple[int, int]]:
        """Where a speech gives somebody else's words. A document's quotations are its own."""
        if self.source.kind != "speech":
            return []
        whole = _WHOLE * len(self.source.text.strip())
        return [
            passage.inner
            for passage in passages(self.source.text)
            if passage.closed and passage.end - passage.start < whole
        ]

    def fit(self, quoted: Quoted, *, denied: bool = False) -> Fit | None:
        """How well the words stand here, at the best place; None if they do not.

        `denied` says that the text around the quotation negates it already.
        """
        if not quoted.parts:
            return None
        if len(quoted.parts) > _MOST_PARTS:
            return "stitched" if self._holds_all(quoted) else None
        fits = set(self._fits(quoted, denied))
        ranks: tuple[Fit, ...] = ("own", "second_hand", "cut_negation", "number", "negation")
        best = next((fit for fit in ranks if fit in fits), None)
        if best is not None:
            return best
        if len(quoted.parts) > 1 and self._holds_all(quoted):
            return "stitched"
        if f" {' '.join(masked(quoted.keys))} " in self.wording.masked and self._has_number(quoted):
            return "number"
        return None

    def holds_part(self, part: Sequence[str]) -> bool:
        return f" {' '.join(part)} " in self.wording.joined

    def _holds_all(self, quoted: Quoted) -> bool:
        return all(self.holds_part(part) for part in quoted.parts)

    @staticmethod
    def _has_number(quoted: Quoted) -> bool:
        return "#" in masked(quoted.keys)

    def _fits(self, quoted: Quoted, denied: bool) -> Iterator[Fit]:
        for start in self._places(quoted.parts[0], 0):
            chain = [(start, start + len(quoted.parts[0]) - 1)]
            fit: Fit | None = "own"
            for part in quoted.parts[1:]:
                begin = next(self._places(part, chain[-1][1] + 1), None)
                fit = None if begin is None else self._gap(chain[-1], begin, len(part), fit)
                if begin is None or fit is None:
                    break
                chain.append((begin, begin + len(part) - 1))
            if fit == "own":
                fit = self._placed(chain, denied)
            if fit is not None:
                yield fit

    def _places(self, part: Sequence[str], first: int) -> Iterator[int]:
        """The numbers of the words at which a part begins."""
        wanted = f" {' '.join(part)} "
        joined = self.wording.joined
        at = self.wording.place(first) - 1
        for _ in range(_MOST_PLACES):
            at = joined.find(wanted, at)
            if at < 0:
                return
            yield self.wording.index_at(at + 1)
            at += 1

    def _gap(self, before: tuple[int, int], begin: int, length: int, fit: Fit | None) -> Fit | None:
        """What an ellipsis makes of the parts around it; None where they do not belong together."""
        last, wording = before[1], self.wording
        short = length == 1 or before[0] == before[1]
        if begin - last - 1 > (_GAP_OF_ONE_WORD if short else LONGEST_GAP):
            return None
        if wording.parted(last, begin):
            return None
        return "negation" if any(map(wording.negates, range(last + 1, begin))) else fit

    def _placed(self, chain: Sequence[tuple[int, int]], denied: bool) -> Fit:
        wording = self.wording
        first, last = chain[0][0], chain[-1][1]
        if any(wording.cuts_number(*each) for each in chain):
            return "number"
        if self._is_second_hand(first, last):
            return "second_hand"
        if not denied and (self._turned_before(first) or self._turned_behind(last)):
            return "cut_negation"
        return "own"

    def _turned_before(self, first: int) -> bool:
        """Whether a negation stands before a quotation with nothing between but slight words:
        by no means, no need to, anything but."""
        wording = self.wording
        for index in range(first - 1, max(-1, first - 5), -1):
            if _SENTENCE_END.search(wording.gap(index + 1)):
                return False
            if wording.negates(index) or tuple(wording.keys[index - 1 : index + 1]) in _BUT:
                return True
            if wording.keys[index] not in _SLIGHT:
                return False
        return False

    def _turned_behind(self, last: int) -> bool:
        """Whether the next word is a negation, as German puts it: wir empfehlen das nicht."""
        wording, behind = self.wording, last + 1
        return (
            behind < len(wording.keys)
            and wording.negates(behind)
            and not _SENTENCE_END.search(wording.gap(behind))
        )

    def _is_second_hand(self, first: int, last: int) -> bool:
        """Whether all words but one at most stand inside one quotation of this speech."""
        if not self._quoted:
            return False
        starts, ends = self.wording.starts, self.wording.ends
        inside = starts[min(first + 1, last)], ends[max(last - 1, first)]
        for at in (starts[first], *inside):
            number = bisect_right(self._quoted, (at, len(self.source.text))) - 1
            if number < 0:
                continue
            begin, end = self._quoted[number]
            outside = (starts[first] < begin) + (ends[last] > end)
            if outside <= 1 and begin <= inside[0] and inside[1] <= end:
                return True
        return False


def is_quotation(words: str) -> bool:
    """Whether words between quotation marks are enough to be somebody's."""
    return count_words(words) >= SHORTEST_QUOTATION
