"""Changes of mind: what talk changed, which argument did it, and who only gave in.

The first round is the control group: what voting without talk would have said. A change that
names no argument which its author had not yet heard is a capitulation. Both are data for the
report; nobody is corrected for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from .convergence import UNSURE
from .points import PointList


@dataclass(frozen=True, slots=True)
class Held:
    """What somebody held on an issue after a round, and what it says brought it there."""

    participant: str
    issue: str
    position: str
    round: int
    turn: str = ""
    because: str = ""
    """The id of the argument that it names."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Something that was put forward: a point, or a speech."""

    id: str
    participant: str
    round: int


@dataclass(frozen=True, slots=True)
class Change:
    """Somebody gave up a position."""

    participant: str
    issue: str
    before: str
    after: str
    round: int
    turn: str
    argument: str | None
    """What it names as the cause, if that was new to it."""

    @property
    def capitulation(self) -> bool:
        """Whether it changed without a new argument."""
        return self.argument is None


@dataclass(frozen=True, slots=True)
class Conformity:
    """How often somebody who stood against the majority of the others went over to it."""

    chances: int
    moved: int

    @property
    def rate(self) -> float | None:
        return self.moved / self.chances if self.chances else None


def held_in(points: PointList) -> list[Held]:
    """What everybody held on each issue after each round in which it took a stance there."""
    found: dict[tuple[str, str, int], Held] = {}
    for round_ in points.rounds:
        for s in points.held(round_):
            if s.round == round_:
                found[s.participant, s.point, round_] = Held(
                    s.participant, s.point, s.position, s.round, s.turn, s.because
                )
    return list(found.values())


def arguments_in(points: PointList) -> list[Argument]:
    return [Argument(point.id, point.raised_by, point.round) for point in points.points]


def changes_of_mind(held: Iterable[Held], arguments: Iterable[Argument]) -> list[Change]:
    """Every change, in order of rounds, with the new argument that it names.

    New is what another participant put forward in or after the round of the position given up:
    speeches of one round do not see each other, so what came in that round was new in the next.
    To make up one's mind is no change; to become unsure is one.
    """
    known = {argument.id: argument for argument in arguments}
    changes: list[Change] = []
    for track in _tracks(held).values():
        for before, after in pairwise(track):
            if before.position in (after.position, UNSURE):
                continue
            named = known.get(after.because)
            new = (
                named is not None
                and named.participant != after.participant
                and before.round <= named.round <= after.round
            )
            changes.append(
                Change(
                    after.participant,
                    after.issue,
                    before.position,
                    after.position,
                    after.round,
                    after.turn,
                    after.because if new else None,
                )
            )
    return sorted(changes, key=lambda change: change.round)


def conformity(held: Iterable[Held]) -> dict[str, Conformity]:
    """For each participant: its chances to give in to a majority of the others, and how often it
    did. A chance is a round before which more than half of the others held one thing, and it
    another."""
    tracks = _tracks(held)
    chances: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    standing = _standing(tracks)
    for (name, issue), track in tracks.items():
        for before, after in pairwise(track):
            here = standing[before.round, issue]
            peers = [position for other, position in here.items() if other != name]
            crowd = _more_than_half(peers)
            if crowd is None or before.position in (crowd, UNSURE):
                continue
            chances[name] += 1
            moved[name] += after.position == crowd
    names = dict.fromkeys(name for name, _ in tracks)
    return {name: Conformity(chances[name], moved[name]) for name in names}


def _tracks(held: Iterable[Held]) -> dict[tuple[str, str], list[Held]]:
    """The path of each participant on each issue, one position a round, the last one given."""
    latest: dict[tuple[str, str, int], Held] = {}
    for each in held:
        latest[each.participant, each.issue, each.round] = each
    tracks: dict[tuple[str, str], list[Held]] = {}
    for each in sorted(latest.values(), key=lambda one: one.round):
        tracks.setdefault((each.participant, each.issue), []).append(each)
    return tracks


def _standing(
    tracks: Mapping[tuple[str, str], list[Held]],
) -> dict[tuple[int, str], dict[str, str]]:
    """What everybody held on each issue at the end of each round."""
    rounds = sorted({each.round for track in tracks.values() for each in track})
    table: dict[tuple[int, str], dict[str, str]] = {}
    for (name, issue), track in tracks.items():
        for round_ in rounds:
            held = [each.position for each in track if each.round <= round_]
            if held:
                table.setdefault((round_, issue), {})[name] = held[-1]
    return table


def _more_than_half(positions: list[str]) -> str | None:
    counted = Counter(position for position in positions if position != UNSURE)
    return next((p for p, count in counted.items() if count * 2 > len(positions)), None)
