"""The bench: every model that may be given a seat, resolved before anybody speaks.

The meta-panel chooses models while the discussion runs, and a procedure cannot look anything up
then. So all candidates are resolved when the table is set, and stored with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...core.errors import BadSetting, UnknownName
from ...core.values import SpeakerRef, Value
from ...ports import Models, SpeakerChain
from .panels import Panels, Slot


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
        """Everybody whom panels.json names, the premium models first."""
        premium = {model_key(name) for name in self._panels.meta.models}
        found: dict[str, BenchModel] = {}
        for key, name in self._names():
            if model_key(name) in found:
                continue
            held = self.held(self.named(name, key, "the bench"), "the bench")
            found[model_key(name)] = BenchModel(
                name=name,
                doors=self._panels.doors.get(name, ()),
                speakers=held.speakers,
                usable=held.own,
                allowed=self.allowed(name),
                premium=model_key(name) in premium,
            )
        return tuple(found.values())

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


PROXY_ACTION = "Or start the Blockrun proxy at localhost:8402, or use --panel budget."


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
