"""Routing: abilities, tiers, difference, and everything that the router must not see."""

from __future__ import annotations

import os
from collections import UserDict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.errors import UnknownName
from roundtable.models.assignment import assign
from roundtable.models.discovery import discover
from roundtable.models.found import Found
from roundtable.models.registry import Registry
from roundtable.models.router import Router
from roundtable.models.routing import ROLE_TAGS, RoutableModel, Route, Vacancy, route, wanted_tags
from roundtable.models.routing_files import RoutingFiles, local_models, read_routing
from roundtable.trust import Folder

REGISTRY = Registry.load()
CODER = RoutableModel("house/coder", ("code", "technical", "engineering"), "coder")
ARTIST = RoutableModel("house/artist", ("creative", "design"), "artist")
JUDGE = RoutableModel("house/judge", ("logic", "summary", "decision", "max"), "judge")
ROLES = [Vacancy(role, role) for role in ("engineering", "design", "host")]


def routed(
    vacancies: Sequence[Vacancy],
    found: Sequence[RoutableModel] = (),
    *,
    local: dict[str, str] | None = None,
    declared: Sequence[RoutableModel] = (),
) -> dict[str, str]:
    routes = route(
        vacancies, local=local or {}, declared=declared, found=found, one_model="one/model"
    )
    assert [each.seat for each in routes] == [each.seat for each in vacancies]
    return {each.seat: each.model for each in routes}


@pytest.mark.requirement("B-35")
@pytest.mark.parametrize(
    ("roles", "tags"),
    [
        (("engineering", "architecture"), ("code", "technical", "engineering")),
        (("design", "creative"), ("creative", "long-context", "design")),
        (("qa", "testing", "quality"), ("balanced", "fast", "general")),
        (("product", "business"), ("chinese", "knowledge", "product")),
        (("host", "coordinator"), ("logic", "summary", "decision", "max")),
    ],
)
def test_each_role_asks_for_its_abilities(roles: tuple[str, ...], tags: tuple[str, ...]) -> None:
    for role in roles:
        assert wanted_tags(role) == tags
        assert wanted_tags(role.upper()) == tags


def test_the_needs_of_an_expert_are_abilities_too() -> None:
    assert wanted_tags("legal", ("logic", "knowledge")) == ("logic", "knowledge")
    assert wanted_tags("engineering", ("max", "code"))[:2] == ("max", "code")
    assert wanted_tags("legal") == ("balanced", "general")
    assert routed([Vacancy("judge", "legal", ("logic",))], [CODER, JUDGE]) == {
        "judge": "house/judge"
    }


@pytest.mark.requirement("B-36", "X-22")
def test_the_choice_changes_as_tier_after_tier_is_taken_away() -> None:
    seat = [Vacancy("engineering", "engineering")]
    local = {"engineering": "mine/own"}
    declared = [RoutableModel("declared/one", ("code",))]

    assert routed(seat, [CODER], local=local, declared=declared) == {"engineering": "mine/own"}
    assert routed(seat, [CODER], declared=declared) == {"engineering": "declared/one"}
    assert routed(seat, [CODER]) == {"engineering": "house/coder"}
    assert routed(seat) == {"engineering": "one/model"}


@pytest.mark.requirement("B-36")
def test_a_route_says_which_tier_decided() -> None:
    tiers = route(
        [
            Vacancy("a", "engineering", model="named/in-the-call"),
            Vacancy("b", "host"),
            Vacancy("c", "engineering"),
            Vacancy("d", "design"),
            Vacancy("e", "qa"),
        ],
        local={"host": "mine/own"},
        declared=[CODER],
        found=[ARTIST],
        one_model="one/model",
    )

    assert tiers == [
        Route("a", "named/in-the-call", "call"),
        Route("b", "mine/own", "local_models.json"),
        Route("c", "house/coder", "roundtable_config.yaml", ("code", "technical", "engineering")),
        Route("d", "house/artist", "found", ("creative", "design")),
        Route("e", "one/model", "one model"),
    ]


SAMPLE = """{
    "engineering": "deepseek/deepseek-v4-flash",
    "design": "minimax/minimax-latest",
    "host": "deepseek/deepseek-v4-pro"
}"""


