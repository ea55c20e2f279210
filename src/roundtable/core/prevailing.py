"""What prevails: the one rule by which votes decide, whichever votes they are.

The last votes name the end by it; what the table held before it talked, and what it would have come
to without one of its votes, are told by the same rule, since they are compared with that end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from .declaration import ANY, OWN

_EPSILON = 1e-9


class Count:
    """Votes by seat: an option, `own`, `any`, or empty for a seat without one, which counts in the
    whole all the same. In `weights` copies of one model share a single voter's."""

    def __init__(self, votes: Mapping[str, str], weights: Mapping[str, float]) -> None:
        self._votes = votes
        self._weights = {seat: weights.get(seat, 1.0) for seat in votes}
        self._total = sum(self._weights.values())

    @property
    def voted(self) -> int:
        return sum(map(bool, self._votes.values()))

    @property
    def counts(self) -> bool:
        """Whether there is anything to count: two who voted, and somebody with a preference."""
        chosen = {vote for vote in self._votes.values() if vote}
        return self.voted > 1 and chosen != {ANY}

    def behind(self, option: str) -> list[str]:
        return [seat for seat, vote in self._votes.items() if vote == option]

    def prevails(self, option: str, behind: Collection[str] | None = None) -> bool:
        """Whether it has more than half of the weight of all seats; or more than half of the seats,
        if by weight no other is ahead of it. `behind` limits who counts for it; all others stay in
        the whole."""
        support = self.behind(option) if behind is None else behind
        weight = self._weight(support)
        if weight * 2 > self._total + _EPSILON:
            return True
        others = {vote for vote in self._votes.values() if vote and vote not in (option, ANY)}
        ahead = any(self._weight(self.behind(each)) > weight + _EPSILON for each in others)
        return len(support) * 2 > len(self._votes) and not ahead

    def answer(self, options: Iterable[str]) -> str | None:
        """The option that prevails; None where none does, or nothing can be counted."""
        found = (option for option in options if self.prevails(option))
        return next(found, None) if self.counts else None

    def _weight(self, seats: Iterable[str]) -> float:
        return sum(self._weights[seat] for seat in seats)


@dataclass(frozen=True, slots=True)
class Before:
    """How a decision stood before anybody heard the others: against that it is told what talk
    changed, option by option."""

    known: bool
    """Whether all who voted in the end said before they heard the others what they hold."""
    counts: Mapping[str, int]
    """By option, how many said then that they hold it, with or without a vote in the end."""
    own: int
    """How many held a position of their own then."""
    answer: str | None
    """What would have prevailed by the same rule."""
    unchanged: bool
    """Whether that is known, and every seat holds in the end what it held then."""

    @property
    def leading(self) -> tuple[str, ...]:
        return leading(self.counts, self.answer)


def before_talk(
    first: Mapping[str, str],
    last: Mapping[str, str],
    options: Collection[str],
    weights: Mapping[str, float],
) -> Before:
    """`first` is what each seat held before it heard the others, empty where that is not known;
    `last` what it counts for in the end."""
    held = list(first.values())
    counts = {option: held.count(option) for option in options}
    own = held.count(OWN)
    voted = [seat for seat, vote in last.items() if vote]
    known = bool(voted) and all(first[seat] for seat in voted) and (own > 0 or any(counts.values()))
    return Before(
        known=known,
        counts=counts,
        own=own,
        answer=Count(first, weights).answer(options),
        unchanged=known and all(first[seat] == last[seat] for seat in last),
    )


def leading(counts: Mapping[str, int], answer: str | None) -> tuple[str, ...]:
    """What prevails, or, where nothing does, what most hold."""
    if answer is not None:
        return (answer,)
    most = max(counts.values(), default=0)
    return tuple(option for option, count in counts.items() if count and count == most)
