"""Confidence: how far an answer is to be trusted, computed from how agreement on it arose.

The same computation serves every procedure. It knows who held the answer before any talk, who came
to it by an argument, who gave in, who is missing, and how many independent voters there were; what
the writer of a verdict claims never enters. The numbers are from recorded debates and recorded
answers with known right answers, of which `python -m benchmarks.evals.fit_confidence` makes the
constants below; `make evals` measures them on questions they were not fitted on.

What a probability means: of recorded debates that ended like this, about so many in ten were right.
Those were questions with a right answer, put to older models. A real decision has none to compare
with, so what came of the user's own decisions moves the estimate as it comes in (`learn_outcomes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import exp, isfinite, log, log2
from typing import Literal

from .values import TurnedOut as TurnedOut

Word = Literal["high", "medium", "low", "none"]
QuestionType = Literal["choice", "open", "yes_no"]

# Fitted on recorded debates and answers (see fit_confidence.py); log odds.
BASE = -1.46
INDEPENDENT = 3.14
"""For the share of all seated who held the answer before any talk, and hold it still."""
MOVED = 1.18
"""For the share who came to it later by an argument. The records do not say why somebody changed
its answer, but all had read the others' reasons; who names none counts as if it had not changed."""
EFFECTIVE = 0.02
"""For each doubling of the effective voters, times the independent share. The records hardly show
it, because personas on small models vary by noise; so one model's agreement with itself is also
kept from being called high, and its band reaches further down."""
TYPE: Mapping[QuestionType, float] = {"choice": 0.0, "open": 0.89, "yes_no": -0.44}
"""Free answers rarely agree by accident, answers of two kinds often do."""
ALONE: Mapping[QuestionType, float] = {"choice": 0.43, "open": 0.6, "yes_no": 0.5}
"""How often one answer alone was right: where one seat speaks there is no agreement to go by. Of
yes and no nothing was recorded."""
BAND = 0.77
"""Half the width of the band, in log odds: four of five sets of questions lie no farther from the
fit. Which kind of question a new one is like, nobody knows beforehand."""

# Nobody recorded these; set by hand, small, and downwards but for the last.
CONDITION = -0.3
"""For agreement of anybody that hangs on a demand which nobody has granted yet."""
ONE_VOTER = 0.4
"""How much further down the band reaches where one model agrees with itself: all hangs on it."""
UNSETTLED = -0.5
"""For a position of somebody's own that was not put to the vote."""
DECLARED = 0.2
"""For declared confidence, from 0 to 1, beside the usual 0.8: it hardly moves with being right."""

HIGH, MEDIUM = 0.8, 0.6
"""From these probabilities on, the words."""
MOST_BEHIND_IT = 0.75
"""High takes at least this share of all seated, from the start or by an argument."""
ENOUGH_VOTERS = 1.5
"""With fewer effective voters than this, one model agrees with itself: never high."""
LEAST_OUTCOMES = 10
MOST_SHIFT = 1.0
"""However one-sided the user's outcomes are, they move the log odds by no more than this."""
_PRIOR_SPREAD = 0.5
"""How far, in log odds, decisions of one user are expected to lie from the recorded debates."""


