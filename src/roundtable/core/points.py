"""Points: the claims on a shared list, folded from what seats declared, and how each stands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .declaration import DeclaredStance, StanceWord
from .state import State
from .statement import PointStance, Statement, demonstrates
from .text import worded
from .values import HOST_WIRE_NAME

PointStatus = Literal["agreed", "held", "disputed", "rejected", "withdrawn", "open"]


@dataclass(frozen=True, slots=True)
class Point:
    """A claim on the shared list, in its newest wording."""

    id: str
    text: str
    author: str
    turn_id: str
    round: int
    version: int = 1
    stances: Mapping[str, PointStance] = field(default_factory=dict)
    """By seat; the author's own is there only if it amended or withdrew the point."""
    withdrawn: bool = False
    spoke_since: tuple[str, ...] = ()
    """The seats that declared something since it was worded: whether or not they were asked about
    it, none of them has agreed by silence."""
    present: tuple[str, ...] = ()
    """The seats that can still speak to it: all who were seated and are not lost. Empty for points
    of earlier versions of the program, which were settled among those who had spoken."""
    absent: tuple[str, ...] = ()
    """The seats that cannot: nothing waits for them, and they are named."""
    opposed_before: Mapping[str, PointStance] = field(default_factory=dict)
    """Who was against an earlier wording and has not spoken to this one: its author cannot settle
    that by changing the words."""

    @property
    def holders(self) -> tuple[str, ...]:
        """Who stands behind it: the author, unless it withdrew, and whoever agrees."""
        agreeing = [seat for seat, each in self.stances.items() if each.stance == "agree"]
        return tuple(dict.fromkeys([*([] if self.withdrawn else [self.author]), *agreeing]))

    @property
    def opponents(self) -> tuple[str, ...]:
        return tuple(seat for seat, each in self.stances.items() if each.stance == "disagree")

    def stance_of(self, seat: str) -> PointStance | None:
        """What a seat said to it last. Its author holds it, also in silence."""
        said = self.stances.get(seat)
        if said is None and seat == self.author and not self.withdrawn:
            return PointStance("agree", "", self.turn_id, self.round)
        return said

    @property
    def silent(self) -> tuple[str, ...]:
        """Who declared something since and said nothing to it."""
        return tuple(s for s in self.spoke_since if s not in self.stances and s != self.author)

    @property
    def unheard(self) -> tuple[str, ...]:
        """Who can still speak to it and has declared nothing since it was worded."""
        return tuple(s for s in self.present if s not in self.spoke_since and s not in self.holders)

    @property
    def status(self) -> PointStatus:
        """Silence is not agreement, and `partly` is neither for nor against. Nothing is settled
        before all who are present were heard, nor by changing the words that somebody opposed."""
        if self.withdrawn:
            return "withdrawn"
        others = {*self.spoke_since, *self.present} - {self.author}
        against = set(self.opponents)
        if others and self.author in against and against >= others:
            return "rejected"
        if against:
            return "disputed"
        agreeing = set(self.holders) - {self.author}
        if agreeing and agreeing >= others and not self.opposed_before:
            return "agreed"
        return "held" if agreeing else "open"


