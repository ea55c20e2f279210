"""Points and stances from speeches, by rules: for when no model is to be had.

It is rough and says so. A sentence becomes a point when it demands or judges something; it joins
a point that is there only if it says the same; a stance is taken down only where a rule is plain.
Everything else stays unknown, because a stance that nobody took is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..points import Point, PointList, Position, Stance
from ..text import sentences
from .lexicon import is_chinese, lexicon, stems, words
from .matching import Embed, Matcher
from .stance import stance_toward

NOTICE = (
    "Read from the speeches by rules, without a model: rough. Where a rule was not sure, it says "
    "nothing, so points may be missing and the same point may stand here twice."
)
FEWEST_WORDS, MOST_WORDS = 4, 40
MOST_POINTS_A_SPEECH = 8
MOST_CANDIDATES = 64
"""A word that more points share tells nothing about any of them."""
_LABEL = re.compile(
    r"^\W*(?:(?P<agree>agree[ds]?|agreement|consensus|support|同意|赞同)"
    r"|(?P<disagree>disagree[ds]?|disagreement|dissent|reject|oppose|不同意|反对)"
    r"|(?P<unsure>unsure|undecided|open|不确定))\W*[:：]\W*(?P<claim>\S.*)$",
    re.IGNORECASE,
)
_PEER = re.compile(r"\s+(?:with|and)\s+[^,.;:]{1,40}?\s+that\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Speech:
    """What the extractor needs to know of a speech."""

    participant: str
    text: str
    turn: str = ""
    round: int = 1


@dataclass(frozen=True, slots=True)
class Extraction:
    """The list as far as rules could read it, and the warning that goes with it."""

    points: PointList
    notice: str = NOTICE


@dataclass(frozen=True, slots=True)
class _Statement:
    """A claim in a speech, with the speaker's position on it."""

    claim: str
    position: Position
    quote: str
    declared: bool
    """Whether the speaker named its position, and did not merely make the claim."""


def extract(
    topic: str,
    speeches: Sequence[Speech],
    embed: Embed | None = None,
    start: PointList | None = None,
) -> Extraction:
    """Read the speeches in their order, beginning with the points of `start`."""
    matcher = Matcher(topic, embed)
    points = start or PointList()
    index = _Index(matcher)
    for point in points.issues:
        index.add(point)
    read = [(speech, _statements(speech.text)) for speech in speeches]
    matcher.prepare(statement.claim for _, found in read for statement in found)
    for speech, statements in read:
        points = _take_down(points, index, speech, statements)
    return Extraction(points)


def _take_down(
    points: PointList, index: _Index, speech: Speech, statements: Sequence[_Statement]
) -> PointList:
    raised: list[Point] = []
    stances: list[Stance] = []

    def declare(point: str, position: Position, quote: str) -> None:
        stances.append(
            Stance(
                participant=speech.participant,
                point=point,
                position=position,
                turn=speech.turn,
                round=speech.round,
                source="extracted",
                quote=quote,
            )
        )

    for statement in statements:
        match = index.find(statement.claim)
        if match is None:
            point = Point(
                id=_free_id(points, len(raised)),
                text=statement.claim,
                raised_by=speech.participant,
                turn=speech.turn,
                round=speech.round,
            )
            raised.append(point)
            index.add(point)
            declare(point.id, statement.position, statement.quote)
        else:
            known, denied = match
            held = _turned(statement.position) if denied else statement.position
            declare(known.id, held, statement.quote)
        if statement.declared:
            continue
        for other in index.near(statement.claim):
            if other.raised_by == speech.participant or (match and other is match[0]):
                continue
            reading = stance_toward(other.text, statement.claim)
            if reading.position is not None:
                declare(other.id, reading.position, statement.quote)
    return points.raise_points(*raised).declare(*stances)


def _free_id(points: PointList, ahead: int) -> str:
    number = len(points.points) + ahead + 1
    while f"x{number}" in points:
        number += 1
    return f"x{number}"


