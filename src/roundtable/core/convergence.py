"""Convergence: how close a table is, in several numbers that are never blended into one.

Four named metrics come from the four systems that Roundtable unites: `agreement_pct`, `overlap`,
`confidence` and `convergence_score`. Beside them stand agreement between participants and
stability over rounds, which are two numbers because a table can be stable in disagreement and
unanimous by accident. All of it is measured on what participants declared: positions, not prose.
Only `overlap` looks at words, and it says that a table repeats itself, not that it agrees.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .points import PointList
from .values import Confidence

End = Literal["consensus", "majority", "impasse", "drift"]
Positions = Mapping[str, str | None]
"""What each participant holds on one issue: an answer or a stance; None if nobody knows."""

UNSURE = "unsure"
"""A position that agrees with nobody, not even with another one who is unsure."""

HIGHEST_SCORE = 5
_LEVELS: tuple[Confidence, ...] = ("low", "medium", "high")
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_]+(?:['’][^\W_]+)*"
)


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


def _vocabulary(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def confidence(declared: Collection[Confidence]) -> Confidence | None:
    """The level in the middle of those that were declared, the lower one of two; None if none."""
    ranks = sorted(_LEVELS.index(level) for level in declared)
    return _LEVELS[ranks[(len(ranks) - 1) // 2]] if ranks else None


def convergence_score(consensus: int, disagreement: int) -> Score:
    """Consensus points among all points that are settled one way or the other."""
    total = consensus + disagreement
    if total == 0:
        return Score(None, "no point is shared or disputed yet")
    return Score(consensus / total)


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


@dataclass(frozen=True, slots=True)
class Ending:
    """How a debate ended. `end` is None, with the reason, when there was nothing to end."""

    end: End | None
    reason: str
    position: str | None = None
    """What all, or most, hold; None where nobody prevails."""
    dissenting: tuple[str, ...] = ()
    """Who does not hold it; in an impasse and a drift, everybody."""
    agreement: float | None = None
    stability: float | None = None
    """Of the last round against the one before; None after a single round."""


def name_end(rounds: Sequence[Positions]) -> Ending:
    """The end of a debate on one issue, from what its participants held after each round.

    What they hold at the end decides: all the same is a consensus, even if all of them came to it
    in the last round (stability then tells); more than half is a majority. Where nobody prevails,
    positions that stood still are an impasse, however sure of themselves their holders are, and
    positions that moved in the last round are a drift. A majority that was another one a round
    ago, and yet another one before that, has settled nothing: that is a drift too. Somebody whose
    position is not known, or who is unsure, stands in the way of a consensus. Who is missing in a
    round was silent and still holds what it held; who is there with None spoke, and nobody knows
    what it holds now.
    """
    views = _carried_forward(rounds)
    last = views[-1] if views else {}
    seated = tuple(last)
    share = agreement(last)
    steady = stability(views[-2:-1], [last])
    if len(seated) < 2:
        return Ending(None, "it takes two to agree", None, (), share, steady)
    held = Counter(p for p in last.values() if p is not None and p != UNSURE)
    if not held:
        return Ending(None, "nobody took a position", None, seated, share, steady)
    leader, count = held.most_common(1)[0]
    against = tuple(name for name in seated if last[name] != leader)
    if not against:
        return Ending("consensus", f"all {count} hold it", leader, (), share, steady)
    if _majority(last) is not None:
        if _keeps_turning([_majority(view) for view in views[-3:]]):
            return Ending(
                "drift", "the majority is another each round", None, seated, share, steady
            )
        told = f"{count} of {len(seated)} hold it"
        return Ending("majority", told, leader, against, share, steady)
    if steady is not None and steady < 1:
        return Ending("drift", "positions move and none prevails", None, seated, share, steady)
    return Ending("impasse", "positions stand and none prevails", None, seated, share, steady)


def _keeps_turning(leaders: Sequence[str | None]) -> bool:
    if len(leaders) < 3 or None in leaders:
        return False
    return leaders[0] != leaders[1] and leaders[1] != leaders[2]


def name_end_of_points(points: PointList) -> Ending:
    """The end of a debate over all issues on which at least two participants took a position.

    All in consensus is a consensus; none worse than a majority is a majority; else it is an
    impasse, or a drift if more issues drift than stand still.
    """
    by_round = [points.positions(round_) for round_ in points.rounds]
    ends: list[Ending] = []
    for issue in points.issues:
        views = [view[issue.id] for view in by_round if issue.id in view]
        if views and len(views[-1]) > 1:
            ends.append(name_end(views))
    share = mean_agreement(by_round[-1].values()) if by_round else None
    steady = stability_of_points(points)
    named = Counter(each.end for each in ends if each.end is not None)
    total = sum(named.values())
    if not total:
        return Ending(None, "no point has two positions on it", None, (), share, steady)
    end: End
    if named["consensus"] == total:
        end = "consensus"
    elif named["consensus"] + named["majority"] == total:
        end = "majority"
    else:
        end = "drift" if named["drift"] > named["impasse"] else "impasse"
    told = ", ".join(f"{count} in {name}" for name, count in sorted(named.items()))
    dissenting = tuple(dict.fromkeys(name for each in ends for name in each.dissenting))
    return Ending(end, f"{total} points: {told}", None, dissenting, share, steady)


def stability_of_points(points: PointList) -> float | None:
    """The share of stances that the last round left as they were; None after a single round."""
    rounds = points.rounds
    if len(rounds) < 2:
        return None
    before, after = points.positions(rounds[-2]), points.positions(rounds[-1])
    return stability(before.values(), [after[issue] for issue in before])


def _carried_forward(rounds: Sequence[Positions]) -> list[dict[str, str | None]]:
    """Each round with everybody who ever took part; who is silent still holds what it held."""
    names = list(dict.fromkeys(name for each in rounds for name in each))
    views: list[dict[str, str | None]] = []
    for each in rounds:
        before = views[-1] if views else dict.fromkeys(names)
        views.append({name: each.get(name, before[name]) for name in names})
    return views


def _majority(view: Positions) -> str | None:
    """What more than half of all hold, if anything."""
    held = Counter(p for p in view.values() if p is not None and p != UNSURE)
    return next((p for p, count in held.items() if count * 2 > len(view)), None)
