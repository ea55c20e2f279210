"""What a meeting is asked for: who sits there, how many rounds, in which order, what it leaves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from ...core.errors import BadSetting
from ...core.pattern import pattern
from ...core.values import HOST_WIRE_NAME, Value
from ..checking import checked, checked_choices
from ..options import ProcedureOptions, option
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

WHERE = "meeting options"
MIN_PARTICIPANTS, MAX_PARTICIPANTS = 2, 12
DEFAULT_ROUNDS, MAX_ROUNDS = 3, 10
TURN_SECONDS = 180.0
PERSON_SECONDS = 900.0
"""A person thinks longer than a model calls."""
CONCLUSION_SECONDS = 3_600.0
"""Whoever coordinates from outside reads everything once more before it concludes."""
MAX_NAME, MAX_PERSPECTIVE = 80, 2000
_PROFILE = pattern(r"[^\s/\x00-\x1f\x7f](?:[^/\x00-\x1f\x7f]*[^\s/\x00-\x1f\x7f])?")
_OUTPUT = pattern(r"(?!/)(?!.*(?:^|/)\.\.?(?:/|$))[^\\:*?\"<>|\x00-\x1f\x7f]+\.md", re.IGNORECASE)


class Place(Value):
    """A participant as a caller names it."""

    profile: str
    """Its id in this discussion: what `speak` and the tools call it."""
    role: str
    perspective: str = ""
    display_name: str = ""
    model: str | None = None
    """A model's name, or `outside` for somebody who speaks through `speak`."""


class MeetingOptions(ProcedureOptions):
    """The options of one meeting."""

    participants: tuple[Place, ...] = option(
        (),
        f"{MIN_PARTICIPANTS} to {MAX_PARTICIPANTS} seats in the order in which they speak, instead "
        "of a roster: profile, role, perspective, display_name, model.",
        part="experts",
        max_length=MAX_PARTICIPANTS,
        closed=dict.fromkeys(
            ("cli", "chat"), "a list of tables does not fit into a flag: `roundtable tool init`"
        ),
    )
    experts: tuple[str, ...] = experts_option(
        part=None,
        closed={"page": "the form writes the seats out one by one"},
    )
    models: tuple[str, ...] = models_option(
        more="A participant that names its own keeps it.", aliases=("model", "all"), part="model"
    )
    host: str | None = host_option(more="outside: a chair who speaks by hand.")
    seats: int | None = seats_option(None, MIN_PARTICIPANTS, MAX_PARTICIPANTS)
    rounds: int = rounds_option(
        DEFAULT_ROUNDS, 1, MAX_ROUNDS, more="The most.", aliases=("max_rounds",), alias_tells=True
    )
    quick: bool = quick_option("One round.")
    choices: tuple[str, ...] = choices_option()
    roster: str | None = option(
        None,
        "A ready set of participants. Default: tech-design-review, unless the host chooses.",
        metavar="NAME",
        closed={"page": "the form seats experts for the question"},
    )
    speech_order: Literal["fixed", "parallel"] = option(
        "fixed",
        "fixed: one after another as listed, each hearing those before it; parallel: side by side.",
        flag="order",
    )
    summaries: bool = option(True, "The host sums up between rounds.")
    format: Literal["standard", "decision"] = option("standard", "The form of the conclusion.")
    output_path: str | None = option(
        None,
        "The file for the conclusion: a .md file inside the current folder.",
        flag="output",
        metavar="FILE",
        closed=dict.fromkeys(("chat", "page"), "it writes a file of this machine"),
    )
    join: str | None = option(
        None,
        "A person of this name takes a seat alongside the others.",
        metavar="NAME",
        part="person",
    )
    turn_seconds: float = option(
        TURN_SECONDS,
        "Seconds to wait for a seat, whether a model or someone outside speaks.",
        gt=0,
        le=86_400,
        advanced=True,
    )
    early_end: bool | None = option(
        None,
        "End before the last round once all declare the same answer. Default: on, unless the "
        "coordinator is from outside.",
        advanced=True,
    )
    rounds_wait: bool = option(
        False,
        "Each further round waits for a coordinator from outside.",
        advanced=True,
    )
    conclusion_seconds: float = option(
        CONCLUSION_SECONDS,
        "Seconds of silence after which the program concludes instead of a coordinator from "
        "outside.",
        gt=0,
        le=604_800,
        advanced=True,
    )

    @property
    def wishes(self) -> ModelWishes:
        return ModelWishes.of(self.models, WHERE)

    def count(self, usual: int) -> int:
        """How many experts sit, where nobody else is named."""
        said, listed = self.seats, len(self.wishes.in_order)
        return min(MAX_PARTICIPANTS, seat_count(said, usual, len(self.experts), listed))

    @property
    def patience(self) -> float:
        """Seconds for which words from outside are waited for."""
        unsaid = "turn_seconds" not in self.model_fields_set
        return PERSON_SECONDS if self.join and unsaid else self.turn_seconds

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> MeetingOptions:
        """BadSetting or UnknownName says which option is wrong, and what was expected."""
        places = options.get("participants")
        rest = {key: value for key, value in options.items() if key != "participants"}
        if places is not None:
            rest["participants"] = parse_places(places)
        parsed = checked(cls, rest, WHERE)
        if parsed.participants and parsed.roster:
            raise BadSetting(WHERE, "roster", "either a roster or participants, not both")
        for word in ("experts", "seats"):
            if getattr(parsed, word) and (parsed.participants or parsed.roster):
                who = "participants" if parsed.participants else "roster"
                raise BadSetting(WHERE, word, f"nothing beside {who}, which says who sits here")
        if len(parsed.experts) > MAX_PARTICIPANTS:
            raise BadSetting(WHERE, "experts", f"at most {MAX_PARTICIPANTS} of them")
        if parsed.output_path is not None and not _OUTPUT.fullmatch(parsed.output_path):
            expected = "the path of a .md file inside the workspace, such as docs/decision.md"
            raise BadSetting(WHERE, "output_path", expected)
        return parsed.model_copy(update={"choices": checked_choices(parsed.choices, WHERE)})


