"""The catalogue: the registry and what was found, joined into speakers for seats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from ..core.agents import on_subscription
from ..core.errors import NoModel, UnknownName, UsageError
from ..core.events import NoteAdded
from ..core.values import AT_EASE, OUTSIDE, OUTSIDE_SPEAKER, Pace, SpeakerRef
from ..ports import SpeakerChain, Way
from .entry import ModelEntry
from .found import EMBEDDED_MODEL, Found
from .keyed import server_of
from .provider import Provider

DEMONSTRATION = "demonstration"
SPARES = 8
"""Further models of the same endpoint for a seat, should its own turn out not to exist."""


class Catalogue:
    """Implements the Models port."""

    def __init__(
        self,
        found: Found,
        *,
        fallbacks: Mapping[str, Sequence[str]],
        fallback_model: str | None = None,
        pace: Pace = AT_EASE,
        unread: UsageError | None = None,
        naming: Callable[[str], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """`fallbacks` are further speakers by model name; `fallback_model` ends every chain; `pace`
        is that of models of which nothing else is known. `unread` is why stored keys do not count:
        a demonstration never speaks in the place of those who would with them. `naming` tells where
        a name stands that a setting, by its own name, holds and that means nothing."""
        self._registry = found.registry
        self._found = found
        self._fallbacks = {
            found.registry.resolve(name).id: chain for name, chain in fallbacks.items()
        }
        self._fallback_model = found.registry.resolve(fallback_model).id if fallback_model else None
        self._pace = pace
        self._unread = unread
        self._naming = naming

    @property
    def default_model(self) -> str:
        """None where nobody is left but the demonstration, nobody has named it, and keys are
        stored that do not count: whoever wants to be seated on it hears why. It does not raise, for
        who asks whether this implements a port looks at it."""
        default = self._found.default_model
        unnamed = default == EMBEDDED_MODEL != self._found.configured_default
        return "" if unnamed and self._unread is not None else default

    @property
    def usable(self) -> tuple[str, ...]:
        """Implements ListedModels."""
        rows = []
        for provider in self._found.by_themselves:
            first = self._registry.providers[provider.id].default_model
            listed = [m for m in provider.models if self._registry.resolve(m).tier != DEMONSTRATION]
            rows.append(self._families_first(sorted(listed, key=lambda model: model != first)))
        places = range(max(map(len, rows), default=0))
        return tuple(row[place] for place in places for row in rows if place < len(row))

    def insist(self, name: str) -> None:
        """Implements ListedModels."""
        try:
            wanted = self._registry.resolve(name)
        except UnknownName:  # a profile, or a mistake that whoever seats it will name
            return
        if self._found.usable(wanted.id) or on_subscription(wanted.id):
            return
        instead = self._found.substitute(wanted)
        if not instead and self._found.here(wanted):
            raise self._found.nobody_here(wanted)
        if not self._found.set_up:
            self._refuse_in_place_of_stored()
            provider = self._registry.providers[wanted.provider]
            why = f"{wanted.id} cannot be used here."
            told = _keyless(wanted.id, provider) if provider.key_env else why
            raise NoModel(wanted.id, told, self._found.opener(wanted))

    def here(self, name: str) -> bool:
        """Implements ListedModels."""
        try:
            return self._found.here(self._registry.resolve(name))
        except UnknownName:  # a person, or somebody else's agent
            return False

    def at_hand(self, name: str, taken: Collection[str]) -> str:
        """Implements ListedModels."""
        wanted = self._wanted(name)
        if self._found.usable(wanted.id) or self._found.resembled(wanted) or not self.usable:
            return name
        held = Counter(filter(None, map(self._id, taken)))
        return min(self.usable, key=lambda model: held[model])

    def _id(self, name: str) -> str:
        """The model that a name means; empty where it means none."""
        try:
            return self._registry.resolve(name).id
        except UnknownName:
            return ""

    def _families_first(self, models: Sequence[str]) -> list[str]:
        """The first of every family before the second of any."""
        seen: Counter[str] = Counter()
        places: dict[str, int] = {}
        for model in models:
            family = self._registry.resolve(model).family or model
            places[model] = seen[family]
            seen[family] += 1
        return sorted(models, key=lambda model: places[model])

    def seat(self, name: str, seat: str) -> SpeakerChain:  # noqa: ARG002 - the port's
        if name == OUTSIDE:
            return SpeakerChain((OUTSIDE_SPEAKER,))
        if not name:
            self._refuse_in_place_of_stored()
            raise self._found.no_model()
        wanted = self._wanted(name)
        notes: tuple[NoteAdded, ...] = ()
        first = wanted.id
        if not self._found.usable(first):
            first = self._found.substitute(wanted)
            if not first and self._found.here(wanted):
                raise self._found.nobody_here(wanted)
            if first == EMBEDDED_MODEL:
                self._refuse_in_place_of_stored()
            # Nobody, or the embedded model, and it is not installed.
            if not first or not self._found.usable(first):
                self._refuse_in_place_of_stored()
                raise self._found.no_model("" if name == self.default_model else wanted.id)
            # With nothing configured at all, one banner says it better than a note per seat; but
            # whoever names an agent has configured something.
            if first != EMBEDDED_MODEL or on_subscription(wanted.id):
                notes = (self._note(wanted.id, first),)
        chain = [first]
        last = self._fallback_model
        if last and self._found.here(self._registry.resolve(first)):
            # What was said to a model of this machine goes to one elsewhere only where the settings
            # name that one for it.
            last = last if self._found.here(self._registry.resolve(last)) else None
        with self._naming("fallbacks"):
            named = [self._registry.resolve(each).id for each in self._fallbacks.get(wanted.id, ())]
        for model in (*named, last):
            if model and model not in chain and self._found.usable(model):
                chain.append(model)
        speakers = [self._speaker(model) for model in chain]
        speakers += [each for each in self.spares(first) if each.model not in chain]
        return SpeakerChain(tuple(speakers), notes)

    def way_to(self, speaker: SpeakerRef) -> Way:
        """Implements ReachableModels."""
        try:
            entry = self._registry.resolve(speaker.model)
        except UnknownName as unknown:
            return Way(usable=False, told=unknown.message, remedy=unknown.remedy)
        provider = self._registry.providers[entry.provider]
        at = self._registry.place_of(provider.id)
        way = Way(usable=True, at=at)
        if speaker.at and at and speaker.at != at:
            both = provider.at_vendor(speaker.at) and provider.at_vendor(at)
            way = replace(way, elsewhere=not both, back=_back(provider, speaker.at))
        if self._found.usable(entry.id) or self._found.elsewhere(entry.id, 1):
            return way
        shut = all(each.id != provider.id for each in self._found.providers)
        if provider.key_env and provider.probe is None and shut:
            told, remedy = _keyless(provider.label, provider), provider.get
        else:
            why = self._found.why_not(entry.id)
            told, remedy = f"{entry.id}: {why.told}.", why.remedy
        return replace(way, usable=False, told=told, remedy=remedy)

    def spares(self, model: str) -> tuple[SpeakerRef, ...]:
        """Further models of the endpoint of this one, should it turn out to be of no use there."""
        others = self._found.elsewhere(model, SPARES) if "/" in model else ()
        return tuple(self._speaker(each, spare=True) for each in others)

    def _refuse_in_place_of_stored(self) -> None:
        if self._unread is not None:
            raise self._unread

    def _wanted(self, name: str) -> ModelEntry:
        with self._naming("models"):
            return self._resolved(name)

    def _resolved(self, name: str) -> ModelEntry:
        try:
            return self._registry.resolve(name)
        except UnknownName as unknown:
            if unknown.kind != "model" or not self.usable:
                raise
            # Names that cannot be used here help nobody.
            entries = [self._registry.resolve(model) for model in self.usable]
            near = [n for each in entries for n in (each.name, *each.aliases)]
            raise UnknownName(unknown.kind, name, near) from None

    def _speaker(self, model: str, *, spare: bool = False) -> SpeakerRef:
        known = self._registry.speaker_ref(model)
        pace = (known.pace or AT_EASE).over(self._pace)
        update: dict[str, object] = {} if pace == AT_EASE else {"pace": pace}
        if spare:
            update["spare"] = True
        return known.model_copy(update=update) if update else known

    def _note(self, wanted: str, instead: str) -> NoteAdded:
        """The same for every seat, so that it is said once."""
        why = self._found.why_not(wanted)
        return NoteAdded(
            code="substituted",
            text=f"{instead} speaks in place of {wanted}, which {why.told}.",
            remedy=why.remedy,
        )


def _keyless(who: str, provider: Provider) -> str:
    return f"{who} needs a key in {' or '.join(provider.key_env)}: there is none."


def _back(provider: Provider, at: str) -> str:
    """What has a provider called at this address again."""
    if not provider.base_url_env:
        return f"set the base_url of {provider.id} in models.toml to {at}"
    variable = provider.base_url_env[0]
    usual = provider.base_url is not None and server_of(provider.base_url) == at
    return f"unset {variable}" if usual else f"set {variable}={at}"
