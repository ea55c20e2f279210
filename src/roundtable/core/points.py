"""Points and stances: the shared, versioned list of issues, and who holds what on each of them.

Agreement is measured here and on ballots, never on how alike two speeches sound. A list is a
value: raising a point or declaring a stance gives the next version and leaves the old one as it
was. Points with the same wording are one point; a point that denies another one is that point
turned round, so that whoever agrees with both of two opposite claims never counts as agreeing
with somebody who holds only one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from pydantic import Field

from .state import State
from .values import Value

Position = Literal["agree", "disagree", "unsure"]
Source = Literal["declared", "clerk", "extracted"]
Standing = Literal["consensus", "disagreement", "open"]

_TURNED_ROUND: Mapping[Position, Position] = {
    "agree": "disagree",
    "disagree": "agree",
    "unsure": "unsure",
}
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_]+(?:'[^\W_]+)*")
_FILLERS = """
    a an the is are was were be been being am do does did that
    der die das ein eine einen ist sind war
    el la los las un una es son
    的 了 是 地 得
"""
_DENIALS = """
    not no never nicht kein keine keinen nie nunca jamás
    不 没 未 无 非 别
"""
_FILLER = frozenset(_FILLERS.split())
_DENIAL = frozenset(_DENIALS.split())


class Point(Value):
    """One claim on the list, in the words of whoever raised it first."""

    id: str
    text: str
    raised_by: str = ""
    """The participant."""
    turn: str = ""
    round: int = 1


class Stance(Value):
    """One participant's position on a point, as one speech gave it."""

    participant: str
    point: str
    position: Position
    confidence: float | None = Field(default=None, ge=0, le=1)
    turn: str = ""
    round: int = 1
    source: Source = "declared"
    quote: str = ""
    because: str = ""
    """The point whose argument brought the participant here, if it named one."""

    @property
    def rough(self) -> bool:
        """Read from prose by rules and not declared: a hint, not a vote."""
        return self.source == "extracted"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Somebody agreed and disagreed with one point in one speech: it counts as unsure."""

    participant: str
    point: str
    turn: str
    round: int


@dataclass(frozen=True, slots=True)
class RoundPoints:
    """What a round came to: the points as they stood at its end, and those first raised in it."""

    round: int
    consensus: tuple[str, ...]
    disagreement: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Alias:
    """The point that another one stands for, and whether it denies it."""

    point: str
    reversed: bool


@dataclass(frozen=True, slots=True)
class PointList:
    """A version of the list. `PointList()` is the empty one, version 0."""

    points: tuple[Point, ...] = ()
    """All that were raised, duplicates too; see `issues`."""
    stances: tuple[Stance, ...] = ()
    """All that were declared, in the order in which they came."""
    version: int = 0
    unknown: tuple[Stance, ...] = ()
    """Stances on points that nobody raised: kept to be shown, never counted."""
    _by_id: Mapping[str, Point] = field(default_factory=dict, repr=False, compare=False)
    _aliases: Mapping[str, _Alias] = field(default_factory=dict, repr=False)
    _wordings: Mapping[tuple[str, ...], _Alias] = field(
        default_factory=dict, repr=False, compare=False
    )
    _folds: dict[int | None, _Fold] = field(default_factory=dict, repr=False, compare=False)

    def raise_points(self, *points: Point) -> PointList:
        """The next version with these points. A point whose id is there already is ignored if it
        says the same, and a ValueError if it does not."""
        by_id, aliases, wordings = dict(self._by_id), dict(self._aliases), dict(self._wordings)
        fresh: list[Point] = []
        for point in points:
            held = by_id.get(point.id)
            if held is not None:
                if held.text != point.text:
                    raise ValueError(f"point {point.id!r} is on the list with other words")
                continue
            by_id[point.id] = point
            fresh.append(point)
            key, denied = wording(point.text)
            first = wordings.setdefault(key, _Alias(point.id, denied)) if key else None
            if first is not None and first.point != point.id:
                target = aliases.get(first.point, _Alias(first.point, False))
                turned = (denied != first.reversed) != target.reversed
                aliases[point.id] = _Alias(target.point, turned)
        if not fresh:
            return self
        return PointList(
            points=(*self.points, *fresh),
            stances=self.stances,
            version=self.version + 1,
            unknown=self.unknown,
            _by_id=by_id,
            _aliases=aliases,
            _wordings=wordings,
        )

    def declare(self, *stances: Stance) -> PointList:
        """The next version with these stances. Later ones replace earlier ones when it is read."""
        if not stances:
            return self
        return PointList(
            points=self.points,
            stances=(*self.stances, *(s for s in stances if s.point in self._by_id)),
            version=self.version + 1,
            unknown=(*self.unknown, *(s for s in stances if s.point not in self._by_id)),
            _by_id=self._by_id,
            _aliases=self._aliases,
            _wordings=self._wordings,
        )

    def merge(self, kept: str, other: str, *, denies: bool = False) -> PointList:
        """The next version in which `other` stands for `kept`, or with `denies` for its opposite.

        For duplicates that only a reader sees. Wordings that are the same but for a "not" are
        opposites whatever the caller says, because merging them would turn dissent into consensus.
        """
        one, two = self._by_id.get(kept), self._by_id.get(other)
        if one is None or two is None:
            raise ValueError(f"no such point: {other if one else kept!r}")
        target, source = self.issue_of(kept), self.issue_of(other)
        if target == source:
            return self
        (key_one, denied_one), (key_two, denied_two) = wording(one.text), wording(two.text)
        turned = denied_one != denied_two if key_one and key_one == key_two else denies
        turned = (turned != self._turned(kept)) != self._turned(other)
        aliases = {
            name: _Alias(target, alias.reversed != turned) if alias.point == source else alias
            for name, alias in self._aliases.items()
        }
        aliases[source] = _Alias(target, turned)
        return PointList(
            points=self.points,
            stances=self.stances,
            version=self.version + 1,
            unknown=self.unknown,
            _by_id=self._by_id,
            _aliases=aliases,
            _wordings=self._wordings,
        )

    def __contains__(self, point_id: object) -> bool:
        return point_id in self._by_id

    def point(self, point_id: str) -> Point | None:
        return self._by_id.get(point_id)

    def issue_of(self, point_id: str) -> str:
        """The id of the point that this one stands for: its own if it is no duplicate."""
        alias = self._aliases.get(point_id)
        return alias.point if alias else point_id

    def denies_its_issue(self, point_id: str) -> bool:
        """Whether the point says the opposite of the one that it was merged into."""
        return self._turned(point_id)

    def _turned(self, point_id: str) -> bool:
        alias = self._aliases.get(point_id)
        return alias is not None and alias.reversed

    @property
    def issues(self) -> tuple[Point, ...]:
        """The points without their duplicates."""
        return tuple(point for point in self.points if point.id not in self._aliases)

    @property
    def participants(self) -> tuple[str, ...]:
        """Everybody who declared a stance that counts, in order of appearance."""
        return tuple(dict.fromkeys(stance.participant for stance in self.stances))

    @property
    def rounds(self) -> tuple[int, ...]:
        """The rounds in which anything was raised or declared, in order."""
        return tuple(sorted({p.round for p in self.points} | {s.round for s in self.stances}))

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        return tuple(self._read(None)[1])

    def held(self, through_round: int | None = None) -> tuple[Stance, ...]:
        """Each participant's stance on each issue, the last one up to the end of a round.

        A stance on a duplicate comes back as one on its issue, turned round where the duplicate
        denies it. Contradictory stances of one speech come back as one that is unsure.
        """
        return tuple(self._read(through_round)[0].values())

    def positions(self, through_round: int | None = None) -> dict[str, dict[str, Position]]:
        """For each issue, who holds what: the last stances up to the end of a round."""
        table: dict[str, dict[str, Position]] = {
            point.id: {}
            for point in self.issues
            if through_round is None or point.round <= through_round
        }
        for stance in self.held(through_round):
            table.setdefault(stance.point, {})[stance.participant] = stance.position
        return table

    def points_of_round(self, round_: int) -> RoundPoints:
        """Consensus and disagreement as they stood at the end of a round, and its new points."""
        consensus: list[str] = []
        disagreement: list[str] = []
        for issue, positions in self.positions(round_).items():
            match standing(positions.values()):
                case "consensus":
                    consensus.append(issue)
                case "disagreement":
                    disagreement.append(issue)
                case "open":
                    pass
        new = tuple(point.id for point in self.issues if point.round == round_)
        return RoundPoints(round_, tuple(consensus), tuple(disagreement), new)

    def _read(self, through_round: int | None) -> _Fold:
        """Fold the stances in the order of rounds, and of arrival within a round. A list never
        changes, so a fold is made once: a report asks for every round, and more than once."""
        if through_round not in self._folds:
            self._folds[through_round] = self._fold(through_round)
        return self._folds[through_round]

    def _fold(self, through_round: int | None) -> _Fold:
        newest: dict[tuple[str, str], Stance] = {}
        said: dict[tuple[str, str, str], set[Position]] = {}
        contradictions: dict[Contradiction, None] = {}
        for stance in sorted(self.stances, key=lambda each: each.round):
            if through_round is not None and stance.round > through_round:
                break
            mine = self._on_issue(stance)
            if mine.turn:
                here = said.setdefault((mine.participant, mine.point, mine.turn), set())
                here.add(mine.position)
                if len(here) > 1:
                    mine = mine.model_copy(update={"position": "unsure", "confidence": None})
                if {"agree", "disagree"} <= here:
                    clash = Contradiction(mine.participant, mine.point, mine.turn, mine.round)
                    contradictions[clash] = None
            newest[mine.participant, mine.point] = mine
        return newest, list(contradictions)

    def _on_issue(self, stance: Stance) -> Stance:
        alias = self._aliases.get(stance.point)
        if alias is None:
            return stance
        position = _TURNED_ROUND[stance.position] if alias.reversed else stance.position
        return stance.model_copy(update={"point": alias.point, "position": position})


_Fold = tuple[Mapping[tuple[str, str], Stance], Sequence[Contradiction]]
"""Each participant's newest stance on each issue, and where a speech contradicted itself."""


