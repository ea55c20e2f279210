"""Contribution: who earns its seat. Whether the outcome hangs on somebody's vote, and who repeats
whom."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from .convergence import Score
from .prevailing import Count
from .track_record import Answers

ENOUGH_TO_COMPARE = 8
"""So many common questions tell whether two participants are the same voice."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What the vote of one participant was worth on one decision."""

    participant: str
    decisive: bool
    """Whether something else prevails without it, or nothing any more."""
    twins: tuple[str, ...] = ()
    """Who is one voter with it."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How often two participants gave the same answer."""

    questions: int
    agreed: int
    correlation: Score
    """1 for the same voice, 0 for two who agree as often as any two of the table do, below 0 for
    two who agree less often."""

    @property
    def agreement(self) -> Score:
        if not self.questions:
            return Score(None, "they never answered the same question")
        return Score(self.agreed / self.questions)


def contributions(
    votes: Mapping[str, str],
    options: Collection[str],
    weights: Mapping[str, float],
    twins: Mapping[str, Collection[str]],
) -> dict[str, Contribution]:
    """Everybody's contribution to one decision: its vote is taken away and the rest counted again
    by the rule that decided, in which a seat without a vote stays in the whole. `votes` are what
    the seats count for, `twins` those who are one voter with each of them."""
    answer = Count(votes, weights).answer(options)
    return {
        seat: Contribution(
            seat,
            Count({**votes, seat: ""}, weights).answer(options) != answer,
            tuple(sorted(twins.get(seat, ()))),
        )
        for seat, vote in votes.items()
        if vote
    }


def likeness(history: Iterable[Answers]) -> dict[tuple[str, str], Likeness]:
    """Every pair of participants, compared over the questions that both answered.

    What any two of the table do on the same questions is taken as the measure of chance: easy
    questions make everybody agree. Unanimous questions alone therefore tell nothing.
    """
    past = list(history)
    names = sorted({name for answers in past for name in answers})
    usual = [_usual_agreement(answers) for answers in past]
    found: dict[tuple[str, str], Likeness] = {}
    for a, b in combinations(names, 2):
        common = [n for n, answers in enumerate(past) if a in answers and b in answers]
        agreed = sum(past[n][a] == past[n][b] for n in common)
        expected = sum(usual[n] for n in common)
        found[a, b] = Likeness(len(common), agreed, _correlation(len(common), agreed, expected))
    return found


def _usual_agreement(answers: Answers) -> float:
    """The chance that two who answered a question gave the same answer."""
    given = list(answers.values())
    pairs = len(given) * (len(given) - 1) // 2
    return sum(x == y for x, y in combinations(given, 2)) / pairs if pairs else 1.0


def _correlation(questions: int, agreed: int, expected: float) -> Score:
    if questions < ENOUGH_TO_COMPARE:
        return Score(None, f"common questions: {questions}, and {ENOUGH_TO_COMPARE} are needed")
    if questions - expected < 1e-9:
        return Score(None, "everybody agreed on all of them")
    return Score((agreed - expected) / (questions - expected))