def _turned(position: Position) -> Position:
    return "unsure" if position == "unsure" else "agree" if position == "disagree" else "disagree"


class _Index:
    """Finds the few points that a claim may repeat or answer, without comparing it with all."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._by_word: dict[str, list[Point]] = {}

    def add(self, point: Point) -> None:
        for word in self._matcher.content(point.text):
            self._by_word.setdefault(word, []).append(point)

    def find(self, claim: str) -> tuple[Point, bool] | None:
        """The point that says the same, or the opposite (True); None if none plainly does."""
        for point in self.near(claim):
            relation = self._matcher.relation(claim, point.text)
            if relation in ("same", "opposite"):
                return point, relation == "opposite"
        return None

    def near(self, claim: str) -> list[Point]:
        """Points with a word of the claim's own, those with most of them first."""
        shared: dict[str, tuple[int, Point]] = {}
        for word in sorted(self._matcher.content(claim)):
            for point in self._by_word.get(word, [])[:MOST_CANDIDATES]:
                count, _ = shared.get(point.id, (0, point))
                shared[point.id] = count + 1, point
        ranked = sorted(shared.values(), key=lambda each: -each[0])
        return [point for _, point in ranked[:MOST_CANDIDATES]]


def _statements(text: str) -> list[_Statement]:
    """The claims of a speech: positions that it names, then what it demands or judges itself."""
    named: list[_Statement] = []
    made: list[_Statement] = []
    for sentence in sentences(text):
        statement = _labelled(sentence) or _named(sentence)
        if statement is not None:
            named.append(statement)
        elif _is_claim(sentence):
            made.append(_Statement(sentence, "agree", sentence, declared=False))
    return named + made[: max(0, MOST_POINTS_A_SPEECH - len(named))]


def _labelled(sentence: str) -> _Statement | None:
    """`Agree: …` and `Disagree: …`, one to a line."""
    found = _LABEL.match(sentence)
    if found is None:
        return None
    position: Position = (
        "agree" if found["agree"] else "disagree" if found["disagree"] else "unsure"
    )
    return _Statement(found["claim"].strip(), position, sentence, declared=True)


def _named(sentence: str) -> _Statement | None:
    """Such as "I agree that …", "I agree with Anna that …", "I do not agree that …"."""
    language = "zh" if is_chinese(sentence) else "en"
    lists = lexicon(language)
    plain = re.sub(r"n['’]t\b", " not", _PEER.sub(" that ", sentence.strip()))
    spelled = " ".join(words(plain)) if language == "en" else plain
    ways: tuple[tuple[Iterable[str], Position], ...] = (
        (lists.disagreeing_that, "disagree"),
        (lists.unsure_that, "unsure"),
        (lists.agreeing_that, "agree"),
    )
    for phrases, position in ways:
        for phrase in phrases:
            if spelled.startswith(phrase):
                claim = _after(plain, phrase) if language == "en" else plain[len(phrase) :]
                claim = claim.strip(" ，,:：。.")
                if claim:
                    return _Statement(claim, position, sentence, declared=True)
    return None


def _after(sentence: str, phrase: str) -> str:
    """The sentence after the words of the phrase, as it is written."""
    rest = sentence
    for _ in phrase.split():
        cut = re.match(r"\W*[^\W_]+(?:['\-][^\W_]+)*", rest)
        rest = rest[cut.end() :] if cut else ""
    return rest


def _is_claim(sentence: str) -> bool:
    """Whether a sentence demands or judges: what a table can be for or against."""
    if sentence.rstrip().endswith(("?", "？", ":", "：")):
        return False
    if is_chinese(sentence):
        lists = lexicon("zh")
        return 6 <= len(sentence) <= 120 and any(
            word in sentence for word in lists.good | lists.bad | lists.against
        )
    lists = lexicon("en")
    said = stems(sentence)
    signs = lists.demanding | lists.good | lists.bad | lists.against
    return FEWEST_WORDS <= len(said) <= MOST_WORDS and not signs.isdisjoint(said)
