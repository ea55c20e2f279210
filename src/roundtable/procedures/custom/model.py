"""The schema of a user's own procedure: what a file may say, as frozen values.

Each value checks itself alone; `checks.py` checks them against each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, field_validator

from ...core.tally import RULES
from ...core.values import Value
from .options import MOST_SEATS

FORMAT = 1
"""Of what is stored with a discussion. A change that old definitions do not fit raises it."""

MOST_STAGES = 20
MOST_PASSES = 10
RULE_NAMES = "|".join(RULES)

Id = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\n\r]+$")]
Heading = Annotated[str, StringConstraints(max_length=60, pattern=r"^\w[^\n\r#*:]*$")]
Words = Annotated[str, StringConstraints(max_length=4_000)]
Source = Annotated[
    str,
    StringConstraints(pattern=r"^(none|own|current|previous|all|results|stage:[a-z][a-z0-9-]*)$"),
]
History = Annotated[
    str, StringConstraints(pattern=r"^(full|digest|summary|chars:[1-9][0-9]{1,6})$")
]
Aggregate = Annotated[
    str, StringConstraints(pattern=rf"^(statistics|points|decision|tally:({RULE_NAMES}))$")
]


class Part(Value):
    """A table of the file: `3` is no text, `"3"` is no number, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Seat(Part):
    """One participant."""

    id: Id
    name: Line | None = None
    perspective: Words = ""
    guidance: Words = ""
    model: Line | None = None
    expert: Line | None = None
    """The id of an expert of the library, whose name, perspective and guidance stand where this
    says nothing."""


class Panel(Part):
    """Experts from the library, chosen for the question."""

    count: int = Field(ge=1, le=MOST_SEATS)
    include: tuple[Line, ...] = ()


class HostSeat(Part):
    """The neutral chair."""

    name: Line = "Host"
    perspective: Words = "leads, sums up and concludes; never argues, never votes"
    model: Line | None = None


class Extract(Part):
    """What each speech of a stage declares beside its words."""

    name: Id
    kind: Literal["number", "choice", "list"]
    section: Heading | None = None
    line: Line | None = None
    """Where its words speak of it. What counts is declared; earlier versions read it there."""
    choices: tuple[Line, ...] = Field(default=(), max_length=26)
    min: float | None = None
    max: float | None = None


class StopRule(Part):
    """One condition."""

    rule: Literal[
        "agreement",
        "consensus",
        "convergence_score",
        "majority",
        "overlap",
        "spread_below",
        "unanimous",
    ]
    limit: float | None = Field(default=None, ge=0)
    scale: Literal["relative", "absolute"] = "relative"
    """Of a spread: the middle half against the median, or as it is."""


class Until(Part):
    """When a repetition ends before its last pass."""

    any: tuple[StopRule, ...] = ()
    all: tuple[StopRule, ...] = ()
    after: int = Field(default=1, ge=1, le=MOST_PASSES)
    """Passes that are held in any case."""


class Reading(Part):
    """What a speaker is given of the discussion so far."""

    sees: tuple[Source, ...] = ("none",)
    history: History = "full"
    anonymous: bool = False

    @field_validator("sees", mode="before")
    @classmethod
    def _one(cls, value: object) -> object:
        if isinstance(value, str):
            return (value,)
        return tuple(value) if isinstance(value, list) else value

    @property
    def sees_speeches(self) -> bool:
        return any(source not in ("none", "results") for source in self.sees)

    @property
    def sees_results(self) -> bool:
        return "results" in self.sees


class Asking(Reading):
    """How somebody is asked, and how often."""

    prompt: str = ""
    sections: tuple[Heading, ...] = Field(default=(), max_length=12)
    min_words: int = Field(default=0, ge=0, le=20_000)
    max_words: int | None = Field(default=None, ge=1, le=20_000)
    max_tokens: int = Field(default=4096, ge=64, le=64_000)
    timeout: float = Field(default=120.0, ge=1, le=3600)
    retries: int = Field(default=1, ge=0, le=5)
    repairs: int = Field(default=1, ge=0, le=3)


