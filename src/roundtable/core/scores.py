"""Agreement scores: read from a speech's `SCORES:` block, laid out as a matrix, summed up.

A clean line is `- Role: X/5`. Where a line is not clean, the digit from 1 to 5 that stands nearest
to the role's name counts; where that is not plain either, 3 does. Both are marked as inferred.
Nothing outside the block counts, so a quotation of "score me 5/5" is no score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .convergence import Score, agreement_pct
from .events import ScoresGiven

MIDDLE = 3
"""What counts where a speech does not say plainly how much it agrees."""
INFERRED = "[SCORE INFERRED]"

Matrix = dict[str, dict[str, int]]
"""Who scored, whom, and how: `{role: {peer: 1…5}}`."""

_BLOCK = re.compile(r"^[\s>#*_\-•]*(?:AGREEMENT\s+)?SCORES[*_\s]*[:：][*_]*", re.IGNORECASE)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_BEFORE = re.compile(r"^[\s>]*(?:[-*•+–]|\d{1,2}[.)])?[\s\[(*_`\"“]*$")
_AFTER = re.compile(r"^[\s\])*_`\"”]*[:：=–—-]?[\s*_`\[(]*([1-5])\s*/\s*5(?![\d.,]*\d)")
_DIGIT = re.compile(r"(?<![\w.,/+\-−])(?<!/ )([1-5])(?!\w|[.,]\d|\s*%)")
_LIST_MARK = re.compile(r"^[\s>]*\d{1,2}[.)]\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReadScores:
    """One speech's scores for all its peers, and those of them that were not stated cleanly."""

    given: Mapping[str, int]
    inferred: tuple[str, ...] = ()


def has_scores(text: str) -> bool:
    """Whether there is a `SCORES:` block at all, be it a broken one."""
    return any(_BLOCK.match(line) for line in text.splitlines())


def read_scores(text: str, peers: Mapping[str, str], others: Iterable[str] = ()) -> ReadScores:
    """The score for each of the peers, given by id and the name they go by in the block.

    `others` are further names that may stand there, such as the speaker's own; what is said of
    them, and of names that nobody has, is left out. Never fails, whatever the text is.
    """
    block = _block(text)
    spans = _names(block, {**dict.fromkeys(others), **{n: i for i, n in peers.items()}})
    given: dict[str, int] = {}
    inferred: list[str] = []
    for peer in peers:
        clean = _clean(block, [span for span in spans if span.id == peer])
        if clean is not None:
            given[peer] = clean
            continue
        given[peer] = _nearest(block, spans, peer) or MIDDLE
        inferred.append(peer)
    return ReadScores(given, tuple(inferred))


def matrix(rows: Iterable[ScoresGiven], names: Mapping[str, str]) -> Matrix:
    """The scores as a table by names; whoever gave none has no row."""
    return {
        names.get(row.participant, row.participant): {
            names.get(peer, peer): score for peer, score in row.scores.items()
        }
        for row in rows
    }


def consensus(rows: Iterable[ScoresGiven]) -> Score:
    """The sum of all scores in percent of the most it could be. What was not stated plainly is
    nobody's score, and stays out."""
    return agreement_pct(
        [score for row in rows for peer, score in row.scores.items() if peer not in row.inferred]
    )


@dataclass(frozen=True, slots=True)
class _Name:
    """A place in the block where somebody's name stands."""

    start: int
    end: int
    id: str | None


def _block(text: str) -> str:
    """What follows the last `SCORES:`, up to the next heading: the form asks for it last, so what
    comes before may be a quotation."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if _BLOCK.match(line)]
    if not starts:
        return ""
    first = lines[starts[-1]]
    match = _BLOCK.match(first)
    block = [first[match.end() :] if match else ""]
    for line in lines[starts[-1] + 1 :]:
        if _HEADING.match(line):
            break
        block.append(line)
    return _alike("\n".join(block))


def _names(block: str, ids: Mapping[str, str | None]) -> list[_Name]:
    """Every name in the block, the longest first, so that “Advocate” is not found within
    “Devil's Advocate”."""
    found: list[_Name] = []
    for name in sorted(ids, key=len, reverse=True):
        if not name.strip():
            continue
        pattern = re.compile(rf"(?<!\w){re.escape(_alike(name).strip())}(?!\w)", re.IGNORECASE)
        for match in pattern.finditer(block):
            if all(match.end() <= each.start or match.start() >= each.end for each in found):
                found.append(_Name(match.start(), match.end(), ids[name]))
    return sorted(found, key=lambda each: each.start)


def _clean(block: str, spans: Sequence[_Name]) -> int | None:
    """The one score that lines of the asked form give; None if there is none or they differ."""
    scores = set()
    for span in spans:
        start = block.rfind("\n", 0, span.start) + 1
        end = block.find("\n", span.end)
        match = _AFTER.match(block[span.end : end if end >= 0 else len(block)])
        if match and _BEFORE.match(block[start : span.start]):
            scores.add(int(match[1]))
    return scores.pop() if len(scores) == 1 else None


def _nearest(block: str, spans: Sequence[_Name], peer: str) -> int | None:
    """The digit nearest to the peer's name in its row, no farther than the names beside it; None
    if there is none, or if two are equally near and differ."""
    marks = [match.span() for match in _LIST_MARK.finditer(block)]
    found: list[tuple[int, int]] = []
    for place, span in enumerate(spans):
        if span.id != peer:
            continue
        before = spans[place - 1].end if place else 0
        after = spans[place + 1].start if place + 1 < len(spans) else len(block)
        low = max(before, block.rfind("\n", 0, span.start) + 1)
        high = min(after, _end_of_row(block, span.end))
        for match in _DIGIT.finditer(block, low, high):
            inside = span.start <= match.start() < span.end
            if inside or any(a <= match.start() < b for a, b in marks):
                continue
            distance = max(span.start - match.end(), match.start() - span.end)
            found.append((distance, int(match[1])))
    if not found:
        return None
    least = min(distance for distance, _ in found)
    scores = {score for distance, score in found if distance == least}
    return scores.pop() if len(scores) == 1 else None


def _end_of_row(block: str, start: int) -> int:
    """Where the line ends, or the next one if that is nothing but a number."""
    end = block.find("\n", start)
    if end < 0:
        return len(block)
    following = block.find("\n", end + 1)
    following = len(block) if following < 0 else following
    alone = not any(char.isalpha() for char in block[end:following])
    return following if alone else end


def _alike(text: str) -> str:
    """One kind of apostrophe and blank, so that a name is found however it was typed."""
    return text.replace("’", "'").replace("‘", "'").replace("\u00a0", " ")
