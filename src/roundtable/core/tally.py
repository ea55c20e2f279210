"""Tallies: several ways to make one choice of many ballots, and an alarm when they differ.

Only a voter's last ballot counts. A ballot ranks options in groups, best first; options in one
group are tied, and options that it leaves out are tied below all others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

Rule = Literal[
    "plurality", "borda", "copeland", "schulze", "ranked_pairs", "approval", "confidence"
]
RULES: tuple[Rule, ...] = (
    "plurality",
    "borda",
    "copeland",
    "schulze",
    "ranked_pairs",
    "approval",
    "confidence",
)
CALIBRATION = ((0.6, 0.1), (0.8, 0.3), (0.9, 0.5), (1.0, 0.8))
"""Raw self-reported confidence below (first: at most) a bound, and the weight it is worth."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One voter's ballot on the options of a question."""

    voter: str
    ranking: tuple[tuple[str, ...], ...]
    confidence: float | None = None
    """As the voter declared it, 0 to 1; None if it declared none."""
    approved: frozenset[str] | None = None
    """Options it could live with; None means those it ranks first."""
    round: int = 1

    @classmethod
    def of(cls, voter: str, *ranking: str, **rest: object) -> Vote:
        """A ballot without ties."""
        return cls(voter, tuple((option,) for option in ranking), **rest)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rule makes of the ballots. Several winners are a tie, none an empty ballot box."""

    rule: Rule
    winners: tuple[str, ...]
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Tally:
    """All rules side by side."""

    outcomes: Mapping[Rule, Outcome]
    options: tuple[str, ...]
    voters: tuple[str, ...]
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Options that ballots named and nobody had put up, by voter; they were not counted."""

    @property
    def alarm(self) -> bool:
        """Whether two rules name winners that have nothing in common."""
        named = [set(o.winners) for o in self.outcomes.values() if o.winners]
        return any(a.isdisjoint(b) for a, b in combinations(named, 2))

    def winner(self, rule: Rule = "schulze") -> str | None:
        """The rule's only winner; None if there is a tie or no ballot."""
        winners = self.outcomes[rule].winners
        return winners[0] if len(winners) == 1 else None


def final_votes(votes: Iterable[Vote]) -> list[Vote]:
    """Each voter's last ballot: the highest round, and the latest of that round."""
    newest: dict[str, Vote] = {}
    for vote in votes:
        held = newest.get(vote.voter)
        if held is None or vote.round >= held.round:
            newest[vote.voter] = vote
    return list(newest.values())


def without_self_votes(votes: Iterable[Vote], author: Mapping[str, str]) -> list[Vote]:
    """Ballots of peers on each other's work, with everybody's own work taken out of its own."""
    return [
        _only(vote, lambda option, voter=vote.voter: author.get(option) != voter)  # type: ignore[misc]
        for vote in votes
    ]


def tally(votes: Iterable[Vote], options: Sequence[str] | None = None) -> Tally:
    """Count the final ballots by every rule. Without `options` those that ballots name stand."""
    last = final_votes(votes)
    named = dict.fromkeys(o for vote in last for group in vote.ranking for o in group)
    standing = tuple(dict.fromkeys(options)) if options is not None else tuple(named)
    allowed = set(standing)
    unknown = {
        vote.voter: foreign
        for vote in last
        if (foreign := tuple(o for g in vote.ranking for o in g if o not in allowed))
    }
    counted = [_only(vote, allowed.__contains__) for vote in last]
    counted = [vote for vote in counted if vote.ranking]
    outcomes = {rule: _outcome(rule, counted, standing) for rule in RULES}
    return Tally(outcomes, standing, tuple(vote.voter for vote in counted), unknown)


def calibrated(confidence: float | None) -> float:
    """What a declared confidence is worth: models overstate theirs. None counts as doubtful."""
    if confidence is None:
        return CALIBRATION[1][1]
    if confidence <= CALIBRATION[0][0]:
        return CALIBRATION[0][1]
    for bound, weight in CALIBRATION[1:]:
        if confidence < bound:
            return weight
    return 1.0


def _only(vote: Vote, keep: Callable[[str], bool]) -> Vote:
    """The ballot with only some of its options, each where it was named first."""
    seen: set[str] = set()
    groups: list[tuple[str, ...]] = []
    for group in vote.ranking:
        kept = tuple(o for o in dict.fromkeys(group) if o not in seen and keep(o))
        seen.update(kept)
        if kept:
            groups.append(kept)
    approved = None if vote.approved is None else frozenset(o for o in vote.approved if keep(o))
    return replace(vote, ranking=tuple(groups), approved=approved)


def _outcome(rule: Rule, votes: Sequence[Vote], options: Sequence[str]) -> Outcome:
    if not votes or not options:
        return Outcome(rule, (), dict.fromkeys(options, 0.0))
    scores = _SCORERS[rule](votes, options)
    best = max(scores.values())
    return Outcome(rule, tuple(o for o in options if scores[o] >= best - 1e-9), scores)


