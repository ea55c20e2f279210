"""Changes of mind: what talk changed, which argument did it, and who only gave in.

The first round is the control group: what voting without talk would have said. All of it is read
from what seats declared, round by round. A change that names no argument which its author had not
yet heard is a capitulation. Both are data for the report; nobody is corrected for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from .convergence import UNSURE
from .declaration import ANY, OWN, SILENT, Decision
from .record import LEGACY, SeatVote, Statement, record_of, records_by_round
from .standing import holds_its_own, standing_of
from .state import State

VOTE = "vote"
"""What a vote on the question itself is called among the issues."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Something that was put forward and that somebody names for its change."""

    participant: str
    """Whose it is."""
    text: str
    round: int
    id: str = ""
    """Of a point that says it, if one does."""


@dataclass(frozen=True, slots=True)
class Held:
    """What somebody held on an issue after a round, and what it says brought it there."""

    participant: str
    issue: str
    position: str
    round: int
    turn: str = ""
    because: Argument | None = None
    version: int = 1
    """Of the wording that was spoken to: to answer another wording is no change of mind."""
    own: bool = False
    """Whether it is a position of its own."""


@dataclass(frozen=True, slots=True)
class Change:
    """Somebody gave up a position."""

    participant: str
    issue: str
    before: str
    after: str
    round: int
    turn: str
    argument: Argument | None
    """What it names as the cause, if that was new to it."""
    told: bool = True
    """Whether an argument could be named: ballots of earlier versions had no place for one."""
    own: bool = False
    """Whether it went to a position of its own: nobody can have given in to it."""

    @property
    def capitulation(self) -> bool:
        """Whether it changed without a new argument, as far as that is known."""
        return self.told and self.argument is None and not self.own


@dataclass(frozen=True, slots=True)
class Conformity:
    """How often somebody who stood against the majority of the others went over to it."""

    chances: int
    moved: int

    @property
    def rate(self) -> float | None:
        return self.moved / self.chances if self.chances else None


def points_held(state: State) -> list[Held]:
    """What everybody held on each point after each round in which it spoke to it. Computed once
    for each state."""
    return list(state.derived("points held", _points_held))


def _points_held(state: State) -> list[Held]:
    named = {(s.participant, s.point_id, s.turn_id): s.because for s in state.stances if s.because}
    listed = {point.id: point for point in record_of(state).points}
    found: list[Held] = []
    adopted = {s.turn_id: _adopted(s) for s in record_of(state).statements}
    for round_, record in records_by_round(state).items():
        for point in record.points:
            for seat in record.seats:
                said = point.stance_of(seat)
                if said is None or said.round != round_:
                    continue
                because = adopted.get(said.turn_id)
                cause = listed.get(named.get((seat, point.id, said.turn_id), ""))
                if cause is not None:
                    because = Argument(cause.author, cause.text, cause.round, cause.id)
                found.append(
                    Held(
                        seat,
                        point.id,
                        said.stance,
                        round_,
                        said.turn_id,
                        because,
                        point.version,
                    )
                )
    return found


def votes_held(state: State, decision: Decision) -> list[Held]:
    """What everybody held on a decision: its first word, and each vote since. Computed once for
    each state."""
    name = f"votes held on {decision.id}"
    return list(state.derived(name, lambda state: _votes_held(state, decision)))


def _votes_held(state: State, decision: Decision) -> list[Held]:
    found: list[Held] = []
    record = record_of(state)
    standing = next((d for d in standing_of(state).decisions if d.decision.id == decision.id), None)
    issue = VOTE if decision is record.question else decision.id
    for seat in record.seats:
        named = _NamedArguments(decision)
        cast = [
            Held(
                seat,
                issue,
                _side(vote.choice),
                vote.round,
                vote.turn_id,
                named.behind(vote, each.of(seat)),
                own=holds_its_own(decision, vote),
            )
            for round_, each in records_by_round(state).items()
            if (vote := each.vote(decision, seat)).vote is not None and vote.round == round_
        ]
        whole = record.vote(decision, seat)
        first = next(iter(record.of(seat)), None)
        if first is not None and whole.opening != SILENT and cast and _earlier(first, cast[0]):
            opened = min(first.round, cast[0].round - 1)
            cast.insert(0, Held(seat, issue, _side(whole.opening), opened, first.turn_id))
        final = standing.seat(seat) if standing else None
        if cast and final is not None and final.moved and final.argument is None:
            # An argument that nobody made is none, whatever was declared.
            last = cast[-1]
            cast[-1] = replace(last, because=None)
        found += cast
    return found


