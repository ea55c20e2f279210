"""The facts of a model, for whoever chooses: what it takes in, what it can, what it costs.

What nobody told us is None, and is shown as unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.model_trouble import TOLD
from .found import Found, FoundProvider

ELSEWHERE = "(elsewhere)"
"""Marks, in lists, a model that a server of this machine passes on."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model of a provider that can be used now; None is what nobody told us."""

    id: str
    family: str
    context_window: int | None
    usd_per_million_in: float | None
    usd_per_million_out: float | None
    vision: bool | None
    thinking: bool | None
    structured: bool | None


def facts_of(found: Found, provider: FoundProvider) -> list[ModelFacts]:
    """The provider's models, in its order."""
    return [_facts(found, model) for model in provider.models]


def _facts(found: Found, model: str) -> ModelFacts:
    entry = found.registry.priced(model)
    return ModelFacts(
        entry.id,
        entry.family,
        entry.context_window if entry.window_known else None,
        entry.usd_per_million_in,
        entry.usd_per_million_out,
        entry.vision,
        entry.thinking,
        entry.structured,
    )


def about_list(provider: FoundProvider, now: float) -> str:
    """A sentence about where the models of a provider come from; empty where there is nothing to
    say: programs and the embedded model have no list."""
    heard = provider.heard
    if heard is None:
        return ""
    if heard.heard != "listed":
        return heard.told
    listing = heard.listing
    count = len(listing.models)
    told = f"{count} model{'' if count == 1 else 's'} listed {_ago(now - heard.at)}"
    left_out = [
        f"{listing.mute} not meant for chat" if listing.mute else "",
        f"{listing.unreadable} with an unreadable name" if listing.unreadable else "",
        f"{listing.more} beyond what can be shown" if listing.more else "",
    ]
    if any(left_out):
        told += f"; left out: {', '.join(filter(None, left_out))}"
    by_trouble: dict[str, list[str]] = {}
    for name, trouble in provider.unusable.items():
        by_trouble.setdefault(TOLD[trouble], []).append(name)
    for why, names in by_trouble.items():
        told += f"; {why}: {', '.join(names[:5])}{' …' if len(names) > 5 else ''}"
    if heard.tried > heard.at and heard.told:
        told += f". {heard.told} This is the list from before"
    return f"{told}."


def _ago(seconds: float) -> str:
    if seconds < 90:
        return "just now"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes ago"
    if seconds < 129_600:
        return f"{seconds / 3600:.0f} hours ago"
    return f"{seconds / 86_400:.0f} days ago"