def _plurality(votes: Sequence[Vote], options: Sequence[str]) -> dict[str, float]:
    return _first_choices(votes, options, lambda _: 1.0)


def _confidence(votes: Sequence[Vote], options: Sequence[str]) -> dict[str, float]:
    return _first_choices(votes, options, lambda vote: calibrated(vote.confidence))


def _first_choices(
    votes: Sequence[Vote], options: Sequence[str], weight: Callable[[Vote], float]
) -> dict[str, float]:
    scores = dict.fromkeys(options, 0.0)
    for vote in votes:
        first = vote.ranking[0]
        for option in first:
            scores[option] += weight(vote) / len(first)
    return scores


def _approval(votes: Sequence[Vote], options: Sequence[str]) -> dict[str, float]:
    scores = dict.fromkeys(options, 0.0)
    for vote in votes:
        for option in vote.approved if vote.approved is not None else vote.ranking[0]:
            if option in scores:
                scores[option] += 1.0
    return scores


def _borda(votes: Sequence[Vote], options: Sequence[str]) -> dict[str, float]:
    """A point for each option below, half a point for each option tied."""
    scores = dict.fromkeys(options, 0.0)
    for vote in votes:
        below = len(options)
        for group in _complete(vote, options):
            below -= len(group)
            for option in group:
                scores[option] += below + (len(group) - 1) / 2
    return scores


def _copeland(votes: Sequence[Vote], options: Sequence[str]) -> dict[str, float]:
    """A point for each option beaten in a duel, half a point for a draw."""
    duels = _duels(votes, options)
    scores = dict.fromkeys(options, 0.0)
    for a, b in combinations(options, 2):
        if duels[a, b] == duels[b, a]:
            scores[a] += 0.5
            scores[b] += 0.5
        else:
            scores[a if duels[a, b] > duels[b, a] else b] += 1.0
    return scores


def _schulze(votes: Sequence[Vote], options: Sequence[str]) -> dict[str, float]:
    """How many options an option's strongest paths beat or match."""
    duels = _duels(votes, options)
    strength = {pair: (won if won > duels[pair[1], pair[0]] else 0) for pair, won in duels.items()}
    for via in options:
        for a in options:
            for b in options:
                if len({a, b, via}) == 3:
                    through = min(strength[a, via], strength[via, b])
                    strength[a, b] = max(strength[a, b], through)
    return {
        a: float(sum(1 for b in options if b != a and strength[a, b] >= strength[b, a]))
        for a in options
    }


def _ranked_pairs(votes: Sequence[Vote], options: Sequence[str]) -> dict[str, float]:
    """Lock duels in from the clearest on, unless they close a circle; sources win.

    Duels of equal strength are locked together, so that no order of the list decides.
    """
    duels = _duels(votes, options)
    margins = {pair: won - duels[pair[1], pair[0]] for pair, won in duels.items()}
    beaten: dict[str, set[str]] = {option: set() for option in options}
    for margin in sorted({m for m in margins.values() if m > 0}, reverse=True):
        equal = [pair for pair, m in margins.items() if m == margin]
        fresh = [(a, b) for a, b in equal if not _reaches(beaten, b, a)]
        trial = {option: set(below) for option, below in beaten.items()}
        for a, b in fresh:
            trial[a].add(b)
        for a, b in fresh:
            if not _reaches(trial, b, a):
                beaten[a].add(b)
    losers = {b for below in beaten.values() for b in below}
    return {
        option: 0.0 if option in losers else 1.0 + len(_reached(beaten, option)) * 1e-12
        for option in options
    }


def _reaches(graph: Mapping[str, Collection[str]], start: str, goal: str) -> bool:
    return goal in _reached(graph, start)


def _reached(graph: Mapping[str, Collection[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for following in graph[waiting.pop()]:
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return seen


def _duels(votes: Sequence[Vote], options: Sequence[str]) -> dict[tuple[str, str], int]:
    """For each pair, how many ballots put the first above the second."""
    duels = {(a, b): 0 for a in options for b in options if a != b}
    for vote in votes:
        groups = _complete(vote, options)
        for place, group in enumerate(groups):
            for lower in groups[place + 1 :]:
                for a in group:
                    for b in lower:
                        duels[a, b] += 1
    return duels


def _complete(vote: Vote, options: Sequence[str]) -> list[tuple[str, ...]]:
    named = {o for group in vote.ranking for o in group}
    rest = tuple(o for o in options if o not in named)
    return [*vote.ranking, rest] if rest else list(vote.ranking)


_SCORERS: Mapping[Rule, Callable[[Sequence[Vote], Sequence[str]], dict[str, float]]] = {
    "plurality": _plurality,
    "borda": _borda,
    "copeland": _copeland,
    "schulze": _schulze,
    "ranked_pairs": _ranked_pairs,
    "approval": _approval,
    "confidence": _confidence,
}
