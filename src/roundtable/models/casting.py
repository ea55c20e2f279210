"""Casting: experts from the library for a topic, and a model for each by routing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.text import slug
from ..experts.persona import persona_of, plain_persona
from ..ports import CastWish, Company, Persona
from .routing import Route, RouteTier, Vacancy

if TYPE_CHECKING:
    from ..experts.selection import Selector
    from .router import Router

HOST = "host"
_NO_FIELD = re.compile(r"\b(?:expert|specialist|consultant|expertin|experte)s?\b|专家|顾问", re.I)
"""Words of a name that say nothing about a field."""


class LibraryCasting:
    """The `Casting` port on the library and the router."""

    def __init__(
        self,
        selector: Callable[[], Selector],
        router: Callable[[], Awaitable[Router]],
        *,
        own_default: bool = False,
    ) -> None:
        """`selector` is asked for once, when it is first needed. With `own_default` the user has
        named a default model, which is then preferred to any that was merely found."""
        self._make_selector = selector
        self._selector: Selector | None = None
        self._known: dict[str, Persona] = {}
        """Who was asked for by name before: looking through the library takes its time."""
        self._router = router
        self._weaker: tuple[RouteTier, ...] = (
            ("one model", "found") if own_default else ("one model",)
        )

    async def choose(self, topic: str, wish: CastWish) -> Company:
        personas = await asyncio.to_thread(self._personas, topic, wish)
        vacancies = [Vacancy(p.id, p.domain, p.needs) for p in personas]
        routes = (await self._router()).route([*vacancies, Vacancy(HOST, HOST)])
        *of_experts, of_host = routes
        seated = zip(personas, of_experts, strict=True)
        return Company(
            tuple(
                replace(persona, model=self._model(route), routed=self._told(route))
                for persona, route in seated
            ),
            self._model(of_host),
        )

    def _model(self, route: Route) -> str | None:
        return None if route.tier in self._weaker else route.model

    def _told(self, route: Route) -> str:
        if self._model(route) is None:
            return "on the default model"
        tags = f" for {', '.join(route.tags)}" if route.tags else ""
        return f"routed by {route.tier}{tags}"

    def _personas(self, topic: str, wish: CastWish) -> list[Persona]:
        if self._selector is None:
            self._selector = self._make_selector()
        selector = self._selector
        named = [self._named(selector, name) for name in wish.include]
        if len(named) >= wish.count:
            return named
        known = {expert.id for expert in selector.experts}
        include = [persona.id for persona in named if persona.id in known]
        chosen = selector.choose(topic, wish.count, include=include)
        taken = {persona.id for persona in named}
        others = [persona_of(c.expert, c.why) for c in chosen if c.expert.id not in taken]
        return [*named, *others][: wish.count]

    def _named(self, selector: Selector, name: str) -> Persona:
        if name not in self._known:
            self._known[name] = _named(selector, name)
        return self._known[name]


def _named(selector: Selector, name: str) -> Persona:
    """The library's expert of this name; else a persona of this name with the guidance of the
    nearest one, if there is one that the name itself points at."""
    wanted = name.strip().casefold()
    for expert in selector.experts:
        if wanted in (expert.id, expert.name.casefold()):
            return persona_of(expert, "asked for")
    field = " ".join(_NO_FIELD.sub(" ", wanted).replace("-", " ").split())
    near = selector.search(field, len(selector.experts)) if field else []
    words = set(field.split())
    of_domain = (c for c in near if words & set(c.expert.domain.split("-")))
    found = next(of_domain, None) or next((c for c in near[:1] if c.named), None)
    if found is None:
        return plain_persona(name)
    return replace(
        persona_of(found.expert, f"asked for by name; nearest in the library: {found.expert.name}"),
        id=slug(name, default="expert"),
        name=name,
    )
