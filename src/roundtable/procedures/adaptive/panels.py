"""Panels: who is asked for which kind of question. The shipped ones are a file of the same form
as the user's `panels.json`, which is laid over them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ...core.values import Value
from ..checking import checked
from .modes import TaskMode

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
MAX_ROUNDS = 3
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
    def parse(cls, values: Mapping[str, Any], where: str) -> Panels:
        """The user's values over the shipped ones. UnknownName or BadSetting names the key."""
        return checked(cls, laid_over(shipped(), values), where)

    @property
    def allowlist(self) -> tuple[str, ...] | None:
        return self.agents.defaults.models


@cache
def shipped() -> Mapping[str, Any]:
    """The panels that come with the program: package data, the same at every call."""
    text = resources.files(__package__).joinpath("panels.json").read_text("utf-8")
    values: dict[str, Any] = json.loads(text)
    return values


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """One file's values over another's: tables are merged, everything else is replaced."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = laid_over(old, value) if both else value  # type: ignore[arg-type]
    return merged
