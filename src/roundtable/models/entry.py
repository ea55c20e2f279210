"""A model: its names, what it is good at, how much it takes in and what it costs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import Field, field_validator

from ..core.agents import CommandAgent
from ..core.pattern import pattern
from ..core.values import AT_EASE, Effort, Pace, Seconds, Value

Tag = Literal[
    "code",
    "technical",
    "engineering",
    "creative",
    "long-context",
    "design",
    "balanced",
    "fast",
    "general",
    "chinese",
    "knowledge",
    "product",
    "logic",
    "summary",
    "decision",
    "max",
]
TAGS: tuple[Tag, ...] = get_args(Tag)
Tier = Literal["top", "standard", "small", "demonstration"]


LARGEST_PRICE = 100_000
"""US dollars per million tokens. More is a slip, and would make every limit useless."""


class ModelEntry(Value):
    """What is known of one model. `id` is `provider/model`; the model may contain slashes."""

    id: str = Field(pattern=r"^[^/\s]+/\S+$")
    aliases: tuple[str, ...] = ()
    family: str = ""
    tags: tuple[Tag, ...] = ()
    context_window: int = Field(default=128_000, gt=0)
    tier: Tier = "standard"
    usd_per_million_in: float | None = Field(
        default=None, ge=0, le=LARGEST_PRICE, allow_inf_nan=False
    )
    usd_per_million_out: float | None = Field(
        default=None, ge=0, le=LARGEST_PRICE, allow_inf_nan=False
    )
    usd_per_million_cached: float | None = Field(
        default=None, ge=0, le=LARGEST_PRICE, allow_inf_nan=False
    )
    first_word: Seconds | None = None
    """Seconds until its first word, for one that thinks before it speaks."""
    silence: Seconds | None = None
    """Seconds between two words."""
    effort: Effort | None = None
    """How much it shall think."""
    at_once: int | None = Field(default=None, ge=1, le=10_000)
    """Calls under way at most, beside what its provider allows."""
    per_minute: float | None = Field(default=None, gt=0, le=10_000_000, allow_inf_nan=False)
    """Calls that begin in any minute."""
    vision: bool | None = None
    """Whether it reads pictures; None: nobody told us."""
    thinking: bool | None = None
    """Whether it can think before it speaks."""
    structured: bool | None = None
    """Whether its provider holds its answers to a schema."""
    passed_on: bool = False
    """Whether its server says that another one answers for it, elsewhere."""
    own: frozenset[str] = frozenset()
    """What the user's own file says of it: nobody else has a say in that."""
    added: bool = False
    """The user's own file brought it: what that does not say is guessed as for any other."""
    guessed: bool = False
    """Nothing is known of it but its name."""

    @field_validator("aliases", "tags", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @property
    def pace(self) -> Pace | None:
        """The time that it needs; None if nothing is known of it."""
        pace = Pace(first_word=self.first_word, silence=self.silence, effort=self.effort)
        return None if pace == AT_EASE else pace

    @property
    def described(self) -> bool:
        """Whether the user's own file says more of it than what it costs."""
        return any(not key.startswith("usd_") for key in self.own)

    @property
    def runs_elsewhere(self) -> bool:
        """Whether its server has another one answer for it, as that says, or as the tag tells by
        which Ollama marks such models."""
        return self.passed_on or _CLOUD.search(self.name) is not None

    @property
    def window_known(self) -> bool:
        """Whether somebody said how much it takes in."""
        return "context_window" in self.model_fields_set

    @property
    def provider(self) -> str:
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        """The model's name as its provider knows it."""
        return self.id.partition("/")[2]


_CLOUD = pattern(r"[:-]cloud(?::latest)?\Z", re.IGNORECASE)


def guess_family(name: str, families: Mapping[str, str], otherwise: str) -> str:
    """The family that a model's name gives away: the first known word that occurs in it."""
    lowered = name.casefold()
    return next((family for word, family in families.items() if word in lowered), otherwise)


def stem(name: str) -> str:
    """The word that a name of no known family begins with: `teapot` of `house/teapot-7b`."""
    bare = name.rpartition("/")[2].casefold()
    words = re.findall(r"[^\W\d_]{2,}", bare)
    return words[0] if words else bare


def guess_tier(name: str) -> Tier:
    """How strong a model is, as far as its name tells: by a word, or by billions of weights."""
    lowered = name.casefold()
    sizes = [float(size) for size in re.findall(r"(?<![a-z\d.])(\d+(?:\.\d+)?)b(?![a-z])", lowered)]
    if sizes:
        return "small" if max(sizes) < 10 else "top" if max(sizes) >= 200 else "standard"
    return "small" if _SMALL.search(lowered) else "standard"


_SMALL = re.compile(r"mini(?!max)|nano|tiny|small|lite\b|flash|haiku|instant|fast\b")


def agent_entry(model_id: str, agent: CommandAgent) -> ModelEntry:
    """A command-line agent as a model."""
    return ModelEntry.model_validate(
        {
            "id": model_id,
            "family": agent.family or model_id.partition("/")[2],
            "tags": agent.tags,
            "context_window": agent.context_window,
            "first_word": agent.first_word,
            "silence": agent.silence,
            "effort": agent.effort,
        }
    )
