"""Excerpts: of a text that is too long, the passages that have most to do with the question.

Kept are the beginning, where it is wanted the end, and then whatever shares the question's words,
by how rare they are in the text; where it shares hardly any, passages from all its parts. Each
comes with the page, sheet, slide or heading that it stands under; all in the order in which it
stands there. A mark says where something was left out, and how much.
Nothing is reworded, so that whatever is quoted from an excerpt stands in the whole text too.
Deterministic, without a model.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, zip_longest

from .pattern import pattern
from .text import clip, whole_up_to

BEGINNING = END = 0.2
"""The share of an excerpt that the text's beginning has for certain, and the end if it counts."""
PIECES = (150, 300, 600, 1200)
"""Characters beyond which a paragraph is taken apart: the shorter the excerpt, the finer."""
FINEST = 75
"""The same of a document of which hardly more than its beginning has room: so that the passage that
answers has some beside it."""
_TO_AN_EXCERPT = 6
"""At least so many pieces have room in an excerpt, if they can be fine enough."""
BESIDE = 0.3
"""How much of what a passage has to do with the question counts for those next to it, which often
say the rest."""
_LEFT_OUT = "[... {0:,} characters left out ...]"
_MARK = len(_LEFT_OUT.format(9_999_999)) + 2
_PLACE = pattern(r"\[(?:page|slide|sheet) [^\]\n]{1,80}\]$")
"""Where a passage stands in its document, as its reader marked it: without it nobody can cite."""
_TITLE = pattern(r"#{1,6} \S|\[(?!\.\.\. )[^\]\n]{1,80}\]$|={3,}|-{3,}")
_WORDS = pattern(r"[^\W_]{3,}|[\u3400-\u9fff]")
_STOP = pattern(r"(?<=[.!?。！？])\s+|\n")
_BLANK = pattern(r"\s+")
_SMALL = """
    the and for that this these those with from are was were been have has had not but they them
    their there then than what when where which who whom whose why how would should could will can
    may might must shall its our your his her you any all some such only also just very much many
    more most long before after now does did done into out about per too
    der die das den dem des und ist sind war nicht ein eine einen einem einer mit für auf aus bei
    von wie was wer wann warum welche welcher welches wir ihr sie uns man noch schon kann
    können soll sollen sollte sollten wird werden muss müssen vor nach
    los las que con por una del para como cuando cuándo cual cuál quien qué cómo dónde son está
    les des est pas une pour dans qui sur quel quelle quand comment nous vous
"""
"""Words that stand in every text and tell nothing of what a question is about."""
TELLING = 2
"""So many of its other words a question must share with a text, or all if it has fewer: else those
that they share by chance would choose what is read."""
_COMMON = 0.5
"""A word that stands in more than this share of the passages tells nothing."""
_FEWEST = 30
"""Characters of a passage that are worth their headings."""
_MISSES = 50
"""Passages in a row without room after which only crumbs of it are left."""


def excerpt(text: str, question: str, limit: int, *, end: bool = False) -> str:
    """The text, or at most `limit` characters of it, with the marks for what was left out. With
    `end` how it ends is kept as well, as of a speech that comes to its point there."""
    if len(text) <= max(0, limit):
        return text
    finest = PIECES[0] if end else FINEST
    fine = max((each for each in PIECES if each * _TO_AN_EXCERPT <= limit), default=finest)
    reading = _reading(text, question, fine)
    if chosen := _chosen(reading, limit, end=end):
        return _joined(text, (reading.passages[at] for at in chosen))
    return _clipped(text, reading, limit)


@dataclass(frozen=True, slots=True)
class _Passage:
    begin: int
    end: int
    kind: str = ""
    """`place`, `title`, or nothing."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text in passages, and what each has to do with a question."""

    passages: Sequence[_Passage]
    above: Sequence[tuple[int, ...]]
    """For each passage the headings that it stands under."""
    bodies: Sequence[int]
    """Those that are no headings: alone a heading tells nothing, it comes with what it is for."""
    ranked: Sequence[int]
    """The same, first those that have most to do with it."""
    telling: bool
    """Whether any of them has to do with it."""
    spread: bool
    """Whether too few words are shared to choose by them alone."""


