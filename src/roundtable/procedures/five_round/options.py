"""What a five-round discussion is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import model_validator

from ...core.errors import BadSetting
from ...core.pattern import pattern
from ...experts.chosen import DESCRIBES, is_described
from ...ports import CastingRequest
from ...views.five_round.rounds import CRITIQUE, CROSS_REFERENCE, PROPOSAL, REVISION
from ..checking import checked, checked_choices
from ..opening import OpenRequest
from ..options import ProcedureOptions, option
from ..seats import HOST_ID
from ..vocabulary import (
    ModelWishes,
    choices_option,
    experts_option,
    host_option,
    models_option,
    quick_option,
    rounds_option,
    seat_count,
    seats_option,
)

WHERE = "five-round options"
FEWEST, MOST = 2, 7
"""Experts at one table."""
ROUNDS = 5
"""The host's among them."""
CONFIDENTIAL_CHARACTERS = 200
DIVERGENCE = 0.05
_HISTORY = pattern(r"full|chars:(?P<limit>[1-9]\d{0,6})")
_NAME = pattern(r"\w[\w .,&'’/()+\-]{0,59}")


class FiveRoundFlags(ProcedureOptions):
    """The options of one run."""

    experts: tuple[str, ...] | str = experts_option(
        more=f"{FEWEST} to {MOST}; an unknown name becomes a persona.",
        aliases=("agents",),
    )
    models: tuple[str, ...] = models_option(
        more="A single model also speaks for the host.", aliases=("model", "all")
    )
    host: str | None = host_option()
    seats: int = seats_option(
        3, FEWEST, MOST, more="Experts are chosen for the question if you name none."
    )
    rounds: int = rounds_option(
        ROUNDS, ROUNDS - 1, ROUNDS, more="4: without the cross-reference, R2; 5: all of them."
    )
    quick: bool = quick_option("Without the cross-reference, R2.")
    choices: tuple[str, ...] = choices_option()
    depth: Literal["pre-ac", "full"] = option(
        "full", "pre-ac: only intent, experts, models, prompts and estimate, without a call."
    )
    strict_rounds: bool = option(False, "Run every round; no early end.")
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
    revisions: int = option(
        1,
        "Passes of R4; a second one only with quick.",
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
        "No notifications and no page, as everywhere; here prompts also show only 200 characters "
        "of each earlier round.",
        general=True,
        advanced=True,
    )
    divergence: float = option(
        DIVERGENCE,
        "The debate ends early below this share of disagreeing pairs; 0 turns that off.",
        ge=0,
        le=1,
        advanced=True,
    )
    accelerate: bool = option(
        False, "Three consensus points end the debate after R2 and R3 too.", advanced=True
    )
    timeout: float = option(180, "Seconds of silence that end an attempt.", gt=0, advanced=True)

    @model_validator(mode="before")
    @classmethod
    def _counted(cls, values: Any) -> Any:
        """`experts` was once how many of them sit."""
        experts = values.get("experts") if isinstance(values, Mapping) else None
        counted = isinstance(experts, int) or (isinstance(experts, str) and experts.isdecimal())
        if not counted or isinstance(experts, bool) or "seats" in values:
            return values
        rest = {key: each for key, each in values.items() if key != "experts"}
        return {**rest, "seats": experts}

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> FiveRoundFlags:
        """The options, or BadSetting or UnknownName."""
        flags = checked(cls, options, WHERE)
        flags.check()
        if flags.history is not None and not _HISTORY.fullmatch(flags.history):
            raise BadSetting(WHERE, "history", "full, or chars:N such as chars:200")
        if flags.rounds < ROUNDS and "quick" not in flags.model_fields_set:
            flags = flags.model_copy(update={"quick": True})
        if flags.revisions > 1 and not flags.quick:
            raise BadSetting(
                WHERE,
                "revisions",
                "1: five rounds have room for a second revision only with quick, which leaves out "
                "the cross-reference",
            )
        flags.names  # noqa: B018 - says what is wrong with them
        if flags.count > MOST:
            raise BadSetting(WHERE, "models", f"at most {MOST} of them")
        return flags.model_copy(update={"choices": checked_choices(flags.choices, WHERE)})

    def contradictions(self) -> Iterator[tuple[str, str, str]]:
        if self.strict_rounds and self.accelerate:
            yield "--strict-rounds", "--accelerate", "--strict-rounds lets no debate end early"

    @property
    def names(self) -> tuple[str, ...]:
        """The experts that were asked for, in order; none means that they are to be chosen."""
        if not self.experts and "experts" not in self.model_fields_set:
            return ()
        given = (
            re.split(r"[,，、;；]", self.experts) if isinstance(self.experts, str) else self.experts
        )
        names = tuple(name for each in given if (name := " ".join(each.split())))
        if not FEWEST <= len(names) <= MOST:
            raise BadSetting(WHERE, "experts", f"{FEWEST} to {MOST} names of experts")
        bare = [
            name.partition(DESCRIBES)[0].strip() if is_described(name) else name for name in names
        ]
        from ...views.five_round.references import normal_name

        if len({normal_name(name) for name in bare}) < len(names):
            raise BadSetting(WHERE, "experts", "a name of its own for each expert")
        if wrong := next((name for name in bare if not _NAME.fullmatch(name)), None):
            raise BadSetting(
                WHERE, "experts", f"names of letters, digits and blanks, not {wrong[:40]!r}"
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
    def wishes(self) -> ModelWishes:
        return ModelWishes.of(self.models, WHERE)

    @property
    def leads(self) -> str | None:
        """The host's model, as far as the call names it."""
        wishes = self.wishes
        alone = wishes.in_order[0] if len(wishes.in_order) == 1 else None
        return self.host or wishes.named_for(HOST_ID) or alone

    @property
    def said_seats(self) -> int | None:
        return self.seats if "seats" in self.model_fields_set else None

    @property
    def count(self) -> int:
        """How many experts sit at the table."""
        return seat_count(self.said_seats, self.seats, len(self.names), len(self.wishes.in_order))

    @property
    def passes(self) -> tuple[tuple[int, str], ...]:
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


def casting_request(request: OpenRequest, defaults: Mapping[str, Any]) -> CastingRequest:
    """Whom this request wants at the table."""
    flags = FiveRoundFlags.parse({**defaults, **request.options})
    return CastingRequest(
        count=flags.count,
        include=flags.names,
        open=not flags.names
        and not flags.quick
        and flags.depth == "full"
        and not flags.wishes.for_seats(HOST_ID),
    )
