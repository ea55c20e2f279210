"""Contribution: who earns its seat. Whether the outcome hangs on somebody, and who repeats whom.

Two participants who give the same answers all the time are one voice with two seats. Counted
plainly each of them would seem to matter, because their weight does; so those who always agree
share one vote here, and taking one of them away changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from .convergence import Score
from .tally import Rule, Vote, final_votes, tally
from .track_record import Answers, answers_of

ENOUGH_TO_COMPARE = 8
"""So many common questions tell whether two participants are the same voice."""
Ballots = Sequence[Vote]
"""All ballots on one question."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one participant brings to the table, over the questions on which it voted."""

    participant: str
    questions: int
    decisive: int
    """The questions whose outcome is another one without it."""
    twins: tuple[str, ...] = ()
    """Who always gave the same answers, or is the same model; they share one vote here."""
    gained: int | None = None
    """The questions answered rightly thanks to it, less those lost by it; None without gold."""

    @property
    def rate(self) -> Score:
        if not self.questions:
            return Score(None, "it never voted")
        return Score(self.decisive / self.questions)


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
    questions: Sequence[Ballots],
    *,
    rule: Rule = "plurality",
    models: Mapping[str, str] | None = None,
    gold: Sequence[str] | None = None,
) -> dict[str, Contribution]:
    """Everybody's contribution, by taking it away and counting again.

    `models` names the model behind each participant, so that copies are known from one question
    on; otherwise those are twins who agreed on all of at least `ENOUGH_TO_COMPARE` questions, not
    all of them unanimous. With the right answers in `gold`, `gained` says what it was good for.
    """
    finals = [final_votes(ballots) for ballots in questions]
    twins = _twins([answers_of(votes) for votes in finals], models or {})
    found: dict[str, Contribution] = {}
    for name in sorted({vote.voter for votes in finals for vote in votes}):
        voted = decisive = gained = 0
        for place, votes in enumerate(finals):
            if all(vote.voter != name for vote in votes):
                continue
            voted += 1
            before = _outcome(votes, twins, rule)
            after = _outcome([vote for vote in votes if vote.voter != name], twins, rule)
            decisive += before != after
            if gold is not None:
                gained += (before == {gold[place]}) - (after == {gold[place]})
        found[name] = Contribution(
            name,
            voted,
            decisive,
            tuple(sorted(twins.get(name, ()))),
            None if gold is None else gained,
        )
    return found


def _outcome(votes: Ballots, twins: Mapping[str, Collection[str]], rule: Rule) -> set[str]:
    """The winners when of those who are one voice only the first by name votes."""
    present = {vote.voter for vote in votes}
    heard = [
        vote
        for vote in votes
        if not any(twin in present and twin < vote.voter for twin in twins.get(vote.voter, ()))
    ]
    return set(tally(heard).outcomes[rule].winners)


def _twins(history: Sequence[Answers], models: Mapping[str, str]) -> dict[str, set[str]]:
    voters = sorted({v for answers in history for v in answers} | set(models))
    twins: dict[str, set[str]] = {voter: set() for voter in voters}
    for (a, b), pair in likeness(history).items():
        if pair.questions == pair.agreed and pair.correlation.value == 1:
            twins[a].add(b)
            twins[b].add(a)
    for a, b in combinations(sorted(models), 2):
        if models[a] == models[b]:
            twins[a].add(b)
            twins[b].add(a)
    return twins


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
        return Score(None, f"{questions} common questions, {ENOUGH_TO_COMPARE} are needed")
    if questions - expected < 1e-9:
        return Score(None, "everybody agreed on all of them")
    return Score((agreed - expected) / (questions - expected))
