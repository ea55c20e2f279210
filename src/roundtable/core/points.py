"""Points: the claims on a shared list, folded from what seats declared, and how each stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from .declaration import StanceWord
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


def points_of(
    state: State, statements: tuple[Statement, ...], before: int | None
) -> Iterator[Point]:
    """The list of points, from the first that was raised on."""
    found, merged = _raised(state, before)
    wordings: dict[str, str] = {}
    amended = {
        (stance.id, each.place, each.participant)
        for each in statements
        for stance in each.declaration.stances
        if stance.stance == "amend"
    }
    for each in statements:
        listed = set(found)
        for said_to in each.declaration.stances:
            name = merged.get(said_to.id, said_to.id)
            if name not in listed:
                continue
            author = found[name].author
            # Said beside its author, who changed it: nobody knows to which wording. Opposition
            # is not lost by that; it stands as what it was.
            beside = (said_to.id, each.place, author) in amended and not each.in_turn
            if each.participant != author and beside:
                if said_to.stance == "disagree":
                    found[name] = _opposed(found[name], each, said_to.text)
                continue
            found[name] = _with_stance(found[name], each, said_to.stance, said_to.text)
            if said_to.stance == "amend" and each.participant == author:
                wordings = {words: at for words, at in wordings.items() if at != name}
                wordings[worded(found[name].text)] = name
        for name in listed:
            point = found[name]
            changed = (name, each.place, point.author) in amended and not each.in_turn
            known = each.participant in point.spoke_since or point.turn_id == each.turn_id
            # Who speaks side by side with its author has not heard it.
            unseen = each.round == point.round and not each.in_turn
            if not known and not changed and not unseen:
                found[name] = replace(point, spoke_since=(*point.spoke_since, each.participant))
        for text in each.declaration.new_points:
            same = wordings.get(worded(text))
            if same is not None and found[same].author != each.participant:
                said = PointStance("agree", "", each.turn_id, each.round)
                found[same] = _answered(found[same], each.participant, said)
            elif same is None:
                name = f"p{len(found) + 1}"
                wordings[worded(text)] = name
                found[name] = Point(name, text, each.participant, each.turn_id, each.round)
    here, gone = _attending(state, before)
    for point in found.values():
        if point.id in merged:
            continue
        early = point.id in state.points
        yield point if early else replace(point, present=here, absent=gone)


def _attending(state: State, before: int | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The seats that can speak, and those that cannot: they failed since they last spoke, left, are
    too small to be counted, or never spoke before it was over."""

    def counts(round_: int) -> bool:
        return round_ > 0 and (before is None or round_ < before)

    last: dict[str, int] = {}
    small: set[str] = set()
    for speech in state.speeches:
        if counts(speech.round):
            last[speech.participant] = max(last.get(speech.participant, 0), speech.round)
            if demonstrates(state, speech):
                small.add(speech.participant)
    failed = {
        each.participant
        for each in state.failures
        if counts(each.round) and each.round > last.get(each.participant, 0)
    }
    seated = {each.id for each in state.participants}
    over = state.closed is not None
    seats = [each.id for each in state.voters]
    here = tuple(
        seat
        for seat in seats
        if seat in seated
        and seat not in failed
        and seat not in small
        and (seat in last or not over)
    )
    return here, tuple(seat for seat in seats if seat not in here)


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
    for raised in state.points.values():
        if before is not None and raised.round >= before:
            continue
        speech = state.speech(raised.turn_id)
        author = speech.participant if speech else HOST_WIRE_NAME
        since = tuple(dict.fromkeys(s.participant for s in stances if s.round >= raised.round))
        found[raised.point_id] = Point(
            raised.point_id, raised.text, author, raised.turn_id, raised.round, spoke_since=since
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
