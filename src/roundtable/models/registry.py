"""The registry: every model name that Roundtable knows, and the facts that rules depend on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from ..core.addresses import server_name
from ..core.agents import BUILT_IN, PROVIDER, CommandAgent
from ..core.errors import AmbiguousName, UnknownName
from ..core.text import redact
from ..core.values import SpeakerRef
from .endpoint import Endpoint
from .entry import ModelEntry, Tag, agent_entry, guess_family, guess_tier, stem
from .keyed import server_of
from .prices import DEAREST, USUAL_PROMPT, Price, market_price
from .provider import Provider
from .registry_file import read

_UNPRICED = {
    "usd_per_million_in": None,
    "usd_per_million_out": None,
    "usd_per_million_cached": None,
}


ScriptedNames = Callable[[], Collection[str]]
"""What can follow `scripted/`."""


class Registry:
    """Names to models, models to facts. Immutable once loaded."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        models: Mapping[str, ModelEntry],
        aliases: Mapping[str, str],
        families: Mapping[str, str],
        endpoints: Mapping[str, Endpoint] | None = None,
        *,
        scripted: ScriptedNames | None = None,
    ) -> None:
        """`endpoints` are those that were looked at, by provider. `scripted` tells which scripts
        there are; without it any name may be one."""
        self._scripted = scripted
        self.providers = providers
        """By id, the preferred ones first."""
        self._aliases = aliases
        self._endpoints = endpoints or {}
        self._passed_on = _passed_on(self._endpoints)
        models = {id_: self._as_told(each) for id_, each in models.items()}
        self.models: Mapping[str, ModelEntry] = models
        """By id, in the order of preference of each provider."""
        self._families = families
        # A proxy serves other people's models: their names belong to whoever makes them. And an
        # agent has the name of its maker's models.
        makers = [
            entry
            for entry in models.values()
            if not providers[entry.provider].proxy and providers[entry.provider].kind != "command"
        ]
        spelled = Counter(model_id.casefold() for model_id in models)
        # Where two differ only in case, they are told apart by it.
        alone = [entry for entry in makers if spelled[entry.id.casefold()] == 1]
        self._names = {id_.casefold(): id_ for id_ in models if spelled[id_.casefold()] == 1}
        """Models by what people may write, in whatever case."""
        self._exact: dict[str, str] = {}
        """Models by their bare names, to the letter."""
        self._makers: dict[str, str] = {}
        """Likewise, without those that are known by their name alone."""
        for entry in makers:
            self._exact.setdefault(entry.name, entry.id)
        for entry in alone:
            self._names.setdefault(entry.name.casefold(), entry.id)
            if not entry.added:
                self._makers.setdefault(entry.name.casefold(), entry.id)
        named = {name.casefold(): model_id for name, model_id in aliases.items()}
        self._names |= named
        self._exact |= named
        self._makers |= named

    @classmethod
    def load(
        cls,
        extra: Path | None = None,
        agents: Mapping[str, CommandAgent] = BUILT_IN,
        *,
        scripted: ScriptedNames | None = None,
    ) -> Registry:
        """The shipped registry, with a user's `models.toml` laid over it if one is given, and the
        command-line agents.

        Raises BadSetting with the file, the key and what was expected there.
        """
        providers, models, aliases, families = read(extra)
        seated = {f"{PROVIDER}/{name}": agent for name, agent in agents.items()}
        entries = {model: agent_entry(model, agent) for model, agent in seated.items()}
        # What models.toml says of an agent is the last word.
        return cls(providers, {**entries, **models}, aliases, families, scripted=scripted)

    def at(self, endpoints: Mapping[str, Endpoint]) -> Registry:
        """The same with what endpoints say: windows, abilities and prices are those of the address
        that is in use, and whatever an endpoint lists is known."""
        models = dict(self.models)
        for entry in self.models.values():
            if entry.added and entry.provider in endpoints:
                models[entry.id] = self._completed(entry, endpoints[entry.provider])
        for provider_id, endpoint in endpoints.items():
            for name, listed in endpoint.listed.items():
                model_id = f"{provider_id}/{name}"
                entry = models.get(model_id) or self._unlisted(
                    model_id, self.providers[provider_id], name, foreign=endpoint.foreign
                )
                said = listed.model_dump(
                    exclude={"name", "weights", "described"}, exclude_none=True
                )
                update = {key: value for key, value in said.items() if key not in entry.own}
                models[model_id] = entry.model_copy(update=update) if update else entry
        return Registry(
            *(self.providers, models, self._aliases, self._families, endpoints),
            scripted=self._scripted,
        )

    def names_model(self, name: str) -> bool:
        """Whether this is the name of a model, an alias or a family, or an id of a known
        provider."""
        wanted = name.strip().casefold()
        known = {*self._names, *(each.family for each in self.models.values())}
        return wanted in known or ("/" in wanted and wanted.partition("/")[0] in self.providers)

    def resolve(self, name: str) -> ModelEntry:
        """The model behind an alias or a full id.

        A full id of a known provider is taken unchanged even when the model is not listed; its
        price is then unknown. Raises UnknownName otherwise, AmbiguousName for a bare name that
        several servers list.
        """
        wanted = name.strip()
        known = wanted
        if wanted not in self.models:
            known = self._exact.get(wanted) or self._names.get(wanted.casefold(), wanted)
            self._refuse_several(wanted, known)
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
        scripts = self._scripted if self.providers[provider].kind == "scripted" else None
        if scripts is not None and model not in (names := scripts()):
            raise UnknownName("scripted speaker", model, names)
        there = self._endpoints.get(provider)
        foreign = there is not None and there.foreign
        entry = self._unlisted(known, self.providers[provider], model, foreign=foreign)
        return self._as_told(entry)

    def _refuse_several(self, wanted: str, known: str) -> None:
        """AmbiguousName for the bare name of a model that several servers list, where it is neither
        an alias nor a name that its vendor, or the user's own file, gives a meaning: each of them
        would hear what was meant for another."""
        entry = self.models.get(known)
        lowered = wanted.casefold()
        if entry is None or entry.own or lowered in self._aliases:
            return
        if lowered != entry.name.casefold():
            return
        of_it = self._endpoints.get(entry.provider)
        if of_it is None or not (of_it.foreign or entry.guessed):
            return
        listing = {
            provider: server_name(there.address)
            for provider, there in self._endpoints.items()
            if entry.name in there.listed and not self.providers[provider].proxy
        }
        if len({server_name(of_it.address), *listing.values()}) > 1:
            meant = dict.fromkeys((entry.provider, *listing))
            raise AmbiguousName("model", wanted, [f"{each}/{entry.name}" for each in meant])

    def priced(self, model_id: str, prompt: int = USUAL_PROMPT) -> ModelEntry:
        """The model with what the public price lists add: prices, for a prompt of so many tokens,
        and its window where nobody else says it. A price that nobody knows stays None."""
        entry = self.resolve(model_id)
        provider = self.providers[entry.provider]
        if provider.free and not entry.runs_elsewhere:
            free = {"usd_per_million_in": 0.0, "usd_per_million_out": 0.0}
            return entry.model_copy(update={**free, "usd_per_million_cached": 0.0})
        priced = entry.usd_per_million_in is not None and entry.usd_per_million_out is not None
        if priced and entry.window_known:
            return entry
        there = self._endpoints.get(entry.provider)
        address = there.address if there is not None else provider.base_url
        if provider.kind in ("command", "local", "scripted") or not address:
            return entry
        market = market_price(address, entry.name, prompt)
        if market is None:
            return entry
        update: dict[str, float | int | None] = {}
        if entry.usd_per_million_in is None:
            update["usd_per_million_in"] = market.per_million_in
            if entry.usd_per_million_cached is None:  # it belongs to the price of what comes in
                update["usd_per_million_cached"] = market.per_million_cached
        if entry.usd_per_million_out is None:
            update["usd_per_million_out"] = market.per_million_out
        if market.context_window and not entry.window_known:
            update["context_window"] = market.context_window
        return entry.model_copy(update=update)

    def provider_of(self, model_id: str) -> Provider:
        """The provider that serves a model."""
        return self.providers[self.resolve(model_id).provider]

    def speaker_ref(self, model_id: str) -> SpeakerRef:
        """The model as a discussion records it."""
        entry = self.priced(model_id)
        return SpeakerRef(
            model=entry.id,
            family=entry.family,
            context_window=entry.context_window,
            usd_per_million_in=entry.usd_per_million_in,
            usd_per_million_out=entry.usd_per_million_out,
            demonstration=entry.tier == "demonstration",
            pace=entry.pace,
            at=self.place_of(entry.provider),
        )

    def place_of(self, provider_id: str) -> str:
        """Where a provider is called now, without what is nobody's business; empty if it is not
        known."""
        there = self._endpoints.get(provider_id)
        return redact(server_of(there.address)) if there is not None and there.address else ""

    def cost(
        self, model_id: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0
    ) -> float | None:
        """US dollars for one call, or None when the price is unknown.

        `cached_tokens` are the part of `input_tokens` that the provider had seen before.
        """
        entry = self.priced(model_id, input_tokens)
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
        """What to assume for a model whose price is unknown: the most that a usual model costs, or
        any that a file gives a price."""
        entries = self.models.values()
        return Price(
            max(DEAREST[0], *(entry.usd_per_million_in or 0.0 for entry in entries)),
            max(DEAREST[1], *(entry.usd_per_million_out or 0.0 for entry in entries)),
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

    def _as_told(self, entry: ModelEntry) -> ModelEntry:
        """A model, passed on if its server says so: to whoever calls it there. Ollama tells that of
        its models in its own list, and not in the one that it has for the clients of others."""
        there = self._endpoints.get(entry.provider) if self._passed_on else None
        told = there is not None and _at_server(there, entry.name) in self._passed_on
        return entry if entry.passed_on == told else entry.model_copy(update={"passed_on": told})

    def _completed(self, entry: ModelEntry, there: Endpoint) -> ModelEntry:
        """A model of the user's own file with what would be known of it without: a row that says
        what it costs changes nothing but that."""
        provider = self.providers[entry.provider]
        guess = self._unlisted(entry.id, provider, entry.name, foreign=there.foreign)
        said = {key: getattr(entry, key) for key in entry.own}
        guessed = guess.guessed and not entry.own & {"family", "tags", "tier"}
        return guess.model_copy(
            update={**said, "own": entry.own, "added": True, "guessed": guessed}
        )

    def _unlisted(
        self, model_id: str, provider: Provider, model: str, *, foreign: bool
    ) -> ModelEntry:
        """A full id taken as it is, with what its name gives away. `foreign`: the endpoint is not
        the vendor's, so that it may serve anybody's models."""
        names = (model_id.removesuffix(":latest"), f"{model_id}:latest")
        same = next((self.models[n] for n in names if n in self.models and n != model_id), None)
        if same is not None:
            return same.model_copy(update={"id": model_id, "aliases": ()})
        if provider.proxy or foreign:
            bare = model.rpartition("/")[2].casefold()
            names = (model.casefold(), bare)
            spellings = [spelling for n in names for spelling in (n, n.replace(".", "-"))]
            twins = (known.get(n, "") for n in spellings for known in (self._names, self._makers))
            twin = next((each for each in twins if each in self.models and each != model_id), None)
            if twin is not None:
                # Behind a proxy the same model has the same abilities, but its own price, and
                # whether it is held to a schema is the server's doing.
                update = {"id": model_id, "aliases": (), "own": frozenset[str](), **_UNPRICED}
                unknown = {"added": False, "structured": None}
                return self.models[twin].model_copy(update={**update, **unknown})
        otherwise = stem(model) if foreign or provider.proxy or provider.probe else provider.id
        tier = guess_tier(model)
        tags: tuple[Tag, ...] = ("fast", "general") if tier == "small" else ("balanced", "general")
        return ModelEntry(
            id=model_id,
            family=guess_family(model, self._families, otherwise),
            tags=tags if foreign or provider.probe else (),
            tier=tier,
            guessed=True,
        )


def _passed_on(endpoints: Mapping[str, Endpoint]) -> frozenset[tuple[str, str]]:
    """The models, by server, of which that says that another one answers for them."""
    return frozenset(
        _at_server(there, name)
        for there in endpoints.values()
        for name, listed in there.listed.items()
        if listed.passed_on
    )


def _at_server(there: Endpoint, name: str) -> tuple[str, str]:
    """What is the same of a model for all who call it at one server."""
    return server_name(there.address), name.casefold().removesuffix(":latest")
