"""The whole examination, in the order in which a person would mend things."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...bootstrap import make_lookout, provider_keys
from ...core.agents import BUILT_IN
from ...core.errors import RoundtableError, UnknownName
from ...models.discovery import Asking
from ...models.found import EMBEDDED, Found
from ...models.keyed import Keyed
from ...models.registry import Registry
from ...settings import Choices, Settings
from . import door_checks, limit_checks, model_checks, settings_checks, store_checks
from .finding import Finding
from .reach import reach as reach_all
from .set_up import expected_run, full_set_up


@dataclass(frozen=True, slots=True)
class Examination:
    findings: tuple[Finding, ...]
    full_set_up: tuple[str, ...]
    """Steps to more models; empty where they are taken."""
    set_up: bool
    """Whether there is any way to a model, be it one that is broken."""


async def examine(env: Mapping[str, str], workspace: Path, *, reach: bool) -> Examination:
    """Look at everything. Nothing is stored but what can be made anew, and without `reach` nobody
    outside is called; with it, each provider is, once and for next to nothing."""
    settings, found = settings_checks.settled(env, workspace)
    found += settings_checks.check_python()
    found += settings_checks.check_home(settings)
    agents = {**BUILT_IN, **settings.choices.commands}
    try:
        registry = Registry.load(settings.models_file, agents)
    except RoundtableError:  # it has been named with the settings
        registry = Registry.load(None, agents)
    keys = provider_keys(settings, registry)
    keyed = Keyed(env, keys, registry.providers.values())
    asking: Asking = "all" if reach else "never"
    lookout = make_lookout(settings, registry, keyed)
    try:
        models = await lookout.look(asking=asking)
    except RoundtableError as error:
        found.append(Finding("models", "broken", error.message, error.remedy))
        settings = settings.model_copy(update={"choices": Choices()})
        lookout = make_lookout(settings, registry, keyed)
        models = await lookout.look(asking=asking)
    reached: list[Finding] = []
    first = models.default_model
    if reach:
        reached = await reach_all(models, lookout, keyed, _named(settings, models))
        if any(lookout.why_unusable(each.id, model.partition("/")[2])
               for each in models.providers for model in each.models):  # fmt: skip
            # A name of its list is of no use there: nobody would be seated on it.
            models = await lookout.look(asking="never")
    found += model_checks.check_models(models, keyed, before=first)
    found += door_checks.check_proxies()
    found += model_checks.check_keys(models, keyed)
    found += model_checks.check_stored_keys(keys, keyed, registry)
    found += reached
    found += model_checks.check_agents(settings, models)
    found += model_checks.check_weights(settings)
    found += await store_checks.check_database(settings)
    found += await limit_checks.check_limits(settings, models, keyed)
    found += store_checks.check_rights(settings)
    found += store_checks.check_strays(settings, env)
    found += door_checks.check_page(settings)
    found += door_checks.check_tools(settings)
    found += door_checks.check_skills(env)
    found += await door_checks.check_channels(settings, env)
    found += door_checks.check_search(settings, env)
    if not any(each.state == "broken" for each in found if each.area in _OPENING):
        # What was just heard, or is known from before, is enough for that.
        quiet = settings.choices.model_copy(update={"model_lists": False})
        found += await expected_run(settings.model_copy(update={"choices": quiet}), env)
    set_up = any(each.id != EMBEDDED for each in models.providers)
    return Examination(tuple(found), tuple(full_set_up(models)), set_up)


def _named(settings: Settings, found: Found) -> list[str]:
    """The models that the settings name, by their ids."""
    choices = settings.choices
    ids: list[str] = []
    for name in (choices.default_model, *choices.models, choices.fallback_model):
        with suppress(UnknownName):  # it has been named
            ids += [found.registry.resolve(name).id] if name else []
    return ids


_OPENING = ("settings", "models", "routing", "experts", "procedures")
"""Without these nothing can be opened, and they have been named already."""