def parse_places(rows: Any) -> tuple[Place, ...]:
    """The participants of a list of tables."""
    if not isinstance(rows, list | tuple):
        raise BadSetting(WHERE, "participants", "a list of participants")
    places = tuple(_place(number, row) for number, row in enumerate(rows, 1))
    if not MIN_PARTICIPANTS <= len(places) <= MAX_PARTICIPANTS:
        expected = f"{MIN_PARTICIPANTS} to {MAX_PARTICIPANTS} participants"
        raise BadSetting(WHERE, "participants", f"{expected}, not {len(places)}")
    taken: set[str] = set()
    for number, place in enumerate(places, 1):
        if place.profile in taken:
            expected = f"a name of its own, {place.profile!r} is taken"
            raise BadSetting(f"participant {number}", "profile", expected)
        taken.add(place.profile)
    return places


def parse_place(row: Any) -> Place:
    """One participant that joins others."""
    return _place(1, row)


def _place(number: int, row: Any) -> Place:
    where = f"participant {number}"
    if isinstance(row, Place):
        return row
    if not isinstance(row, Mapping):
        raise BadSetting(where, "the entry", "a table with profile, role and perspective")
    for key in ("profile", "role"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise BadSetting(where, key, "a name")
    place = checked(Place, row, where)
    if not _PROFILE.fullmatch(place.profile) or len(place.profile) > MAX_NAME:
        raise BadSetting(where, "profile", f"at most {MAX_NAME} characters, without a slash")
    if place.profile.casefold() == HOST_WIRE_NAME:
        raise BadSetting(where, "profile", f"another name: {HOST_WIRE_NAME} is the host")
    return place.model_copy(
        update={
            "role": _one_line(where, "role", place.role, MAX_NAME),
            "perspective": _one_line(where, "perspective", place.perspective, MAX_PERSPECTIVE),
            "display_name": _one_line(where, "display_name", place.display_name, MAX_NAME)
            or place.profile,
        }
    )


def _one_line(where: str, key: str, text: str, limit: int) -> str:
    """These words stand in instructions and headings: one line, and not a whole prompt."""
    line = " ".join(text.split())
    if len(line) > limit:
        raise BadSetting(where, key, f"at most {limit} characters")
    return line