@lru_cache(maxsize=32)
def _reading(text: str, question: str, fine: int) -> _Reading:
    passages = [piece for each in _paragraphs(text) for piece in _pieces(text, each, fine)]
    scores, shared = _scores(text, passages, question)
    bodies = [at for at, passage in enumerate(passages) if not passage.kind]
    bodies = bodies or list(range(len(passages)))
    ranked = sorted(bodies, key=lambda at: (-scores[at], at))
    telling = bool(ranked) and scores[ranked[0]] > 0
    spread = shared < min(TELLING, max(1, len(telling_words(question))))
    if spread:
        ranked = _by_turns([at for at in ranked if scores[at] > 0], _spread(bodies))
    return _Reading(passages, _headings_above(passages), bodies, ranked, telling, spread)


def is_spread(text: str, question: str) -> bool:
    """Whether an excerpt of this text would be chosen from all its parts, because the question
    shares too few words with it."""
    return _reading(text, question, PIECES[-1]).spread


def _spread(places: Sequence[int]) -> list[int]:
    """The same, so that however many are taken from the front, they come from all parts: the
    middle, then the middles of what is left on both sides, and so on."""
    found: list[int] = []
    ranges = [(0, len(places))]
    for begin, end in ranges:  # which grows while it is gone through
        if begin < end:
            middle = (begin + end) // 2
            found.append(places[middle])
            ranges += [(begin, middle), (middle + 1, end)]
    return found


def _by_turns(one: Sequence[int], other: Sequence[int]) -> list[int]:
    return list(dict.fromkeys(chain.from_iterable(zip_longest(one, other, fillvalue=other[0]))))


def _chosen(reading: _Reading, limit: int, *, end: bool) -> list[int]:
    passages = reading.passages
    left = limit - _MARK
    chosen: set[int] = set()

    def take(at: int) -> bool:
        nonlocal left
        wanted = [each for each in (*reading.above[at], at) if each not in chosen]
        cost = 0
        for each in wanted:
            # Whatever stands alone has a mark before it.
            alone = not {each - 1, each + 1} & chosen and each - 1 not in wanted
            cost += passages[each].end - passages[each].begin + (_MARK if alone else 0)
        if cost > left:
            return False
        chosen.update(wanted)
        left -= cost
        return True

    if reading.telling and not take(reading.ranked[0]):
        return []
    bodies = reading.bodies
    for at in bodies:
        first = at == bodies[0] and not end  # it is kept, also where it is more than its share
        if not (first or passages[at].end <= limit * BEGINNING) or not take(at):
            break
    last = passages[-1].end
    for at in reversed(bodies) if end else ():
        if last - passages[at].begin > limit * END or not take(at):
            break
    misses = 0
    for at in reading.ranked:
        if at not in chosen:
            misses = 0 if take(at) else misses + 1
            if misses > _MISSES:
                break
    return sorted(chosen)


def _joined(text: str, passages: Iterable[_Passage]) -> str:
    parts: list[str] = []
    done = 0
    for each in passages:
        if each.begin > done:
            parts.append(f"\n{_LEFT_OUT.format(each.begin - done)}\n")
        parts.append(text[each.begin : each.end])
        done = each.end
    if done < len(text):
        parts.append(f"\n{_LEFT_OUT.format(len(text) - done)}")
    return "".join(parts).strip("\n")


def _clipped(text: str, reading: _Reading, limit: int) -> str:
    """Where there is no room for a passage: the first words of the best, with its headings if
    these leave any."""
    at = reading.ranked[0] if reading.telling else reading.bodies[0]
    best = reading.passages[at]
    for heads in (reading.above[at], reading.above[at][:1], ()):
        runs = sum(each + 1 not in (*heads, at) for each in heads) + 2
        taken = [reading.passages[each] for each in heads]
        room = limit - _MARK * runs - sum(each.end - each.begin for each in taken)
        if room >= _FEWEST or (room > 0 and not heads):
            end = min(best.end, whole_up_to(text, best.begin + room))
            return _joined(text, [*taken, _Passage(best.begin, end)])
    return clip(text, limit)


