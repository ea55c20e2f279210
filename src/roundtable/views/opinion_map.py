"""The opinion map: who stands where on which point, who stands together, and what bridges them.

Groups are found on contested points alone, because what everybody shares tells nobody apart. Two
participants belong together if they hold the same on more of them than they hold opposites; groups
grow as long as their members agree more than they disagree on average. A point is a bridge if every
camp is for it, or every camp against; a participant is one if it stands with one camp on some of
what divides them, and with another camp on some more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from ..core.convergence import stability
from ..core.declaration import StanceWord
from ..core.naming import names_of
from ..core.position_changes import Change, changes_of_mind, points_held
from ..core.record import PointStatus, Record, record_of, records_by_round
from ..core.standing import convergence
from ..core.state import State

Position = Literal["agree", "partly", "disagree", "unsure"]
"""What somebody says to a point. Only agreement and disagreement take a side."""
BALANCE = 0.25
"""A participant bridges two camps that it stands with on so much of what divides them each."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One participant's stance on one point."""

    position: Position
    text: str = ""
    """What it adds to it, if anything."""
    moved: bool = False
    """It held something else in an earlier round."""


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A row of the map."""

    id: str
    text: str
    standing: PointStatus
    bridge: bool
    stances: Mapping[str, Cell]
    """By participant; who took none is missing."""


@dataclass(frozen=True, slots=True)
class Camp:
    """Participants who stand together."""

    label: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bridge:
    """A participant between two camps, and on how much of what divides them it is with each."""

    participant: str
    between: tuple[str, str]
    shares: tuple[float, float]


@dataclass(frozen=True, slots=True)
class RoundMap:
    """What a round came to, in figures that are never blended."""

    round: int
    agreement: float | None
    """Those who hold the answer that leads on the question, of all who were seated; None where
    nobody has voted yet."""
    stability: float | None
    """The stances that the round left as they were; None for the first."""
    score: float | None
    """Agreed points among those that are agreed or disputed."""
    consensus: int
    disagreement: int
    new: int


@dataclass(frozen=True, slots=True)
class OpinionMap:
    """The whole map. `reason` says why there are not two camps, if there are not."""

    participants: tuple[str, ...]
    """All who took a stance, camp by camp, with those who bridge two of them in between."""
    names: Mapping[str, str]
    points: tuple[MapPoint, ...]
    camps: tuple[Camp, ...] = ()
    bridges: tuple[Bridge, ...] = ()
    movement: tuple[Change, ...] = ()
    rounds: tuple[RoundMap, ...] = ()
    reason: str = ""

    def camp_of(self, participant: str) -> Camp | None:
        return next((camp for camp in self.camps if participant in camp.members), None)

    @property
    def bridging_points(self) -> tuple[MapPoint, ...]:
        return tuple(point for point in self.points if point.bridge)

    def agreement(self, one: str, two: str) -> float | None:
        """The share of the points on which both took sides that they hold alike."""
        return _alike(self.points, one, two)


def opinion_map_of(state: State) -> OpinionMap:
    """The map of a discussion, as its seats declared it. Computed once for each state."""
    return state.derived("opinion map", _opinion_map)


def _opinion_map(state: State) -> OpinionMap:
    record = record_of(state)
    table = _table(record)
    took = {who for row in table.values() for who in row}
    seats = [seat for seat in record.seats if seat in took]
    movement = tuple(changes_of_mind(points_held(state)))
    contested = [table[point.id] for point in record.points if point.status == "disputed"]
    groups = _groups(seats, contested)
    camps = _camps(groups, seats) if contested else ()
    bridges = _bridges(seats, camps, contested)
    names = names_of(state)
    return OpinionMap(
        participants=_in_order(seats, camps, bridges),
        names={each: names.get(each, each) for each in seats},
        points=_rows(record, table, camps, movement),
        camps=camps,
        bridges=bridges,
        movement=movement,
        rounds=_rounds(state),
        reason=_why_no_camps(seats, table, camps),
    )


def _table(record: Record) -> dict[str, dict[str, Position]]:
    """For each point, who holds what now."""
    table: dict[str, dict[str, Position]] = {}
    for point in record.points:
        row: dict[str, Position] = {}
        for seat in record.seats:
            said = point.stance_of(seat)
            if said is not None:
                row[seat] = position_of(said.stance)
        table[point.id] = row
    return table


def position_of(stance: StanceWord) -> Position:
    """A withdrawn point is given up by its author; to amend one is to hold it."""
    match stance:
        case "withdraw":
            return "disagree"
        case "amend":
            return "agree"
        case _:
            return stance


def _why_no_camps(
    seats: Sequence[str], table: Mapping[str, Mapping[str, Position]], camps: Sequence[Camp]
) -> str:
    if len(camps) > 1:
        return ""
    if not table:
        return "no points were raised"
    if len(seats) < 2:
        return "fewer than two participants took a stance"
    if camps:
        return "everybody agrees with the others more often than not"
    return "nobody disagrees on any point"


_SIDES: tuple[Position, ...] = ("agree", "disagree")


# --- groups --------------------------------------------------------------------------------------


def _affinity(rows: Iterable[Mapping[str, Position]], one: str, two: str) -> float | None:
    """1 if two hold the same on all points, -1 if the opposite on all; None if they never met."""
    both = [(row[one], row[two]) for row in rows if one in row and two in row]
    sides = [x == y for x, y in both if x in _SIDES and y in _SIDES]
    return (2 * sum(sides) - len(sides)) / len(sides) if sides else None


def _groups(seats: Sequence[str], contested: Sequence[Mapping[str, Position]]) -> list[set[str]]:
    """Join the two nearest groups until none agree more than they disagree.

    Equal distances go by the ids, so that the order of the seats does not decide.
    """
    near: dict[frozenset[str], float] = {}
    for one, two in combinations(seats, 2):
        affinity = _affinity(contested, one, two)
        if affinity is not None:
            near[frozenset((one, two))] = affinity
    groups = [{each} for each in sorted(seats)]
    while True:
        best: tuple[float, int, int] | None = None
        for a, b in combinations(range(len(groups)), 2):
            known = [
                near[pair]
                for x in groups[a]
                for y in groups[b]
                if (pair := frozenset((x, y))) in near
            ]
            mean = sum(known) / len(known) if known else 0.0
            if mean > 1e-9 and (best is None or mean > best[0] + 1e-9):
                best = (mean, a, b)
        if best is None:
            return groups
        _, a, b = best
        groups[a] |= groups.pop(b)


def _camps(groups: Sequence[set[str]], seats: Sequence[str]) -> tuple[Camp, ...]:
    """Groups of two or more if there are two such groups, else all of them; the largest first."""
    place = {each: n for n, each in enumerate(seats)}
    large = [group for group in groups if len(group) > 1]
    chosen = large if len(large) > 1 else list(groups)
    chosen.sort(key=lambda group: (-len(group), min(place[each] for each in group)))
    return tuple(
        Camp(_label(n), tuple(sorted(group, key=place.__getitem__)))
        for n, group in enumerate(chosen)
    )


def _label(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def _held_by(row: Mapping[str, Position], members: Iterable[str]) -> Position | None:
    """What more than half of the members who take a side hold."""
    lead = 0
    for each in members:
        position = row.get(each)
        lead += (position == "agree") - (position == "disagree")
    if lead == 0:
        return None
    return "agree" if lead > 0 else "disagree"


def _bridges(
    seats: Sequence[str], camps: Sequence[Camp], contested: Sequence[Mapping[str, Position]]
) -> tuple[Bridge, ...]:
    found = []
    for each in seats:
        # Its own vote is left out: nobody stands with a camp by being it.
        others = [(camp.label, [m for m in camp.members if m != each]) for camp in camps]
        held = {
            label: [_held_by(row, members) for row in contested]
            for label, members in others
            if members
        }
        mine = [row.get(each) for row in contested]
        best: Bridge | None = None
        for one, two in combinations(held, 2):
            shares = _sides_with(mine, held[one], held[two])
            if min(shares) >= BALANCE and (best is None or min(shares) > min(best.shares)):
                best = Bridge(each, (one, two), shares)
        if best is not None:
            found.append(best)
    return tuple(found)


def _sides_with(
    mine: Sequence[Position | None], one: Sequence[Position | None], two: Sequence[Position | None]
) -> tuple[float, float]:
    """On how much of what divides two camps somebody stands with each of them."""
    dividing = [(m, x, y) for m, x, y in zip(mine, one, two, strict=True) if x and y and x != y]
    if not dividing:
        return 0.0, 0.0
    with_one = sum(m == x for m, x, _ in dividing)
    with_two = sum(m == y for m, _, y in dividing)
    return with_one / len(dividing), with_two / len(dividing)


def _in_order(
    seats: Sequence[str], camps: Sequence[Camp], bridges: Sequence[Bridge]
) -> tuple[str, ...]:
    """Camp by camp, who bridges two of them in between, and whoever belongs to none at the end."""
    inside = {each for camp in camps for each in camp.members}
    between = {bridge.participant: bridge.between[0] for bridge in bridges}
    order: list[str] = []
    for n, camp in enumerate(camps):
        leaning = [each for each in camp.members if each in between]
        plain = [each for each in camp.members if each not in between]
        # Who leans to the camp on the right stands on that side.
        order += plain + leaning if n == 0 else leaning + plain
        order += [each for each in seats if each not in inside and between.get(each) == camp.label]
    return (*order, *(each for each in seats if each not in order))


# --- rows and rounds -----------------------------------------------------------------------------


def _rows(
    record: Record,
    table: Mapping[str, Mapping[str, Position]],
    camps: Sequence[Camp],
    movement: Sequence[Change],
) -> tuple[MapPoint, ...]:
    moved = {(change.participant, change.issue) for change in movement}
    return tuple(
        MapPoint(
            point.id,
            point.text,
            point.status,
            _joins(table[point.id], camps),
            {
                who: Cell(
                    position,
                    said.text if (said := point.stance_of(who)) else "",
                    (who, point.id) in moved,
                )
                for who, position in table[point.id].items()
            },
        )
        for point in record.points
    )


def _joins(row: Mapping[str, Position], camps: Sequence[Camp]) -> bool:
    """Whether several camps hold the same on a point, each by more than half of those who say."""
    held = [_held_by(row, camp.members) for camp in camps]
    return len(held) > 1 and None not in held and len(set(held)) == 1


def _rounds(state: State) -> tuple[RoundMap, ...]:
    rounds: list[RoundMap] = []
    before: dict[str, dict[str, Position]] | None = None
    known: set[str] = set()
    for round_, record in records_by_round(state).items():
        here = _table(record)
        agreed = sum(point.status == "agreed" for point in record.points)
        disputed = sum(point.status == "disputed" for point in record.points)
        rounds.append(
            RoundMap(
                round_,
                _leading(record),
                None
                if before is None
                else stability(before.values(), [here.get(issue, {}) for issue in before]),
                convergence(record.points).value,
                agreed,
                disputed,
                len(here.keys() - known),
            )
        )
        before = here
        known |= here.keys()
    return tuple(rounds)


def _leading(record: Record) -> float | None:
    """The share of all seats that hold the leading answer to the question."""
    if record.question is None:
        return None
    options = record.question.option_ids
    held = Counter(v.choice for v in record.votes(record.question) if v.choice in options)
    return max(held.values()) / len(record.seats) if held else None


def _alike(points: Sequence[MapPoint], one: str, two: str) -> float | None:
    rows = [{who: cell.position for who, cell in point.stances.items()} for point in points]
    affinity = _affinity(rows, one, two)
    return None if affinity is None else (affinity + 1) / 2
