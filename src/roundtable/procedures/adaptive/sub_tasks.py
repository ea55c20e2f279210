"""Sub-tasks: several analysts' divisions of the work, merged into one that covers each part once.

A division is a whole that somebody thought through, so one of them is taken as it is: the one that
has most in common with the others. What the others name beside it is added where several do and
there is room; the rest is left out, and said to be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...core.text import clip, same_words
from .recommendation import Position

LIKE, LIKE_IN_ROLE = 0.4, 0.15
"""Shares of common words from which two tasks are the same; the second where the roles are."""
SUPPORTED = 2
"""Analysts who have to name a further sub-task before it gets a seat."""
MAX_TOLD = 160
_STEM = 5
_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SMALL_WORDS = """
a an and as at by for from in into is it its of on or that the their this to with what which how
der die das und ein eine für von zu mit el la los las de y para con le les des et pour
"""
_EMPTY = frozenset(_SMALL_WORDS.split())


@dataclass
class SubTask:
    """One part of the work: those who recommend it, whoever worded it first."""

    positions: list[Position] = field(default_factory=list)
    analysts: set[str] = field(default_factory=set)

    @property
    def told(self) -> list[str]:
        """What is to be done in it, each time that somebody means something else by it: of a role
        without a task anybody may have thought anything."""
        meant: list[Position] = []
        for each in sorted(self.positions, key=lambda each: not each.task):
            if not any(same_task(each, other) for other in meant):
                meant.append(each)
        return [clip(": ".join(p for p in (each.role, each.task) if p), MAX_TOLD) for each in meant]


@dataclass(frozen=True, slots=True)
class Division:
    """The sub-tasks that get a seat, each once, and those that get none."""

    parts: tuple[SubTask, ...] = ()
    left_out: tuple[str, ...] = ()


def merged(rows: Sequence[tuple[str, Sequence[Position]]], at_most: int) -> Division:
    """One division of the work from each analyst's own: `rows` are analysts with their positions.

    No sub-task stands in it twice, and each that somebody named is in it or among those left out.
    """
    rows = [(analyst, _once(positions)) for analyst, positions in rows if positions]
    if not rows:
        return Division()
    base = max(range(len(rows)), key=lambda n: (_support(rows, n), -n))
    analyst, positions = rows[base]
    parts = [SubTask([position], {analyst}) for position in positions]
    further: list[SubTask] = []
    for number, (name, theirs) in enumerate(rows):
        if number == base:
            continue
        for position, place in _matched(theirs, [part.positions[0] for part in parts]):
            if place is not None:
                parts[place].positions.append(position)
                parts[place].analysts.add(name)
                continue
            known = next((p for p in further if same_task(position, p.positions[0])), None)
            if known is None:
                further.append(SubTask([position], {name}))
            else:
                known.positions.append(position)
                known.analysts.add(name)
    further.sort(key=lambda part: -len(part.analysts))
    wanted = [part for part in further if len(part.analysts) >= SUPPORTED]
    taken = [*parts, *wanted][:at_most]
    left = [part for part in (*parts, *further) if not any(part is each for each in taken)]
    return Division(tuple(taken), tuple(told for part in left for told in part.told))


def same_task(one: Position, other: Position) -> bool:
    """Whether two analysts mean the same part of the work."""
    share = _likeness(one.task, other.task)
    if one.role and one.role.casefold() == other.role.casefold():
        return share >= LIKE_IN_ROLE or not (one.task and other.task)
    return share >= LIKE


def _once(positions: Sequence[Position]) -> list[Position]:
    """Positions without those that give the same task to somebody else again."""
    kept: list[Position] = []
    for each in positions:
        if not each.task or not any(same_words(each.task, other.task) for other in kept):
            kept.append(each)
    return kept


def _support(rows: Sequence[tuple[str, Sequence[Position]]], base: int) -> int:
    """How many of the others' sub-tasks a division covers."""
    own = rows[base][1]
    return sum(
        place is not None
        for number, (_, theirs) in enumerate(rows)
        if number != base
        for _, place in _matched(theirs, own)
    )


def _matched(
    theirs: Sequence[Position], parts: Sequence[Position]
) -> list[tuple[Position, int | None]]:
    """Each of an analyst's positions with the part that it is: the nearest one, and each part
    once."""
    pairs = sorted(
        (
            (-_likeness(t.task, p.task), number, place)
            for number, t in enumerate(theirs)
            for place, p in enumerate(parts)
            if same_task(t, p)
        ),
    )
    found: dict[int, int] = {}
    for _, number, place in pairs:
        if number not in found and place not in found.values():
            found[number] = place
    return [(each, found.get(number)) for number, each in enumerate(theirs)]


def _likeness(one: str, other: str) -> float:
    a, b = _words(one), _words(other)
    return len(a & b) / len(a | b) if a and b else 0.0


def _words(text: str) -> frozenset[str]:
    """The words that tell one task from another, cut to their stems; of scripts without blanks,
    the characters."""
    words = {word[:_STEM] for word in _WORD.findall(text.casefold()) if word not in _EMPTY}
    return frozenset({*words, *_CJK.findall(text)})