@pytest.mark.requirement("B-37", "X-23")
def test_the_sample_of_local_models_routes_and_the_rest_drops_to_the_next_tier() -> None:
    local = local_models(SAMPLE, "local_models.json", REGISTRY)
    fast = RoutableModel("house/fast", ("fast",))

    assert routed([*ROLES, Vacancy("testing", "testing")], [fast], local=local) == {
        "engineering": "deepseek/deepseek-v4-flash",
        "design": "minimax/minimax-latest",
        "host": "deepseek/deepseek-v4-pro",
        "testing": "house/fast",
    }


def test_the_users_map_knows_seats_domains_and_roles_the_nearest_first() -> None:
    local = {"engineering": "m/role", "security": "m/domain", "threat-modeller": "m/seat"}
    seats = [
        Vacancy("threat-modeller", "security"),
        Vacancy("red-team-operator", "security"),
        Vacancy("data-engineer", "data"),
        Vacancy("software-architect", "architecture"),
    ]

    assert list(routed(seats, local=local).values()) == ["m/seat", "m/domain", "m/role", "m/role"]


@pytest.mark.requirement("B-38")
def test_the_best_match_wins_and_priority_breaks_ties() -> None:
    seat = [Vacancy("engineering", "engineering")]
    half = RoutableModel("a/half", ("code", "fast"), priority=99)
    whole = RoutableModel("a/whole", ("code", "technical", "engineering"), priority=1)
    prior = RoutableModel("a/prior", ("code", "technical", "engineering"), priority=2)

    assert routed(seat, declared=[half, whole]) == {"engineering": "a/whole"}
    assert routed(seat, declared=[half, whole, prior]) == {"engineering": "a/prior"}
    assert routed(seat, declared=[whole, RoutableModel("a/twin", whole.tags, priority=1)]) == {
        "engineering": "a/whole"
    }


@pytest.mark.requirement("B-39")
def test_three_tagged_models_are_all_in_use() -> None:
    assert routed(ROLES, [CODER, ARTIST, JUDGE]) == {
        "engineering": "house/coder",
        "design": "house/artist",
        "host": "house/judge",
    }


@pytest.mark.requirement("B-39")
def test_different_seats_get_different_models_even_if_one_is_best_for_all() -> None:
    everything = tuple(dict.fromkeys(tag for tags in ROLE_TAGS.values() for tag in tags))
    models = [RoutableModel(f"house/{n}", everything, "one-family") for n in range(3)]

    assert len(set(routed(ROLES, models).values())) == 3
    assert set(routed(ROLES, models[:2]).values()) == {"house/0", "house/1"}


def test_different_families_come_before_different_models() -> None:
    twins = [RoutableModel(f"a/{n}", ("code", "creative", "logic"), "a") for n in range(3)]
    other = RoutableModel("b/0", ("code", "creative", "logic"), "b")

    families = [model[0] for model in routed(ROLES[:2], [*twins, other]).values()]

    assert sorted(families) == ["a", "b"]


def test_a_seat_moves_on_for_one_that_has_no_choice() -> None:
    both = RoutableModel("a/both", ("code", "technical", "engineering", "creative", "design"))
    coder = RoutableModel("b/coder", ("code", "technical"))

    assert routed(ROLES[:2], [both, coder]) == {"engineering": "b/coder", "design": "a/both"}


def test_being_different_is_not_worth_a_model_that_hardly_fits() -> None:
    nearly_nothing = RoutableModel("b/weak", ("max",))
    seats = [Vacancy("one", "host"), Vacancy("two", "host")]

    assert set(routed(seats, [JUDGE, nearly_nothing]).values()) == {"house/judge"}


def test_families_first_never_leaves_a_model_without_a_seat() -> None:
    models = [
        RoutableModel("x/1", ("logic", "summary"), "x"),
        RoutableModel("x/2", ("code", "technical"), "x"),
        RoutableModel("y/1", ("code", "technical", "creative"), "y"),
    ]

    assert len(set(routed(ROLES, models).values())) == 3


