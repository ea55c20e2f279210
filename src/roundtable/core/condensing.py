"""Condensing: what experts are shown of documents that do not fit their windows.

The rule. All documents together may take up half of the smallest window at the table. Whatever is
short stays whole; what is left of the room is shared evenly among the others. Of each of those are
kept its beginning, the passages that have most to do with the question, by the question's words and
how rare they are in the document, and the headings above them, in the order in which they stand; a
mark says where something was left out, and how much. Nothing is reworded, so that whatever an
expert quotes stands in the whole text too, which the ledger keeps. Deterministic, without a model.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .events import NoteAdded
from .pattern import pattern
from .text import estimate_tokens
from .values import Material, Participant, SpeakerRef

CODE = "condensed"
ROOM = "material_tokens"
"""The option under which a discussion keeps how much of its documents is shown, if not all."""
SHARE = 2
"""Documents may take up one part in so many of the smallest window."""
BEGINNING = 0.15
"""The share of a document's room that its beginning has for certain."""
LONGEST_PASSAGE = 1200
"""Characters: a longer paragraph is taken apart, at lines or sentences."""
_LEFT_OUT = "[... {0:,} characters left out ...]"
_MARK = 40
"""Characters that such a mark takes up, about."""
_HEADING = pattern(r"#{1,6} \S|\[[^\]\n]{1,80}\]$|={3,}|-{3,}")
_WORDS = pattern(r"[^\W_]{3,}|[\u3400-\u9fff]")
_SENTENCE = pattern(r"(?<=[.!?。！？])\s+|\n")
_COMMON = 0.5
"""A word that stands in more than this share of the passages tells nothing."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A document of which not everything is shown."""

    source: str
    whole: int
    """Characters."""
    shown: int


@dataclass(frozen=True, slots=True)
class Condensed:
    """Documents as they are shown, and which of them are not whole."""

    materials: tuple[Material, ...]
    cuts: tuple[Cut, ...] = ()


def room_for(seats: Iterable[Participant]) -> int:
    """How many tokens the documents of a table may have, by the smallest window of any seat."""
    return _smallest(seats).context_window // SHARE


@lru_cache(maxsize=16)
def condensed(context: tuple[Material, ...], question: str, room: int) -> Condensed:
    """The documents within so many tokens."""
    sizes = [estimate_tokens(each.text) for each in context]
    if sum(sizes) <= room:
        return Condensed(context)
    shares = _shares(sizes, room)
    shown: list[Material] = []
    cuts: list[Cut] = []
    for each, size, share in zip(context, sizes, shares, strict=True):
        text = each.text if size <= share else _excerpt(each.text, question, share / size)
        shown.append(each if text is each.text else Material(source=each.source, text=text))
        if text is not each.text:
            cuts.append(Cut(each.source, len(each.text), len(text)))
    return Condensed(tuple(shown), tuple(cuts))


def condensed_note(cuts: Sequence[Cut], seats: Iterable[Participant]) -> NoteAdded:
    """What is said of it."""
    smallest = _smallest(seats)
    listed = "; ".join(f"{c.source} from {c.whole:,} to {c.shown:,} characters" for c in cuts[:8])
    more = f"; and {len(cuts) - 8} more" if len(cuts) > 8 else ""
    return NoteAdded(
        code=CODE,
        text="Not everything fits the smallest window at the table "
        f"({smallest.context_window:,} tokens, {smallest.model}). Condensed to the passages that "
        f"have most to do with the question: {listed}{more}. The whole text is kept, and "
        "quotations are checked against it.",
        remedy="Give fewer or shorter documents, or only models with larger windows.",
    )


