"""The seats of a table that is being set: who sits there, and who speaks for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..core.errors import NoModel
from ..core.events import NoteAdded
from ..core.values import OUTSIDE, Participant, SpeakerRef
from ..experts.chosen import OF_A_MODEL, UNKNOWN, nearest_of
from ..ports import ChosenExpert, ListedModels, Models, SpeakerChain
from .hosting import HostWish, hosted
from .messages import demonstrated

EXPERT_EMOJI, HOST_EMOJI = "👤", "⚖️"
HOST_ID, HOST_NAME = "host", "Host"


class Seats:
    """Collects participants with their speakers, and what the reader should know of them. Nothing
    is called for this."""

    def __init__(self, models: Models, notes: tuple[NoteAdded, ...] = ()) -> None:
        self._models = models
        self.participants: list[Participant] = []
        self.notes: list[NoteAdded] = list(notes)

    def add(
        self,
        seat: str,
        name: str,
        model: str | None,
        *,
        role: str = "",
        perspective: str = "",
        emoji: str = EXPERT_EMOJI,
        why: str = "",
    ) -> Participant:
        """A participant; without a model it has the default one."""
        made = self._made(seat, name, model, role or name, perspective, emoji)
        if why:
            made = made.model_copy(update={"why": why})
        self.participants.append(made)
        return made

    def add_expert(self, persona: ChosenExpert, model: str | None) -> Participant:
        seated = self.add(
            persona.id,
            persona.name,
            model,
            role=persona.domain or persona.name,
            perspective=persona.perspective,
            why=persona.reason,
        )
        self.note_unknown(persona, seated)
        return seated

    def note_unknown(self, persona: ChosenExpert, seated: Participant) -> None:
        """Say so of an expert who is not in the library: a slip must not pass for one. People from
        outside know who they are."""
        if seated.speaker.model != OUTSIDE:
            self.notes.extend(not_of_library(persona))

    def host(
        self,
        wish: HostWish,
        perspective: str,
        *,
        named: Sequence[str] = (),
        seat: str = HOST_ID,
        name: str = HOST_NAME,
        emoji: str = HOST_EMOJI,
    ) -> Participant:
        """Who leads, and holds none of the seats, with the model that `hosted` finds for it.
        `named` are the models that were named for seats."""
        held = Counter(each.speaker.model for each in self.participants)
        fewest = sorted(held, key=lambda each: held[each])
        chosen = hosted(self._models, wish, name, fewest, named)
        return self._seated(chosen, seat, name, "Host", perspective, emoji)

    def standing_in(self, host: Participant) -> Participant:
        """The host, for whom the models of the table speak where its own cannot: a summary by one
        of them is worth more than none."""
        known = {ref.model for ref in host.speakers}
        spare = {
            ref.model: ref
            for seat in self.participants
            for ref in seat.speakers
            if ref.model not in known
            and not (ref.demonstration or ref.spare)
            and ref.model != OUTSIDE
        }
        return host.model_copy(update={"speakers": (*host.speakers, *spare.values())})

    def at_hand(self, model: str) -> str:
        """A model that nobody asked for by name, or what is here in its place; where nobody is,
        the default one, so that nobody hears of a model that was never named."""
        if not isinstance(self._models, ListedModels):
            return model
        if not self._models.usable:
            return self._models.default_model
        return self._models.at_hand(model, [each.speaker.model for each in self.participants])

    def or_instead(self, model: str | None, name: str, named: Sequence[str]) -> str | None:
        """A model that nobody named for this seat; where nobody but a demonstration could speak in
        its place, or only somebody elsewhere though all that were named speak on this machine, one
        of those that were named for others, in turn: whoever names models has models."""
        try:
            chain = self._models.seat(model or self._models.default_model, name)
            speaker = chain.speakers[0]
            chosen = model is not None and not chain.notes
            if not speaker.demonstration and (chosen or not self._leaves(speaker, named)):
                return model
        except NoModel:
            pass
        instead = named[len(self.participants) % len(named)]
        usual = f"{model}, its usual model, cannot be used here" if model else "no other was named"
        self.notes.append(
            NoteAdded(
                code="substituted",
                text=f"{instead} speaks for the {name}, too: {usual}.",
                remedy=f"Name one for it: --models {name.lower()}=MODEL.",
            )
        )
        return instead

    def of_this_machine(self, default: str) -> tuple[str, ...]:
        """The default model that the settings name, if it speaks on this machine."""
        return (default,) if default and self.is_here(default) else ()

    def is_here(self, model: str) -> bool:
        """Whether what this model is sent stays on this machine."""
        return isinstance(self._models, ListedModels) and self._models.here(model)

    def _leaves(self, speaker: SpeakerRef, named: Sequence[str]) -> bool:
        """Whether words would leave this machine, where all that were named speak on it."""
        return all(map(self.is_here, named)) and not self.is_here(speaker.model)

    def demonstrated(self, host: Participant, told: NoteAdded) -> list[NoteAdded]:
        """What is to be said where the small demonstration model speaks for anybody."""
        return demonstrated(self.participants, [host], told)

    def _made(
        self, seat: str, name: str, model: str | None, role: str, perspective: str, emoji: str
    ) -> Participant:
        chosen = self._models.seat(model or self._models.default_model, name)
        return self._seated(chosen, seat, name, role, perspective, emoji)

    def _seated(
        self, chosen: SpeakerChain, seat: str, name: str, role: str, perspective: str, emoji: str
    ) -> Participant:
        self.notes.extend(note for note in chosen.notes if note not in self.notes)
        return Participant(
            id=seat,
            name=name,
            role=role,
            emoji=emoji,
            perspective=perspective,
            speakers=chosen.speakers,
        )


def not_of_library(persona: ChosenExpert) -> list[NoteAdded]:
    """What is to be said of an expert whom the library does not have by this name."""
    remedy = "`roundtable experts WORDS` finds those who are there."
    if persona.reason in (UNKNOWN, OF_A_MODEL):
        meant = _MEANT if persona.reason == OF_A_MODEL else ""
        told = f"No expert of the library is called {persona.name}: all that this seat knows is "
        return [NoteAdded(code="made_up", text=f"{told}its name.", remedy=f"{meant}{remedy}")]
    if near := nearest_of(persona):
        text = f"No expert of the library is called {persona.name}: it argues with the guidance "
        return [NoteAdded(code="nearest", text=f"{text}of the nearest, {near}.", remedy=remedy)]
    return []


_MEANT = "It looks like the name of a model: name models with --models. "