@pytest.mark.requirement("B-41")
def test_a_model_that_the_call_names_wins_over_everything() -> None:
    seat = [Vacancy("engineering", "engineering", model="openai/gpt-6-luna")]

    assert routed(seat, [CODER], local={"engineering": "mine/own"}, declared=[CODER]) == {
        "engineering": "openai/gpt-6-luna"
    }


class Secretive:
    """A model whose key and address nobody may touch."""

    id = "house/secretive"
    tags = ("code",)
    family = "secretive"
    priority = 0

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"the router looked at {name}")


@pytest.mark.requirement("B-40", "X-24")
def test_the_router_looks_at_nothing_but_id_tags_family_and_priority() -> None:
    routes = route(
        [Vacancy("engineering", "engineering")],
        local={},
        declared=[Secretive()],
        found=[Secretive()],
        one_model="one/model",
    )

    assert routes[0].model == "house/secretive"


class Spy(UserDict[str, str]):
    """An environment that remembers being looked at."""

    looked = False

    def __getitem__(self, key: str) -> str:
        self.looked = True
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.looked = True
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self.looked = True
        return super().__iter__()


async def look_around(env: dict[str, str]) -> Found:
    return await discover(REGISTRY, env, default_model=None, probe=False)


@pytest.mark.requirement("B-40", "X-24")
async def test_the_environment_stays_out_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await look_around({"OPENAI_API_KEY": "x"})
    (tmp_path / "local_models.json").write_text(SAMPLE)
    (tmp_path / "roundtable_config.yaml").write_text("models: [{id: codex, tags: [code]}]")
    spy = Spy(OPENAI_API_KEY="secret")
    monkeypatch.setattr(os, "environ", spy)

    files = read_routing([Folder(tmp_path)], REGISTRY)
    Router(found, files).route(ROLES)

    assert not spy.looked
    source = Path(str(Router.route.__code__.co_filename)).with_name("routing.py").read_text("utf-8")
    assert "environ" not in source.replace("environment", "")


async def test_with_several_keys_every_seat_has_a_family_of_its_own() -> None:
    names = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "XAI_API_KEY")
    found = await look_around(dict.fromkeys(names, "x"))
    seats = [*ROLES, Vacancy("quality", "quality")]

    routes = Router(found, RoutingFiles()).route(seats)

    assert {each.tier for each in routes} == {"found"}
    assert len({REGISTRY.resolve(each.model).family for each in routes}) == 4


async def test_without_anything_one_model_speaks_for_all() -> None:
    routes = Router(await look_around({}), RoutingFiles()).route(ROLES)

    assert {(each.model, each.tier) for each in routes} == {("local/smollm2-135m", "one model")}


async def test_declared_models_that_cannot_be_used_now_are_passed_over() -> None:
    files = RoutingFiles(declared=(RoutableModel("xai/grok-4.7", ("code",), "grok"),))
    router = Router(await look_around({"OPENAI_API_KEY": "x"}), files)

    assert router.route(ROLES[:1])[0].tier == "found"
    named = router.route([Vacancy("engineering", "engineering", model="codex")])
    assert named[0].model == "openai/gpt-5.3-codex"
    with pytest.raises(UnknownName):
        router.route([Vacancy("engineering", model="coddex")])


@given(
    st.integers(0, 4).flatmap(
        lambda rows: st.integers(1, 4).flatmap(
            lambda columns: st.lists(
                st.lists(
                    st.one_of(st.none(), st.integers(-5, 5)), min_size=columns, max_size=columns
                ),
                min_size=rows,
                max_size=rows,
            )
        )
    )
)
def test_an_assignment_serves_the_most_and_then_the_best(
    values: list[list[int | None]],
) -> None:
    given_columns = assign(values)

    def worth(columns: Sequence[int | None]) -> tuple[int, int] | None:
        taken = [column for column in columns if column is not None]
        pairs = [values[row][column] for row, column in enumerate(columns) if column is not None]
        if len(set(taken)) < len(taken) or any(value is None for value in pairs):
            return None
        return len(taken), sum(value for value in pairs if value is not None)

    choices = [*range(len(values[0]) if values else 0), None]
    everything = (worth(columns) for columns in product(choices, repeat=len(values)))
    assert worth(given_columns) == max(each for each in everything if each is not None)
