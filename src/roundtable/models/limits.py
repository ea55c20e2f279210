"""How many calls a provider and a model are asked at once, and in a minute: what the user's file
says, and else what suits its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..core.call_gate import CallLimits
from .provider import Provider
from .registry import Registry

Served = Literal["vendor", "own server", "this machine", "embedded", "agent", "script"]
USUAL: Mapping[Served, CallLimits] = {
    # A vendor carries many calls, and says when they are too many.
    "vendor": CallLimits(at_once=64, first=16),
    "own server": CallLimits(at_once=32, first=16),
    # Servers of this machine answer a few side by side, and let others wait without a word.
    "this machine": CallLimits(at_once=4),
    "embedded": CallLimits(at_once=4),
    # Each call is a process of some hundred megabytes.
    "agent": CallLimits(at_once=4),
    "script": CallLimits(),
}


def served(provider: Provider, env: Mapping[str, str]) -> Served:
    """Where a provider's models are."""
    match provider.kind:
        case "command":
            return "agent"
        case "local":
            return "embedded"
        case "scripted":
            return "script"
        case _:
            pass
    if provider.probe is not None:
        return "this machine"
    address = provider.address(env)
    hosted = provider.at_vendor(address) or (address is None and provider.kind != _OWN)
    return "vendor" if hosted else "own server"


_OWN = "openai-compatible"


def provider_limits(
    provider: Provider, env: Mapping[str, str], concurrency: int | None = None
) -> CallLimits:
    """What this provider is asked. `concurrency` is the user's word for all of them."""
    usual = USUAL[served(provider, env)]
    if concurrency is not None and usual.at_once is not None:
        usual = CallLimits(at_once=concurrency)
    if provider.at_once is not None:
        usual = CallLimits(at_once=provider.at_once)
    return usual.model_copy(update={"per_minute": provider.per_minute})


def gates_of(
    model: str, registry: Registry, env: Mapping[str, str], concurrency: int | None = None
) -> dict[str, CallLimits]:
    """The gates that a model's calls go through, in their order."""
    gates = {}
    entry = registry.models.get(model)
    if entry is not None and (entry.at_once or entry.per_minute):
        gates[model] = CallLimits(at_once=entry.at_once, per_minute=entry.per_minute)
    prefix = model.partition("/")[0]
    provider = registry.providers.get(prefix)
    if provider is not None:
        gates[prefix] = provider_limits(provider, env, concurrency)
    elif concurrency is not None:
        gates[prefix] = CallLimits(at_once=concurrency)
    return gates
