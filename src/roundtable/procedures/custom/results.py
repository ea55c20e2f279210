"""What code makes of what was declared in one pass: statistics, a tally, how the question stands,
or the points that do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from ...core.record import Point
from ...core.standing import DecisionStanding
from ...core.tally import Rule, Tally, Vote, tally
from .model import Extract
from .values import Read

MOST_POINTS = 40


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of numbers. The quartiles are those of linear interpolation between the ranks."""

    count: int
    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float
    mean: float

    @property
    def middle_half(self) -> float:
        return self.q3 - self.q1

    def spread(self, scale: str) -> float | None:
        """The middle half, as it is or against the median; None where the median is 0."""
        if scale == "absolute" or self.middle_half == 0:
            return self.middle_half
        return self.middle_half / abs(self.median) if self.median else None

    def line(self) -> str:
        return (
            f"n = {self.count}, median {shown(self.median)}, quartiles {shown(self.q1)} to "
            f"{shown(self.q3)}, range {shown(self.minimum)} to {shown(self.maximum)}, "
            f"mean {shown(self.mean)}"
        )


@dataclass(frozen=True, slots=True)
class Result:
    """The aggregate of one pass of one stage."""

    stage: str
    round: int
    of: str
    kind: str
    values: Mapping[str, Read]
    """By participant, in the order of seats; whoever could not be read is missing."""
    missing: tuple[str, ...] = ()
    """Who spoke and could not be counted."""
    enough: bool = True
    """Whether as many spoke as the stage needs."""
    statistics: Statistics | None = None
    tally: Tally | None = None
    points: Sequence[Point] | None = None
    standing: DecisionStanding | None = None
    """Of what was voted on: how the table agrees."""

    def text(self) -> str:
        """In words, without anybody's name."""
        uncounted = f" ({len(self.missing)} not counted)" if self.missing else ""
        return f"{self.stage}, round {self.round}, {self.of}{uncounted}: {self.finding()}"

    def finding(self) -> str:
        if self.kind == "points":
            return self._points()
        if self.kind == "decision":
            return self._decision()
        if not self.values:
            return "nothing could be counted."
        if self.statistics is not None:
            return f"{self.statistics.line()}."
        assert self.tally is not None, "a result is statistics, a tally, a decision or points"
        outcome = self.tally.outcomes[self.rule]
        scores = "; ".join(f"{each}: {outcome.scores[each]:g}" for each in outcome.scores)
        won = " and ".join(outcome.winners)
        tie = "a tie between " if len(outcome.winners) > 1 else ""
        alarm = "; the voting rules disagree" if self.tally.alarm else ""
        return f"by {self.rule}, {tie}{won} ({scores}; {len(self.values)} ballots{alarm})."

    @property
    def rule(self) -> Rule:
        name = self.kind.partition(":")[2]
        return next(rule for rule in get_args(Rule) if rule == name)

    @property
    def winners(self) -> tuple[str, ...]:
        if self.kind == "decision":
            return (self.standing.answer,) if self.standing and self.standing.delivered else ()
        return self.tally.outcomes[self.rule].winners if self.tally else ()

    def _decision(self) -> str:
        if self.standing is None:
            return "nothing was put to the vote."
        each = self.standing
        counts = "; ".join(f"{each.text_of(o)}: {n}" for o, n in each.counts.items() if n)
        told = f"{each.end}: {each.reason}" if each.end else each.reason
        return f"{told.rstrip('.')} ({counts})." if counts else told

    def _points(self) -> str:
        if not self.points:
            return "no points were raised."
        lines = [
            f"- {each.id}: {each.text} ({_CALLED.get(each.status, each.status)}; "
            f"{len(each.holders)} for, {len(each.opponents)} against)"
            for each in self.points[:MOST_POINTS]
        ]
        return "\n" + "\n".join(lines)


_CALLED = {"agreed": "consensus", "held": "open"}


def statistics(numbers: Sequence[float]) -> Statistics | None:
    """None of nothing."""
    if not numbers:
        return None
    ranked = sorted(numbers)
    return Statistics(
        count=len(ranked),
        minimum=ranked[0],
        q1=_quantile(ranked, 0.25),
        median=_quantile(ranked, 0.5),
        q3=_quantile(ranked, 0.75),
        maximum=ranked[-1],
        mean=sum(ranked) / len(ranked),
    )


def count_votes(values: Mapping[str, Read], extract: Extract) -> Tally:
    """One ballot each: a choice is a ranking of one. Among choices only those stand."""
    votes = [
        Vote(voter, tuple((option,) for option in _ranking(value)))
        for voter, value in values.items()
    ]
    return tally(votes, extract.choices or None)


def first_choice(value: Read) -> str:
    """What a value stands for, where positions are compared."""
    return _ranking(value)[0]


def _ranking(value: Read) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return value
    return (shown(value) if isinstance(value, float) else value,)


def _quantile(ranked: Sequence[float], share: float) -> float:
    place = (len(ranked) - 1) * share
    below = int(place)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (ranked[above] - ranked[below]) * (place - below)


def shown(number: float) -> str:
    """A number as people write it: no more digits than it has, and no exponents."""
    if number == int(number):
        return f"{int(number):,}"
    rounded = f"{number:,.4g}" if abs(number) < 10_000 else f"{number:,.0f}"
    return rounded if "e" not in rounded else f"{number:.6f}"
