"""Identity bias: how far a review depends on who wrote what is reviewed.

It is read off duels: of two pieces of work, which one a reviewer puts first. Two things can be
known. With names and without: the same reviewer compares the same two pieces when it sees who
wrote them and when it does not. Own side: a reviewer compares work of its own, or of its model's
family, with foreign work, and reviewers who belong to neither side compare the same two. All
figures lie between -1 and 1 (for `sway` 0 and 1), and are None with a reason where nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from .convergence import Score


@dataclass(frozen=True, slots=True)
class Review:
    """One reviewer's ranking of pieces of work, in groups, best first."""

    reviewer: str
    ranking: tuple[tuple[str, ...], ...]
    named: bool = False
    """Whether it saw who wrote them."""
    topic: str = ""
    """Only work on the same topic is compared."""


@dataclass(frozen=True, slots=True)
class IdentityBias:
    """One reviewer's bias, in its four forms."""

    reviewer: str
    sway: Score
    """The share of its duels that names turned (a half where a draw became a win or the reverse).
    A reviewer who is just fickle shows it too: compare with `fickle`."""
    fickle: Score
    """The same between two reviews that both had no names; what `sway` must exceed to mean much."""
    own: Score
    """How much more often it puts its own work first than disinterested reviewers do."""
    family: Score
    """The same for work of its model's family that is not its own."""


Pair = tuple[str, str, str]
"""A topic and two pieces of work, the first of which is asked about."""


def identity_bias(
    reviews: Sequence[Review],
    author: Mapping[str, str],
    family: Mapping[str, str] | None = None,
) -> dict[str, IdentityBias]:
    """The bias of every reviewer. `author` names who wrote each piece of work, `family` the model
    family of each author and reviewer; whose family is not known belongs to none."""
    families = {name: kin for name, kin in (family or {}).items() if kin}
    blind, named = _duels(r for r in reviews if not r.named), _duels(r for r in reviews if r.named)
    seen = _duels(reviews)

    def own(reviewer: str, work: str) -> bool:
        return author.get(work) == reviewer

    def kin(reviewer: str, work: str) -> bool:
        mine = families.get(reviewer)
        return mine is not None and families.get(author.get(work, "")) == mine

    def cousin(reviewer: str, work: str) -> bool:
        return kin(reviewer, work) and not own(reviewer, work)

    def mine(reviewer: str, work: str) -> bool:
        return own(reviewer, work) or kin(reviewer, work)

    return {
        reviewer: IdentityBias(
            reviewer,
            _turned(blind.get(reviewer, {}), named.get(reviewer, {})),
            _fickle(blind.get(reviewer, {})),
            _favour(reviewer, seen, own, mine, "it never ranked its own work"),
            _favour(reviewer, seen, cousin, mine, "it never ranked work of its own family")
            if reviewer in families
            else Score(None, "its family is not known"),
        )
        for reviewer in sorted(seen)
    }


_Side = Callable[[str, str], bool]
_Duels = dict[Pair, list[float]]


def _duels(reviews: Iterable[Review]) -> dict[str, _Duels]:
    """For each reviewer and pair, 1 where the first is above, 0 below, a half in a draw; one
    figure for each review."""
    table: dict[str, _Duels] = {}
    for review in reviews:
        mine = table.setdefault(review.reviewer, {})
        place = {work: n for n, group in enumerate(review.ranking) for work in group}
        for x, y in permutations(place, 2):
            won = (place[x] < place[y]) + (place[x] == place[y]) / 2
            mine.setdefault((review.topic, x, y), []).append(won)
    return table


def _turned(blind: _Duels, named: _Duels) -> Score:
    both = [pair for pair in blind if pair in named]
    if not both:
        return Score(None, "it did not rank the same work with and without names")
    return Score(_mean([abs(_mean(blind[pair]) - _mean(named[pair])) for pair in both]))


def _fickle(blind: _Duels) -> Score:
    twice = [won for won in blind.values() if len(won) > 1]
    if not twice:
        return Score(None, "it ranked nothing twice without names")
    return Score(_mean([abs(first - second) for first, second, *_ in twice]))


def _favour(
    reviewer: str, seen: Mapping[str, _Duels], ours: _Side, any_ours: _Side, never: str
) -> Score:
    """How much more often a reviewer prefers work of one side to foreign work than others do.

    The others are those who belong to neither side of a duel.
    """
    differences: list[float] = []
    asked = 0
    for (topic, x, y), won in seen[reviewer].items():
        if not ours(reviewer, x) or any_ours(reviewer, y):
            continue
        asked += 1
        fair = [
            _mean(duels[topic, x, y])
            for other, duels in seen.items()
            if other != reviewer
            and (topic, x, y) in duels
            and not any_ours(other, x)
            and not any_ours(other, y)
        ]
        if fair:
            differences.append(_mean(won) - _mean(fair))
    if not asked:
        return Score(None, never)
    if not differences:
        return Score(None, "nobody disinterested ranked the same work")
    return Score(_mean(differences))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