def _smallest(seats: Iterable[Participant]) -> SpeakerRef:
    """Of those that are to speak: who only stands in is told less, if it comes to that."""
    refs = [ref for seat in seats for ref in seat.speakers if not ref.spare]
    return min(refs, key=lambda ref: ref.context_window)


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """How much each may have: the small ones all that they want, the others the same."""
    shares = [0] * len(sizes)
    left = room
    order = sorted(range(len(sizes)), key=lambda at: sizes[at])
    for place, at in enumerate(order):
        shares[at] = min(sizes[at], left // (len(sizes) - place))
        left -= shares[at]
    return shares


@dataclass(frozen=True, slots=True)
class _Passage:
    begin: int
    end: int
    heading: bool


def _excerpt(text: str, question: str, share: float) -> str:
    """About this share of a text: its beginning, and what has most to do with the question."""
    limit = int(len(text) * share)
    passages = _passages(text)
    above = _headings_above(passages)
    left = limit - 2 * _MARK
    chosen: set[int] = set()

    def take(at: int) -> bool:
        nonlocal left
        wanted = [each for each in (at, *above[at]) if each not in chosen]
        # A passage that stands alone costs a mark as well.
        alone = 0 if {at - 1, at + 1} & chosen else _MARK
        cost = alone + sum(passages[each].end - passages[each].begin for each in wanted)
        if cost > left:
            return False
        chosen.update(wanted)
        left -= cost
        return True

    for at, passage in enumerate(passages):
        if passage.end > limit * BEGINNING or not take(at):
            break
    scores = _scores(text, passages, question)
    ranked = sorted(range(len(passages)), key=lambda at: (-scores[at], at))
    misses = 0
    for at in ranked:
        if at not in chosen and not take(at):
            misses += 1
            if misses > 50:  # only crumbs of room are left
                break
    return _joined(text, passages, sorted(chosen)) if chosen else _clipped(text, limit)


def _joined(text: str, passages: Sequence[_Passage], chosen: Sequence[int]) -> str:
    parts: list[str] = []
    done = 0
    for at in chosen:
        begin, end = passages[at].begin, passages[at].end
        if begin > done:
            parts.append(f"\n{_LEFT_OUT.format(begin - done)}\n")
        parts.append(text[begin:end])
        done = end
    if done < len(text):
        parts.append(f"\n{_LEFT_OUT.format(len(text) - done)}")
    return "".join(parts).strip("\n")


def _clipped(text: str, limit: int) -> str:
    return f"{text[:limit]}\n{_LEFT_OUT.format(len(text) - limit)}"


def _passages(text: str) -> list[_Passage]:
    """The text in pieces, without a gap: paragraphs, each heading by itself."""
    found: list[_Passage] = []
    at = 0
    for line in re.split(r"(?<=\n)", text):
        end = at + len(line)
        heading = _HEADING.match(line.strip()) is not None
        blank = not line.strip()
        last = found[-1] if found else None
        if not line:
            continue
        if heading or last is None or last.heading or _ends(text, last):
            if blank and last is not None:  # the empty line belongs to what it follows
                found[-1] = _Passage(last.begin, end, last.heading)
            else:
                found.append(_Passage(at, end, heading))
        else:
            found[-1] = _Passage(last.begin, end, heading=False)
        at = end
    return [piece for each in found for piece in _pieces(text, each)]


def _ends(text: str, passage: _Passage) -> bool:
    return passage.end - passage.begin > 1 and text[passage.begin : passage.end].endswith("\n\n")


def _pieces(text: str, passage: _Passage) -> Iterable[_Passage]:
    """A long paragraph in pieces, at lines or sentences where there are any."""
    if passage.end - passage.begin <= LONGEST_PASSAGE or passage.heading:
        return [passage]
    pieces: list[_Passage] = []
    begin = passage.begin
    while passage.end - begin > LONGEST_PASSAGE:
        limit = begin + LONGEST_PASSAGE
        stops = [m.end() for m in _SENTENCE.finditer(text, begin + LONGEST_PASSAGE // 3, limit)]
        end = stops[-1] if stops else limit
        pieces.append(_Passage(begin, end, heading=False))
        begin = end
    return [*pieces, _Passage(begin, passage.end, heading=False)]


def _headings_above(passages: Sequence[_Passage]) -> list[tuple[int, ...]]:
    """For each passage the nearest heading above it, and one that stands right over that."""
    above: list[tuple[int, ...]] = []
    now: tuple[int, ...] = ()
    for at, passage in enumerate(passages):
        if passage.heading:
            above.append(now[-1:] if at and passages[at - 1].heading else ())
            now = (*(now[-1:] if at and passages[at - 1].heading else ()), at)
        else:
            above.append(now)
    return above


def _scores(text: str, passages: Sequence[_Passage], question: str) -> list[float]:
    """How much each has to do with the question: the rarity of its words that stand in both."""
    asked = {_stem(word) for word in _WORDS.findall(question.casefold())}
    found = [
        asked.intersection(map(_stem, _WORDS.findall(text[p.begin : p.end].casefold())))
        for p in passages
    ]
    within = Counter(word for words in found for word in words)
    weight = {
        word: math.log(1 + len(passages) / count)
        for word, count in within.items()
        if count <= max(2, _COMMON * len(passages))
    }
    return [
        0.0 if p.heading else sum(weight.get(word, 0.0) for word in words)
        for p, words in zip(passages, found, strict=True)
    ]


def _stem(word: str) -> str:
    """Forms of one word are mostly alike at their beginning."""
    return word[:6] if len(word) > 6 else word.removesuffix("s")
