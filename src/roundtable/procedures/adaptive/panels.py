"""Panels: who is asked for which kind of question, in which role, and which models may sit there.

The shipped panels are a file of the same form as the user's `panels.json`, which is laid over them.
The meta-panel chooses models while the discussion runs, and a procedure cannot look anything up
then. So all candidates, the bench, are resolved when the table is set, and stored with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import cycle
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ...core.errors import BadSetting, NoModel, UnknownName
from ...core.text import slug
from ...core.values import SpeakerRef, Value
from ...ports import ListedModels, Models, SpeakerChain
from ..checking import checked
from .options import MAX_ROUNDS, TaskMode

Phase = Literal["meta", "round1", "round2", "stage2", "validation", "synthesis"]
SECONDS: dict[Phase, float] = {
    "meta": 90,
    "round1": 120,
    "round2": 120,
    "stage2": 120,
    "validation": 60,
    "synthesis": 180,
}
"""How long a call of each phase may take."""
SEARCH_SECONDS = 10.0
TWO = 2
"""Models that make a panel: with one there is nobody to disagree."""
BUDGET = "budget"
"""The profile that a run switches to when too few of its models can be used."""


def _several(value: object) -> object:
    return () if value is None else (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]


class Slot(Value):
    """One seat of a panel: an exact model id, and who takes the seat when it cannot."""

    model: str = Field(min_length=1)
    role: str = ""
    task: str = ""
    fallback: Names = ()


Slots = Annotated[tuple[Slot, ...], Field(min_length=1, max_length=8)]


class Output(Value):
    """Where results are posted."""

    channel: str | None = None
    target: str | None = None
    use_threads: bool = Field(default=False, alias="useThreads")


class Meta(Value):
    """The premium models, which design the workflow."""

    models: tuple[str, ...] = Field(min_length=1, max_length=8)


class Timeouts(Value):
    """Seconds that differ from the usual ones: for a phase, or for one model in all phases."""

    meta: float | None = Field(default=None, gt=0)
    round1: float | None = Field(default=None, gt=0)
    round2: float | None = Field(default=None, gt=0)
    stage2: float | None = Field(default=None, gt=0)
    validation: float | None = Field(default=None, gt=0)
    synthesis: float | None = Field(default=None, gt=0)
    models: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)

    def seconds(self, phase: Phase, model: str) -> float:
        own: float | None = getattr(self, phase)
        return self.models.get(model) or own or SECONDS[phase]

    def chosen(self, phase: Phase, model: str) -> bool:
        """Whether they are not the usual ones."""
        return model in self.models or getattr(self, phase) is not None


class AgentDefaults(Value):
    models: tuple[str, ...] | None = None
    """The allowlist; None allows every model."""


class Agents(Value):
    defaults: AgentDefaults = AgentDefaults()


class Panels(Value):
    """What `panels.json` holds."""

    output: Output = Output()
    orchestrator: str | None = None
    """The orchestrator's model; None is the default model."""
    synthesis: str
    max_panel: int = Field(default=4, ge=1, le=8, alias="maxPanel")
    rounds: int = Field(default=2, ge=1, le=MAX_ROUNDS)
    meta: Meta
    doors: dict[str, Names] = Field(default_factory=dict)
    """Other ids under which the same model can be reached, such as through a proxy."""
    panels: dict[TaskMode, Slots]
    profiles: dict[str, Slots] = Field(default_factory=dict)
    costs: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """US dollars that a seat of a family costs per run, at least and at most, where Opus and
    Codex are paid by subscription."""
    timeouts: Timeouts = Timeouts()
    agents: Agents = Agents()

    @classmethod
    def parse(
        cls, values: Mapping[str, Any], where: str, below: Mapping[str, Any] | None = None
    ) -> Panels:
        """The user's values over the shipped ones, or over those `below`. UnknownName or BadSetting
        names the key."""
        return checked(cls, laid_over(below or shipped(), values), where)

    @property
    def allowlist(self) -> tuple[str, ...] | None:
        return self.agents.defaults.models


@cache
def shipped() -> Mapping[str, Any]:
    """The panels that come with the program: package data, the same at every call."""
    text = resources.files(__package__).joinpath("panels.json").read_text("utf-8")
    values: dict[str, Any] = json.loads(text)
    return values