class Points:
    """The list of points, from the first that was raised on, folded from one statement after
    another. `statements` are all that will be added: who speaks beside an amendment is known from
    them. `before` limits what earlier versions of the program raised."""

    def __init__(
        self, state: State, statements: Sequence[Statement], before: int | None = None
    ) -> None:
        self._state = state
        self._found, self._merged = _raised(state, before)
        self._wordings: dict[str, str] = {}
        self._amended = {
            (stance.id, each.place, each.participant)
            for each in statements
            for stance in each.declaration.stances
            if stance.stance == "amend"
        }
        self._speakers = {each.participant for each in statements}
        self._waiting = dict.fromkeys(self._found)
        """The points that somebody who declares something has not spoken since."""
        self._shown: dict[str, tuple[Point, Point]] = {}

    def add(self, each: Statement) -> None:
        for said_to in each.declaration.stances:
            self._stance(each, said_to)
        self._heard(each)
        for text in each.declaration.new_points:
            same = self._wordings.get(worded(text))
            if same is not None and self._found[same].author != each.participant:
                said = PointStance("agree", "", each.turn_id, each.round)
                self._found[same] = _answered(self._found[same], each.participant, said)
            elif same is None:
                name = f"p{len(self._found) + 1}"
                self._wordings[worded(text)] = name
                self._found[name] = Point(name, text, each.participant, each.turn_id, each.round)
                self._waiting[name] = None

    def listed(self, before: int | None) -> tuple[Point, ...]:
        """The points as they stand now, at the end of what came `before` this round."""
        here, gone = _attending(self._state, before)
        return tuple(
            self._attended(point, here, gone)
            for point in self._found.values()
            if point.id not in self._merged
        )

    def _attended(self, point: Point, here: tuple[str, ...], gone: tuple[str, ...]) -> Point:
        """With whoever can speak to it. What has not changed since is the same object."""
        if point.id in self._state.points:
            return point
        known, shown = self._shown.get(point.id, (None, point))
        if known is not point or (shown.present, shown.absent) != (here, gone):
            shown = replace(point, present=here, absent=gone)
            self._shown[point.id] = (point, shown)
        return shown

    def _stance(self, each: Statement, said_to: DeclaredStance) -> None:
        name = self._merged.get(said_to.id, said_to.id)
        point = self._found.get(name)
        if point is None:
            return
        # Said beside its author, who changed it: nobody knows to which wording. Opposition
        # is not lost by that; it stands as what it was.
        beside = (said_to.id, each.place, point.author) in self._amended and not each.in_turn
        if each.participant != point.author and beside:
            if said_to.stance == "disagree":
                self._found[name] = _opposed(point, each, said_to.text)
            return
        self._found[name] = _with_stance(point, each, said_to.stance, said_to.text)
        if said_to.stance == "amend" and each.participant == point.author:
            self._wordings = {words: at for words, at in self._wordings.items() if at != name}
            self._wordings[worded(self._found[name].text)] = name
            self._waiting[name] = None

    def _heard(self, each: Statement) -> None:
        """Whoever declares something has spoken since what it knew of was worded."""
        for name in tuple(self._waiting):
            point = self._found[name]
            changed = (name, each.place, point.author) in self._amended and not each.in_turn
            known = each.participant in point.spoke_since or point.turn_id == each.turn_id
            # Who speaks side by side with its author has not heard it.
            unseen = each.round == point.round and not each.in_turn
            if not known and not changed and not unseen:
                spoke = (*point.spoke_since, each.participant)
                self._found[name] = replace(point, spoke_since=spoke)
            if self._speakers <= set(self._found[name].spoke_since):
                del self._waiting[name]


