"""What a five-round discussion is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from ...core.errors import BadSetting
from ...experts.chosen import DESCRIBES, is_described
from ...ports import CastingRequest
from ...views.five_round.references import normal_name
from ...views.five_round.rounds import CRITIQUE, CROSS_REFERENCE, PROPOSAL, REVISION
from ..checking import checked, checked_choices
from ..opening import OpenRequest
from ..options import ProcedureOptions, choices_option, option

WHERE = "five-round options"
FEWEST, MOST = 2, 7
"""Experts at one table."""
CONFIDENTIAL_CHARACTERS = 200
DIVERGENCE = 0.05
_HISTORY = re.compile(r"full|chars:(?P<limit>[1-9]\d{0,6})")
_NAME = re.compile(r"\w[\w .,&'’/()+\-]{0,59}")


class FiveRoundFlags(ProcedureOptions):
    """The options of one run."""

    agents: tuple[str, ...] | str | None = option(
        None,
        f"Exactly these experts, {FEWEST} to {MOST}, by name or id; any other name is a persona of "
        "that name.",
        part="experts",
    )
    experts: int = option(
        3,
        "How many experts are chosen where nobody names them.",
        ge=FEWEST,
        le=MOST,
        flag="seats",
        part="count",
    )
    depth: Literal["pre-ac", "full"] = option(
        "full", "pre-ac: intent, experts, models, prompts and estimate, without a single call."
    )
    choices: tuple[str, ...] = choices_option()
    strict_rounds: bool = option(False, "Hold every round: no early end.")
    output_dir: str | None = option(
        None,
        "The folder for its reports.",
        metavar="DIR",
        here=True,
        closed=dict.fromkeys(
            ("chat", "http", "page", "tools", "openai", "python"),
            "files are written by the command line only; others read the report",
        ),
    )
    quick: bool = option(False, "Without the cross-reference, R2.")
    revisions: int = option(
        1,
        "Passes of R4, as far as five rounds have room for them: a second one only with quick.",
        ge=1,
        le=2,
        advanced=True,
    )
    history: str | None = option(
        None,
        "How much of each earlier round a prompt shows: full, or chars:N.",
        metavar="full|chars:N",
        advanced=True,
    )
    confidential: bool = option(
        False,
        "Prompts show 200 characters of each earlier round.",
        general=True,
        advanced=True,
    )
    divergence: float = option(
        DIVERGENCE,
        "Below this share of disagreeing pairs the debate ends early; 0 turns that off.",
        ge=0,
        le=1,
        advanced=True,
    )
    accelerate: bool = option(
        False, "Three consensus points end the debate after R2 and R3 too.", advanced=True
    )
    timeout: float = option(180, "Seconds of silence that end an attempt.", gt=0, advanced=True)
    model: str | None = option(
        None,
        "One model for all seats.",
        metavar="MODEL",
        flag="all",
        part="model",
        tells=False,
        advanced=True,
    )
    models: dict[str, str] = option(
        {},
        "Models by expert's name or id, or host; stronger than any routing.",
        part="models",
        advanced=True,
    )

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
        bare = [
            name.partition(DESCRIBES)[0].strip() if is_described(name) else name for name in names
        ]
        if len({normal_name(name) for name in bare}) < len(names):
            raise BadSetting(WHERE, "agents", "a name of its own for each expert")
        if wrong := next((name for name in bare if not _NAME.fullmatch(name)), None):
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
    return CastingRequest(
        count=len(flags.names) or flags.experts,
        include=flags.names,
        open=not flags.names and not flags.quick and flags.depth == "full",
    )
