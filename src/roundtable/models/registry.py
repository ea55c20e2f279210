"""The registry: every model name that Roundtable knows, and the facts that rules depend on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..core.agents import BUILT_IN, PROVIDER, CommandAgent
from ..core.errors import UnknownName
from ..core.values import SpeakerRef
from .entry import ModelEntry, agent_entry, guess_family
from .provider import Provider
from .registry_file import read


class Price(NamedTuple):
    """US dollars per million tokens."""

    usd_per_million_in: float
    usd_per_million_out: float


class Registry:
    """Names to models, models to facts. Immutable once loaded."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        models: Mapping[str, ModelEntry],
        aliases: Mapping[str, str],
        families: Mapping[str, str],
    ) -> None:
        self.providers = providers
        """By id, the preferred ones first."""
        self.models = models
        """By id, in the order of preference of each provider."""
        self._families = families
        self._names = {model_id.casefold(): model_id for model_id in models}
        for entry in models.values():
            # A proxy serves other people's models: their names belong to whoever makes them. And
            # an agent has the name of its maker's models.
            if not providers[entry.provider].proxy and providers[entry.provider].kind != "command":
                self._names.setdefault(entry.name.casefold(), entry.id)
        self._names.update((name.casefold(), model_id) for name, model_id in aliases.items())

    @classmethod
    def load(
        cls, extra: Path | None = None, agents: Mapping[str, CommandAgent] = BUILT_IN
    ) -> Registry:
        """The shipped registry, with a user's `models.toml` laid over it if one is given, and the
        command-line agents.

        Raises BadSetting with the file, the key and what was expected there.
        """
        providers, models, aliases, families = read(extra)
        seated = {f"{PROVIDER}/{name}": agent for name, agent in agents.items()}
        entries = {model: agent_entry(model, agent) for model, agent in seated.items()}
        # What models.toml says of an agent is the last word.
        return cls(providers, {**entries, **models}, aliases, families)

    def resolve(self, name: str) -> ModelEntry:
        """The model behind an alias or a full id.

        A full id of a known provider is taken unchanged even when the model is not listed; its
        price is then unknown. Raises UnknownName otherwise.
        """
        wanted = name.strip()
        known = self._names.get(wanted.casefold(), wanted)
        if known in self.models:
            return self.models[known]
        provider, slash, model = known.partition("/")
        if not slash:
            raise UnknownName("model", wanted, self._names)
        if provider not in self.providers:
            raise UnknownName("provider", provider, self.providers)
        if not model:
            raise UnknownName("model", wanted, [m for m in self.models if m.startswith(wanted)])
        if self.providers[provider].kind == "command":
            return self._agent(known)
        return self._unlisted(known, self.providers[provider], model)

    def provider_of(self, model_id: str) -> Provider:
        """The provider that serves a model."""
        return self.providers[self.resolve(model_id).provider]

    def speaker_ref(self, model_id: str) -> SpeakerRef:
        """The model as a discussion records it."""
        entry = self.resolve(model_id)
        free = self.providers[entry.provider].free
        return SpeakerRef(
            model=entry.id,
            family=entry.family,
            context_window=entry.context_window,
            usd_per_million_in=0.0 if free else entry.usd_per_million_in,
            usd_per_million_out=0.0 if free else entry.usd_per_million_out,
            demonstration=entry.tier == "demonstration",
            pace=entry.pace,
        )

    def cost(
        self, model_id: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0
    ) -> float | None:
        """US dollars for one call, or None when the price is unknown.

        `cached_tokens` are the part of `input_tokens` that the provider had seen before.
        """
        entry = self.resolve(model_id)
        if self.providers[entry.provider].free:
            return 0.0
        price_in, price_out = entry.usd_per_million_in, entry.usd_per_million_out
        if price_in is None or price_out is None:
            return None
        price_cached = entry.usd_per_million_cached
        if price_cached is None:
            price_cached = price_in
        fresh = input_tokens - cached_tokens
        millionths = fresh * price_in + cached_tokens * price_cached + output_tokens * price_out
        return millionths / 1_000_000

    def dearest_price(self) -> Price:
        """What to assume for a model whose price is unknown: the most that any model costs."""
        entries = self.models.values()
        return Price(
            max((entry.usd_per_million_in or 0.0 for entry in entries), default=0.0),
            max((entry.usd_per_million_out or 0.0 for entry in entries), default=0.0),
        )

    def _agent(self, model_id: str) -> ModelEntry:
        """An agent that is told which model to use: `cmd/claude:opus`."""
        agent, colon, model = model_id.partition(":")
        if agent not in self.models or (colon and not model):
            known = [id_ for id_ in self.models if id_.startswith(f"{PROVIDER}/")]
            raise UnknownName("command-line agent", model_id, known)
        entry = self.models[agent]
        family = guess_family(model, self._families, entry.family)
        return entry.model_copy(update={"id": model_id, "aliases": (), "family": family})

    def _unlisted(self, model_id: str, provider: Provider, model: str) -> ModelEntry:
        """A full id taken as it is, with what its name gives away."""
        if provider.proxy:
            lowered = model.casefold()
            twin = self._names.get(lowered) or self._names.get(lowered.replace(".", "-"), "")
            if twin in self.models:
                # Behind a proxy the same model has the same abilities, but its own price.
                return self.models[twin].model_copy(
                    update={
                        "id": model_id,
                        "aliases": (),
                        "usd_per_million_in": None,
                        "usd_per_million_out": None,
                        "usd_per_million_cached": None,
                    }
                )
        return ModelEntry(id=model_id, family=guess_family(model, self._families, provider.id))
