"""Where a five-round discussion stands: points, challenges, disputes, convergence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...core.convergence import convergence_score, divergence, overlap
from ...core.convergence_rules import Measures
from ...core.events import Event, PointRaised, SpeechGiven, StanceTaken
from ...core.points import Point, PointList, Stance
from ...core.state import State
from . import forms
from .references import Statements, normal_name, references
from .rounds import CRITIQUE, REVISION, held


@dataclass(frozen=True, slots=True)
class Challenge:
    """A risk or a defect as the expert meets it against whom it was raised."""

    number: int
    author: str
    target: str
    finding: forms.Finding

    @property
    def id(self) -> str:
        return f"C{self.number}"


@dataclass(frozen=True, slots=True)
class Dispute:
    """Something on which the host must rule."""

    number: int
    kind: Literal["point", "challenge"]
    ref: str
    """The point's or the challenge's id."""
    text: str
    for_it: tuple[str, ...]
    against: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"X{self.number}"


def statements(state: State, before_round: int) -> Statements:
    """What can be referred to in a round: every speech of the rounds before it."""
    names = {normal_name(p.id): p.id for p in state.participants}
    names.update({normal_name(p.name): p.id for p in state.participants})
    texts = {
        (speech.participant, speech.round): speech.text
        for speech in state.speeches
        if 0 < speech.round < before_round
    }
    return Statements(names, texts)


def point_list(state: State, extra: Iterable[Event] = ()) -> PointList:
    """The shared list of points with the stances that count; `extra` events come after those of
    the state."""
    new = list(extra)
    raised = [*state.points.values(), *(e for e in new if isinstance(e, PointRaised))]
    taken = [*state.stances, *(e for e in new if isinstance(e, StanceTaken))]
    listed = PointList().raise_points(
        *(
            Point(
                id=event.point_id,
                text=event.text,
                raised_by=event.turn_id.rpartition("/")[2],
                turn=event.turn_id,
                round=event.round,
            )
            for event in raised
        )
    )
    return listed.declare(
        *(
            Stance(
                participant=event.participant,
                point=event.point_id,
                position=event.position,
                turn=event.turn_id,
                round=event.round,
                source=event.source,
            )
            for event in taken
            if event.meaningful
        )
    )


def measures(state: State, number: int, stage: str, extra: Iterable[Event] = ()) -> Measures:
    """What is known about convergence at the end of a round."""
    before = [each for each in held(state) if each[0] < number]
    listed = point_list(state, extra)
    of_round = listed.points_of_round(number)
    # Who only repeats a claim of R1 has not yet heard the others.
    declared = {stance.participant for stance in listed.stances if 1 < stance.round <= number}
    return Measures(
        round=number,
        overlap=overlap(
            _texts(state.spoken_in(before[-1][1], before[-1][0])) if before else {},
            _texts(state.spoken_in(stage, number)),
        ),
        convergence_score=convergence_score(len(of_round.consensus), len(of_round.disagreement)),
        consensus_points=len(of_round.consensus),
        divergence=divergence(listed.positions(number).values()) if len(declared) > 1 else None,
    )


def _texts(speeches: Sequence[SpeechGiven]) -> dict[str, str]:
    return {speech.participant: speech.text for speech in speeches}


def challenges(state: State) -> tuple[Challenge, ...]:
    """Every finding of the critique against another expert, numbered through the discussion."""
    known = statements(state, before_round=3)
    found: list[Challenge] = []
    for speech in state.spoken_in(CRITIQUE, 3):
        for finding in forms.findings(speech.text):
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


def disputes(state: State) -> tuple[Dispute, ...]:
    """What the host must rule on: points with stances on both sides, and rejected challenges."""
    listed = point_list(state)
    last = max((number for number, _ in held(state)), default=1)
    positions = listed.positions(last)
    found: list[Dispute] = []
    for issue in listed.points_of_round(last).disagreement:
        point = listed.point(issue)
        sides = positions[issue]
        found.append(
            Dispute(
                len(found) + 1,
                "point",
                issue,
                point.text if point else "",
                tuple(name for name, position in sides.items() if position == "agree"),
                tuple(name for name, position in sides.items() if position == "disagree"),
            )
        )
    answered = replies(state)
    for challenge in challenges(state):
        answer = answered.get(challenge.number)
        if answer is not None and answer.reply == "reject":
            found.append(
                Dispute(
                    len(found) + 1,
                    "challenge",
                    challenge.id,
                    challenge.finding.text,
                    (challenge.author,),
                    (challenge.target,),
                )
            )
    return tuple(found)