# --- passages ----------------------------------------------------------------------------------


def _paragraphs(text: str) -> Iterator[_Passage]:
    """The text without a gap: paragraphs, each heading by itself. An empty line belongs to what it
    follows."""
    begin = at = 0
    kind, ended = "", False
    for line in re.split(r"(?<=\n)", text):
        stripped = line.strip()
        found = _kind(stripped)
        if at > begin and stripped and (found or kind or ended):
            yield _Passage(begin, at, kind)
            begin = at
        if stripped:
            kind = found
        at += len(line)
        ended = not stripped
    if at > begin:
        yield _Passage(begin, at, kind)


def _kind(line: str) -> str:
    if _PLACE.match(line):
        return "place"
    return "title" if _TITLE.match(line) else ""


def _pieces(text: str, passage: _Passage, fine: int) -> Iterator[_Passage]:
    """A long paragraph in pieces: at lines or sentences, or else between words."""
    begin = passage.begin
    while passage.end - begin > fine and not passage.kind:
        end = _stop(text, begin, begin + fine)
        yield _Passage(begin, end)
        begin = end
    yield _Passage(begin, passage.end, passage.kind)


def _stop(text: str, begin: int, limit: int) -> int:
    third = begin + (limit - begin) // 3
    for stops in (_STOP, _BLANK):
        if ends := [match.end() for match in stops.finditer(text, third, limit)]:
            return ends[-1]
    end = whole_up_to(text, limit)
    return end if end > begin else limit


def _headings_above(passages: Sequence[_Passage]) -> list[tuple[int, ...]]:
    """For each passage the place and the nearest title above it, with one right over that."""
    above: list[tuple[int, ...]] = []
    place: tuple[int, ...] = ()
    titles: tuple[int, ...] = ()
    for at, passage in enumerate(passages):
        match passage.kind:
            case "place":
                above.append(())
                place, titles = (at,), ()
            case "title":
                over = titles[-1:] if at and passages[at - 1].kind == "title" else ()
                above.append((*place, *over))
                titles = (*over, at)
            case _:
                above.append((*place, *titles))
    return above


# --- what each has to do with the question -----------------------------------------------------


def stems(text: str) -> set[str]:
    """The words of a text, in a form that their forms share."""
    return {_stem(word) for word in _WORDS.findall(text.casefold())}


def rarity(found: Sequence[set[str]]) -> dict[str, float]:
    """What each word of a question weighs, by how many of these have it."""
    within = Counter(word for words in found for word in words)
    return {
        word: math.log(1 + len(found) / count)
        for word, count in within.items()
        if count <= max(2, _COMMON * len(found))
    }


def telling_words(question: str) -> set[str]:
    """What a question is about, by its words: all but the small ones, if it has others."""
    return stems(question) - _SMALL_STEMS or stems(question)


def _scores(text: str, passages: Sequence[_Passage], question: str) -> tuple[list[float], int]:
    """How much each has to do with the question, the rarity of its words that stand in both; and
    how many words do."""
    asked = telling_words(question)
    scores = [0.0] * len(passages)
    bodies = [at for at, passage in enumerate(passages) if not passage.kind]
    found = [asked & stems(text[passages[at].begin : passages[at].end]) for at in bodies]
    weight = rarity(found)
    own = [sum(weight.get(word, 0.0) for word in words) for words in found]
    for number, at in enumerate(bodies):
        beside = max(own[max(0, number - 1) : number] + own[number + 1 : number + 2], default=0.0)
        scores[at] = own[number] + BESIDE * beside
    return scores, len(weight)


def _stem(word: str) -> str:
    """Forms of one word are mostly alike at their beginning."""
    return word[:6] if len(word) > 6 else word.removesuffix("s")


_SMALL_STEMS = stems(_SMALL)
