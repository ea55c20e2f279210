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
from dataclasses import replace
from importlib.util import find_spec
from typing import Literal

from ..core.agents import BUILT_IN, PROVIDER, CommandAgent
from ..core.text import redact
from ..programs import find_program
from .asking import unfit
from .endpoint import Endpoint
from .endpoint_list import EndpointList
from .entry import ModelEntry
from .found import Found, FoundProvider, Missing
from .lists import PROBE_SECONDS, ModelLists
from .provider import Provider
from .registry import Registry

Asking = Literal["never", "when stale", "all", "anew"]
"""Whom to ask for a list: nobody, those whose list is not known or old, everybody, or everybody as
if nothing were known of them: then names that turned out to mean nothing are forgotten."""
EVERYBODY: tuple[Asking, ...] = ("all", "anew")


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
    if lists is None:
        lists, asking = ModelLists(None), "never"
    heard = await _hear(registry, env, lists, asking, probe=probe)
    endpoints = _endpoints(registry, env, heard, lists)
    known = registry.at(endpoints)
    # Also one that only its endpoint knows by this name.
    wanted = known.resolve(default_model).id if default_model else None
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
        if (provider.probe is not None or is_open(provider, env))
        and (said := lists.kept(provider, env)) is not None
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
        unusable=there.unusable,
    )


def _models(provider: Provider, known: Iterable[ModelEntry], there: Endpoint) -> list[str]:
    """What can be seated: at a vendor the known ones that it has, in the registry's order, and
    then whatever else it lists; on any other server what it lists, in its own order."""
    if not there.listed:
        # Away from the vendor's hosts its names mean nothing, unless the user's own file says so.
        moved = provider.moved(there.address)
        ids = [entry.id for entry in known if entry.own or not (moved or provider.probe)]
        return [each for each in ids if each.partition("/")[2] not in there.unusable]
    known = list(known)
    first = [e.name for e in known if e.described or (not there.foreign and _lists(there, e.name))]
    names = dict.fromkeys((*first, *there.listed, *(e.name for e in known if e.own)))
    return [f"{provider.id}/{name}" for name in names if name not in there.unusable]


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
    how = "on PATH, on your subscription; used only if named"
    return FoundProvider(provider.id, provider.label, how, models, only_these=True, by_name=True)


async def _hear(
    registry: Registry, env: Mapping[str, str], lists: ModelLists, asking: Asking, *, probe: bool
) -> dict[str, EndpointList]:
    """What endpoints say they have, all asked at once."""

    forget = asking == "anew"

    async def hear(provider: Provider) -> EndpointList | None:
        if provider.probe is not None:
            named = provider.base_url_variable(env) is not None
            if not probe and not (named and asking in EVERYBODY):
                return None
            answer = await lists.of(provider, env, patience=PROBE_SECONDS, forget=forget)
            # Whatever else listens on the usual port is not what we look for.
            return answer if answer.heard in ("listed", "no models") or named else None
        if not is_open(provider, env):
            return None
        if asking == "never":
            return unfit(provider, env) or lists.kept(provider, env)
        refresh = asking in EVERYBODY
        return await lists.of(provider, env, refresh=refresh, forget=forget)

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
        unusable=lists.unusable(provider, env),
    )
