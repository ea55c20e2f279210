"""Track records: how far a voter is to be trusted, learned without knowing any right answer.

A voter's trust is the share of the others, weighted by their own trust, who gave its answer over
past questions, beyond what chance would bring: good voters meet at the right answer, and bad ones
go astray in different ways. The cube of the trust is its weight in a vote, which lets clearly
better voters outvote a few worse ones and leaves a table of equals as it is. Unlike the usual
estimate (EM on how often each one is right) it does not take voters to err independently, which
models do not: on recorded answers that estimate follows whichever group shares a habit. Still,
copies of one model look better than they are (see contribution.py).

The program's default rule is plurality, with these weights where no option has more than half of
the ballots: what was learned without right answers may part a divided table, never overrule a
majority. Nor does one voter alone ever outvote several. Without a record it is plain plurality. The
question voted on is never part of its history, and neither is what somebody answered after talk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .record import record_of
from .state import State
from .tally import (
    Rule,
    Vote,
    best_of,
    counted_votes,
    final_votes,
    first_choices,
    standing_options,
    tally,
)
from .values import OUTSIDE

Answers = Mapping[str, str]
"""What each voter answered to one past question, in a form in which equal answers are equal."""

ENOUGH = 30
"""So many past questions with two answers or more make a record; with fewer all are equal. On
recorded answers a record of 12 or 20 questions did not always help a table of three."""
_POWER = 3
"""Chosen on recorded answers, where higher ones lost to plain counting more often."""
_LEAST = 0.01
"""Nobody's ballot is worth nothing: alone, it still decides."""
_PASSES = 5
"""Trust in others' trust settles within a few passes."""
_TIE_BREAKERS: tuple[Rule, ...] = ("borda", "confidence")
_PRIOR = 12
"""Everybody starts as if it had been average in so many comparisons with another voter."""


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """Weights of voters, 1 on average. `reason` says what they rest on, or why all are equal."""

    weights: Mapping[str, float] = field(default_factory=dict)
    questions: int = 0
    reason: str = "there is no history"

    @property
    def learned(self) -> bool:
        return bool(self.weights)

    def weight(self, voter: str) -> float:
        """1 for a voter that the record does not know: it counts as an average one."""
        return self.weights.get(voter, 1.0)


NO_RECORD = TrackRecord()


@dataclass(frozen=True, slots=True)
class Choice:
    """What the default rule makes of the ballots."""

    winners: tuple[str, ...]
    """Several only if nothing in the ballots parts them."""
    scores: Mapping[str, float]
    weighted: bool
    reason: str
    """Why the weights are what they are, and what broke a tie if there was one."""

    @property
    def winner(self) -> str | None:
        """The one that the program goes on with. Where nothing parts several, it is the first by
        its characters: arbitrary, and the same in whatever order they came."""
        return min(self.winners, default=None)

    @property
    def tied(self) -> bool:
        return len(self.winners) > 1


def answers_of(votes: Iterable[Vote]) -> dict[str, str]:
    """A question for the history: everybody's final first choice, if it has a single one."""
    return {vote.voter: vote.first[0] for vote in final_votes(votes) if len(vote.first) == 1}


def independent_answers(state: State) -> dict[str, str]:
    """A question for the history of models: what each of them held before it heard others.

    A model that held two seats and gave two answers has none, and so has whoever spoke from
    outside: nobody knows who that was."""
    record = record_of(state)
    question = record.question
    if question is None:
        return {}
    spoke = {s.participant: s.model for s in reversed(state.said.in_rounds)}
    given: dict[str, set[str]] = {}
    for vote in record.votes(question):
        model = spoke.get(vote.participant)
        if model and vote.independent and vote.opening in question.option_ids:
            given.setdefault(model, set()).add(vote.opening)
    given.pop(OUTSIDE, None)
    return {model: answers.pop() for model, answers in given.items() if len(answers) == 1}