def _earlier(statement: Statement, cast: Held) -> bool:
    return statement.turn_id != cast.turn


def _side(choice: str) -> str:
    return UNSURE if choice == ANY else choice


class _NamedArguments:
    """The argument that a vote of a seat names, or that was named when the seat came to it: a vote
    that only confirms another names none of its own. The seat's statements are looked at once."""

    def __init__(self, decision: Decision) -> None:
        self._decision = decision
        self._begin()

    def _begin(self) -> None:
        self._heard: list[Statement] = []
        self._named: tuple[int, Argument] | None = None
        self._cast: dict[str, int] = {}
        """By choice, the last statement that voted for it."""

    def behind(self, vote: SeatVote, said: Sequence[Statement]) -> Argument | None:
        """For what it holds after all these statements."""
        known = len(self._heard)
        if known > len(said) or (known and self._heard[-1] is not said[known - 1]):
            self._begin()  # they came in another order than their rounds
        for place in range(len(self._heard), len(said)):
            self._hear(place, said[place])
        others = (place for choice, place in self._cast.items() if choice != vote.choice)
        before = max(others, default=-1)
        return self._named[1] if self._named is not None and self._named[0] > before else None

    def _hear(self, place: int, statement: Statement) -> None:
        self._heard.append(statement)
        cast = statement.declaration.vote(self._decision.id)
        if cast is not None and cast.choice != OWN:
            self._cast[cast.choice] = place
        if (named := _adopted(statement)) is not None:
            self._named = place, named


def _adopted(statement: Statement) -> Argument | None:
    """The argument of another seat that a statement names as what changed its mind."""
    for each in statement.declaration.moved_by:
        if each.participant != statement.participant:
            return Argument(each.participant, each.what, statement.round)
    return None


def changes_in(state: State) -> list[Change]:
    """Every change of a vote, then of a stance."""
    record = record_of(state)
    votes = [held for each in record.decisions for held in votes_held(state, each)]
    told = not (record.question is not None and record.question.id == LEGACY)
    return [*changes_of_mind(votes, told=told), *changes_of_mind(points_held(state))]


def changes_of_mind(held: Iterable[Held], *, told: bool = True) -> list[Change]:
    """Every change, in order of rounds, with the new argument that it names.

    New is what another participant put forward in or after the round of the position given up:
    speeches of one round do not see each other, so what came in that round was new in the next.
    To make up one's mind is no change; to become unsure is one.
    """
    changes: list[Change] = []
    for track in _tracks(held).values():
        for before, after in pairwise(track):
            if before.position in (after.position, UNSURE):
                continue
            named = after.because
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
                    named if new else None,
                    told,
                    after.own,
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
    counted = {
        place: Counter(position for position in here.values() if position != UNSURE)
        for place, here in standing.items()
    }
    for (name, issue, _), track in tracks.items():
        for before, after in pairwise(track):
            place = before.round, issue
            crowd = _crowd(name, standing[place], counted[place])
            if crowd is None or before.position in (crowd, UNSURE):
                continue
            chances[name] += 1
            moved[name] += after.position == crowd
    names = dict.fromkeys(name for name, _, _ in tracks)
    return {name: Conformity(chances[name], moved[name]) for name in names}


def _tracks(held: Iterable[Held]) -> dict[_Track, list[Held]]:
    """The path of each participant on each issue, one position a round, the last one given."""
    latest: dict[tuple[_Track, int], Held] = {}
    for each in held:
        latest[(each.participant, each.issue, each.version), each.round] = each
    tracks: dict[_Track, list[Held]] = {}
    for (track, _), each in sorted(latest.items(), key=lambda one: one[1].round):
        tracks.setdefault(track, []).append(each)
    return tracks


_Track = tuple[str, str, int]


def _standing(
    tracks: Mapping[_Track, list[Held]],
) -> dict[tuple[int, str], dict[str, str]]:
    """What everybody held on each issue at the end of each round."""
    rounds = sorted({each.round for track in tracks.values() for each in track})
    table: dict[tuple[int, str], dict[str, str]] = {}
    for (name, issue, _), track in tracks.items():
        taken = 0
        for round_ in rounds:
            while taken < len(track) and track[taken].round <= round_:
                taken += 1
            if taken:
                table.setdefault((round_, issue), {})[name] = track[taken - 1].position
    return table


def _crowd(name: str, here: Mapping[str, str], counted: Mapping[str, int]) -> str | None:
    """What more than half of the others hold. `counted` is how many hold each position, who is
    unsure left out."""
    own = here.get(name)
    others = len(here) - (own is not None)
    return next((p for p, count in counted.items() if (count - (p == own)) * 2 > others), None)
