"""Twins: which models answer so much alike over past questions that they are one voice.

Agreement alone tells nothing: two good models agree because both are right. So a pair is compared
with what its members have in common with the others. If `a` and `b` err independently, how often
they agree follows from how often each agrees with two witnesses `x` and `y`, and these with each
other: agree(a, b) = agree(a, x) · agree(b, y) / agree(x, y), where all agreement is what is left
after chance. Two who are right together fit that; two who are wrong together agree more often.
Likeness is the share of the disagreements expected so that never came, drawn towards none where
few were to be expected.

Witnesses can be a clique themselves, and then make two good models look like twins: which of two
groups is the clique cannot be told from answers alone. So there are two readings. The wary one
believes the witnesses that expect most agreement: only copies that answer nearly everything alike
are twins by it, whatever their names. The plain one pools all witnesses: it finds copies that vary,
accuses innocent pairs at times, and so decides only where something else speaks for it (one family)
or where being wrong costs little (see `voters.py`, where suspicion takes away learned weights).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from .track_record import Answers

ENOUGH_TO_COMPARE = 8
"""So many common questions are the least that tells anything about two models."""
MOST_WITNESSES = 12
"""More of them add work (their pairs are looked at), and no certainty."""
MOST_COMPARED = 24
"""A table with more different models than this is too large for a clique of copies to hide in the
work that finding it would take: names tell there, answers do not."""
_IDENTICAL = 0.02
"""Whoever differs from one of a pair on no more than this share may be a third copy: no witness."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How often each two of some models were asked the same, and how often they differed."""

    models: tuple[str, ...]
    asked: Counter[Pair]
    differed: Counter[Pair]
    chance: float
    """How often two answers to different questions are the same."""

    def agreement(self, a: str, b: str) -> float:
        """Beyond chance: 1 for always, 0 for no more often than by chance."""
        asked = self.asked[_pair(a, b)]
        if not asked or self.chance >= 1:
            return 0.0
        same = 1 - self.differed[_pair(a, b)] / asked
        return max(0.0, same - self.chance) / (1 - self.chance)

    def wary(self, a: str, b: str, among: Collection[str]) -> float | None:
        """Likeness if those witnesses are believed that expect most agreement. None: unknown."""
        witnesses = [w for w in self._met(a, b, among) if not self._same(a, w, b)]
        expected = max(
            (
                self._both_ways(a, b, x, y)
                / (self.agreement(x, y) + 1 / max(1, self.asked[_pair(x, y)]))
                for x, y in combinations(witnesses, 2)
            ),
            default=None,
        )
        return None if expected is None else self._likeness(a, b, expected)

    def plain(self, a: str, b: str, among: Collection[str]) -> float | None:
        """Likeness by all witnesses who agree less with either than these two with each other."""
        close = self.agreement(a, b) - 1e-9
        witnesses = [
            w
            for w in self._met(a, b, among)
            if self.agreement(a, w) < close and self.agreement(b, w) < close
        ]
        pairs = list(combinations(witnesses, 2))
        theirs = sum(self.agreement(x, y) for x, y in pairs)
        if theirs <= 0:
            return None
        expected = sum(self._both_ways(a, b, x, y) for x, y in pairs) / theirs
        return self._likeness(a, b, expected)

    def _met(self, a: str, b: str, among: Collection[str]) -> list[str]:
        if self.asked[_pair(a, b)] < ENOUGH_TO_COMPARE:
            return []
        met = {
            w: least
            for w in among
            if w not in (a, b)
            and (least := min(self.asked[_pair(a, w)], self.asked[_pair(b, w)]))
            >= ENOUGH_TO_COMPARE
        }
        return sorted(met, key=lambda w: (-met[w], w))[:MOST_WITNESSES]

    def _same(self, a: str, witness: str, b: str) -> bool:
        return any(
            self.differed[_pair(one, witness)] <= _IDENTICAL * self.asked[_pair(one, witness)]
            for one in (a, b)
        )

    def _both_ways(self, a: str, b: str, x: str, y: str) -> float:
        one = self.agreement(a, x) * self.agreement(b, y)
        other = self.agreement(a, y) * self.agreement(b, x)
        return (one + other) / 2

    def _likeness(self, a: str, b: str, agreement: float) -> float:
        asked, differed = self.asked[_pair(a, b)], self.differed[_pair(a, b)]
        expected = asked * (1 - min(1.0, agreement)) * (1 - self.chance)
        # One disagreement more on both sides: no proof where hardly any was to be expected.
        return 1 - (differed + 1) / (expected + 1)


def compare(history: Iterable[Answers], models: Collection[str]) -> Comparison:
    """What these models answered to past questions, each two of them compared."""
    seated = sorted(set(models))
    known = set(seated) if len(seated) <= MOST_COMPARED else set()
    past = [{m: a for m, a in answers.items() if m in known} for answers in history]
    asked: Counter[Pair] = Counter()
    differed: Counter[Pair] = Counter()
    for answers in past:
        for a, b in combinations(sorted(answers), 2):
            asked[a, b] += 1
            differed[a, b] += answers[a] != answers[b]
    return Comparison(tuple(seated), asked, differed, _chance(past))


def _chance(past: Sequence[Answers]) -> float:
    given = Counter(answer for answers in past for answer in answers.values())
    total = given.total()
    return sum((count / total) ** 2 for count in given.values()) if total else 0.0


def _pair(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)