def learn(history: Iterable[Answers], voters: Collection[str] | None = None) -> TrackRecord:
    """The record of these voters, or of all; of what others did nothing is used."""
    seated = None if voters is None else set(voters)
    past = [
        shared
        for answers in history
        if len(shared := {v: a for v, a in answers.items() if seated is None or v in seated}) > 1
    ]
    names = sorted({voter for answers in past for voter in answers})
    if len(past) < ENOUGH:
        return TrackRecord({}, len(past), f"{len(past)} past questions, {ENOUGH} are needed")
    if len(names) < 3:
        return TrackRecord({}, len(past), "two voters who differ say nothing about each other")
    chance = _chance(past)
    weights = dict.fromkeys(names, 1.0)
    for _ in range(_PASSES):
        shares = _shares(past, weights)
        trust = {voter: max(0.0, share - chance) for voter, share in shares.items()}
        mean = sum(trust.values()) / len(trust)
        if mean < 1e-9:
            return TrackRecord({}, len(past), "no two voters agreed more often than by chance")
        weights = {v: max(_LEAST, (each / mean) ** _POWER) for v, each in trust.items()}
    scale = len(weights) / sum(weights.values())
    weights = {voter: weight * scale for voter, weight in weights.items()}
    return TrackRecord(weights, len(past), f"learned from {len(past)} past questions")


def _chance(past: Sequence[Answers]) -> float:
    """How often two answers to different questions are the same: much where all are yes or no."""
    given = Counter(answer for answers in past for answer in answers.values())
    total = given.total()
    return sum((count / total) ** 2 for count in given.values())


def _shares(past: Sequence[Answers], weights: Mapping[str, float]) -> dict[str, float]:
    """For each voter, how much of the others' weight is behind its answers on average."""
    agreed = dict.fromkeys(weights, 0.0)
    asked: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    for answers in past:
        behind: dict[str, float] = {}
        for voter, answer in answers.items():
            behind[answer] = behind.get(answer, 0.0) + weights[voter]
        total = sum(behind.values())
        for voter, answer in answers.items():
            # A voter must not be its own witness.
            others = total - weights[voter]
            if others > 1e-12:
                agreed[voter] += max(0.0, behind[answer] - weights[voter]) / others
            asked[voter] += 1
            compared[voter] += len(answers) - 1
    average = sum(agreed.values()) / asked.total()
    prior = {voter: _PRIOR * asked[voter] / compared[voter] for voter in weights}
    return {v: (agreed[v] + prior[v] * average) / (asked[v] + prior[v]) for v in weights}


def choose(
    votes: Iterable[Vote], record: TrackRecord = NO_RECORD, options: Sequence[str] | None = None
) -> Choice:
    """The default rule: more than half of the first choices; else most of them, by weight, among
    the options that several put first if there are such.

    A tie is broken by what the ballots say beyond their first choice (Borda), and then by the
    calibrated confidence of those behind each option; no order of options or ballots ever decides.
    """
    last = final_votes(votes)
    standing = standing_options(last, options)
    counted = [vote for vote in counted_votes(last, standing) if vote.first]
    scores = first_choices(counted, standing, lambda vote: record.weight(vote.voter))
    if not counted:
        return Choice((), scores, record.learned, "no ballot names an option")
    reason = record.reason
    plain = first_choices(counted, standing, lambda _: 1.0)
    majority = next((o for o, count in plain.items() if count * 2 > len(counted)), None)
    if majority is not None:
        return Choice((majority,), scores, record.learned, f"{reason}; a majority stands")
    shared = {option: scores[option] for option, count in plain.items() if count > 1}
    winners = best_of(shared or scores)
    if len(winners) > 1:
        outcomes = tally(counted, standing).outcomes
        for rule in _TIE_BREAKERS:
            winners = best_of({option: outcomes[rule].scores[option] for option in winners})
            if len(winners) == 1:
                return Choice(winners, scores, record.learned, f"{reason}; tie broken by {rule}")
        reason = f"{reason}; a tie that nothing in the ballots breaks"
    return Choice(winners, scores, record.learned, reason)
