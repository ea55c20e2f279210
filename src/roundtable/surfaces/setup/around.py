"""Looking around: keys, servers of this machine and agents, each tried as far as that is free."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from ...bootstrap import make_lookout, provider_keys
from ...core.errors import RoundtableError, UsageError
from ...models.found import Found, FoundProvider
from ...models.keyed import Keyed
from ...models.lookout import Lookout
from ...models.provider import Provider
from ...models.registry import Registry
from ...provider_keys import ProviderKeys
from ...settings import Settings
from ..doctor.finding import Finding, State
from ..doctor.reach import Reached, reach_provider
from .keys import Entered, takes_key, with_key


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
    entered: Iterable[Entered],
    *,
    told: Callable[[RoundtableError], None],
) -> Around:
    """See who can speak with these keys. `entered` are keys that nobody has stored yet."""
    entered = tuple(entered)
    try:
        registry = Registry.load(settings.models_file, settings.agents)
    except RoundtableError as error:
        told(error)
        registry = Registry.load(None, settings.agents)
    keys = provider_keys(settings, registry)
    seen = env
    for each in entered:
        owners = (p for p in registry.providers.values() if each.variable in p.key_env)
        seen = with_key(seen, next(owners), each)
    keyed = Keyed(seen, keys, registry.providers.values())
    try:
        lookout = make_lookout(settings, registry, keyed)
        found = await lookout.look()
    except RoundtableError as error:  # a default model that does not exist
        told(error)
        choices = settings.choices.model_copy(update={"default_model": None})
        settings = settings.model_copy(update={"choices": choices})
        lookout = make_lookout(settings, registry, keyed)
        found = await lookout.look()
    tried = await asyncio.gather(*(_tried(lookout, each, keyed) for each in found.providers))
    findings = [
        _told(
            each,
            reached,
            _whence(registry.providers[each.id], entered, env, keyed, keys),
            _how(each, registry.providers[each.id], entered),
        )
        for each, reached in zip(found.providers, tried, strict=True)
        if each.id != "local"
    ]
    findings += [
        Finding(registry.providers[each.provider].label, "doubtful", each.told, each.remedy)
        for each in found.silent
    ]
    mute = {
        each.id
        for each, reached in zip(found.providers, tried, strict=True)
        if reached is not None and reached.answer in ("refuses", "lacks")
    }
    if lookout.unusable():
        # What was just found to be of no use is suggested to nobody.
        found = await lookout.look(asking="never")
    speaking = tuple(each for each in found.providers if each.id not in mute)
    if (trouble := keys.trouble) is not None:
        told(trouble)
    for provider in registry.providers.values():
        if withheld := keyed.withheld(provider):
            told(UsageError(withheld.told, withheld.remedy))
    found = replace(found, providers=speaking)
    return Around(settings, registry, keys, keyed, found, tuple(findings))


async def _tried(lookout: Lookout, found: FoundProvider, env: Mapping[str, str]) -> Reached | None:
    """None where there is nothing to try: it answered already, or trying it would cost."""
    provider = lookout.registry.providers[found.id]
    if provider.kind in ("local", "command", "scripted") or provider.probe is not None:
        return None
    return await reach_provider(provider, env, lookout)


def _whence(
    provider: Provider,
    entered: Iterable[Entered],
    env: Mapping[str, str],
    keyed: Mapping[str, str],
    keys: ProviderKeys,
) -> str:
    if any(each.variable in provider.key_env and each.key for each in entered):
        return "entered just now"
    if variable := provider.key_variable(env):
        return variable
    counts = provider.key_variable(keyed)
    kept = keys.kept(counts) if counts else None
    return {"keyring": "in the system's keyring", "file": "stored", None: ""}[kept]


def _how(found: FoundProvider, provider: Provider, entered: Iterable[Entered]) -> str:
    """What led there: a setting, a variable, or an address that was entered and is in none yet."""
    typed = any(each.variable in provider.key_env and not each.key for each in entered)
    return "at the address entered just now" if typed else found.how


def _told(found: FoundProvider, reached: Reached | None, whence: str, how: str) -> Finding:
    if found.by_name:
        names = ", ".join(found.models)
        told = f"{names}: on PATH, on your own subscription; not tested, used only if named"
        return Finding(found.label, "ok", told)
    if reached is None:
        count = len(found.models)
        models = f"{count} model{'s' if count != 1 else ''}"
        where = found.how.removeprefix("setting, ")
        if found.trouble is not None:
            return Finding(found.label, "doubtful", found.trouble.told, found.trouble.remedy)
        return Finding(found.label, "ok", f"{where}: {models}")
    opened = f"the key {whence}" if whence else f"without a key, {how}"
    if reached.answer == "answers" and reached.finding.state == "ok":
        return Finding(found.label, "ok", f"answers ({opened})")
    state: State = "doubtful" if reached.answer == "answers" else "broken"
    text = reached.finding.text.removeprefix(found.label).removeprefix(":").strip()
    told = f"{text} ({opened})"
    return Finding(found.label, state, told, reached.finding.remedy)
