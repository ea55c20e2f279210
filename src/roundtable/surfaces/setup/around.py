"""Looking around: keys, servers of this machine and agents, each tried as far as that is free."""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ...bootstrap import make_lookout, provider_keys
from ...core.errors import RoundtableError
from ...models.discovery import Found, FoundProvider
from ...models.provider import Provider
from ...models.registry import Registry
from ...provider_keys import ProviderKeys
from ...settings import Settings
from ..doctor.finding import Finding
from ..doctor.reach import Reached, reach_provider
from .keys import takes_key


@dataclass(frozen=True, slots=True)
class Around:
    """What is here. `found` holds only those who can speak, as far as is known."""

    settings: Settings
    registry: Registry
    keys: ProviderKeys
    env: Mapping[str, str]
    """The environment, with the stored keys and those that were only entered yet."""
    found: Found
    findings: tuple[Finding, ...]
    """One line for each way to a model, good or bad."""

    @property
    def vendors(self) -> list[Provider]:
        """The providers that take a key."""
        return [each for each in self.registry.providers.values() if takes_key(each, self.env)]


async def look_around(
    settings: Settings,
    env: Mapping[str, str],
    entered: Mapping[str, str],
    *,
    told: Callable[[RoundtableError], None],
) -> Around:
    """See who can speak with these keys. `entered` are keys that nobody has stored yet."""
    try:
        registry = Registry.load(settings.models_file, settings.agents)
    except RoundtableError as error:
        told(error)
        registry = Registry.load(None, settings.agents)
    keys = provider_keys(settings, registry)
    keyed: Mapping[str, str] = ChainMap({**entered}, env, keys)  # type: ignore[arg-type]
    try:
        found = await make_lookout(settings, registry, keyed).look()
    except RoundtableError as error:  # a default model that does not exist
        told(error)
        choices = settings.choices.model_copy(update={"default_model": None})
        settings = settings.model_copy(update={"choices": choices})
        found = await make_lookout(settings, registry, keyed).look()
    tried = await asyncio.gather(*(_tried(registry, each, keyed) for each in found.providers))
    findings = tuple(
        _told(each, reached, _whence(registry.providers[each.id], entered, env, keys))
        for each, reached in zip(found.providers, tried, strict=True)
        if each.id != "local"
    )
    speaking = tuple(
        each
        for each, reached in zip(found.providers, tried, strict=True)
        if reached is None or reached.answer != "refuses"
    )
    if (trouble := keys.trouble) is not None:
        told(trouble)
    return Around(settings, registry, keys, keyed, replace(found, providers=speaking), findings)


async def _tried(
    registry: Registry, found: FoundProvider, env: Mapping[str, str]
) -> Reached | None:
    """None where there is nothing to try: it answered already, or trying it would cost."""
    provider = registry.providers[found.id]
    if provider.kind in ("local", "command", "scripted") or provider.probe is not None:
        return None
    return await reach_provider(provider, env)


def _whence(
    provider: Provider, entered: Mapping[str, str], env: Mapping[str, str], keys: ProviderKeys
) -> str:
    if any(entered.get(name) for name in provider.key_env):
        return "entered just now"
    if variable := provider.key_variable(env):
        return variable
    kept = next((place for name in provider.key_env if (place := keys.kept(name))), None)
    return {"keyring": "in the system's keyring", "file": "stored", None: ""}[kept]


def _told(found: FoundProvider, reached: Reached | None, whence: str) -> Finding:
    if found.by_name:
        names = ", ".join(found.models)
        told = f"{names}: on PATH, on your own subscription; not tried, speaks where it is named"
        return Finding(found.label, "ok", told)
    if reached is None:
        count = len(found.models)
        models = f"{count} model{'s' if count != 1 else ''}"
        where = found.how.removeprefix("setting, ")
        if not count:
            return Finding(found.label, "doubtful", f"{where}: {NO_MODELS}")
        return Finding(found.label, "ok", f"{where}: {models}")
    opened = f"the key {whence}" if whence else found.how
    if reached.answer == "answers":
        return Finding(found.label, "ok", f"answers ({opened})")
    told = f"{reached.finding.text} ({opened})"
    return Finding(found.label, "broken", told, reached.finding.remedy)


NO_MODELS = "answers, but has no model loaded"