class Stage(Asking):
    """One step: who is asked what, seeing what, and what code makes of it."""

    name: Id
    who: Literal["all", "host"] | tuple[Id, ...] = "all"
    order: Literal["parallel", "sequential"] = "parallel"
    repeat: int = Field(default=1, ge=1, le=MOST_PASSES)
    repeat_from: Id | None = None
    """The first stage of what is repeated, if it is more than this one."""
    until: Until | None = None
    extract: tuple[Extract, ...] = Field(default=(), max_length=8)
    aggregate: Aggregate | None = None
    of: Id | None = None
    """What is aggregated, where several extracts would do."""
    min_survivors: int = Field(default=1, ge=1, le=MOST_SEATS)

    @property
    def by_host(self) -> bool:
        return self.who == "host"

    @property
    def decides(self) -> bool:
        """Whether everybody declares here what it holds on the question itself."""
        return self.aggregate == "decision"

    @property
    def ballot(self) -> Extract | None:
        """The extract that is a vote on options that the file names."""
        counted = self.counted
        tallied = (self.aggregate or "").startswith("tally:")
        return counted if tallied and counted is not None and counted.choices else None

    @property
    def raised(self) -> Extract | None:
        """The extract whose items are points."""
        return self.counted if self.aggregate == "points" else None

    @property
    def valued(self) -> tuple[Extract, ...]:
        """The extracts that are declared as values: neither votes nor points."""
        return tuple(e for e in self.extract if e not in (self.ballot, self.raised))

    @property
    def counted(self) -> Extract | None:
        """The extract that is aggregated."""
        fitting = self.fitting
        return next((e for e in fitting if self.of in (None, e.name)), None)

    @property
    def fitting(self) -> tuple[Extract, ...]:
        """The extracts that the aggregate can be made of."""
        kinds = KINDS.get((self.aggregate or "").partition(":")[0], ())
        return tuple(each for each in self.extract if each.kind in kinds)


KINDS: Mapping[str, tuple[str, ...]] = {
    "statistics": ("number",),
    "tally": ("choice", "list"),
    "points": ("list",),
}
"""What each aggregate can be made of."""


class Ending(Asking):
    """How the verdict comes about."""

    by: Literal["host", "aggregate", "extract"] = "host"
    of: Id | None = None
    """The stage whose aggregate it is; without it, the last one."""
    sees: tuple[Source, ...] = ("all", "results")
    sections: tuple[Heading, ...] = Field(default=("Answer",), max_length=12)
    timeout: float = Field(default=180.0, ge=1, le=3600)


class Definition(Part):
    """A whole procedure."""

    name: Id
    summary: Line
    version: int = Field(default=1, ge=1)
    variables: dict[Variable, Words] = Field(default_factory=dict)
    participants: tuple[Seat, ...] = Field(default=(), max_length=MOST_SEATS)
    panel: Panel | None = None
    host: HostSeat = HostSeat()
    stages: tuple[Stage, ...] = Field(min_length=1, max_length=MOST_STAGES)
    verdict: Ending = Ending()

    @property
    def seats(self) -> int:
        return self.panel.count if self.panel else len(self.participants)

    @property
    def decides(self) -> bool:
        return any(stage.decides for stage in self.stages)

    @property
    def ballots(self) -> tuple[Extract, ...]:
        """The votes on options that the file names, that of the verdict first; those with the
        same options are one decision."""
        wanted = self.verdict.of
        voting = sorted(
            (stage for stage in self.stages if stage.ballot is not None),
            key=lambda stage: stage.name != wanted,
        )
        found = {stage.ballot.choices: stage.ballot for stage in voting if stage.ballot}
        return tuple(found.values())

    def stage(self, name: str) -> Stage | None:
        return next((stage for stage in self.stages if stage.name == name), None)


def parsed(data: Mapping[str, Any]) -> Definition:
    """The data as a definition; pydantic's ValidationError, or TypeError for a date."""
    return _parsed(json.dumps(data))


@lru_cache(maxsize=64)
def _parsed(text: str) -> Definition:
    # From JSON, because there a list may become a tuple although the schema is strict.
    return Definition.model_validate_json(text)
