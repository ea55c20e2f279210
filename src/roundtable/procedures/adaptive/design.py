"""The design of a run: its workflow, rounds, seats and synthesiser, and how several recommendations
become one design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal

from pydantic import Field

from ...core.events import NoteAdded
from ...core.text import clip
from ...core.values import Participant, SpeakerRef, Value
from .options import MAX_ROUNDS
from .panels import (
    BRIEFS,
    SYNTHESISER_ID,
    SYNTHESISER_NAME,
    TWO,
    BenchModel,
    distinct_role,
    find,
    model_key,
    role_id,
)
from .recommendation import Position as Position
from .recommendation import Recommendation as Recommendation
from .recommendation import Workflow as Workflow
from .recommendation import read_recommendation as read_recommendation
from .sub_tasks import merged

MAX_INTEGRATORS = 2
"""Who works in the second stage of a hybrid."""
MAX_SECOND = 4
SECOND_STAGE = 2
MAX_PERSPECTIVE = 200


class SeatPlan(Value):
    """One seat: in which stage, who sits there, and what for."""

    stage: Literal[1, 2] = 1
    id: str
    role: str
    model: str
    """As it was wanted; who speaks stands with the participant."""
    task: str = ""


class Design(Value):
    """How a run goes on; stored with WorkflowChosen."""

    workflow: Workflow
    rounds: int
    seats: tuple[SeatPlan, ...]
    synthesis: str
    """The synthesiser's model."""
    by: str
    """Who designed it: the meta-panel, a flag, the mode's default."""
    votes: dict[str, int] = Field(default_factory=dict)
    recommendations: tuple[Recommendation, ...] = ()
    left_out: tuple[str, ...] = ()
    """Sub-tasks that somebody recommended and that have no seat."""

    @property
    def stages(self) -> int:
        return 2 if any(seat.stage == 2 for seat in self.seats) else 1


class Decision(Value):
    """What the meta-panel's recommendations come to."""

    design: Design
    speakers: dict[str, str]
    """The candidate's name for each seat, and for the synthesiser under its id."""
    notes: tuple[NoteAdded, ...] = ()


def majority(found: Sequence[Recommendation]) -> Workflow:
    """The workflow that most recommend; a tie is a hybrid."""
    (first, most), *others = Counter(each.workflow for each in found).most_common()
    return "hybrid" if others and others[0][1] == most else first


def rounds_of(numbers: Iterable[int | None], otherwise: int) -> int:
    """The median, rounded up on a half, from 1 to 3."""
    known = [number for number in numbers if number]
    if not known:
        return otherwise
    return max(1, min(MAX_ROUNDS, _half_up(median(known))))


def may_sit(bench: Sequence[BenchModel], orchestrator: str) -> list[BenchModel]:
    """Who can be seated: usable, allowed, and not the orchestrator's own model, as long as two
    others are there. One model alone under several names would be one voice."""
    own = model_key(orchestrator)
    fit = [each for each in bench if each.usable and each.allowed]
    others = [each for each in fit if model_key(each.model) != own]
    return others if len({model_key(each.model) for each in others}) >= TWO else fit


def decide(
    found: Sequence[Recommendation],
    bench: Sequence[BenchModel],
    *,
    orchestrator: str,
    forced: Workflow | None,
    max_panel: int,
    rounds: int,
    roles: Sequence[str],
    synthesis: str,
    named: bool = False,
    asked: bool = False,
) -> Decision | None:
    """One design from all recommendations; None if nobody who may sit can be found.

    For each position the model that most recommend is seated, if it is on the bench, allowed,
    usable and not the orchestrator's own; else the next. A model sits once in a stage as long as
    another one can take the seat. Where seats work on different parts, a position is a sub-task,
    whoever named it in whichever line; where all answer the same question, it is a line.
    """
    workflow = forced or majority(found)
    chooser = _Chooser(found, bench, orchestrator, workflow)
    first = chooser.seats(1, max_panel, roles)
    second: list[tuple[SeatPlan, BenchModel]] = []
    if workflow == "sequential":
        second = chooser.seats(2, MAX_SECOND, ("Reviewer",), taken=first)
    elif workflow == "hybrid":
        second = chooser.seats(2, MAX_INTEGRATORS, ("Integrator",), taken=first, premium=True)
    if not first:
        return None
    seated = [*first, *second]
    panel = {model_key(candidate.model) for _, candidate in first}
    writer = synthesiser(
        chooser.wanted_writers() + ([each] if (each := find(bench, synthesis)) else []),
        bench,
        panel,
        orchestrator,
        named=named,
        asked=asked,
    )
    design = Design(
        workflow=workflow,
        rounds=rounds_of((each.rounds for each in found), rounds),
        seats=tuple(plan for plan, _ in seated),
        synthesis=writer.model,
        by="meta-panel",
        votes=dict(Counter(each.workflow for each in found)),
        recommendations=tuple(found),
        left_out=tuple(chooser.left_out),
    )
    speakers = {plan.id: candidate.name for plan, candidate in seated}
    return Decision(
        design=design,
        speakers={**speakers, SYNTHESISER_ID: writer.name},
        notes=chooser.notes,
    )