def panels_of(models: Sequence[str]) -> dict[str, Any]:
    """The shipped panels, held by these models in turn."""
    places = {
        name: list(zip(slots, cycle(models), strict=False))
        for name, slots in shipped()["panels"].items()
    }
    return {
        "panels": {
            name: [{"role": slot["role"], "model": model} for slot, model in seats]
            for name, seats in places.items()
        },
        "profiles": {BUDGET: [{"model": model} for model in list(models)[:2]]},
        "meta": {"models": list(models)[:4]},
        "synthesis": models[-1],
    }


def panels_here(models: Models, taken: Sequence[str]) -> Mapping[str, Any]:
    """The shipped panels. Nobody asked for their models by name: where nothing here is known to be
    like one of them, as on a server with names of its own, one of those that are here holds its
    seats, and one that is not `taken` first."""
    if not isinstance(models, ListedModels):
        return shipped()
    held: dict[str, str] = {}
    for name in shipped()["meta"]["models"]:
        held[name] = models.at_hand(name, [*taken, *held.values()])
    here = {name: model for name, model in held.items() if model != name}

    def seated(slot: Mapping[str, Any]) -> dict[str, Any]:
        if slot["model"] not in here:
            return dict(slot)
        return {"role": slot.get("role", ""), "model": here[slot["model"]]}

    def each(tables: Mapping[str, Any]) -> dict[str, Any]:
        return {name: [seated(slot) for slot in slots] for name, slots in tables.items()}

    of_all = shipped()
    return {
        **of_all,
        "panels": each(of_all["panels"]),
        "profiles": each(of_all["profiles"]),
        "meta": {"models": list(dict.fromkeys(held.values()))},
        "synthesis": held.get(of_all["synthesis"], of_all["synthesis"]),
    }


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """One file's values over another's: tables are merged, everything else is replaced."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = laid_over(old, value) if both else value  # type: ignore[arg-type]
    return merged


# --- roles -----------------------------------------------------------------------------------

ORCHESTRATOR_ID, ORCHESTRATOR_NAME = "orchestrator", "Orchestrator"
SYNTHESISER_ID, SYNTHESISER_NAME = "synthesiser", "Synthesiser"
ANALYST_IDS = tuple(f"meta-{letter}" for letter in "abcdefgh")
_RESERVED = frozenset([ORCHESTRATOR_ID, SYNTHESISER_ID, "coordinator", *ANALYST_IDS])

BRIEFS: dict[str, str] = {
    "Advocate": "Make the strongest honest case for the proposal.",
    "Devil's Advocate": "Make the strongest honest case against the proposal.",
    "Analyst": "Weigh the evidence and the figures without taking a side beforehand.",
    "Contrarian": "Question the framing, and look for the answer that nobody expects.",
    "Architect": "Design the whole: parts, borders, data, and what each choice costs.",
    "Reviewer": "Examine the plan as a critical reviewer: errors, gaps, what is hard to maintain.",
    "Engineer": "Work out how it is done in practice, step by step, and what breaks first.",
    "Implementer": "Show the implementation itself: interfaces, code, tests, order of work.",
    "Defender": "Show how the thing can be protected, and which defences hold.",
    "Attacker": "Attack it: find the ways in which it can be broken, from outside and from within.",
    "Red Teamer": "Play whole attack scenarios through, with their cost and their damage.",
    "Voter A": "Choose by evidence and long-term consequences.",
    "Voter B": "Choose by what serves the people concerned best.",
    "Voter C": "Choose by risk: what can go wrong, and can it be undone.",
    "Voter D": "Choose by cost, effort and feasibility.",
    "Generalist": "Give the best overall answer, with its reasons.",
    "Sceptic": "Look for what does not hold, in the question and in the obvious answer.",
    "Pragmatist": "Say what to do tomorrow, and what it takes.",
}

OPENINGS: dict[str, str] = {
    "Advocate": "The best reason for it is that",
    "Devil's Advocate": "The best reason against it is that",
    "Analyst": "The evidence suggests that",
    "Contrarian": "Another way to see it is that",
    "Architect": "The main parts of it are",
    "Reviewer": "The weak point of it is that",
    "Engineer": "In practice this means that",
    "Implementer": "The first step is",
    "Defender": "The best protection is",
    "Attacker": "The easiest way to break it is",
    "Red Teamer": "The worst case is that",
    "Sceptic": "What does not hold is that",
    "Pragmatist": "The practical answer is",
}
"""How a demonstration model's answer begins in each role."""
DEFAULT_OPENING = "My answer is that"

