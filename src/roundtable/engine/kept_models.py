"""The models of an earlier table, as if there were no others: what was said there is heard by those
who heard it, whatever else a follow-up asks for, unless it names models itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..core.errors import NoModel
from ..core.events import NoteAdded
from ..core.state import State
from ..core.values import OUTSIDE
from ..ports import ChosenExperts, ListedModels, SpeakerChain
from ..procedures.opening import OpenRequest
from .ways import is_called


def kept_of(earlier: State) -> tuple[str, ...]:
    """The models that spoke for the seats of a table, in order; none where only people sat."""
    return tuple(dict.fromkeys(s.speaker.model for s in earlier.voters if is_called(s)))


def with_kept(request: OpenRequest, earlier: State, kept: Sequence[str]) -> OpenRequest:
    """The request with its experts, and the host, on the models of then."""
    host = earlier.start.host
    chosen = request.chosen_experts
    return replace(
        request,
        chosen_experts=_on(chosen, kept) if chosen else None,
        kept_host=host.speaker.model if is_called(host) else "",
    )


def _on(chosen: ChosenExperts, kept: Sequence[str]) -> ChosenExperts:
    experts = (
        replace(each, model=kept[place % len(kept)], routed="as in the earlier discussion")
        for place, each in enumerate(chosen.experts)
    )
    return replace(chosen, experts=tuple(experts))


class KeptModels:
    """Implements ListedModels."""

    def __init__(self, models: ListedModels, kept: Sequence[str], named: Collection[str]) -> None:
        """`named` are those that the call names beside the `kept` ones."""
        self._models = models
        self._kept = tuple(kept)
        self._let_in = {OUTSIDE, "", *kept, *named}
        self._instead: dict[str, str] = {}

    @property
    def default_model(self) -> str:
        return self._kept[0]

    @property
    def usable(self) -> tuple[str, ...]:
        """Implements ListedModels."""
        return self._kept

    def insist(self, name: str) -> None:
        """Implements ListedModels."""
        self._models.insist(name)

    def here(self, name: str) -> bool:
        """Implements ListedModels."""
        return self._models.here(name)

    def at_hand(self, name: str, taken: Collection[str]) -> str:
        """Implements ListedModels."""
        if name in self._let_in:
            return name
        free = [each for each in self._kept if each not in taken]
        return free[0] if free else self._kept[len(taken) % len(self._kept)]

    def seat(self, name: str, seat: str) -> SpeakerChain:
        """The chain of one of then, or of one that was named; one of then speaks for any other."""
        if name in self._let_in:
            return self._models.seat(name, seat)
        try:
            chain = self._models.seat(name, seat)
            if chain.speakers[0].model in self._kept:  # by another name of its own
                return chain
        except NoModel:
            pass
        turn = self._kept[len(self._instead) % len(self._kept)]
        instead = self._instead.setdefault(name, turn)
        chain = self._models.seat(instead, seat)
        return SpeakerChain(chain.speakers, (*chain.notes, _note(instead, name)))


def _note(instead: str, name: str) -> NoteAdded:
    return NoteAdded(
        code="substituted",
        text=f"{instead} speaks in place of {name}: a follow-up keeps the models of the earlier "
        "discussion.",
        remedy="Name others with --models.",
    )
