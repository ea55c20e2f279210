"""The design of a run: its workflow, rounds, seats and synthesiser; what a meta-analyst recommends,
read from its words, and how several recommendations become one design.

The prompt asks for four sections; a JSON object is understood as well. What cannot be read is left
out; a text that names no workflow is no recommendation at all.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Literal

from pydantic import Field

from ...core.contracts import Contract, parse_sections
from ...core.events import NoteAdded
from ...core.text import clip
from ...core.values import Participant, SpeakerRef, Value
from .panels import (
    BRIEFS,
    MAX_ROUNDS,
    SYNTHESISER_ID,
    SYNTHESISER_NAME,
    BenchModel,
    distinct_role,
    find,
    model_key,
    plain_role,
    role_id,
)

Workflow = Literal["parallel_debate", "sequential", "hybrid"]
SECTIONS = ("Workflow", "Rounds", "Stages", "Synthesiser")
META_CONTRACT = Contract(sections=SECTIONS)

MAX_TASK = 600
_WORKFLOW = re.compile(r"\b(?:(parallel)[\s_-]*(?:debate)?|(sequential)|(hybrid))\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\d.])\d{1,2}(?![\d.]*\d)")
_ROW = re.compile(r"^[\s>|*•-]*(?:stage\s*)?([12])\s*[|:.)]\s*(.+?)[\s|]*$", re.IGNORECASE)
_RULE = re.compile(r"[\s|:.-]+")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_COUNT_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}


class Position(Value):
    """One seat that an analyst recommends."""

    stage: Literal[1, 2] = 1
    role: str = ""
    model: str
    task: str = ""


class Recommendation(Value):
    """What one analyst recommends."""

    analyst: str
    workflow: Workflow
    rounds: int | None = None
    positions: tuple[Position, ...] = ()
    synthesiser: str = ""


def read_recommendation(analyst: str, text: str) -> Recommendation | None:
    """The recommendation in an analyst's words, or None if there is none to be found."""
    found = _from_json(analyst, text)
    if found is not None:
        return found
    parts = parse_sections(text, (*SECTIONS, "Synthesizer", "Synthesis"))
    workflow = _workflow(parts.get("Workflow", ""))
    if workflow is None:
        return None
    writer = next(
        (parts[n] for n in ("Synthesiser", "Synthesizer", "Synthesis") if parts.get(n)), ""
    )
    return Recommendation(
        analyst=analyst,
        workflow=workflow,
        rounds=_rounds(parts.get("Rounds", "")),
        positions=_positions(parts.get("Stages", "")),
        synthesiser=_first_line(writer),
    )


def _workflow(text: str) -> Workflow | None:
    """The one workflow that a text names; None if it names none or several."""
    named: set[Workflow] = set()
    for parallel, sequential, _ in _WORKFLOW.findall(text):
        named.add("parallel_debate" if parallel else "sequential" if sequential else "hybrid")
    return named.pop() if len(named) == 1 else None


def _rounds(text: str) -> int | None:
    match = _NUMBER.search(text)
    if match is not None:
        return int(match[0]) or None
    return next((n for word, n in _COUNT_WORDS.items() if word in text.casefold().split()), None)


def _positions(text: str) -> tuple[Position, ...]:
    """Rows `stage | role | model | task`."""
    found = []
    for line in text.splitlines():
        match = _ROW.match(line)
        if match is None or _RULE.fullmatch(line):
            continue
        cells = [cell.strip(" *`") for cell in match[2].split("|")]
        if len(cells) < 2 or not cells[1]:
            continue
        found.append(_position(match[1], cells[0], cells[1], " | ".join(cells[2:])))
    return tuple(found)


def _position(stage: str, role: str, model: str, task: str) -> Position:
    return Position(
        stage=2 if stage == "2" else 1,
        role=plain_role(role),
        model=clip(model, 200),
        task=clip(" ".join(task.split()), MAX_TASK),
    )