_NOT_A_NAME = re.compile(r"[^\w '’/&-]+")
MAX_ROLE_WORDS = 4
MAX_ROLE = 40


def plain_role(text: str) -> str:
    """A role's name as it may stand in prompts: a model wrote it, so it is kept to a few words."""
    words = _NOT_A_NAME.sub(" ", text).replace("_", " ").replace("’", "'").split()
    return " ".join(words[:MAX_ROLE_WORDS])[:MAX_ROLE].strip()


def distinct_role(role: str, taken: Collection[str]) -> str:
    """The name, with a number if somebody has it already."""
    names = {name.casefold() for name in taken}
    if role.casefold() not in names:
        return role
    return next(f"{role} {n}" for n in range(2, 99) if f"{role} {n}".casefold() not in names)


def role_id(role: str, taken: Collection[str]) -> str:
    """The id of the participant in this role: `devils-advocate`."""
    base = slug(role.replace("'", "").replace("’", ""), default="panelist")
    used = {*taken, *_RESERVED}
    if base not in used:
        return base
    return next(f"{base}-{n}" for n in range(2, 99) if f"{base}-{n}" not in used)


# --- the bench -------------------------------------------------------------------------------


class BenchModel(Value):
    """A model that may be seated, under all the ids by which it can be reached."""

    name: str
    doors: tuple[str, ...] = ()
    speakers: tuple[SpeakerRef, ...]
    usable: bool = True
    """Whether the model itself can speak, and not only a substitute."""
    allowed: bool = True
    premium: bool = False

    @property
    def model(self) -> str:
        """Who would speak."""
        return self.speakers[0].model


@dataclass(frozen=True, slots=True)
class Held:
    """A slot with its speakers."""

    slot: Slot
    speakers: tuple[SpeakerRef, ...]
    own: bool
    """Whether the slot's own model speaks."""
    remedy: str = ""
    """What to do so that it can."""

    @property
    def model(self) -> str:
        return self.speakers[0].model


def model_key(model: str) -> str:
    """What is the same for one model behind several doors: `blockrun/opus-4.6` is
    `anthropic/claude-opus-4-6`."""
    bare = model.strip().rpartition("/")[2].casefold().replace(".", "-").replace(" ", "-")
    return bare.removesuffix(":latest").removesuffix("-preview").removeprefix("claude-")


def find(bench: Sequence[BenchModel], name: str) -> BenchModel | None:
    """The candidate that a person or a model means by this name; None if that is not plain."""
    wanted = name.strip().strip("`*\"'").strip()
    if not wanted:
        return None
    for each in bench:
        if wanted.casefold() in (each.name.casefold(), *(d.casefold() for d in each.doors)):
            return each
    key = model_key(wanted)
    same = [each for each in bench if key in _keys(each)]
    if not same and len(key) >= 3:
        same = [each for each in bench if any(key in k or k in key for k in _keys(each))]
    return same[0] if len(same) == 1 else None


def _keys(candidate: BenchModel) -> set[str]:
    return {model_key(name) for name in (candidate.name, *candidate.doors)}


