"""Who can speak: keys by the names of their variables, servers, agents, the embedded model."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from ...core.extras import install
from ...core.key_shapes import of_another_vendor
from ...core.text import redact
from ...models.discovery import embedded_installed
from ...models.endpoint_list import UNFIT
from ...models.facts import about_list
from ...models.found import EMBEDDED_MODEL, Found, FoundProvider
from ...models.keyed import Keyed
from ...models.provider import Provider
from ...models.registry import Registry
from ...models.weights import SMOLLM2, no_room, weights_present
from ...provider_keys import ProviderKeys, is_sound_key
from ...settings import Settings
from .finding import Finding, State


def check_models(found: Found, env: Mapping[str, str], *, before: str) -> Iterator[Finding]:
    """`before`: the default model by the lists alone, before anybody was called."""
    wanted = found.configured_default
    if wanted is not None and not found.usable(wanted):
        why = found.why_not(wanted)
        told = f"The default model is {wanted}, which {why.told}."
        yield Finding("models", "broken", told, why.remedy)
    elif not found.default_model and (nobody := found.why_nobody()) is not None:
        yield Finding("models", "missing", f"No model can speak: {nobody.told}", nobody.remedy)
    elif found.default_model in ("", EMBEDDED_MODEL):
        yield Finding(
            "models",
            "missing",
            "No model but the embedded demonstration model can speak by itself."
            if found.default_model
            else "No model can speak here yet.",
            "Set the key of any provider (roundtable models lists them), or start Ollama.",
        )
    elif before and found.default_model != before:
        why = found.why_not(before)
        told = f"Default model: {found.default_model}, for {before}, which is listed, {why.told}."
        yield Finding(
            "models",
            "doubtful",
            told,
            "Name the one you want as default_model in config.toml, or with --models.",
        )
    else:
        unnamed = "" if found.configured_default else "; nobody named it, so the host is chosen to "
        fits = unnamed and f"{unnamed}fit the question"
        yield Finding("models", "ok", f"Default model: {found.default_model}{fits}")
    for each in found.providers:
        known = found.registry.providers.get(each.id)
        wrong = _wrong_key(known, env) if known is not None else None
        if wrong is not None:
            yield wrong
        elif each.id not in ("local", "cmd"):
            yield _credentials(each)
    for server in found.silent:
        state: State = "broken" if server.heard in UNFIT else "doubtful"
        yield Finding("credentials", state, server.told, server.remedy)


def _credentials(provider: FoundProvider) -> Finding:
    """What opens a provider, and what is known of its models. What it said when it was last asked
    is told; nobody is asked for this."""
    told = f"{provider.label}: {provider.how}"
    if (trouble := provider.trouble) is not None and provider.shut:
        return Finding("credentials", "broken", f"{told}. {trouble.told}", trouble.remedy)
    if trouble is not None:
        remedy = f"{trouble.remedy} `roundtable doctor --reach` tries it.".strip()
        return Finding("credentials", "doubtful", f"{told}. {trouble.told}", remedy)
    about = about_list(provider, time.time())
    return Finding("credentials", "ok", f"{told}; {about}" if about else told)


def check_keys(found: Found, env: Mapping[str, str]) -> Iterator[Finding]:
    """Wrong keys of providers that could not even be opened with them."""
    open_ = {each.id for each in found.providers}
    for provider in found.registry.providers.values():
        wrong = None if provider.id in open_ else _wrong_key(provider, env)
        if wrong is not None:
            yield wrong


def _wrong_key(provider: Provider, env: Mapping[str, str]) -> Finding | None:
    """A key with a stray character, or another vendor's, fails only when it is sent, in words that
    nobody understands."""
    variable = provider.key_variable(env)
    if variable is None:
        return None
    key = env[variable].strip()
    if not is_sound_key(key):
        return Finding(
            "credentials",
            "broken",
            f"{variable} holds characters that no key has.",
            "Copy the key once more, without spaces and quotation marks.",
        )
    at_vendor = provider.at_vendor(provider.address(env))
    vendor = of_another_vendor(key, provider.id) if at_vendor else None
    if vendor is None:
        return None
    told = f"{variable} holds a key of {vendor.label}, not of {provider.label}."
    return Finding("credentials", "broken", told, provider.get)


UNLOCK = "Unlock the keyring, or enter the key again in `roundtable setup`."


def check_stored_keys(keys: ProviderKeys, keyed: Keyed, registry: Registry) -> Iterator[Finding]:
    """Those that were entered: by name, where they are kept, and for which server."""
    for name in sorted({*keys, *keys.addresses}):
        if keys.kept(name) == "keyring" and name not in keys:
            told = f"{name} is stored in the system's keyring, which does not give it out here."
            yield Finding("credentials", "doubtful", told, UNLOCK)
            continue
        where = "the system's keyring" if keys.kept(name) == "keyring" else "keys.toml"
        place = f" for {redact(keys.addresses[name])}" if name in keys.addresses else ""
        what = f"{name} is stored" if keys.kept(name) else "A server without a key is stored"
        yield Finding("credentials", "ok", f"{what} in {where}{place}.")
    for provider in registry.providers.values():
        if withheld := keyed.withheld(provider):
            yield Finding("credentials", "doubtful", withheld.told, withheld.remedy)


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
            install("demo"),
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
    elif lacking := no_room(settings.home):
        yield Finding("embedded", "doubtful", lacking, "Make room there, if you want it.")
    else:
        size = f"{SMOLLM2.size / 1e6:.0f} MB"
        yield Finding(
            "embedded", "missing", f"The demonstration model is fetched when it is needed ({size})."
        )
