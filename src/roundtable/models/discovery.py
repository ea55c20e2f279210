"""Discovery: what can be used now, and what is missing for more.

In order of preference: what the user configured, providers with a key (or a base URL) in the
environment, servers of this machine that answer, and the embedded model, where it is installed.
Models are what an endpoint says it has. Only where it does not say is the registry believed, and
only for a vendor's own address: anywhere else its names mean nothing.
Command-line agents are found too, but speak only where they are named: they are somebody's
subscription, and slow to start.
Only the names of variables are looked at and reported here; keys are the speakers' business.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Literal

from ..core.agents import BUILT_IN, PROVIDER, CommandAgent
from ..core.errors import NoModel
from ..core.text import redact
from ..programs import find_program
from .endpoint import Endpoint
from .entry import ModelEntry
from .lists import PROBE_SECONDS, EndpointList, ModelLists, ask
from .provider import Provider
from .registry import Registry

EMBEDDED = "local"
EMBEDDED_MODEL = f"{EMBEDDED}/smollm2-135m"
Asking = Literal["never", "when stale", "all"]
"""Whom to ask for a list: nobody, those whose list is not known or old, or everybody."""


@dataclass(frozen=True, slots=True)
class FoundProvider:
    """A provider that can be used now."""

    id: str
    label: str
    how: str
    """The setting, the variable or the address that makes it usable; never a key."""
    models: tuple[str, ...]
    """Full ids, the preferred ones first: what it says it has, else what the registry lists."""
    only_these: bool
    """Whether it has no other models than these."""
    by_name: bool = False
    """Speaks only where it is named: it is nobody's default, substitute or routed model."""
    listed: bool = False
    """Whether the models are its own list."""
    heard: EndpointList | None = None
    """What it said when it was asked for its models, if it ever was."""

    @property
    def refused(self) -> bool:
        """Whether its key is known not to open the door."""
        return self.heard is not None and self.heard.heard in _REFUSED


_REFUSED = frozenset(["wrong key", "expired key", "other vendor", "no credit"])


@dataclass(frozen=True, slots=True)
class Missing:
    """A provider that could be used if a variable were set."""

    id: str
    label: str
    variable: str
    get: str