class Seats:
    """Finds speakers for slots, as the panels and the allowlist have it."""

    def __init__(self, models: Models, panels: Panels, where: str) -> None:
        self._models = models
        self._panels = panels
        self._where = where
        self._allowed = self._allowed_keys()

    def held(self, slot: Slot, seat: str) -> Held:
        """The slot's own model through any of its doors, else its fallback, else what comes
        nearest. The fallback also ends the chain of a model that can speak now."""
        own = self._usable((slot.model, *self._panels.doors.get(slot.model, ())), seat)
        spare = self._usable(slot.fallback, seat)
        if own or spare:
            chain = _chain(*own, *spare)
        else:
            chain = self._models.seat(slot.model, seat).speakers
        remedy = "" if own else self._remedy(slot, seat)
        return Held(slot, chain, own=bool(own), remedy=remedy)

    def allowed(self, model: str) -> bool:
        return self._allowed is None or model_key(model) in self._allowed

    def named(self, name: str, key: str, seat: str) -> Slot:
        """The slot of a model that panels.json names. BadSetting if there is no such model."""
        try:
            self._models.seat(name, seat)
        except UnknownName as error:
            raise BadSetting(self._where, key, f"a model that is known ({error})") from None
        return self._slot_of(name)

    def bench(self) -> tuple[BenchModel, ...]:
        """Everybody whom panels.json names, the premium models first; without those for whom
        nothing here can speak."""
        premium = {model_key(name) for name in self._panels.meta.models}
        found: dict[str, BenchModel] = {}
        for key, name in self._names():
            if model_key(name) in found:
                continue
            try:
                held = self.held(self.named(name, key, "the bench"), "the bench")
            except NoModel:
                continue
            found[model_key(name)] = BenchModel(
                name=name,
                doors=self._panels.doors.get(name, ()),
                speakers=held.speakers,
                usable=held.own,
                allowed=self.allowed(name),
                premium=model_key(name) in premium,
            )
        self._fill_up(found)
        return tuple(found.values())

    def _fill_up(self, found: dict[str, BenchModel]) -> None:
        """Whoever has none of the models that panels.json names has others: where too few of those
        can be used, the first model of every further provider, and at least two in all."""
        if not isinstance(self._models, ListedModels):
            return
        usable = [each for each in found.values() if each.usable]
        keys = {model_key(each.model) for each in usable}
        providers = {each.model.partition("/")[0] for each in usable}
        for name in self._models.usable:
            provider = name.partition("/")[0]
            if len(keys) >= len(self._panels.meta.models):
                return
            if model_key(name) in keys or (provider in providers and len(keys) >= TWO):
                continue
            seat = self._models.seat(name, "the bench")
            if not can_speak(seat, name):
                continue
            keys.add(model_key(name))
            providers.add(provider)
            found[model_key(name)] = BenchModel(
                name=name, speakers=seat.speakers, allowed=self.allowed(name), premium=not usable
            )

    def _names(self) -> Iterable[tuple[str, str]]:
        panels = self._panels
        yield from ((f"meta.models.{n}", name) for n, name in enumerate(panels.meta.models))
        yield "synthesis", panels.synthesis
        tables = {"panels": panels.panels, "profiles": panels.profiles}
        for table, rows in tables.items():
            for name, slots in rows.items():  # type: ignore[attr-defined]
                for place, slot in enumerate(slots):
                    yield f"{table}.{name}.{place}.model", slot.model
                    yield from ((f"{table}.{name}.{place}.fallback", f) for f in slot.fallback)
        yield from (("agents.defaults.models", name) for name in panels.allowlist or ())

    def _slot_of(self, name: str) -> Slot:
        """A model as a slot, with the fallback that it has somewhere on a panel."""
        slots = (s for each in self._panels.panels.values() for s in each)
        fallback = next((s.fallback for s in slots if s.model == name), ())
        return Slot(model=name, fallback=fallback)

    def _usable(self, names: Iterable[str], seat: str) -> list[SpeakerChain]:
        return [
            found
            for name in names
            if self.allowed(name) and can_speak(found := self._models.seat(name, seat), name)
        ]

    def _remedy(self, slot: Slot, seat: str) -> str:
        if not self.allowed(slot.model):
            return f"Add {slot.model} to agents.defaults.models in panels.json to allow it."
        notes = self._models.seat(slot.model, seat).notes
        said = notes[0].remedy if notes else ""
        doors = (slot.model, *self._panels.doors.get(slot.model, ()))
        if any(door.startswith("blockrun/") for door in doors):
            said = f"{said} {PROXY_ACTION}".strip()
        return said

    def _allowed_keys(self) -> frozenset[str] | None:
        if self._panels.allowlist is None:
            return None
        keys = set()
        for name in self._panels.allowlist:
            keys.add(model_key(name))
            seat = self._models.seat(name, "the allowlist")
            if can_speak(seat, name):  # an alias stands for its model
                keys.add(model_key(seat.speakers[0].model))
        return frozenset(keys)


PROXY_ACTION = "Or start the Blockrun proxy at localhost:8402, or use --models budget."


def can_speak(seat: SpeakerChain, name: str) -> bool:
    """Whether the model itself holds the seat: a substitute comes with a note, and the embedded
    model stands in without one."""
    first = seat.speakers[0]
    stands_in = first.demonstration and model_key(first.model) != model_key(name)
    return not seat.notes and not stands_in


def _chain(*seats: SpeakerChain) -> tuple[SpeakerRef, ...]:
    found: dict[str, SpeakerRef] = {}
    for seat in seats:
        for speaker in seat.speakers:
            found.setdefault(speaker.model, speaker)
    return tuple(found.values())
