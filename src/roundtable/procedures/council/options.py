"""What a council run is asked for, and which of several wishes wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from ...core.errors import BadSetting, UnknownName
from ...core.events import NoteAdded
from ...core.values import Value
from ..checking import checked, checked_choices
from ..options import ProcedureOptions, option
from ..vocabulary import (
    ModelWishes,
    choices_option,
    host_option,
    models_option,
    quick_option,
    rounds_option,
)
from .roles import TEMPLATES

Level = Literal["low", "medium", "high"]
LEVELS: tuple[Level, ...] = ("low", "medium", "high")
Round2 = bool | Literal["ask"]

WHERE = "council options"
SEATS = ("scholar", "engineer", "muse")
ROUNDS = 2
SESSION_MODEL = "session"
"""Stands for the user's default model."""

PRESETS: dict[str, tuple[str, str, str]] = {
    "cheap": ("haiku", "haiku", "haiku"),
    "balanced": ("codex", "codex", "sonnet"),
    "premium": ("opus", "opus", "opus"),
    "diverse": ("codex", "sonnet", "opus"),
    "single": (SESSION_MODEL, SESSION_MODEL, SESSION_MODEL),
}
"""Scholar, Engineer, Muse."""
DEFAULT_PRESET = "balanced"

_LEVEL_PRESET: dict[Level, str] = {"low": "cheap", "medium": "balanced", "high": "premium"}
_PRESET_LEVEL: dict[str, Level] = {
    "cheap": "low",
    "balanced": "medium",
    "single": "medium",
    "diverse": "high",
    "premium": "high",
}
_MODEL_LEVEL: dict[str, Level] = {
    "haiku": "low",
    "codex": "medium",
    "sonnet": "medium",
    SESSION_MODEL: "medium",
}


class CouncilFlags(ProcedureOptions):
    """The options of one run."""

    cannot: ClassVar[Mapping[str, str]] = {
        "experts": "A council is always Scholar, Engineer and Muse. For experts of your choice "
        "use the deliberation.",
        "seats": "A council always has three seats. For more or fewer use the deliberation.",
    }
    preset: str | None = option(
        None,
        f"Models for Scholar, Engineer and Muse at once: {', '.join(PRESETS)}.",
        metavar="NAME",
        suggests=tuple(PRESETS),
    )
    models: tuple[str, ...] = models_option(
        more="For Scholar, Engineer and Muse, who keep their roles.",
        aliases=("all",),
        alias_tells=True,
        part="model",
    )
    host: str | None = host_option(more="Here it is called the Captain.")
    rounds: int | None = rounds_option(
        None, 1, ROUNDS, more="2: they examine each other. Default: set by config.json."
    )
    quick: bool = quick_option("No round 2.")
    choices: tuple[str, ...] = choices_option()
    scholar: str | None = option(None, "The Scholar's model.", metavar="MODEL", part="role")
    engineer: str | None = option(None, "The Engineer's model.", metavar="MODEL", part="role")
    muse: str | None = option(None, "The Muse's model.", metavar="MODEL", part="role")
    budget: Level | None = option(
        None,
        "Models and rounds at once. low: cheap and quick; medium: balanced with round 2; high: "
        "premium with round 2.",
        choices=LEVELS,
    )
    template: str | None = option(
        None,
        f"A focus for each role: {', '.join(TEMPLATES)}.",
        metavar="NAME",
        suggests=tuple(TEMPLATES),
    )
    round2: Round2 | None = option(
        None, "Whether they examine each other; ask: you decide after round 1.", advanced=True
    )

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> CouncilFlags:
        flags = checked(cls, options, WHERE)
        flags.check()
        return flags.model_copy(update={"choices": checked_choices(flags.choices, WHERE)})

    def contradictions(self) -> Iterator[tuple[str, str, str]]:
        said: list[tuple[str, Round2]] = []
        if self.budget is not None:
            said.append((f"--budget {self.budget}", self.budget != "low"))
        if self.quick:
            said.append(("--quick", False))
        elif self.rounds is not None:
            said.append((f"--rounds {self.rounds}", self.rounds > 1))
        if self.round2 is not None:
            word = "ask" if self.round2 == "ask" else "on" if self.round2 else "off"
            said.append((f"--round2 {word}", self.round2))
        for (one, held), (other, otherwise) in combinations(said, 2):
            # The quick form of a budget is its models without round 2.
            if held != otherwise and other != "--quick":
                yield one, other, f"{one} {'holds' if held else 'leaves out'} round 2"

    @property
    def wishes(self) -> ModelWishes:
        return ModelWishes.of(self.models, WHERE)

    @property
    def examines(self) -> Round2 | None:
        """Whether round 2 is held, as far as this run says it."""
        return self.round2 if self.rounds is None else self.rounds > 1