@dataclass(frozen=True, slots=True)
class AgreementFacts:
    """How agreement on the delivered answer arose. All counts are of seats."""

    seated: int
    holding: int
    """Whose last vote is the delivered answer."""
    independent: int = 0
    """Of these, who held it in round 1, before hearing anybody."""
    moved: int = 0
    """Of these, who came to it later and named the argument."""
    gave_in: int = 0
    """Of these, who left another answer for it and named none. Whoever is left of `holding` had
    heard others before it first said anything: it gave up nothing."""
    absent: int = 0
    abstaining: int = 0
    conditional: int = 0
    """Of those who hold it, on a demand that not all on their side granted."""
    effective: float = 1.0
    """The effective number of independent voters (`effective_voters`)."""
    unsettled: bool = False
    """Whether somebody holds a position of its own that was not put to the vote."""
    question: QuestionType = "choice"
    declared: float | None = None
    """The mean of declared confidences, 0 to 1; None if nobody declared one."""
    indifferent: int = 0
    """Who voted without a preference."""
    rejecting: int = 0
    """Who is against it without holding another answer."""
    undeclared: int = 0
    """Who spoke and has no vote that can be counted."""
    fell_back: int = 0
    """Of those who hold it on a condition, who voted otherwise and counts for it only because a
    demand was refused."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type == "int" and value < 0:
                raise ValueError(f"{each.name} counts seats and cannot be {value}")
        if self.holding + self.missing > self.seated:
            raise ValueError("more seats hold, abstain or are absent than were seated")
        if self.independent + self.moved + self.gave_in + self.fell_back > self.holding:
            raise ValueError("more seats came to the answer than hold it")
        if self.rejecting > self.against:
            raise ValueError("more seats reject the answer than do not share it")
        if self.conditional > self.holding:
            raise ValueError("more seats hold the answer on a condition than hold it")
        if self.fell_back > self.conditional:
            raise ValueError("whoever counts by a refusal holds the answer on a condition")
        if not isfinite(self.effective) or self.effective < 0:
            raise ValueError(f"the effective number of voters cannot be {self.effective}")
        if self.declared is not None and not 0 <= self.declared <= 1:
            raise ValueError(f"a declared confidence goes from 0 to 1, not {self.declared}")

    @property
    def missing(self) -> int:
        """Who holds no answer, for whatever reason."""
        return self.absent + self.abstaining + self.indifferent + self.undeclared

    @property
    def against(self) -> int:
        """Who was there, voted, and does not share it."""
        return self.seated - self.holding - self.missing

    @property
    def hollow(self) -> bool:
        """Whether it would not have more than half of the seats without those who gave in."""
        return self.gave_in > 0 and (self.holding - self.gave_in) * 2 <= self.seated


@dataclass(frozen=True, slots=True)
class Assessment:
    """What to think of an answer. Without a vote to count there is no probability, and `reason`
    says why."""

    probability: float | None
    low: float | None
    high: float | None
    word: Word
    reason: str
    outcomes: int = 0
    """How many outcomes of the user's own have moved it."""

    @property
    def meaning(self) -> str:
        """What the probability is a probability of, in one sentence; empty without one."""
        if self.probability is None:
            return ""
        tenths = min(9, max(1, round(self.probability * 10)))
        told = f"Of recorded debates that ended like this, about {tenths} in 10 were right"
        own = f", {self.outcomes} outcomes of your own decisions counted in"
        return f"{told}{own if self.outcomes else ''}."


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What came of earlier decisions: how far the estimate moves, in log odds."""

    shift: float = 0.0
    count: int = 0
    reason: str = "No outcomes are recorded."


NO_OUTCOMES = Outcomes()


def assess(facts: AgreementFacts, outcomes: Outcomes = NO_OUTCOMES) -> Assessment:
    """The confidence in the delivered answer.

    Never high: what stands only because some gave in without an argument, agreement that hangs on
    an open condition, a table with an unsettled position, one model agreeing with itself, and what
    fewer than three in four of the seated came to by themselves or by an argument.
    """
    reason = _reason(facts)
    if not facts.holding:
        return Assessment(None, None, None, "none", reason)
    odds = log_odds(facts) + outcomes.shift
    capped = (
        facts.hollow
        or facts.conditional
        or facts.unsettled
        or facts.seated == 1
        or facts.effective < ENOUGH_VOTERS
        or facts.independent + facts.moved < MOST_BEHIND_IT * facts.seated
    )
    # The odds are kept down, not the word: so word, probability and band always say the same.
    if facts.seated == 1 or facts.hollow:
        odds = min(odds, _below(MEDIUM))
    elif capped:
        odds = min(odds, _below(HIGH))
    probability = _share(odds)
    word: Word = "high" if probability >= HIGH else "medium" if probability >= MEDIUM else "low"
    below = BAND + (ONE_VOTER if facts.effective < ENOUGH_VOTERS else 0.0)
    return Assessment(
        probability,
        _share(odds - below),
        _share(odds + BAND),
        word,
        reason,
        outcomes.count if outcomes.shift else 0,
    )


def features(facts: AgreementFacts) -> tuple[float, ...]:
    """What the fitted part looks at, in the order of `COEFFICIENTS`."""
    independent = facts.independent / facts.seated
    voters = min(max(facts.effective, 1.0), float(facts.seated))
    return (
        1.0,
        independent,
        facts.moved / facts.seated,
        independent * log2(voters),
        float(facts.question == "open"),
        float(facts.question == "yes_no"),
    )


COEFFICIENTS = (BASE, INDEPENDENT, MOVED, EFFECTIVE, TYPE["open"], TYPE["yes_no"])


def log_odds(facts: AgreementFacts) -> float:
    """The log odds that an answer held like this is right. Somebody must have been seated."""
    if facts.seated == 1:
        alone = ALONE[facts.question]
        odds = log(alone / (1 - alone))
    else:
        odds = sum(c * x for c, x in zip(COEFFICIENTS, features(facts), strict=True))
    if facts.conditional:
        odds += CONDITION
    if facts.unsettled:
        odds += UNSETTLED
    if facts.declared is not None:
        odds += DECLARED * (facts.declared - 0.8)
    return odds


def learn_outcomes(past: Iterable[tuple[float, TurnedOut]]) -> Outcomes:
    """What the user's own outcomes say, from pairs of the probability given and how it turned out.

    The most likely shift of the log odds, drawn towards none by what is expected of one user, and
    bounded. Something mixed counts as half good. Fewer than `LEAST_OUTCOMES` move nothing.
    """
    worth: Mapping[TurnedOut, float] = {"good": 1.0, "mixed": 0.5, "bad": 0.0}
    known = [(p, worth[turned]) for p, turned in past if isfinite(p) and 0 < p < 1]
    if len(known) < LEAST_OUTCOMES:
        told = f"{len(known)} outcomes are recorded; from {LEAST_OUTCOMES} on they count."
        return Outcomes(0.0, len(known), told if known else NO_OUTCOMES.reason)
    odds = [log(p / (1 - p)) for p, _ in known]
    low, high = -MOST_SHIFT, MOST_SHIFT
    for _ in range(50):  # the slope falls all the way, so halving finds where it is none
        shift = (low + high) / 2
        slope = sum(good - _share(o + shift) for o, (_, good) in zip(odds, known, strict=True))
        if slope - shift / _PRIOR_SPREAD**2 > 0:
            low = shift
        else:
            high = shift
    shift = round((low + high) / 2, 6)
    expected = sum(p for p, _ in known) / len(known)
    came = sum(good for _, good in known) / len(known)
    told = (
        f"Of {len(known)} decisions {came:.0%} turned out well, where {expected:.0%} were expected."
    )
    return Outcomes(shift, len(known), told)


def _below(probability: float) -> float:
    """The highest log odds at which the word of a probability is not said yet."""
    most = probability - 0.01
    return log(most / (1 - most))


def _share(odds: float) -> float:
    """Of the log odds; never certain either way."""
    return min(0.97, max(0.03, 1 / (1 + exp(-min(30.0, max(-30.0, odds))))))


# --- words ---------------------------------------------------------------------------------------

_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _count(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _reason(facts: AgreementFacts) -> str:
    """One sentence, the origin of the agreement first and what weakens it after that."""
    if not facts.seated:
        return "Nobody was seated, so there is nothing to count."
    if facts.absent == facts.seated:
        return "Everybody was absent, so there is nothing to count."
    if not facts.holding:
        return "No vote stands behind an answer, so there is no confidence to give."
    if facts.seated == 1:
        return "Only one seat answered, so nobody could confirm it or differ."
    parts = [_origin(facts)]
    missing = [
        (facts.against - facts.rejecting, "holds another answer", "hold another answer"),
        (facts.rejecting, "rejects it", "reject it"),
        (facts.abstaining, "abstained", "abstained"),
        (facts.indifferent, "has no preference", "have no preference"),
        (facts.undeclared, "has no vote that counts", "have no vote that counts"),
        (facts.absent, "was absent", "were absent"),
        (
            facts.conditional - facts.fell_back,
            "agrees only on a condition",
            "agree only on conditions",
        ),
    ]
    parts += [f"{_count(n)} {one if n == 1 else many}" for n, one, many in missing if n]
    if facts.unsettled:
        parts.append("a position of somebody's own was not put to the vote")
    if facts.effective < ENOUGH_VOTERS and facts.holding > 1:
        parts[-1] += "; the seats count for hardly more than one independent voter"
    told = ", ".join(parts)
    return f"{told[0].upper()}{told[1:]}."


def _origin(facts: AgreementFacts) -> str:
    n = facts.holding
    who = (
        ("both" if n == 2 else f"all {_count(n)}")
        if n == facts.seated
        else f"{_count(n)} of {_count(facts.seated)}"
    )
    if facts.independent == n:
        return f"{who} reached it independently, before hearing each other"
    known = facts.independent + facts.moved + facts.gave_in + facts.fell_back
    came = [
        (facts.independent, "from the start"),
        (facts.moved, "moved by a named argument"),
        (n - known, "having heard others first"),
        (facts.gave_in, "without naming an argument"),
        (facts.fell_back, "only because a demand was refused"),
    ]
    told = ", ".join(f"{_count(k)} {how}" for k, how in came if k)
    return f"{who} {'holds' if n == 1 else 'hold'} it in the end ({told})"