@dataclass(frozen=True)
class Found:
    """The result: who can speak, in order of preference."""

    registry: Registry
    providers: tuple[FoundProvider, ...]
    missing: tuple[Missing, ...]
    configured_default: str | None = None
    """The model id that the user's settings name, usable or not."""
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    """Where providers are served now, by id."""
    silent: tuple[EndpointList, ...] = ()
    """What servers of this machine that a variable names said in place of a list."""

    def usable(self, model_id: str) -> bool:
        """Whether a model can be called now, as far as can be known without calling it."""
        entry = self.registry.resolve(model_id)
        if self.registry.providers[entry.provider].kind == "scripted":
            return True
        there = self.endpoints.get(entry.provider)
        if there is not None and entry.name in there.gone:
            return False
        return any(_serves(provider, entry) for provider in self.providers)

    def elsewhere(self, model_id: str, count: int) -> tuple[str, ...]:
        """Models of the same endpoint for a seat whose own turns out not to exist: the likest
        first, of other families before the same again. None where it does not say what it has."""
        wanted = self.registry.resolve(model_id)
        provider = next((each for each in self.by_themselves if each.id == wanted.provider), None)
        if provider is None or not provider.listed:
            return ()
        others = [self.registry.resolve(m) for m in provider.models if m != wanted.id]
        others.sort(key=lambda each: _likeness(wanted, each), reverse=True)
        return tuple(each.id for each in others[:count])

    @property
    def by_themselves(self) -> tuple[FoundProvider, ...]:
        """The providers that may be chosen without being named. Those whose key is refused are not
        among them, unless there is nobody else: then they say best what is wrong."""
        free = tuple(provider for provider in self.providers if not provider.by_name)
        let_in = tuple(provider for provider in free if not provider.refused)
        return let_in if any(each.id != EMBEDDED for each in let_in) else free

    @property
    def default_model(self) -> str:
        """The user's default if it is usable, else the best general model of the best provider.
        Empty where something was set up and none of it speaks: the demonstration model stands in
        for nothing at all, never for what somebody wanted."""
        if self.configured_default is not None and self.usable(self.configured_default):
            return self.configured_default
        for provider in self.by_themselves:
            if provider.id == EMBEDDED:
                continue
            preferred = self.registry.providers[provider.id].default_model
            if preferred in provider.models and self.usable(preferred):
                return preferred
            if provider.models:
                return max(provider.models, key=self._generality)
        return "" if self._set_up else EMBEDDED_MODEL

    @property
    def _set_up(self) -> bool:
        """Whether the user has set up anything that is to speak by itself."""
        others = any(each.id != EMBEDDED for each in self.providers if not each.by_name)
        return others or bool(self.silent) or self.configured_default is not None

    def no_model(self, wanted: str = "") -> NoModel:
        """Why nobody can speak, as far as those who should have said so."""
        said = [each.heard for each in self.providers if each.heard and not each.models]
        said += self.silent
        told = [each.told for each in said if each.told]
        remedies = [each.remedy for each in said if each.remedy]
        named = wanted or self.configured_default or ""
        if named and not self.usable(named):
            provider = self.registry.provider_of(named)
            open_ = any(each.id == provider.id for each in self.providers)
            told.insert(0, f"{named} cannot be used now.")
            remedies += [] if open_ or not provider.get else [provider.get]
        elif not told and self._set_up:
            told = [f"{self.unlisted} did not say which models it has."]
            remedies = ["Name one by its full id, PROVIDER/NAME."]
        if not self._set_up:
            return NoModel(wanted)
        return NoModel(wanted, " ".join(told), " ".join(dict.fromkeys(remedies)))

    @property
    def unlisted(self) -> str:
        """The names of the endpoints whose models nobody knows; empty where there are none."""
        labels = [each.label for each in self.providers if not (each.models or each.by_name)]
        return " and ".join(labels)

    def substitute(self, entry: ModelEntry) -> str:
        """The nearest usable model: the same one elsewhere, its family, its provider, its tags.

        Itself when it is usable; the default model when nothing resembles it.
        """
        if self.usable(entry.id):
            return entry.id
        ranked = [
            (_likeness(entry, candidate), -place, candidate.id)
            for place, candidate in enumerate(self._candidates())
        ]
        if not ranked:
            return self.default_model
        likeness, _, best = max(ranked)
        if not any(likeness):
            return self.default_model
        alike = [id_ for found, _, id_ in ranked if found == likeness]
        if len(alike) > 1 and not self.resembled(entry):
            # Nothing speaks for one of them: different models get different ones in their place.
            return alike[self._place(entry) % len(alike)]
        return best

    def resembled(self, entry: ModelEntry) -> bool:
        """Whether anything that can be used is known to be like a model: of its family, or with
        abilities that are not merely supposed."""
        return any(
            each.family == entry.family
            or (_tags_are_known(each) and not set(each.tags).isdisjoint(entry.tags))
            for each in self._candidates()
        )

    def _candidates(self) -> list[ModelEntry]:
        """Who may stand in for somebody, in order of preference."""
        found = [self.registry.resolve(m) for each in self.by_themselves for m in each.models]
        return [each for each in found if each.tier != "demonstration"]

    def _place(self, entry: ModelEntry) -> int:
        """A number for a model, by its family and strength: the same in every process."""
        rows = {(each.family, each.tier): None for each in self.registry.models.values()}
        kind = (entry.family, entry.tier)
        return list(rows).index(kind) if kind in rows else len(rows)

    def _generality(self, model_id: str) -> int:
        """For a server's own list: prefer what is known to be general, and among those what is
        known at all; the first wins a tie."""
        entry = self.registry.resolve(model_id)
        known = not entry.guessed and entry.tier != "small"
        return ("general" in entry.tags) + ("balanced" in entry.tags) + known


def embedded_installed() -> bool:
    """Whether the demonstration model can run here: what it runs on is an extra, `demo`."""
    return find_spec("xllamacpp") is not None


