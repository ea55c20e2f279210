"""Where a five-round discussion stands: points, challenges, disputes, convergence. What decides is
declared; challenges and the answers to them are only told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...core.conditions import ConditionOnTable
from ...core.convergence import UNSURE, divergence, overlap
from ...core.convergence_rules import Measures
from ...core.declaration import OWN
from ...core.events import SpeechGiven
from ...core.record import LEGACY, Point, record_before, record_of
from ...core.standing import DecisionStanding, convergence, standing_of
from ...core.state import State
from . import forms
from .references import Statements, normal_name, references
from .rounds import CRITIQUE, REVISION, held

Kind = Literal["decision", "demand", "point", "challenge"]
BY_SIDE = "by side"
"""How disputes are listed, as it is settled at the opening under `disputes`. Discussions from
before that have the numbers under which their hosts ruled."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A risk or a defect as the expert meets it against whom it was raised."""

    number: int
    author: str
    target: str
    finding: forms.Finding

    @property
    def id(self) -> str:
        # Not C: c1, c2 … are conditions.
        return f"Q{self.number}"


@dataclass(frozen=True, slots=True)
class Dispute:
    """Something on which the host must rule."""

    number: int
    kind: Kind
    ref: str
    """The id of the decision, the condition, the point or the challenge."""
    text: str
    for_it: tuple[str, ...]
    against: tuple[str, ...]
    sides: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Of a decision: who holds which option, or a position of its own."""

    @property
    def id(self) -> str:
        return f"X{self.number}"

    def told(self, name: Callable[[str], str]) -> str:
        """Who stands against whom."""

        def names(participants: Sequence[str]) -> str:
            return ", ".join(name(each) for each in participants) or "nobody"

        if self.sides:
            return "; ".join(f"{option}: {names(holders)}" for option, holders in self.sides)
        against = "not granted by" if self.kind == "demand" else "against"
        return f"for: {names(self.for_it)}; {against}: {names(self.against)}"


def statements(state: State, before_round: int) -> Statements:
    """What can be referred to in a round: every speech of the rounds before it."""
    names = {normal_name(p.id): p.id for p in state.participants}
    names.update({normal_name(p.name): p.id for p in state.participants})
    texts = {
        (speech.participant, speech.round): speech.text
        for speech in state.said.in_rounds
        if speech.round < before_round
    }
    return Statements(names, texts)


def positions(point: Point) -> dict[str, str]:
    """What everybody declared on a point; whoever raised it and has not withdrawn it agrees."""
    own = {} if point.withdrawn else {point.author: "agree"}
    return {**own, **{seat: said.stance for seat, said in point.stances.items()}}


def consensus_points(state: State) -> tuple[Point, ...]:
    """The points that all who were asked agree on."""
    return tuple(point for point in record_of(state).points if point.status == "agreed")


def measures(state: State, number: int, stage: str) -> Measures:
    """What is known about convergence at the end of a round."""
    before = [each for each in held(state) if each[0] < number]
    points = [point for point in record_before(state, number + 1).points if not point.withdrawn]
    agreed = sum(point.status == "agreed" for point in points)
    # Who only raised a point in R1 has not yet heard the others.
    declared = {
        seat
        for point in points
        for seat, said in point.stances.items()
        if said.round > 1 and seat != point.author
    }
    return Measures(
        round=number,
        overlap=overlap(
            _texts(state.spoken_in(before[-1][1], before[-1][0])) if before else {},
            _texts(state.spoken_in(stage, number)),
        ),
        convergence_score=convergence(points),
        consensus_points=agreed,
        divergence=divergence(map(_sides, points)) if len(declared) > 1 else None,
    )


def _sides(point: Point) -> dict[str, str | None]:
    """Whoever agrees only partly is on neither side."""
    return {seat: UNSURE if word == "partly" else word for seat, word in positions(point).items()}


def _texts(speeches: Sequence[SpeechGiven]) -> dict[str, str]:
    return {speech.participant: speech.text for speech in speeches}


def challenges(state: State) -> tuple[Challenge, ...]:
    """Every finding of the critique against another expert, numbered through the discussion."""
    known = statements(state, before_round=3)
    found: list[Challenge] = []
    for speech in state.spoken_in(CRITIQUE, 3):
        for finding in forms.findings(speech.text):
            if not finding.named:
                continue
            named = (known.who(r) for r in references(finding.text + "\n" + finding.support))
            for target in dict.fromkeys(named):
                if target is not None and target != speech.participant:
                    found.append(Challenge(len(found) + 1, speech.participant, target, finding))
    return tuple(found)


def replies(state: State) -> dict[int, forms.Answer]:
    """The last answer to each challenge by the expert whom it meets."""
    targets = {challenge.number: challenge.target for challenge in challenges(state)}
    found: dict[int, forms.Answer] = {}
    for number, stage in held(state):
        if stage != REVISION:
            continue
        for speech in state.spoken_in(stage, number):
            for answer in forms.answers(speech.text):
                if targets.get(answer.challenge) == speech.participant:
                    found[answer.challenge] = answer
    return found


def rejected(state: State) -> tuple[Challenge, ...]:
    """The challenges that the expert whom they meet does not accept."""
    answered = replies(state)
    return tuple(
        each
        for each in challenges(state)
        if (answer := answered.get(each.number)) is not None and answer.reply == "reject"
    )


def disputes(state: State) -> tuple[Dispute, ...]:
    """What the host must rule on: decisions on which votes differ, demands among those who decide
    that not all of them granted, and points that somebody declared itself against. Each has
    somebody on either side."""
    by_side = state.start.options.get("disputes") == BY_SIDE
    found = [*(_by_side(state) if by_side else _ended_open(state)), *_disputed_points(state)]
    if state.stances:
        # Earlier versions of the program had the host rule on these too, by these numbers.
        found += [
            Dispute(0, "challenge", each.id, each.finding.text, (each.author,), (each.target,))
            for each in rejected(state)
        ]
    return tuple(replace(each, number=number) for number, each in enumerate(found, 1))


def _by_side(state: State) -> Iterator[Dispute]:
    table = standing_of(state)
    for each in table.decisions:
        if each.end not in (None, "consensus") and len(sides := _sides_of(each)) > 1:
            yield Dispute(0, "decision", each.decision.id, _worded(each), *_parted(each), sides)
    for demand in table.demands:
        others = table.question.holders if table.question else ()
        refusing = tuple(s for s in others if s != demand.owner and not _granted(demand, s))
        if refusing:
            granting = (s for s in others if s != demand.owner and s not in refusing)
            yield Dispute(0, "demand", demand.id, demand.text, (demand.owner, *granting), refusing)


def _ended_open(state: State) -> Iterator[Dispute]:
    for each in standing_of(state).decisions:
        if each.end not in (None, "consensus") and each.decision.id != LEGACY:
            yield Dispute(0, "decision", each.decision.id, _worded(each), *_parted(each))


def _disputed_points(state: State) -> Iterator[Dispute]:
    for point in record_of(state).points:
        if point.status == "disputed":
            said = positions(point)
            holders = tuple(seat for seat, word in said.items() if word == "agree")
            against = tuple(seat for seat, word in said.items() if word == "disagree")
            yield Dispute(0, "point", point.id, point.text, holders, against)


def _parted(each: DecisionStanding) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who holds what is delivered, and who votes for anything else."""
    against = (s.participant for s in each.seats if s.final and s.final != each.delivered)
    return each.holders, tuple(against)


def _sides_of(each: DecisionStanding) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Who holds which option; each position of one's own is a side of its own."""
    options = {
        option: tuple(s.participant for s in each.seats if s.final == option)
        for option in each.decision.option_ids
    }
    voted = [(option, holders) for option, holders in options.items() if holders]
    own = [(OWN, (s.participant,)) for s in each.seats if s.final == OWN]
    return (*voted, *own)


def _granted(demand: ConditionOnTable, seat: str) -> bool:
    said = demand.answers.get(seat)
    return said is not None and said.stance == "agree"


def _worded(each: DecisionStanding) -> str:
    """The question, and what was voted for it."""
    voted = [f"{o.id}: {o.text}" for o in each.decision.options if each.counts.get(o.id)]
    return f"{each.decision.question} ({'; '.join(voted)})" if voted else each.decision.question
