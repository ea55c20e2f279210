"""Tallies: several ways to make one choice of many ballots, and an alarm when they differ.

Only a voter's last ballot counts. A ballot ranks options in groups, best first; options in one
group are tied, and options that it leaves out are tied below all others. Where peers vote on each
other's work, a voter's own work is kept out of its ballot: it counts there neither for nor against.
Neither the order of the options nor that of the ballots decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isclose
from typing import Literal

from .duels import Duels, Ranking, copeland, duels, ranked_pairs, schulze

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
    excluded: frozenset[str] = frozenset()
    """Options that the voter has no say on, such as its own work."""

    @classmethod
    def of(
        cls,
        voter: str,
        *ranking: str,
        confidence: float | None = None,
        approved: frozenset[str] | None = None,
        round: int = 1,  # noqa: A002  # the word that events and values use
    ) -> Vote:
        """A ballot without ties."""
        return cls(voter, tuple((option,) for option in ranking), confidence, approved, round)

    @property
    def first(self) -> tuple[str, ...]:
        """What it puts first: several if they are tied, none if it ranks nothing."""
        return self.ranking[0] if self.ranking else ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rule makes of the ballots. Several winners are a tie; there is none where no ballot
    says anything that the rule counts."""

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
    """Ballots of peers on each other's work, with everybody's own work kept out of its own."""
    fair = []
    for vote in votes:
        own = frozenset(option for option, name in author.items() if name == vote.voter)
        kept = _only(vote, lambda option, own=own: option not in own)  # type: ignore[misc]
        fair.append(replace(kept, excluded=kept.excluded | own))
    return fair


def tally(votes: Iterable[Vote], options: Sequence[str] | None = None) -> Tally:
    """Count the final ballots by every rule. Without `options` those that ballots name stand."""
    last = final_votes(votes)
    standing = standing_options(last, options)
    allowed = set(standing)
    unknown = {
        vote.voter: foreign
        for vote in last
        if (foreign := tuple(o for o in _named(vote) if o not in allowed))
    }
    counted = counted_votes(last, standing)
    return Tally(
        _outcomes(counted, standing), standing, tuple(vote.voter for vote in counted), unknown
    )


def standing_options(votes: Iterable[Vote], options: Iterable[str] | None) -> tuple[str, ...]:
    """The options that are put up, each once; where nobody put any up, those that ballots name."""
    if options is None:
        options = (option for vote in votes for option in _named(vote))
    return tuple(dict.fromkeys(options))


def counted_votes(votes: Iterable[Vote], options: Iterable[str]) -> list[Vote]:
    """The final ballots without foreign options and repetitions, if anything is left of them."""
    allowed = set(options)
    cleaned = (_only(vote, allowed.__contains__) for vote in final_votes(votes))
    return [vote for vote in cleaned if vote.ranking or vote.approved]


def _named(vote: Vote) -> list[str]:
    """Every option that a ballot names, once."""
    ranked = [option for group in vote.ranking for option in group]
    return list(dict.fromkeys([*ranked, *sorted(vote.approved or ())]))


def calibrated(confidence: float | None) -> float:
    """What a declared confidence is worth: models overstate theirs.

    None counts as doubtful, and so does a number that is no share, such as 85 or not-a-number.
    """
    if confidence is None or not 0 <= confidence <= 1:
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


def _outcomes(votes: Sequence[Vote], options: Sequence[str]) -> dict[Rule, Outcome]:
    """Approvals are counted on all ballots, everything else on those that rank."""
    ranked = [vote for vote in votes if vote.ranking]
    rankings = [_complete(vote, options) for vote in ranked]
    table: Duels = duels(rankings, options)
    scores: dict[Rule, dict[str, float]] = {
        "plurality": first_choices(ranked, options, lambda _: 1.0),
        "borda": _borda(table, len(ranked), options),
        "copeland": copeland(table, options),
        "schulze": schulze(table, options),
        "ranked_pairs": ranked_pairs(table, options),
        "approval": _approval(votes, options),
        "confidence": first_choices(ranked, options, lambda vote: calibrated(vote.confidence)),
    }
    return {rule: _outcome(rule, scores[rule], bool(ranked)) for rule in RULES}


def _outcome(rule: Rule, scores: Mapping[str, float], any_ranked: bool) -> Outcome:
    said_something = any(scores.values()) if rule == "approval" else any_ranked
    if not said_something:
        return Outcome(rule, (), dict.fromkeys(scores, 0.0))
    return Outcome(rule, best_of(scores), scores)


def best_of(scores: Mapping[str, float]) -> tuple[str, ...]:
    """Whoever has the highest score; sums that differ by rounding alone are equal."""
    best = max(scores.values(), default=0.0)
    return tuple(o for o, score in scores.items() if isclose(score, best, abs_tol=1e-9))


def first_choices(
    votes: Iterable[Vote], options: Iterable[str], weight: Callable[[Vote], float]
) -> dict[str, float]:
    """What each option gets if a ballot's weight goes to what it puts first, shared in a tie."""
    scores = dict.fromkeys(options, 0.0)
    for vote in votes:
        for option in vote.first:
            scores[option] += weight(vote) / len(vote.first)
    return scores


def _approval(votes: Sequence[Vote], options: Sequence[str]) -> dict[str, float]:
    scores = dict.fromkeys(options, 0.0)
    for vote in votes:
        for option in vote.first if vote.approved is None else vote.approved:
            scores[option] += 1.0
    return scores


def _borda(table: Duels, ballots: int, options: Sequence[str]) -> dict[str, float]:
    """On each ballot a point for each option below, and half a point for each that is tied or
    that the ballot does not compare it with."""
    return {
        a: sum((ballots + table[a, b] - table[b, a]) / 2 for b in options if b != a)
        for a in options
    }


def _complete(vote: Vote, options: Sequence[str]) -> Ranking:
    """The ballot's groups, and below them all that it leaves out and may judge."""
    named = {o for group in vote.ranking for o in group} | vote.excluded
    rest = tuple(o for o in options if o not in named)
    return [*vote.ranking, rest] if rest else list(vote.ranking)
