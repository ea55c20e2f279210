"""The words that mean the same in every procedure: who speaks, who leads, who sits, how many, how
long. Each procedure declares them by these, says its bounds, and maps them onto its own terms."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import BadSetting, UnknownName, UsageError
from ..core.events import NoteAdded
from .checking import MOST_CHOICES, split_list
from .options import Part, ProcedureOptions, Surface, described, find, option

ABOUT: Mapping[str, str] = {
    "models": "Models for the seats, in order; the list repeats if it is shorter. SEAT=MODEL sets "
    "a single seat.",
    "host": "The host's model: it leads and writes the verdict.",
    "experts": "Experts to seat, by name or id, or as “Name: a sentence about them”. Two or more "
    "are the whole table, unless seats asks for more.",
    "seats": "Number of seats.",
    "rounds": "Number of rounds.",
    "quick": "The short form: quicker and cheaper.",
    "choices": f"The answers to vote on, 2 to {MOST_CHOICES}, if the question does not name them.",
}
"""What each of them means, whatever the procedure."""
_BY_SEAT = "="


def models_option(
    *,
    about: str = "",
    more: str = "",
    aliases: tuple[str, ...] = (),
    alias_tells: bool = False,
    part: Part = "models",
) -> Any:
    return option(
        (),
        about or _told("models", more),
        aliases=aliases,
        tells=False,
        alias_tells=alias_tells,
        part=part,
        metavar="A,B,C",
    )


def host_option(*, more: str = "") -> Any:
    return option(None, _told("host", more), metavar="MODEL", tells=False, advanced=True)


def experts_option(
    *,
    more: str = "",
    aliases: tuple[str, ...] = (),
    part: Part | None = "experts",
    tells: bool = False,
    closed: Mapping[Surface, str] | None = None,
) -> Any:
    about = _told("experts", more)
    return option((), about, aliases=aliases, part=part, tells=tells, closed=closed)


def seats_option(
    usual: int | None,
    least: int,
    most: int,
    *,
    more: str = "",
    part: Part | None = "count",
    tells: bool = False,
) -> Any:
    return option(usual, _told("seats", more), ge=least, le=most, part=part, tells=tells)


def rounds_option(
    usual: int | None,
    least: int,
    most: int,
    *,
    more: str = "",
    aliases: tuple[str, ...] = (),
    alias_tells: bool = False,
) -> Any:
    about = _told("rounds", more)
    return option(
        usual, about, ge=least, le=most, aliases=aliases, tells=False, alias_tells=alias_tells
    )


def quick_option(means: str) -> Any:
    """`means` says what is left out. It is stronger than `rounds`, whoever gives both."""
    return option(False, means, tells=False)


def choices_option(*, tells: bool = False) -> Any:
    """Of the procedures that let the asker say what is voted on."""
    return option((), ABOUT["choices"], tells=tells)


def _told(word: str, more: str) -> str:
    return f"{ABOUT[word]} {more}".strip()


def named_models(options: type[ProcedureOptions], given: Mapping[str, Any]) -> tuple[str, ...]:
    """The models that somebody asked for by name."""
    found: list[str] = []
    for each in described(options):
        value = given.get(each.name)
        if not value or not (each.name in ("models", "host") or each.part == "role"):
            continue
        parts = split_list(value) if isinstance(value, str) else value
        wanted = [part.partition(_BY_SEAT) for part in parts if isinstance(part, str)]
        found += [(model or name).strip() for name, _, model in wanted]
    return tuple(dict.fromkeys(filter(None, found)))


def seat_models(options: type[ProcedureOptions], given: Mapping[str, Any]) -> Mapping[str, str]:
    """The models that somebody named for single seats, by the seat."""
    known = find(options, "models")
    value = given.get("models") if known is not None else None
    value = known.read(value) if known is not None and value else ()
    parts = [part.partition(_BY_SEAT) for part in value if isinstance(part, str)]
    return {seat.strip(): model.strip() for seat, mark, model in parts if mark and model.strip()}


def names_table(given: Mapping[str, Any]) -> bool:
    """Whether somebody named the models of all seats, and not only of single ones."""
    value = given.get("models") or ()
    parts = split_list(value) if isinstance(value, str) else value
    return any(isinstance(part, str) and _BY_SEAT not in part for part in parts)


@dataclass(frozen=True, slots=True)
class ModelWishes:
    """Who is to speak, as `models` says it."""

    in_order: tuple[str, ...] = ()
    by_seat: Mapping[str, str] | None = None

    @classmethod
    def of(cls, given: Sequence[str], where: str) -> ModelWishes:
        """BadSetting for a seat or a model without a name."""
        in_order: list[str] = []
        by_seat: dict[str, str] = {}
        for each in given:
            seat, mark, model = (part.strip() for part in each.partition(_BY_SEAT))
            if not mark and seat:
                in_order.append(seat)
            elif seat and model:
                by_seat[seat] = model
            else:
                raise BadSetting(where, "models", f"MODEL or SEAT=MODEL, not {each[:60]!r}")
        return cls(tuple(in_order), by_seat)

    def __bool__(self) -> bool:
        return bool(self.in_order or self.by_seat)

    @property
    def all(self) -> tuple[str, ...]:
        """Every model that was named."""
        return (*self.in_order, *(self.by_seat or {}).values())

    def model_for(self, place: int, *names: str) -> str | None:
        """The model of the seat in this place, counted from 0, that bears one of these names."""
        own = self.named_for(*names)
        if own is None and self.in_order:
            own = self.in_order[place % len(self.in_order)]
        return own

    def named_for(self, *names: str) -> str | None:
        """The model that was named for the seat of one of these names, such as the host's."""
        wanted = {_same(seat): model for seat, model in (self.by_seat or {}).items()}
        return next((wanted[each] for each in map(_same, names) if each in wanted), None)

    def for_seats(self, *host: str) -> bool:
        """Whether a model is named for a seat by the seat's name, the host's apart: then nobody
        else may be seated in its place."""
        leads = {_same(each) for each in host}
        return any(_same(seat) not in leads for seat in self.by_seat or ())

    def checked(
        self, seats: Collection[str], count: int, *, experts: int = 0, fixed: bool = False
    ) -> tuple[NoteAdded, ...]:
        """What the reader should know of them at a table of so many seats, which bear these names
        (a host's among them). UnknownName for a seat that is not there, UsageError for more models
        than seats, unless so many `experts` were named that they are the table. `fixed`: nobody
        can add a seat."""
        for name in self.by_seat or ():
            if _same(name) not in {_same(each) for each in seats}:
                raise UnknownName("seat", name, seats)
        listed = len(self.in_order)
        if listed > count and is_whole_table(experts):
            left = ", ".join(self.in_order[count:])
            text = f"{listed} models are named, and {count} experts sit here. Not used: {left}."
            return (NoteAdded(code="models_left_over", text=text),)
        if listed > count:
            more = "" if fixed else f", or set seats to {listed}"
            raise UsageError(
                f"{listed} models are named, and {count} sit here.", f"Name at most {count}{more}."
            )
        if 1 < listed < count:
            return (
                NoteAdded(
                    code="shared_models",
                    text=f"{count} seats share {listed} models, in turn: "
                    f"{', '.join(self.in_order)}.",
                ),
            )
        return ()


def _same(name: str) -> str:
    """What is the same of a name and an id: `Product Expert` is `product-expert`."""
    return " ".join(name.casefold().replace("-", " ").split())


def seat_count(said: int | None, usual: int, experts: int, models: int) -> int:
    """How many sit: as was said; else the experts who were named and nobody beside them; else the
    usual number, or as many as there are models. UsageError for more experts than seats."""
    if said is not None:
        if experts > said:
            raise UsageError(
                f"{experts} experts are named for {said} seats.",
                f"Name at most {said}, or set seats to {experts}, or leave seats out.",
            )
        return said
    return experts if is_whole_table(experts) else max(usual, experts, models)


def is_whole_table(experts: int) -> bool:
    """Whether so many named experts are all who sit: one alone would have nobody to talk to."""
    return experts > 1
