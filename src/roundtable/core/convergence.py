"""Convergence: how close a table is, in several numbers that are never blended into one.

Four named metrics come from the four systems that Roundtable unites: `agreement_pct`, `overlap`,
`confidence` and `convergence_score`. Beside them stand agreement between participants and
stability over rounds, which are two numbers because a table can be stable in disagreement and
unanimous by accident. All of it is measured on what participants declared: positions, not prose.
Only `overlap` looks at words, and it says that a table repeats itself, not that it agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .pattern import pattern

Positions = Mapping[str, str | None]
"""What each participant holds on one issue: an answer or a stance; None if nobody knows."""

UNSURE = "unsure"
"""A position that agrees with nobody, not even with another one who is unsure."""

HIGHEST_SCORE = 5
_WORD = pattern(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Score:
    """A number, or None and why there is none."""

    value: float | None
    reason: str = ""


def agreement_pct(scores: Collection[int]) -> Score:
    """The sum of all 1–5 scores in percent of the most it could be; 20 is the floor."""
    if not scores:
        return Score(None, "no scores were given")
    if wrong := [score for score in scores if not 1 <= score <= HIGHEST_SCORE]:
        raise ValueError(f"scores go from 1 to {HIGHEST_SCORE}: {wrong[0]!r}")
    return Score(100 * sum(scores) / (len(scores) * HIGHEST_SCORE))


def overlap(before: Mapping[str, str], after: Mapping[str, str]) -> Score:
    """How much of two consecutive rounds is the same words, 0 to 1: for each participant who
    spoke in both, the words common to both speeches among all words of the two; then the mean."""
    both = [name for name in before if name in after]
    shares = [_common_share(before[name], after[name]) for name in both]
    known = [share for share in shares if share is not None]
    if not known:
        return Score(None, "nobody spoke in both rounds")
    return Score(sum(known) / len(known))


def _common_share(one: str, two: str) -> float | None:
    ours, theirs = _vocabulary(one), _vocabulary(two)
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else None


@lru_cache(maxsize=64)  # each text is held against every other
def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def convergence_score(consensus: int, disagreement: int, unsettled: int = 0) -> Score:
    """Consensus points among all that are on the table. What is unsettled counts as not agreed,
    so a table with open points is never at 1; while none is settled there is no score."""
    if consensus + disagreement == 0:
        return Score(None, "no point is shared or disputed yet")
    return Score(consensus / (consensus + disagreement + unsettled))


def agreement(positions: Positions) -> float | None:
    """The share of pairs of participants who hold the same on one issue; None without a pair.

    Whoever is unsure takes part in pairs and agrees in none of them.
    """
    held = [position for position in positions.values() if position is not None]
    pairs = len(held) * (len(held) - 1) // 2
    if not pairs:
        return None
    alike = Counter(position for position in held if position != UNSURE)
    return sum(n * (n - 1) // 2 for n in alike.values()) / pairs


def mean_agreement(issues: Iterable[Positions]) -> float | None:
    """Agreement, averaged over the issues on which at least two hold something."""
    known = [share for each in issues if (share := agreement(each)) is not None]
    return sum(known) / len(known) if known else None


def divergence(issues: Iterable[Positions]) -> float | None:
    """The share of pairs that do not agree: how far the declared positions are apart."""
    share = mean_agreement(issues)
    return None if share is None else 1 - share


def stability(before: Iterable[Positions], after: Iterable[Positions]) -> float | None:
    """The share of stances, over all participants and issues, that a round left as they were.

    Both are in the same order of issues. Stances known on one side only say nothing; None if
    there is no other.
    """
    pairs = [
        (position, later[name])
        for earlier, later in zip(before, after, strict=False)
        for name, position in earlier.items()
        if position is not None and later.get(name) is not None
    ]
    return sum(old == new for old, new in pairs) / len(pairs) if pairs else None