async def discover(
    registry: Registry,
    env: Mapping[str, str],
    *,
    default_model: str | None,
    probe: bool = True,
    agents: Mapping[str, CommandAgent] = BUILT_IN,
    lists: ModelLists | None = None,
    asking: Asking = "when stale",
) -> Found:
    """Look around. Never raises for what is not there; UnknownName if `default_model` is nothing.

    `agents` are the command-line agents to look for on PATH. `lists` asks endpoints for their
    models and remembers what they said; without it none is asked but those of this machine.

    Without `probe` no server of this machine is looked for: they count only if a variable names
    them.
    """
    wanted = registry.resolve(default_model).id if default_model else None
    if lists is None:
        lists, asking = ModelLists(None), "never"
    heard = await _hear(registry, env, lists, asking, probe=probe)
    endpoints = _endpoints(registry, env, heard, lists)
    known = registry.at(endpoints)
    found: list[tuple[int, FoundProvider]] = []
    missing: list[Missing] = []
    for provider in registry.providers.values():
        if provider.kind == "scripted":
            continue
        if provider.kind == "command":
            usable = _agents(provider, agents, env)
        else:
            there = endpoints.get(provider.id)
            usable = _look(registry, provider, env, there, heard.get(provider.id), probe=probe)
        if usable is None:
            if provider.probe is None and (provider.key_env or provider.base_url_env):
                missing.append(
                    Missing(provider.id, provider.label, _opener(provider), provider.get)
                )
            continue
        rank = _rank(provider, wanted)
        if rank == 0:
            usable = replace(usable, how=f"setting, {usable.how}" if usable.how else "setting")
        found.append((rank, usable))
    found.sort(key=lambda ranked: ranked[0])
    providers = tuple(provider for _, provider in found)
    silent = [
        said
        for name, said in heard.items()
        if registry.providers[name].probe is not None and said.heard != "listed"
    ]
    return Found(known, providers, tuple(missing), wanted, endpoints, tuple(silent))


def known_before(registry: Registry, env: Mapping[str, str], lists: ModelLists) -> Registry:
    """The registry at the addresses that are in use, with what endpoints said earlier: all that can
    be known without asking anybody."""
    kept = {
        provider.id: said
        for provider in registry.providers.values()
        if is_open(provider, env) and (said := lists.kept(provider, env)) is not None
    }
    return registry.at(_endpoints(registry, env, kept, lists))


def _rank(provider: Provider, wanted: str | None) -> int:
    """The user's own first, then keys, then servers of this machine, then the embedded model."""
    if provider.configured or (wanted is not None and wanted.partition("/")[0] == provider.id):
        return 0
    if provider.kind in ("local", "command"):
        return 3
    return 2 if provider.probe is not None else 1


def _opener(provider: Provider) -> str:
    """The variable to set: a proxy is opened by its address, a vendor by a key."""
    from_address = provider.proxy and not provider.vendor_hosts and provider.base_url_env
    return from_address[0] if from_address else (provider.key_env or provider.base_url_env)[0]


def is_open(provider: Provider, env: Mapping[str, str]) -> bool:
    """Whether there is a key or an address to reach a provider by, other than a server of this
    machine."""
    if provider.kind in ("local", "command", "scripted") or provider.probe is not None:
        return False
    if provider.key_variable(env) is not None:
        return True
    if provider.kind == "anthropic":
        return False
    if provider.base_url_variable(env) is not None:
        return True
    return provider.configured and bool(provider.base_url) and not provider.key_env


def _look(
    registry: Registry,
    provider: Provider,
    env: Mapping[str, str],
    there: Endpoint | None,
    heard: EndpointList | None,
    *,
    probe: bool,
) -> FoundProvider | None:
    listed = [entry for entry in registry.models.values() if entry.provider == provider.id]
    if provider.kind == "local":
        if not embedded_installed():
            return None
        models = tuple(entry.id for entry in listed)
        return FoundProvider(provider.id, provider.label, "embedded", models, only_these=True)
    assert there is not None, "whatever is no program has an address"
    variable = provider.key_variable(env) or provider.base_url_variable(env) or ""
    how = variable
    if provider.probe is not None:
        if heard is not None and heard.heard == "listed":
            how = redact(provider.address(env) or "")
        elif probe or provider.base_url_variable(env) is None:
            return None
        else:
            how = provider.base_url_variable(env) or ""
    elif not is_open(provider, env):
        return None
    return FoundProvider(
        provider.id,
        provider.label_at(there.address),
        how,
        tuple(_models(provider, listed, there)),
        only_these=bool(there.listed) and there.foreign,
        listed=bool(there.listed),
        heard=heard,
    )


def _models(provider: Provider, known: Iterable[ModelEntry], there: Endpoint) -> list[str]:
    """What can be seated: at a vendor the known ones that it has, in the registry's order, and
    then whatever else it lists; on any other server what it lists, in its own order."""
    if not there.listed:
        # Away from the vendor's hosts its names mean nothing, unless the user's own file says so.
        moved = provider.moved(there.address)
        ids = [entry.id for entry in known if entry.own or not (moved or provider.probe)]
        return [each for each in ids if each.partition("/")[2] not in there.gone]
    known = list(known)
    first = [e.name for e in known if e.described or (not there.foreign and _lists(there, e.name))]
    names = dict.fromkeys((*first, *there.listed, *(e.name for e in known if e.own)))
    return [f"{provider.id}/{name}" for name in names if name not in there.gone]