def points_of(state: State) -> PointList:
    """The list as a discussion's events tell it."""
    raised: list[Point] = []
    for event in state.points.values():
        speech = state.speech(event.turn_id)
        raised.append(
            Point(
                id=event.point_id,
                text=event.text,
                raised_by=speech.participant if speech else "",
                turn=event.turn_id,
                round=event.round,
            )
        )
    points = PointList().raise_points(*raised)
    for merge in state.merges:
        for other in merge.merged:
            if other in points and merge.into in points:
                points = points.merge(merge.into, other, denies=merge.denies)
    return points.declare(
        *(
            Stance(
                participant=event.participant,
                point=event.point_id,
                position=event.position,
                confidence=event.confidence,
                turn=event.turn_id,
                round=event.round,
                source=event.source,
                quote=event.quote,
                because=event.because,
            )
            for event in state.stances
            if event.meaningful
        )
    )


def standing(positions: Iterable[str]) -> Standing:
    """Consensus: several hold the same and nobody the opposite. Disagreement: both are held.

    A point that several reject is a consensus too. Whoever is unsure counts for neither.
    """
    held = [position for position in positions if position != "unsure"]
    if len(set(held)) > 1:
        return "disagreement"
    return "consensus" if len(held) > 1 else "open"


@lru_cache(maxsize=32_768)
def wording(text: str) -> tuple[tuple[str, ...], bool]:
    """The words that tell whether two points are worded alike, and whether they deny.

    Two texts with the same words in the same order say the same if both or neither deny, and the
    opposite if one does. Only articles, forms of "be" and "do" and plural endings are left out:
    a number, a name or a "must" in place of a "may" makes another point.
    """
    tokens = _TOKEN.findall(_spelled_out(text))
    denied = sum(token in _DENIAL for token in tokens) % 2 == 1
    kept = (t for t in tokens if t not in _FILLER and t not in _DENIAL)
    return tuple(_singular(token) for token in kept), denied


def _spelled_out(text: str) -> str:
    plain = text.casefold().replace("’", "'")
    return plain.replace("can't", "can not").replace("cannot", "can not").replace("n't", " not")


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
