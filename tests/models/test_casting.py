"""Casting: named experts, nearest experts, chosen experts, and the model of each."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

import pytest

from roundtable.experts.library_files import read_library
from roundtable.experts.methods import METHODS
from roundtable.experts.selection import Selector
from roundtable.models.casting import LibraryCasting
from roundtable.models.embedder import WordLlamaEmbedder
from roundtable.models.routing import Route, RouteTier, Vacancy
from roundtable.ports import CastingRequest, ChosenExperts

TOPIC = "Should we move the shop to microservices?"


@cache
def selector() -> Selector:
    return Selector(list(read_library().values()), WordLlamaEmbedder())


class Fixed:
    """A router that gives each seat a model of its own."""

    def __init__(self, tier: RouteTier = "local_models.json") -> None:
        self.tier = tier
        self.vacancies: list[Vacancy] = []

    def route(self, vacancies: list[Vacancy]) -> list[Route]:
        self.vacancies = vacancies
        return [Route(v.seat, f"m/{n}", self.tier, ("code",)) for n, v in enumerate(vacancies)]


def cast(
    casting_request: CastingRequest,
    router: Fixed | None = None,
    topic: str = TOPIC,
    **settings: Any,
) -> ChosenExperts:
    fixed = router or Fixed()

    async def routing() -> Any:
        return fixed

    return asyncio.run(LibraryCasting(selector, routing, **settings).choose(topic, casting_request))


@pytest.mark.requirement("B-34")
def test_named_experts_sit_in_their_order_by_id_or_name() -> None:
    found = cast(CastingRequest(2, ("backend-engineer", "Product Manager"))).experts
    assert [p.id for p in found] == ["backend-engineer", "product-manager"]
    assert all(p.guidance and p.asks for p in found)


@pytest.mark.requirement("B-01", "B-34")
@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("Engineering Expert", "engineering"),
        ("Product Expert", "product"),
        ("Security Specialist", "security"),
    ],
)
def test_another_name_keeps_itself_and_takes_the_guidance_of_the_nearest(
    name: str, domain: str
) -> None:
    (found,) = cast(CastingRequest(1, (name,))).experts
    assert (found.name, found.domain) == (name, domain)
    assert found.id == name.lower().replace(" ", "-")
    assert found.guidance in {expert.guidance for expert in selector().experts}


def test_a_name_that_says_nothing_is_a_plain_persona() -> None:
    (found,) = cast(CastingRequest(1, ("Expert",))).experts
    assert (found.name, found.domain) == ("Expert", "")
    assert "Expert" in found.guidance


@pytest.mark.requirement("B-04", "B-29", "B-34")
def test_empty_seats_are_filled_for_the_topic() -> None:
    found = cast(
        CastingRequest(
            3, ("tax-adviser",) if "tax-adviser" in read_library() else ("Product Manager",)
        )
    ).experts
    assert len({p.id for p in found}) == 3
    chosen = cast(CastingRequest(3)).experts
    assert len({p.domain for p in chosen}) >= 2
    assert all(p.reason and "relevance" not in p.reason for p in chosen)


@pytest.mark.requirement("Z-28", "B-29")
@pytest.mark.parametrize("topic", ["?!", "Hello", "contract court lawsuit lawyer law"])
def test_seats_that_nobody_fits_are_taken_by_methods_of_reasoning(topic: str) -> None:
    found = cast(CastingRequest(3), topic=topic).experts
    methods = [p for p in found if p.id in {each.id for each in METHODS}]
    assert len({p.id for p in found}) == 3
    assert methods
    assert all("a way to reason" in p.reason for p in methods)
    assert len({p.domain for p in found}) >= (2 if len(methods) < 3 else 1)


@pytest.mark.requirement("Z-28")
def test_the_host_may_seat_the_whole_library_and_hears_more_of_the_nearest() -> None:
    alone = cast(CastingRequest(3))
    assert not alone.shortlist
    assert not alone.library
    found = cast(CastingRequest(3, shortlist=10))
    assert len({p.id for p in found.shortlist}) == 10
    assert {p.id for p in (*found.shortlist, *found.library)} == set(read_library())
    assert len(found.shortlist) + len(found.library) == len(read_library())
    assert all(p.perspective and p.guidance for p in (*found.shortlist, *found.library))


@pytest.mark.requirement("B-35", "B-39")
def test_each_expert_and_the_host_get_the_model_that_routing_gives_them() -> None:
    router = Fixed()
    chosen_experts = cast(CastingRequest(2, ("backend-engineer", "Product Manager")), router)
    assert [p.model for p in chosen_experts.experts] == ["m/0", "m/1"]
    assert chosen_experts.host_model == "m/2"
    assert [(v.seat, v.role) for v in router.vacancies] == [
        ("backend-engineer", "engineering"),
        ("product-manager", "product"),
        ("host", "host"),
    ]
    assert router.vacancies[0].needs == ("code", "technical")
    assert chosen_experts.experts[0].routed == "routed by local_models.json for code"


@pytest.mark.requirement("B-36", "X-22")
@pytest.mark.parametrize(
    ("tier", "own_default", "routed"),
    [
        ("one model", False, False),
        ("found", False, True),
        ("found", True, False),
        ("local_models.json", True, True),
    ],
)
def test_a_default_that_the_user_named_beats_what_was_merely_found(
    tier: RouteTier, own_default: bool, routed: bool
) -> None:
    chosen_experts = cast(
        CastingRequest(1, ("backend-engineer",)), Fixed(tier), own_default=own_default
    )
    assert (chosen_experts.experts[0].model is not None) is routed
    assert (chosen_experts.host_model is not None) is routed