def synthesiser(
    wanted: Sequence[BenchModel],
    bench: Sequence[BenchModel],
    panel: set[str],
    orchestrator: str,
    *,
    named: bool = False,
    asked: bool = False,
) -> BenchModel:
    """Who writes the synthesis: the orchestrator's own model where it was `named`, else the first
    wanted one without a seat on the panel, else a premium model, else any. One of the panel writes
    only if there is nobody else, or if it was `asked` for with this question: nobody pays for a
    model in place of the one that they chose."""
    own = model_key(orchestrator)
    if asked or (named and own not in panel):
        for each in bench:
            if each.usable and each.allowed and model_key(each.model) == own:
                return each
    premium = [each for each in bench if each.premium]
    order = [each for each in (*wanted, *premium, *bench) if each.usable and each.allowed]
    free = [each for each in order if model_key(each.model) not in panel]
    neutral = [each for each in free if model_key(each.model) != own]
    if neutral or free:
        return (neutral or free)[0]
    # Nobody is left who has no seat: a rule holds whenever an alternative exists.
    return (order or list(wanted) or list(bench))[0]


def participant_for(plan: SeatPlan, candidate: BenchModel) -> Participant:
    return Participant(
        id=plan.id,
        name=plan.role,
        role="Panelist" if plan.stage == 1 else "Stage 2",
        emoji="🗣️",
        perspective=BRIEFS.get(plan.role) or clip(plan.task, MAX_PERSPECTIVE),
        speakers=candidate.speakers,
    )


def writer_participant(speakers: tuple[SpeakerRef, ...]) -> Participant:
    """The neutral synthesiser, who holds no seat on the panel."""
    return Participant(
        id=SYNTHESISER_ID,
        name=SYNTHESISER_NAME,
        role=SYNTHESISER_NAME,
        emoji="⚖️",
        perspective="writes the synthesis, took no part in the debate",
        speakers=speakers,
    )