_DATED = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|latest|preview)$")


def _lists(there: Endpoint, name: str) -> bool:
    """Whether a name is on an endpoint's list: to the letter, with the tag or the date that the
    list has and people leave out, or as a variant (`:free`) of one that is."""
    lowered = name.casefold()
    listed = {each.casefold() for each in there.listed}
    if lowered in listed or f"{lowered}:latest" in listed:
        return True
    if there.foreign:
        return False
    return lowered.rpartition(":")[0] in listed or any(
        _DATED.sub("", each) == lowered for each in listed
    )


def _agents(
    provider: Provider, agents: Mapping[str, CommandAgent], env: Mapping[str, str]
) -> FoundProvider | None:
    here = [name for name, agent in agents.items() if find_program(agent.program, env)]
    if not here:
        return None
    models = tuple(f"{PROVIDER}/{name}" for name in here)
    how = "on PATH, your subscription; only where named"
    return FoundProvider(provider.id, provider.label, how, models, only_these=True, by_name=True)


def _serves(provider: FoundProvider, entry: ModelEntry) -> bool:
    if provider.id != entry.provider:
        return False
    if provider.by_name:
        return entry.id.partition(":")[0] in provider.models
    if entry.id in provider.models or f"{entry.id}:latest" in provider.models or entry.own:
        return True
    if provider.only_these:
        return False
    # A vendor may have more than it lists, but not what we only know from former times.
    return not provider.listed or entry.guessed


def _likeness(wanted: ModelEntry, candidate: ModelEntry) -> tuple[int, int, int]:
    """How near a candidate comes, the weightiest reason first. All zero: not at all.

    Like strength counts as two tags: a cheap seat must not become a dear one for a word.
    """
    same_family = wanted.family == candidate.family
    shared_tags = len(set(wanted.tags) & set(candidate.tags))
    return (
        same_family + (same_family and _bare(wanted.name) == _bare(candidate.name)),
        int(wanted.provider == candidate.provider),
        shared_tags + 2 * (shared_tags > 0 and wanted.tier == candidate.tier),
    )


def _tags_are_known(entry: ModelEntry) -> bool:
    return not entry.guessed and (not entry.added or "tags" in entry.own)


def _bare(name: str) -> str:
    """A model's name without what servers put around it."""
    return name.rpartition("/")[2].replace(".", "-").casefold()


async def _hear(
    registry: Registry, env: Mapping[str, str], lists: ModelLists, asking: Asking, *, probe: bool
) -> dict[str, EndpointList]:
    """What endpoints say they have, all asked at once."""

    async def hear(provider: Provider) -> EndpointList | None:
        if provider.probe is not None:
            named = provider.base_url_variable(env) is not None
            if not probe and not (named and asking == "all"):
                return None
            answer = await ask(provider, env, PROBE_SECONDS)
            # Whatever else listens on the usual port is not what we look for.
            return answer if answer.heard == "listed" or named else None
        if not is_open(provider, env):
            return None
        if asking == "never":
            return lists.kept(provider, env)
        return await lists.of(provider, env, refresh=asking == "all")

    asked = list(registry.providers.values())
    answers = await asyncio.gather(*(hear(provider) for provider in asked))
    return {
        provider.id: answer
        for provider, answer in zip(asked, answers, strict=True)
        if answer is not None
    }


def _endpoints(
    registry: Registry,
    env: Mapping[str, str],
    heard: Mapping[str, EndpointList],
    lists: ModelLists,
) -> dict[str, Endpoint]:
    return {
        provider.id: _endpoint(provider, env, heard.get(provider.id), lists)
        for provider in registry.providers.values()
        if provider.kind not in ("scripted", "command", "local")
    }


def _endpoint(
    provider: Provider, env: Mapping[str, str], heard: EndpointList | None, lists: ModelLists
) -> Endpoint:
    address = provider.address(env) or ""
    rows = heard.listing.models if heard is not None and heard.heard == "listed" else ()
    return Endpoint(
        address,
        foreign=not provider.at_vendor(address),
        listed={row.name: row for row in rows},
        gone=lists.gone(provider, env),
    )
