"""Casting: experts from the library for a topic, and a model for each by routing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.text import slug
from ..experts.chosen import (
    ASKED_FOR,
    bare_name,
    chosen_expert,
    is_described,
    like_a_model,
    named_expert,
    named_like_a_model,
    nearest,
    unknown_expert,
)
from ..experts.methods import METHODS, find_method
from ..ports import CastingRequest, ChosenExpert, ChosenExperts
from ..procedures.vocabulary import ModelWishes
from .routing import HOST, Route, RouteTier, Vacancy

if TYPE_CHECKING:
    from ..experts.selection import Selector
    from .router import Router

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
        is_model: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`selector` is asked for once, when it is first needed. With `own_default` the user has
        named a default model, which is then preferred to any that was merely found.
        `is_model` tells whether a model is known by a name, or a family of models."""
        self._is_model = is_model
        self._make_selector = selector
        self._selector: Selector | None = None
        self._known: dict[str, ChosenExpert] = {}
        """Who was asked for by name before: looking through the library takes its time."""
        self._router = router
        self._weaker: tuple[RouteTier, ...] = (
            ("one model", "found") if own_default else ("one model",)
        )

    async def choose(self, topic: str, casting_request: CastingRequest) -> ChosenExperts:
        experts = await asyncio.to_thread(self._experts, topic, casting_request)
        router, wishes = await self._router(), ModelWishes(by_seat=casting_request.models)
        own = [wishes.named_for(p.id, p.name) for p in experts]
        vacancies = [
            Vacancy(p.id, p.domain, p.needs, router.known(named) if named else None)
            for p, named in zip(experts, own, strict=True)
        ]
        routes = router.route([*vacancies, Vacancy(HOST, HOST)])
        *of_experts, of_host = routes
        seated = zip(experts, of_experts, strict=True)
        near = await asyncio.to_thread(self._shortlist, topic, casting_request)
        return ChosenExperts(
            tuple(
                replace(expert, model=self._model(route), routed=self._told(route))
                for expert, route in seated
            ),
            self._model(of_host),
            shortlist=near,
            library=self._rest(near),
            by_words=len(casting_request.include) < casting_request.count
            and not (self._selector and self._selector.by_meaning),
            host_named=of_host.tier == "local_models.json",
        )

    def _shortlist(self, topic: str, wanted: CastingRequest) -> tuple[ChosenExpert, ...]:
        if not wanted.shortlist or self._selector is None:
            return ()
        found = self._selector.search(topic, wanted.shortlist, material=wanted.material)
        return tuple(chosen_expert(near.expert) for near in found)

    def _rest(self, near: tuple[ChosenExpert, ...]) -> tuple[ChosenExpert, ...]:
        """Everybody else, where a host casts."""
        if not near or self._selector is None:
            return ()
        listed = {each.id for each in near}
        return tuple(chosen_expert(e) for e in self._selector.experts if e.id not in listed)

    def _model(self, route: Route) -> str | None:
        return None if route.tier in self._weaker else route.model

    def _told(self, route: Route) -> str:
        if self._model(route) is None:
            return "on the default model"
        if route.tier == "call":
            return "as it was named"
        if route.tier == "settings":
            return "as your settings say"
        tags = f" for {', '.join(route.tags)}" if route.tags else ""
        return f"routed by {route.tier}{tags}"

    def _experts(self, topic: str, casting_request: CastingRequest) -> list[ChosenExpert]:
        if self._selector is None:
            self._selector = self._make_selector()
        selector = self._selector
        named = [self._named(selector, name) for name in casting_request.include]
        _refuse_twins(named)
        if len(named) >= casting_request.count:
            return named
        known = {expert.id for expert in selector.experts}
        include = [expert.id for expert in named if expert.id in known]
        chosen = selector.choose(
            topic, casting_request.count, include=include, material=casting_request.material
        )
        taken = {expert.id for expert in named}
        others = [chosen_expert(c.expert, c.why) for c in chosen if c.expert.id not in taken]
        # A stranger is worse than a method: it makes up what a field of its own would say here.
        methods = [each for each in METHODS if each.id not in taken]
        return [*named, *others, *methods][: casting_request.count]

    def _named(self, selector: Selector, name: str) -> ChosenExpert:
        if name not in self._known:
            self._known[name] = _named(selector, name, self._is_model)
        return self._known[name]


def _refuse_twins(named: Iterable[ChosenExpert]) -> None:
    """UsageError for somebody who was named twice, be it by id and by name: neither a vote nor a
    reader could tell the two apart."""
    seen: set[str] = set()
    for expert in named:
        if (name := expert.name.casefold()) in seen:
            raise UsageError(
                f"{expert.name} is named twice among the experts.",
                "Name each of them once; a second one of the same field needs a name of its own.",
            )
        seen.add(name)


def _named(selector: Selector, name: str, is_model: Callable[[str], bool]) -> ChosenExpert:
    """The library's expert of this name, or the method of reasoning; else an expert of this
    name with the guidance of the nearest one, if there is one that the name itself points at. What
    is the name of a model points at nobody."""
    if not is_described(name):
        name = bare_name(name)
    wanted = name.strip().casefold()
    for expert in selector.experts:
        if wanted in (expert.id, expert.name.casefold()):
            return chosen_expert(expert, ASKED_FOR)
    if (method := find_method(name)) is not None:
        return method
    if is_described(name):  # whoever asks knows better than the library who is meant
        return named_expert(name)
    if is_model(name) or (like_a_model(name) and not _NO_FIELD.search(name)):
        return named_like_a_model(name)
    field = " ".join(_NO_FIELD.sub(" ", wanted).replace("-", " ").split())
    near = selector.search(field, len(selector.experts)) if field else []
    words = set(field.split())
    of_domain = (c for c in near if words & set(c.expert.domain.split("-")))
    found = next(of_domain, None) or next((c for c in near[:1] if c.named), None)
    if found is None:
        return unknown_expert(name)
    return replace(
        chosen_expert(found.expert, nearest(found.expert)),
        id=slug(name, default="expert"),
        name=name,
    )
