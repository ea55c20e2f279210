"""Calling the providers: are they there, do they take the key, and does a model answer?

Only a call tells whether a discussion would work: some servers list their models to anybody, some
list none and answer, some list what they do not have. So one tiny call is made to each provider,
with a model that is configured or listed, and with another one where that model alone is of no use.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...core.errors import SpeakerError
from ...core.model_trouble import REMEDIES, TOLD
from ...models.asking import ask
from ...models.endpoint_list import REFUSED, EndpointList, Heard
from ...models.found import ASK_AGAIN, Found, FoundProvider
from ...models.provider import Provider
from ...ports import SpeakRequest
from .finding import Finding

if TYPE_CHECKING:
    from ...models.lookout import Lookout
    from ...speakers.api import ApiSpeaker, UnusableModels

LIST_SECONDS = 15.0
CALL_SECONDS = 30.0
MODELS_TRIED = 8
"""Of a provider whose first ones are of no use: to hear that costs nothing."""
MODELS_TOLD = 3
"""Of those that are of no use, by name."""
_HOPELESS: frozenset[Heard] = REFUSED | {"silent", "moved"}
_LATER = "Try again in a while; until then, name a model of another provider."


@dataclass(frozen=True, slots=True)
class Reached:
    """What a provider did when it was tried."""

    answer: DidIt
    """It answers; it refuses the key; none of its models that were tried can be used; it has a
    fault of its own; it cannot be reached."""
    finding: Finding


DidIt = Literal["answers", "refuses", "lacks", "fails", "silent"]
_ANSWERS: Mapping[Heard, DidIt] = {
    "listed": "answers",
    "no list": "answers",
    "no models": "answers",
    "no credit": "answers",
    "no key": "refuses",
    "wrong key": "refuses",
    "expired key": "refuses",
    "other vendor": "refuses",
    "no address": "fails",
    "forbidden": "fails",
    "failing": "fails",
    "moved": "fails",
    "no model server": "fails",
    "silent": "silent",
}


async def reach_provider(
    provider: Provider, env: Mapping[str, str], unusable: UnusableModels | None = None
) -> Reached:
    """Try one provider with the key that `env` holds for it. A vendor shows its list only to who
    has a key, so asking for it is enough, and free; anybody else is called once. `unusable`
    remembers the models that turn out to be of no use."""
    heard = await ask(provider, env, LIST_SECONDS)
    label = provider.label_at(provider.address(env))
    if heard.heard not in ("listed", "no list", "no models"):
        return Reached(_ANSWERS[heard.heard], _broken(heard))
    names = [row.name for row in heard.listing.models]
    if provider.at_vendor(provider.address(env)) or not names:
        if heard.heard == "listed":
            return Reached("answers", Finding("providers", "ok", f"{label} answers."))
        return Reached("answers", Finding("providers", "doubtful", heard.told, heard.remedy))
    from ...speakers.api import ApiSpeaker

    speaker = ApiSpeaker({provider.id: provider}, lambda *_: None, env, unusable)
    try:
        called = await _call(speaker, [f"{provider.id}/{name}" for name in names])
    finally:
        await speaker.close()
    finding = called.finding(label)
    if called.error is None:
        return Reached("answers", finding)
    if called.error.cause == "auth":
        return Reached("refuses", finding)
    return Reached("lacks" if _of_the_model(called.error) else "fails", finding)


async def reach(
    found: Found,
    lookout: Lookout,
    env: Mapping[str, str],
    named: Iterable[str] = (),
) -> list[Finding]:
    """One tiny call to every provider that is set up, all at once. `named` are the models that the
    settings name. Those that were of no use lately are not tried: that is remembered."""
    from ...speakers.api import ApiSpeaker

    asked = [
        each
        for each in found.providers
        if lookout.registry.providers[each.id].kind not in ("local", "command")
    ]
    speaker = ApiSpeaker(lookout.registry.providers, lookout.cost, env, lookout)
    wanted = tuple(named)
    try:
        return list(
            await asyncio.gather(*(_reached(each, found, speaker, wanted) for each in asked))
        )
    finally:
        await speaker.close()


async def _reached(
    provider: FoundProvider,
    found: Found,
    speaker: ApiSpeaker,
    named: Sequence[str],
) -> Finding:
    heard, there = provider.heard, found.endpoints.get(provider.id)
    foreign = there is not None and there.foreign
    if heard is not None and (provider.shut or (heard.heard in _HOPELESS and not foreign)):
        # A vendor's list is shut to nobody who could call it.
        return _broken(heard)
    tried = _tried(provider, found, named)
    if not tried:
        trouble = provider.trouble
        assert trouble is not None, "whoever has a model is called"
        unknown = heard is None or heard.heard in ("no list", "no models")
        state: Literal["doubtful", "broken"] = "doubtful" if heard is None else "broken"
        remedy = trouble.remedy
        if unknown and "--models" not in remedy:
            remedy = f"{remedy} Or name a model: --models {provider.id}/NAME.".strip()
        told = f"{trouble.told} No call was made, because none of its models is known."
        return Finding("providers", state, told, remedy)
    called = await _call(speaker, tried)
    finding = called.finding(provider.label)
    if called.error is None and heard is not None and heard.heard != "listed":
        told = f"{finding.text} Its list is not available: {heard.told}"
        return Finding("providers", finding.state, told, finding.remedy)
    return finding


def _tried(provider: FoundProvider, found: Found, named: Sequence[str]) -> list[str]:
    """The models that the settings name there, the one that would be taken by itself, then others
    of its list."""
    own = [each for each in named if each.partition("/")[0] == provider.id]
    default = found.registry.providers[provider.id].default_model
    first = found.default_model if found.default_model in provider.models else default
    models = sorted(provider.models, key=lambda model: model != first)
    tried = list(dict.fromkeys((*own, *models)))
    return tried if provider.listed or own else tried[:1]


@dataclass(frozen=True, slots=True)
class _Called:
    """What came of calling some models of a provider, one after the other."""

    model: str
    """The last one."""
    seconds: float
    error: SpeakerError | None
    """Why the last one did not answer."""
    unusable: tuple[tuple[str, SpeakerError], ...]
    """Those before it that are of no use, and why."""
    untried: int = 0

    def finding(self, label: str) -> Finding:
        if self.error is not None:
            if not _of_the_model(self.error):
                remedy = self.error.remedy or _LATER
                return Finding("providers", "broken", self.error.message, remedy)
            return self._nothing_of_use(label)
        told = f"{label} works: {self.model} answered in {self.seconds * 1000:.0f} ms."
        if self.unusable:
            whose = "its" if len(self.unusable) == 1 else "their"
            remedy = f"Name another model in {whose} place."
            return Finding("providers", "doubtful", f"{told} But {self._lacks()}.", remedy)
        return Finding("providers", "ok", told)

    def _nothing_of_use(self, label: str) -> Finding:
        """None of those that were tried: that says nothing of the others."""
        count, own = len(self.unusable), self.model.partition("/")[0]
        told = f"{label}: {self._lacks()}."
        if self.untried:
            rest = f"{self.untried} more {'is' if self.untried == 1 else 'are'} listed, not tried"
            told = f"{told} {count} of {count + self.untried} models were tried; {rest}."
            remedy = f"Name one that it has: --models {own}/NAME. The next --reach tries others."
            return Finding("providers", "doubtful", told, remedy)
        assert self.error is not None
        if self.error.trouble is None:
            return Finding("providers", "broken", told, self.error.remedy or _LATER)
        gone = self.error.trouble in ("unknown", "retired")
        remedy = ASK_AGAIN if gone else REMEDIES[self.error.trouble]
        return Finding("providers", "broken", told, remedy)

    def _lacks(self) -> str:
        said = [f"{model} {_why(error)}" for model, error in self.unusable[:MODELS_TOLD]]
        if (more := len(self.unusable) - MODELS_TOLD) > 0:
            said.append(f"{more} more cannot be used")
        return "; ".join(said)


def _of_the_model(error: SpeakerError) -> bool:
    """Whether another model of the same server may answer."""
    return error.trouble is not None or error.cause == "empty"


def _why(error: SpeakerError) -> str:
    return TOLD[error.trouble] if error.trouble else "answers without a word"


async def _call(speaker: ApiSpeaker, models: Sequence[str]) -> _Called:
    """One tiny call; another one for as long as it is the model that is of no use."""
    unusable: list[tuple[str, SpeakerError]] = []
    for model in models[:MODELS_TRIED]:
        begun = time.monotonic()
        try:
            await speaker.prepare(model)
            begun = time.monotonic()
            await speaker.speak(_tiny(model), lambda _: None)
        except SpeakerError as error:
            # Whoever thinks may use up so few tokens before its first word; it is there.
            if not error.used_up:
                if _of_the_model(error):
                    unusable.append((model, error))
                    continue
                return _Called(model, 0.0, error, tuple(unusable))
        return _Called(model, time.monotonic() - begun, None, tuple(unusable))
    untried = len(models) - len(unusable)
    return _Called(unusable[-1][0], 0.0, unusable[-1][1], tuple(unusable), untried)


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
