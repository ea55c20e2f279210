"""Calling the providers: are they there, do they take the key, and does a model answer?

`reach_provider` asks for the list of models, which costs nothing; `reach` also makes one tiny call
to each provider, since only that tells whether a discussion would work.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...core.errors import SpeakerError
from ...models.discovery import Found, FoundProvider
from ...models.lists import EndpointList, Heard, ask
from ...models.provider import Provider
from ...ports import SpeakRequest
from .finding import Finding

if TYPE_CHECKING:
    from ...models.lookout import Lookout
    from ...speakers.api import ApiSpeaker

LIST_SECONDS = 15.0
CALL_SECONDS = 30.0
MODELS_TRIED = 3
"""Of a provider that lists what it does not have."""
_HOPELESS: frozenset[Heard] = frozenset(
    ["wrong key", "expired key", "other vendor", "no credit", "silent", "moved"]
)
"""Where nobody needs to be called any more."""
_LATER = "Try again in a while; until then, name a model of another provider."


@dataclass(frozen=True, slots=True)
class Reached:
    """What a provider did when it was asked for its list of models."""

    answer: Literal["answers", "refuses", "fails", "silent"]
    """It answers; it refuses the key; it has a fault of its own; it cannot be reached."""
    finding: Finding


_ANSWERS: Mapping[Heard, Literal["answers", "refuses", "fails", "silent"]] = {
    "listed": "answers",
    "no list": "answers",
    "no credit": "answers",
    "wrong key": "refuses",
    "expired key": "refuses",
    "other vendor": "refuses",
    "failing": "fails",
    "moved": "fails",
    "no model server": "fails",
    "silent": "silent",
}


async def reach_provider(provider: Provider, env: Mapping[str, str]) -> Reached:
    """Ask one provider for its list, with the key that `env` holds for it. Nothing is spent."""
    heard = await ask(provider, env, LIST_SECONDS)
    if heard.heard in ("listed", "no list"):
        label = provider.label_at(provider.address(env))
        return Reached("answers", Finding("providers", "ok", f"{label} answers."))
    return Reached(_ANSWERS[heard.heard], _broken(heard))


async def reach(found: Found, lookout: Lookout, env: Mapping[str, str]) -> list[Finding]:
    """One tiny call to every provider that can be used, all at once."""
    from ...speakers.api import ApiSpeaker

    asked = [
        each
        for each in found.providers
        if lookout.registry.providers[each.id].kind not in ("local", "command")
    ]
    speaker = ApiSpeaker(lookout.registry.providers, lookout.cost, env, lookout)
    try:
        return list(await asyncio.gather(*(_called(each, found, speaker) for each in asked)))
    finally:
        await speaker.close()


async def _called(provider: FoundProvider, found: Found, speaker: ApiSpeaker) -> Finding:
    from ...speakers.api import NothingThere

    if provider.heard is not None and provider.heard.heard in _HOPELESS:
        return _broken(provider.heard)
    if not provider.models:
        if provider.heard is not None and provider.heard.told:
            return _broken(provider.heard)
        told = f"{provider.label}: nobody knows which models it has."
        return Finding("providers", "doubtful", told, f"Name one: --model {provider.id}/NAME.")
    missing: list[str] = []
    for model in _tried(provider, found):
        begun = time.monotonic()
        try:
            await speaker.prepare(model)
            begun = time.monotonic()
            await speaker.speak(_tiny(model), lambda _: None)
        except SpeakerError as error:
            if error.cause == "not_found" and not isinstance(error, NothingThere):
                missing.append(model)
                continue
            # Whoever thinks may use up so few tokens before its first word; it is there.
            if error.cause != "empty":
                return Finding("providers", "broken", error.message, error.remedy or _LATER)
        took = f"{(time.monotonic() - begun) * 1000:.0f} ms"
        told = f"{provider.label} works: {model} answered in {took}."
        if missing:
            whose = "its" if len(missing) == 1 else "their"
            lacks = f"{provider.label} does not have {', '.join(missing)}. {told}"
            return Finding("providers", "doubtful", lacks, f"Name another model in {whose} place.")
        return Finding("providers", "ok", told)
    told = f"{provider.label} has no such model: {', '.join(missing)}."
    remedy = "roundtable models --refresh asks what it has; name a model that is there."
    return Finding("providers", "broken", told, remedy)


def _tried(provider: FoundProvider, found: Found) -> list[str]:
    """The model that would be taken by itself, then others of its list."""
    default = found.registry.providers[provider.id].default_model
    first = found.default_model if found.default_model in provider.models else default
    models = sorted(provider.models, key=lambda model: model != first)
    return models[: MODELS_TRIED if provider.listed else 1]


def _tiny(model: str) -> SpeakRequest:
    return SpeakRequest(
        model=model,
        system="Answer with one word.",
        user="Say: yes",
        max_tokens=64,
        timeout=CALL_SECONDS,
        idempotency_key=f"doctor/{uuid.uuid4()}",
    )


def _broken(heard: EndpointList) -> Finding:
    return Finding("providers", "broken", heard.told, heard.remedy)