class CouncilModels(Value):
    scholar: str | None = None
    engineer: str | None = None
    muse: str | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        """Who wants the usual model leaves the seat out."""
        if value is None:
            raise PydanticCustomError("unnamed", "a model, or no such key")
        return value


class CouncilConfig(Value):
    """The stored defaults of the council: what the setup wizard writes to config.json."""

    models: CouncilModels = CouncilModels()
    preset: str | None = None
    round2: Round2 = True
    language: str | None = None
    log_sessions: bool = True
    log_path: str = "memory/roundtable"
    max_budget: Level | None = Field(default=None)

    @classmethod
    def parse(cls, values: Mapping[str, Any], where: str) -> CouncilConfig:
        config = checked(cls, values, where)
        if config.preset is not None and config.preset not in PRESETS:
            raise BadSetting(where, "preset", f"one of {', '.join(PRESETS)}")
        return config


def models_of(config: CouncilConfig) -> tuple[str, ...]:
    """The different models that a configuration names, for tables of other kinds; none if it
    names none."""
    base = _preset(config.preset) if config.preset else {}
    named = {role: getattr(config.models, role) or base.get(role) for role in SEATS}
    found = (model for model in named.values() if model and model != SESSION_MODEL)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class CouncilPlan:
    """The wishes settled: a model name for each role, whether to hold round 2, what to tell."""

    models: dict[str, str]
    by_default: frozenset[str]
    """The roles for which nobody named a model."""
    round2: Round2
    skipped_by: str = ""
    """Why round 2 is skipped, in the words of the delivery line."""
    template: str | None = None
    notes: tuple[NoteAdded, ...] = field(default=())


def settle(flags: CouncilFlags, config: CouncilConfig) -> CouncilPlan:
    """Exactly: --budget > --preset > --models (once --all) > role flags > config.json > built-ins;
    the cap of config.json over all of them; --quick last."""
    notes: list[NoteAdded] = []
    if flags.preset is not None:
        _preset(flags.preset)  # a misspelt one is an error also where a stronger wish wins
    level = flags.budget
    cap = config.max_budget
    if cap is not None and LEVELS.index(_level(flags, config)) > LEVELS.index(cap):
        notes.append(
            NoteAdded(
                code="budget_capped",
                text=f"This run was cut to budget “{cap}”, the max_budget of config.json.",
                remedy="Raise max_budget in config.json to allow more.",
            )
        )
        level = cap
    models = _models(flags, config, level)
    round2: Round2 = config.round2 if flags.examines is None else flags.examines
    skipped_by = "" if round2 else "by configuration" if flags.rounds is None else "by --rounds 1"
    if level is not None:
        round2 = level != "low"
        skipped_by = "" if round2 else "by budget low"
    if flags.quick:
        round2, skipped_by = False, "via --quick"
    template = flags.template
    if template is not None and template not in TEMPLATES:
        notes.append(
            NoteAdded(
                code="unknown_template",
                text=f"There is no template “{template}”; the roles keep their own focus.",
                remedy=f"Templates: {', '.join(TEMPLATES)}.",
            )
        )
        template = None
    by_default = _unnamed(flags, config) if level is None else frozenset[str]()
    return CouncilPlan(models, by_default, round2, skipped_by, template, tuple(notes))


def _models(flags: CouncilFlags, config: CouncilConfig, level: Level | None) -> dict[str, str]:
    if level is not None:
        return _preset(_LEVEL_PRESET[level])
    if flags.preset is not None:
        return _preset(flags.preset)
    wishes = flags.wishes
    if wishes.in_order:
        return {role: wishes.model_for(place, role) or "" for place, role in enumerate(SEATS)}
    base = _preset(config.preset or DEFAULT_PRESET)
    return {
        role: wishes.named_for(role)
        or getattr(flags, role)
        or getattr(config.models, role)
        or base[role]
        for role in base
    }


def _unnamed(flags: CouncilFlags, config: CouncilConfig) -> frozenset[str]:
    """The roles that the built-in preset is left with."""
    if flags.preset is not None or config.preset is not None or flags.wishes.in_order:
        return frozenset()
    named = (flags.wishes.named_for, partial(getattr, flags), partial(getattr, config.models))
    return frozenset(role for role in SEATS if not any(of(role) for of in named))


def _preset(name: str) -> dict[str, str]:
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return dict(zip(SEATS, PRESETS[name], strict=True))


def _level(flags: CouncilFlags, config: CouncilConfig) -> Level:
    """How dear a run is, for the cap. Models that no preset names count as high."""
    if flags.budget is not None:
        return flags.budget
    if flags.preset is not None:
        dearest = LEVELS.index(_PRESET_LEVEL[flags.preset])
    else:
        models = _models(flags, config, None).values()
        dearest = max(LEVELS.index(_MODEL_LEVEL.get(model, "high")) for model in models)
    round2 = config.round2 if flags.examines is None else flags.examines
    if dearest == 0 and round2 is not False and not flags.quick:
        return "medium"
    return LEVELS[dearest]