def _attending(state: State, before: int | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The seats that can speak, and those that cannot: they failed since they last spoke, left, are
    too small to be counted, or never spoke before it was over."""

    spoke, small, failed = state.derived("rounds of seats", _rounds)
    seats = [each.id for each in state.voters]
    last = {seat: at for seat in seats if (at := _latest(spoke.get(seat, ()), before))}
    lost = {
        seat
        for seat in seats
        if _latest(small.get(seat, ()), before)
        or _latest(failed.get(seat, ()), before) > last.get(seat, 0)
    }
    seated = {each.id for each in state.participants}
    over = state.closed is not None
    here = tuple(
        seat for seat in seats if seat in seated and seat not in lost and (seat in last or not over)
    )
    return here, tuple(seat for seat in seats if seat not in here)


_Rounds = Mapping[str, Sequence[int]]


def _rounds(state: State) -> tuple[_Rounds, _Rounds, _Rounds]:
    """By participant, in order: the rounds in which it spoke, in which it did so by a speaker too
    small to be counted, and in which it failed."""
    spoke: dict[str, list[int]] = {}
    small: dict[str, list[int]] = {}
    failed: dict[str, list[int]] = {}
    for speech in state.said.of_seats:
        spoke.setdefault(speech.participant, []).append(speech.round)
        if demonstrates(state, speech):
            small.setdefault(speech.participant, []).append(speech.round)
    for each in state.failures:
        failed.setdefault(each.participant, []).append(each.round)
    for rounds in (spoke, small, failed):
        for listed in rounds.values():
            listed.sort()
    return spoke, small, failed


def _latest(rounds: Sequence[int], before: int | None) -> int:
    """The last of these rounds that came before this one; 0 if there is none."""
    end = len(rounds) if before is None else bisect_left(rounds, before)
    return rounds[end - 1] if end else 0


_TURNED: Mapping[str, StanceWord] = {"agree": "disagree", "disagree": "agree"}


def _raised(state: State, before: int | None) -> tuple[dict[str, Point], dict[str, str]]:
    """Points of earlier versions of the program, which had events of their own, and what was
    merged into what. Stances that rules read from prose were never declared: they are left out."""
    found: dict[str, Point] = {}
    merges = {name: merge for merge in state.merges for name in merge.merged}
    stances = [
        s
        for s in state.stances
        if s.source != "extracted" and s.meaningful and (before is None or s.round < before)
    ]
    spoke: dict[int, tuple[str, ...]] = {}
    """Who took a stance in a round or after it."""
    for raised in state.points.values():
        if before is not None and raised.round >= before:
            continue
        speech = state.speech(raised.turn_id)
        author = speech.participant if speech else HOST_WIRE_NAME
        if raised.round not in spoke:
            since = dict.fromkeys(s.participant for s in stances if s.round >= raised.round)
            spoke[raised.round] = tuple(since)
        found[raised.point_id] = Point(
            raised.point_id,
            raised.text,
            author,
            raised.turn_id,
            raised.round,
            spoke_since=spoke[raised.round],
        )
    for stance in stances:
        merge = merges.get(stance.point_id)
        point = found.get(merge.into if merge else stance.point_id)
        if point is None:
            continue
        held: StanceWord = stance.position
        if merge is not None and merge.denies:
            held = _TURNED.get(held, held)
        if (
            stance.participant == point.author
            and held == "agree"
            and point.author not in point.stances
        ):
            continue
        said = PointStance(held, stance.quote, stance.turn_id, stance.round)
        found[point.id] = _answered(point, stance.participant, said)
    return found, {name: merge.into for name, merge in merges.items()}


def _with_stance(point: Point, each: Statement, stance: StanceWord, text: str) -> Point:
    said = PointStance(stance, text, each.turn_id, each.round)
    if stance == "amend":
        if each.participant != point.author:
            return point
        # A new version: what was said to the old wording was not said to this one.
        opposed = {who: at for who, at in point.stances.items() if at.stance == "disagree"}
        opposed.pop(point.author, None)
        return Point(
            point.id,
            text,
            point.author,
            each.turn_id,
            each.round,
            point.version + 1,
            opposed_before={**point.opposed_before, **opposed},
        )
    if stance == "withdraw":
        if each.participant != point.author:
            return point
        return replace(_answered(point, each.participant, said), withdrawn=True)
    return _answered(point, each.participant, said)


def _answered(point: Point, seat: str, said: PointStance) -> Point:
    since = point.spoke_since if seat in point.spoke_since else (*point.spoke_since, seat)
    before = {who: at for who, at in point.opposed_before.items() if who != seat}
    stances = {**point.stances, seat: said}
    return replace(point, stances=stances, spoke_since=since, opposed_before=before)


def _opposed(point: Point, each: Statement, text: str) -> Point:
    said = PointStance("disagree", text, each.turn_id, each.round)
    return replace(point, opposed_before={**point.opposed_before, each.participant: said})
