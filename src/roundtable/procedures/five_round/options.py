"""What a five-round discussion is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from ...core.errors import BadSetting
from ...core.values import Value
from ...ports import CastingRequest
from ...views.five_round.references import normal_name
from ...views.five_round.rounds import CRITIQUE, CROSS_REFERENCE, PROPOSAL, REVISION
from ..checking import checked, checked_choices, split_list
from ..opening import OpenRequest

WHERE = "five-round options"
FEWEST, MOST = 2, 7
"""Experts at one table."""
CONFIDENTIAL_CHARACTERS = 200
DIVERGENCE = 0.05
_HISTORY = re.compile(r"full|chars:(?P<limit>[1-9]\d{0,6})")
_NAME = re.compile(r"\w[\w .,&'’/()+\-]{0,59}")


class FiveRoundFlags(Value):
    """The options of one run."""

    agents: tuple[str, ...] | str | None = None
    """The experts, by name or id; several in one text are parted by commas."""
    experts: int = Field(default=3, ge=FEWEST, le=MOST)
    """How many are chosen where nobody names them."""
    depth: Literal["pre-ac", "full"] = "full"
    strict_rounds: bool = False
    quick: bool = False
    """Without the cross-reference."""
    revisions: int = Field(default=1, ge=1, le=2)
    """Passes of R4, as far as five rounds have room for them."""
    history: str | None = None
    confidential: bool = False
    divergence: float = Field(default=DIVERGENCE, ge=0, le=1)
    """Below this share of disagreeing pairs the debate ends early; 0 turns that off."""
    accelerate: bool = False
    """Whether three consensus points end the debate after R2 and R3 too."""
    timeout: float = Field(default=180, gt=0)
    model: str | None = None
    models: dict[str, str] = Field(default_factory=dict)
    """By expert's name or id, or `host`; stronger than any routing."""
    choices: tuple[str, ...] = ()
    """The options of the vote, where the question itself does not say them."""

    _split = field_validator("choices", mode="before")(split_list)

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> FiveRoundFlags:
        """The options, or BadSetting or UnknownName."""
        flags = checked(cls, options, WHERE)
        if flags.history is not None and not _HISTORY.fullmatch(flags.history):
            raise BadSetting(WHERE, "history", "full, or chars:N such as chars:200")
        if flags.revisions > 1 and not flags.quick:
            raise BadSetting(
                WHERE,
                "revisions",
                "1: five rounds have room for a second revision only with quick, which leaves out "
                "the cross-reference",
            )
        flags.names  # noqa: B018 - says what is wrong with them
        return flags.model_copy(update={"choices": checked_choices(flags.choices, WHERE)})

    @property
    def names(self) -> tuple[str, ...]:
        """The experts that were asked for, in order; none means that they are to be chosen."""
        if self.agents is None:
            return ()
        given = (
            re.split(r"[,，、;；]", self.agents) if isinstance(self.agents, str) else self.agents
        )
        names = tuple(name for each in given if (name := " ".join(each.split())))
        if not FEWEST <= len(names) <= MOST:
            raise BadSetting(WHERE, "agents", f"{FEWEST} to {MOST} names of experts")
        if len({normal_name(name) for name in names}) < len(names):
            raise BadSetting(WHERE, "agents", "a name of its own for each expert")
        if wrong := next((name for name in names if not _NAME.fullmatch(name)), None):
            raise BadSetting(
                WHERE, "agents", f"names of letters, digits and blanks, not {wrong[:40]!r}"
            )
        return names

    @property
    def shown_characters(self) -> int | None:
        """How much of each round later prompts show; None is all of it."""
        match = _HISTORY.fullmatch(self.history or "")
        if match is not None:
            return int(match["limit"]) if match["limit"] else None
        return CONFIDENTIAL_CHARACTERS if self.confidential else None

    @property
    def rounds(self) -> tuple[tuple[int, str], ...]:
        """The participants' rounds, each with its number in the ledger. Never more than four, and
        the host's is the fifth."""
        if self.depth == "pre-ac":
            return ()
        rounds = [(1, PROPOSAL), (2, CROSS_REFERENCE), (3, CRITIQUE), (4, REVISION)]
        if self.quick:
            rounds.remove((2, CROSS_REFERENCE))
        if self.revisions > 1:
            rounds.append((5, REVISION))
        return tuple(rounds)

    def model_for(self, *keys: str) -> str | None:
        """The model that the call names for a seat."""
        wanted = {normal_name(name): model for name, model in self.models.items()}
        named = (wanted[normal_name(key)] for key in keys if normal_name(key) in wanted)
        return next(named, None) or self.model


def casting_request(request: OpenRequest, defaults: Mapping[str, Any]) -> CastingRequest:
    """Whom this request wants at the table."""
    flags = FiveRoundFlags.parse({**defaults, **request.options})
    return CastingRequest(count=len(flags.names) or flags.experts, include=flags.names)