def _from_json(analyst: str, text: str) -> Recommendation | None:
    match = _OBJECT.search(text)
    if match is None:
        return None
    try:
        values = json.loads(match[0])
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    workflow = _workflow(str(_any(values, "workflow", "workflow_type", "type") or ""))
    if workflow is None:
        return None
    rows = _any(values, "stages", "seats", "panel")
    return Recommendation(
        analyst=analyst,
        workflow=workflow,
        rounds=_rounds(str(_any(values, "rounds") or "")),
        positions=tuple(
            _position(
                str(row.get("stage", 1)),
                str(row.get("role") or ""),
                str(row["model"]),
                str(row.get("task") or ""),
            )
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, dict) and row.get("model")
        ),
        synthesiser=_first_line(
            str(_any(values, "synthesiser", "synthesizer", "synthesis_model", "synthesis") or "")
        ),
    )


def _any(values: Mapping[str, Any], *names: str) -> Any:
    return next((values[name] for name in names if name in values), None)


def _first_line(text: str) -> str:
    lines = [line.strip(" -*`>") for line in text.splitlines()]
    return clip(next((line for line in lines if line), ""), 200)


# --- one design of several recommendations ----------------------------------------------------

MAX_INTEGRATORS = 2
"""Who works in the second stage of a hybrid."""
MAX_SECOND = 4


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
) -> Decision | None:
    """One design from all recommendations; None if nobody who may sit can be found.

    For each position the model that most recommend is seated, if it is on the bench, allowed,
    usable and not the orchestrator's own; else the next. A model sits once in a stage as long as
    another one can take the seat.
    """
    workflow = forced or majority(found)
    chooser = _Chooser(found, bench, orchestrator)
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
    )
    design = Design(
        workflow=workflow,
        rounds=rounds_of((each.rounds for each in found), rounds),
        seats=tuple(plan for plan, _ in seated),
        synthesis=writer.model,
        by="meta-panel",
        votes=dict(Counter(each.workflow for each in found)),
        recommendations=tuple(found),
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
) -> BenchModel:
    """Who writes the synthesis: the first wanted one without a seat on the panel, else a premium
    model, else any; one of the panel only if there is nobody else."""
    premium = [each for each in bench if each.premium]
    order = [each for each in (*wanted, *premium, *bench) if each.usable and each.allowed]
    free = [each for each in order if model_key(each.model) not in panel]
    neutral = [each for each in free if model_key(each.model) != model_key(orchestrator)]
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
        perspective=BRIEFS.get(plan.role, ""),
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
        self, found: Sequence[Recommendation], bench: Sequence[BenchModel], orchestrator: str
    ) -> None:
        self._found = found
        self._bench = bench
        self._orchestrator = model_key(orchestrator)
        self._skipped: dict[str, NoteAdded] = {}

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
        rows = [[p for p in each.positions if p.stage == stage] for each in self._found]
        lengths = [len(row) for row in rows if row]
        wanted = _half_up(median(lengths)) if lengths else (1 if stage == 2 else len(roles))
        seated: list[tuple[SeatPlan, BenchModel]] = []
        for place in range(max(1, min(at_most, wanted))):
            votes = [row[place] for row in rows if place < len(row)]
            candidate = self._candidate(votes, seated, premium=premium)
            if candidate is None:
                break
            named = [plan for plan, _ in (*taken, *seated)]
            plan = self._plan(stage, place, votes, candidate, roles, named)
            seated.append((plan, candidate))
        return seated

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
        fit = [each for each in order if self._may_sit(each)]
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

    def _may_sit(self, candidate: BenchModel) -> bool:
        own = model_key(candidate.model) == self._orchestrator
        return candidate.usable and candidate.allowed and not own

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
    ) -> SeatPlan:
        """The role and the task as those describe it who want this model here, else as most do."""
        own = [vote for vote in votes if find(self._bench, vote.model) == candidate]
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
