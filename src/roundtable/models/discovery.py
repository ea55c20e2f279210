"""Discovery: what can be used now, and what is missing for more.

In order of preference: what the user configured, providers with a key (or a base URL) in the
environment, servers of this machine that answer, and the embedded model, where it is installed.
Command-line agents are found too, but speak only where they are named: they are somebody's
subscription, and slow to start.
Only the names of variables are looked at and reported here; keys are the speakers' business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec

from ..core.agents import BUILT_IN, PROVIDER, CommandAgent
from ..core.errors import NetError
from ..core.text import redact
from ..net import request
from ..programs import find_program
from .entry import ModelEntry
from .provider import Provider
from .registry import Registry

EMBEDDED_MODEL = "local/smollm2-135m"
PROBE_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class FoundProvider:
    """A provider that can be used now."""

    id: str
    label: str
    how: str
    """The setting, the variable or the address that makes it usable; never a key."""
    models: tuple[str, ...]
    """Full ids: what a server of this machine says it has, else what the registry lists."""
    only_these: bool
    """Whether it has no other models than these."""
    by_name: bool = False
    """Speaks only where it is named: it is nobody's default, substitute or routed model."""


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

    def usable(self, model_id: str) -> bool:
        """Whether a model can be called now, as far as can be known without calling it."""
        entry = self.registry.resolve(model_id)
        if self.registry.providers[entry.provider].kind == "scripted":
            return True
        return any(_serves(provider, entry) for provider in self.providers)

    @property
    def by_themselves(self) -> tuple[FoundProvider, ...]:
        """The providers that may be chosen without being named."""
        return tuple(provider for provider in self.providers if not provider.by_name)

    @property
    def default_model(self) -> str:
        """The user's default if it is usable, else the best general model of the best provider."""
        if self.configured_default is not None and self.usable(self.configured_default):
            return self.configured_default
        for provider in self.by_themselves:
            preferred = self.registry.providers[provider.id].default_model
            if preferred is not None and self.usable(preferred):
                return preferred
            if provider.models:
                return max(provider.models, key=self._generality)
        return EMBEDDED_MODEL

    def substitute(self, entry: ModelEntry) -> str:
        """The nearest usable model: the same one elsewhere, its family, its provider, its tags.

        Itself when it is usable; the default model when nothing resembles it.
        """
        if self.usable(entry.id):
            return entry.id
        candidates = [
            self.registry.resolve(model)
            for provider in self.by_themselves
            for model in provider.models
        ]
        ranked = [
            (_likeness(entry, candidate), -place, candidate.id)
            for place, candidate in enumerate(candidates)
            if candidate.tier != "demonstration"
        ]
        if not ranked:
            return self.default_model
        likeness, _, best = max(ranked)
        return best if any(likeness) else self.default_model

    def _generality(self, model_id: str) -> int:
        """For a server's own list: prefer what is known to be general; the first wins a tie."""
        tags = self.registry.resolve(model_id).tags
        return ("general" in tags) + ("balanced" in tags)


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
) -> Found:
    """Look around. Never raises for what is not there; UnknownName if `default_model` is nothing.

    `agents` are the command-line agents to look for on PATH.

    Without `probe` no connection is made: servers of this machine count only if a variable names
    them.
    """
    wanted = registry.resolve(default_model).id if default_model else None
    answers = await _ask_servers(registry, env) if probe else {}
    found: list[tuple[int, FoundProvider]] = []
    missing: list[Missing] = []
    for provider in registry.providers.values():
        if provider.kind == "scripted":
            continue
        if provider.kind == "command":
            usable = _agents(provider, agents, env)
        else:
            usable = _look(registry, provider, env, answers, probe=probe)
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
    return Found(registry, tuple(provider for _, provider in found), tuple(missing), wanted)


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


def _look(
    registry: Registry,
    provider: Provider,
    env: Mapping[str, str],
    answers: Mapping[str, tuple[str, ...]],
    *,
    probe: bool,
) -> FoundProvider | None:
    listed = tuple(id_ for id_, entry in registry.models.items() if entry.provider == provider.id)

    def found(how: str, models: tuple[str, ...] = listed, only: bool = False) -> FoundProvider:
        return FoundProvider(provider.id, provider.label, how, models, only)

    if provider.kind == "local":
        return found("embedded", only=True) if embedded_installed() else None
    key, base_url = provider.key_variable(env), provider.base_url_variable(env)
    if provider.probe is not None:
        if provider.id in answers:
            own = tuple(f"{provider.id}/{name}" for name in answers[provider.id])
            return found(redact(provider.address(env) or ""), own, only=True)
        return found(base_url) if base_url is not None and not probe else None
    if key is not None:
        return found(key)
    if provider.kind == "anthropic":
        return None
    if base_url is not None:
        return found(base_url)
    if provider.configured and provider.base_url and not provider.key_env:
        return found("")
    return None


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
    if not provider.only_these:
        return True
    if provider.by_name:
        return entry.id.partition(":")[0] in provider.models
    # Ollama calls llama3.2 `llama3.2:latest`.
    return entry.id in provider.models or f"{entry.id}:latest" in provider.models


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


def _bare(name: str) -> str:
    """A model's name without what servers put around it."""
    return name.rpartition("/")[2].replace(".", "-").casefold()


async def _ask_servers(registry: Registry, env: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The models of every server of this machine that answers, all asked at once."""
    asked = [provider for provider in registry.providers.values() if provider.probe is not None]
    lists = await asyncio.gather(*(_ask(provider, env) for provider in asked))
    return {
        provider.id: models
        for provider, models in zip(asked, lists, strict=True)
        if models is not None
    }


async def _ask(provider: Provider, env: Mapping[str, str]) -> tuple[str, ...] | None:
    """A server's own list of models, or None if there is no such server."""
    base_url = provider.address(env) or ""
    ollama = provider.probe == "ollama"
    url = base_url.removesuffix(provider.api_path) + "/api/tags" if ollama else base_url + "/models"
    try:
        # Not through a proxy: the servers are on this machine or named by the user.
        answer = await request(provider.label, "GET", url, timeout=PROBE_SECONDS, proxies=False)
        body = answer.json(typed=False) if answer.good else {}
        rows = body["models"] if ollama else body["data"]
        names = [str(row["name" if ollama else "id"]) for row in rows]
        # Servers list models that only make vectors beside those that speak.
        return tuple(name for name in names if "embed" not in name)
    except (NetError, LookupError, TypeError):
        # Whatever else listens on that port is not what we look for.
        return None