class _Chooser:
    """Seats models by how many recommend them."""

    def __init__(
        self,
        found: Sequence[Recommendation],
        bench: Sequence[BenchModel],
        orchestrator: str,
        workflow: Workflow,
    ) -> None:
        self._found = found
        self._bench = bench
        self._fit = may_sit(bench, orchestrator)
        self._workflow = workflow
        self._skipped: dict[str, NoteAdded] = {}
        self.left_out: list[str] = []

    @property
    def notes(self) -> tuple[NoteAdded, ...]:
        return tuple(self._skipped.values())

    def seats(
        self,
        stage: Literal[1, 2],
        at_most: int,
        roles: Sequence[str],
        *,
        taken: Sequence[tuple[SeatPlan, BenchModel]] = (),
        premium: bool = False,
    ) -> list[tuple[SeatPlan, BenchModel]]:
        by_task = stage == SECOND_STAGE or self._workflow == "hybrid"
        places = self._by_task(stage, at_most) if by_task else self._by_line(stage)
        wanted = len(places) or (1 if stage == SECOND_STAGE else len(roles))
        seated: list[tuple[SeatPlan, BenchModel]] = []
        for place in range(max(1, min(at_most, wanted))):
            votes = places[place] if place < len(places) else []
            candidate = self._candidate(votes, seated, premium=premium)
            if candidate is None:
                break
            named = [plan for plan, _ in (*taken, *seated)]
            plan = self._plan(stage, place, votes, candidate, roles, named, by_task=by_task)
            seated.append((plan, candidate))
        return seated

    def _by_line(self, stage: int) -> list[list[Position]]:
        """The first line of every analyst, then the second, and so on: as many as the median."""
        rows = [[p for p in each.positions if p.stage == stage] for each in self._found]
        lengths = [len(row) for row in rows if row]
        wanted = _half_up(median(lengths)) if lengths else 0
        return [[row[place] for row in rows if place < len(row)] for place in range(wanted)]

    def _by_task(self, stage: int, at_most: int) -> list[list[Position]]:
        """Who recommends whom for each sub-task. Those know the parts of the work best who
        designed this workflow."""
        own = [each for each in self._found if each.workflow == self._workflow]
        rows = [
            (each.analyst, [p for p in each.positions if p.stage == stage])
            for each in own or self._found
        ]
        division = merged(rows, at_most)
        self.left_out += division.left_out
        return [part.positions for part in division.parts]

    def wanted_writers(self) -> list[BenchModel]:
        """The premium models that are recommended for the synthesis, the most wanted first."""
        votes = Counter(
            candidate.name
            for each in self._found
            if (candidate := find(self._bench, each.synthesiser)) and candidate.premium
        )
        by_name = {each.name: each for each in self._bench}
        return [by_name[name] for name, _ in votes.most_common()]

    def _candidate(
        self,
        votes: Sequence[Position],
        seated: Sequence[tuple[SeatPlan, BenchModel]],
        *,
        premium: bool,
    ) -> BenchModel | None:
        everywhere = [p for each in self._found for p in each.positions]
        order = [
            *self._by_votes(votes),
            *self._by_votes(everywhere),
            *(each for each in self._bench if each.premium),
            *self._bench,
        ]
        fit = [each for each in order if each in self._fit]
        if premium:
            fit = [each for each in fit if each.premium] or fit
        here = {model_key(candidate.model) for _, candidate in seated}
        fresh = [each for each in fit if model_key(each.model) not in here]
        return next(iter(fresh or fit), None)

    def _by_votes(self, votes: Sequence[Position]) -> list[BenchModel]:
        counted: Counter[str] = Counter()
        for vote in votes:
            candidate = find(self._bench, vote.model)
            if candidate is None:
                self._skip(vote.model, "is not on the bench", "Add it to panels.json to use it.")
            else:
                counted[candidate.name] += 1
        by_name = {each.name: each for each in self._bench}
        place = {each.name: n for n, each in enumerate(self._bench)}
        ranked = sorted(counted, key=lambda name: (-counted[name], place[name]))
        for name in ranked:
            if not by_name[name].allowed:
                self._skip(
                    name,
                    "is not on the allowlist",
                    f"Add {name} to agents.defaults.models in panels.json to allow it.",
                )
        return [by_name[name] for name in ranked]

    def _skip(self, model: str, why: str, remedy: str) -> None:
        self._skipped.setdefault(
            model_key(model),
            NoteAdded(
                code="model_skipped",
                text=f"The meta-panel recommends {model}, which {why}: the next candidate was "
                "seated.",
                remedy=remedy,
            ),
        )

    def _plan(
        self,
        stage: Literal[1, 2],
        place: int,
        votes: Sequence[Position],
        candidate: BenchModel,
        roles: Sequence[str],
        named: Sequence[SeatPlan],
        *,
        by_task: bool,
    ) -> SeatPlan:
        """The role and the task as those describe it who want this model here, else as most do. A
        sub-task is what it is, whoever works on it."""
        own = [vote for vote in votes if find(self._bench, vote.model) == candidate]
        if by_task:
            own = list(votes[:1])
        usual = roles[place] if place < len(roles) else f"Panelist {place + 1}"
        role = _most(v.role for v in own) or _most(v.role for v in votes) or usual
        same = [vote for vote in (*own, *votes) if vote.role == role]
        task = next((vote.task for vote in same if vote.task), "")
        taken = [plan.role for plan in named]
        role = distinct_role(role, taken)
        return SeatPlan(
            stage=stage,
            id=role_id(role, [plan.id for plan in named]),
            role=role,
            model=candidate.name,
            task=task,
        )


def _most(texts: Iterable[str]) -> str:
    counted = Counter(text for text in texts if text)
    return counted.most_common(1)[0][0] if counted else ""


def _half_up(number: float) -> int:
    return int(number + 0.5)
