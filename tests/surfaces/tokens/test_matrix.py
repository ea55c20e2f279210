"""Every route with every kind of link and token, in every place where one can be put. The routes
are the service's own: one that is added without a rule, or without a right, is found here."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Mount, Route

from roundtable.bootstrap import start
from roundtable.core.state import State
from roundtable.surfaces.tokens.capability import Act
from roundtable.surfaces.tokens.rules import PROMPTS, RESOURCES, ROUTES, TOOLS, asked
from roundtable.surfaces.toolset.operations import Operation
from roundtable.surfaces.toolset.toolset import OPERATIONS
from roundtable.surfaces.web.app import make_app
from roundtable.surfaces.web.links import load_links
from tests.surfaces.web.house import House, house, house_settings

from .kinds import BAD, MAY, SEAT, VALID, Bad, Valid, made

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("Z-39")]
JSON = {"content-type": "application/json"}
BAD_BODY = b'"no object"'
"""Whoever is let in is told what is wrong with it, and nothing is changed."""
IN_PATH = sorted(key for key in ROUTES if "{token}" in key[1] and key[1] != "/r/{token}")
BY_BEARER = sorted(
    key for key, rule in ROUTES.items() if "{token}" not in key[1] and rule.needs != "public"
)


T = TypeVar("T")


def by_sixes(rows: Sequence[T]) -> list[Sequence[T]]:
    """A server for six of them: one for each would take long."""
    return [rows[n : n + 6] for n in range(0, len(rows), 6)]


class Known:
    """A meeting and everything that somebody may bring to it. All who may only read it, or are
    refused, find the same: after whoever was let in to do something there is another."""

    def __init__(self, home: House) -> None:
        self._home = home
        self._state: State | None = None
        self._keys: dict[str, str] = {}

    async def meeting(self) -> State:
        if self._state is None:
            self._state = await self._home.meeting()
            self._keys = {}
        return self._state

    async def key(self, kind: Valid | Bad) -> str:
        state = await self.meeting()
        if kind not in self._keys:
            self._keys[kind] = made(self._home.links, kind, state)
        return self._keys[kind]

    def let_in(self, method: str) -> None:
        if method != "GET":
            self._state = None


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    (tmp_path / "home").mkdir()
    # Whoever may have a question answered gets it from a script, not from a model.
    (tmp_path / "home" / "config.toml").write_text('default_model = "scripted/echo"\n')
    async with house(tmp_path / "home") as opened:
        yield opened


def routes_of(routes: Sequence[BaseRoute], prefix: str = "") -> list[tuple[str, str]]:
    """Also what is in no description."""
    found = []
    for each in routes:
        if isinstance(each, Mount):
            assert each.path == "/assets", "a mounted application has no rules"
        elif isinstance(each, Route | APIRoute):
            methods = each.methods or ()
            found += [(method, prefix + each.path) for method in methods if method != "HEAD"]
        else:  # a router that was included, which keeps its routes to itself
            found += routes_of(each.original_router.routes, prefix)  # type: ignore[attr-defined]
    return found


async def test_every_route_has_a_rule_and_every_rule_a_route(tmp_path: Path) -> None:
    async with start(house_settings(tmp_path / "home"), env={}) as app:
        service = make_app(app, load_links(tmp_path / "home"))
        assert sorted(routes_of(service.routes)) == sorted(ROUTES)


def test_every_tool_has_a_rule() -> None:
    assert set(TOOLS) == set(OPERATIONS)


async def test_a_route_without_a_rule_answers_nobody(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        service = home.server.config.app
        assert isinstance(service, FastAPI)

        @service.get("/api/forgotten")
        async def forgotten() -> str:
            return "secret"

        answer = await home.client.get("/api/forgotten", headers=home.owner)
        assert (answer.status_code, "secret" in answer.text) == (403, False)


def test_an_address_is_asked_as_the_router_reads_it() -> None:
    assert asked("GET", "/api/r/x/export.md") is not None
    assert asked("HEAD", "/api/discussions") == asked("GET", "/api/discussions")
    for path in (
        "/api/discussions\n",
        "/api/discussions/",
        "//api/discussions",
        "/API/discussions",
    ):
        assert asked("GET", path) is None
    assert asked("PUT", "/api/discussions") is None


def expected(needs: str, *, clients: bool, link: bool) -> frozenset[str]:
    """Who is let in, by hand."""
    every: frozenset[str] = frozenset(VALID)
    owner = frozenset() if clients or link else frozenset({"owner"})
    if link:
        every -= {"lead-all token", "client token", "opener token", "other discussion"}
    match needs:
        case "link":
            return every | {"locked link"}
        case "any":
            return every | owner
        case "seat":
            return frozenset({"seat link", "seat token", "other seat"})
        case "opened":
            return frozenset({"opener token"})
        case "open":
            return MAY["open"] | owner
        case "own":
            return owner
        case _:
            act: Act = needs  # type: ignore[assignment]
            return frozenset(MAY[act] & every) | owner


def filled(path: str, state: State, token: str = "") -> str:
    return (
        path.replace("{token}", token)
        .replace("{token_id}", "0" * 12)
        .replace("{discussion_id}", state.discussion_id)
        .replace("{completion_id}", f"chatcmpl-{state.discussion_id}")
        .replace("{response_id}", f"resp_{state.discussion_id}")
        .replace("{form}", "md")
        .replace("{name:path}", "roundtable")
    )


async def status(
    home: House, method: str, at: str, headers: Mapping[str, str] | None = None
) -> int:
    body = BAD_BODY if method == "POST" else b""
    async with home.client.stream(
        method, at, content=body, headers={**JSON, **(headers or {})}
    ) as answer:
        if "event-stream" not in answer.headers.get("content-type", ""):
            await answer.aread()  # the connection serves the next one, too
        return answer.status_code


@pytest.mark.parametrize("routes", by_sixes(IN_PATH))
async def test_each_link_opens_of_a_discussion_what_it_is_for(
    home: House, routes: Sequence[tuple[str, str]]
) -> None:
    known = Known(home)
    for method, path in routes:
        await _each_link(home, known, method, path)


async def _each_link(home: House, known: Known, method: str, path: str) -> None:
    rule = ROUTES[method, path]
    let_in = expected(rule.needs, clients=False, link=True)
    for kind in (*VALID, *BAD):
        if kind == "other discussion":
            continue  # its address names that one
        state = await known.meeting()
        at = filled(path, state, await known.key(kind))
        got = await status(home, method, at)
        if kind in let_in:
            assert got not in (401, 403), (method, path, kind, got)
            known.let_in(method)
        elif kind in BAD:
            assert got == (401 if kind == "locked link" else 404), (method, path, kind, got)
        else:
            assert got in (403, 404), (method, path, kind, got)
        if kind not in let_in:
            assert len(await home.types(state)) == state.seq, kind


@pytest.mark.parametrize("routes", by_sixes(BY_BEARER))
async def test_each_token_opens_of_the_service_what_it_is_for(
    home: House, routes: Sequence[tuple[str, str]]
) -> None:
    known = Known(home)
    for method, path in routes:
        if ROUTES[method, path].needs != "tool":  # each tool is a row of its own
            await _each_token(home, known, method, path)


async def _each_token(home: House, known: Known, method: str, path: str) -> None:
    rule = ROUTES[method, path]
    let_in = expected(rule.needs, clients=rule.clients, link=False)
    if (method, path) == ("POST", "/api/tokens"):
        let_in |= {"client token", "other discussion"}
    for kind in ("owner", *VALID, *BAD):
        if kind == "owner's key":
            continue  # it is the owner
        state = await known.meeting()
        at = filled(path, state)
        key = home.links.owner_key if kind == "owner" else await known.key(kind)  # type: ignore[arg-type]
        got = await status(home, method, at, {"authorization": f"Bearer {key}"})
        if kind in let_in:
            assert got not in (401, 403), (method, path, kind, got)
            known.let_in(method)
            continue
        if kind in BAD or kind == "owner":
            assert got == 401, (method, path, kind, got)
        else:  # to clients what is not theirs is as if it were not there
            assert got in ((403, 404) if rule.clients else (403,)), (method, path, kind, got)
        assert len(await home.types(state)) == state.seq


@pytest.mark.parametrize("routes", by_sixes(BY_BEARER))
async def test_no_token_counts_in_a_query_or_a_cookie(
    home: House, routes: Sequence[tuple[str, str]]
) -> None:
    """But the owner's session, which is a cookie of its own, on what is the owner's."""
    known = Known(home)
    for method, path in routes:
        await _elsewhere(home, known, method, path)


async def _elsewhere(home: House, known: Known, method: str, path: str) -> None:
    """Each of them once in the query and once in a cookie of every route. Under which name goes
    round with the routes, so that every route meets every name, and every name each of them."""
    kinds: list[Valid | Bad] = [*VALID, *BAD]
    row = BY_BEARER.index((method, path))
    if (rule := ROUTES[method, path]).needs == "tool":
        path = path.replace("{name}", "status")
    names = ("key", "token", "access_token")
    cookies = (home.web.owner_cookie, home.web.pass_cookie, "token")
    for number, kind in enumerate(kinds, row):
        at, key = filled(path, await known.meeting()), await known.key(kind)
        name = names[number % 3]
        assert await status(home, method, f"{at}?{name}={key}") == 401, (kind, name)
        tried = cookies if kind == "session" else (cookies[number % 3],)
        for cookie in tried:
            got = await status(home, method, at, {"cookie": f"{cookie}={key}"})
            owners = kind == "session" and cookie == home.web.owner_cookie and not rule.clients
            if owners:
                assert got not in (401, 403), path
                known.let_in(method)  # perhaps it was deleted
                at = filled(path, await known.meeting())
            else:
                assert got == 401, (kind, cookie)
    twice = [("authorization", "Bearer x"), ("authorization", f"Bearer {home.links.owner_key}")]
    answer = await home.client.request(method, at, headers=[*twice, *JSON.items()])
    assert answer.status_code == 401, "of two keys neither counts"


def arguments(operation: Operation, state: State) -> dict[str, Any]:
    """What the tool cannot do without, from its own description."""
    known: dict[str, Any] = {
        "discussion_id": state.discussion_id,
        "other": state.discussion_id,
        "participant": SEAT,
        "profile": SEAT,
        "answers": ["yes"],
        "participants": [{"profile": "a", "role": "a"}, {"profile": "b", "role": "b"}],
    }
    required = operation.input_schema.get("required", [])
    # A page of its own would be served by a process that nobody here ends.
    quiet = {"web": False} if "web" in operation.input_schema.get("properties", {}) else {}
    return {**{name: known.get(name, "x") for name in required}, **quiet}


def holders(tool: str) -> frozenset[str]:
    allowed: frozenset[str] = MAY[TOOLS[tool]]
    if tool == "list":  # shows to each what it knows
        allowed |= {"client token", "other discussion"}
    if tool in ("speak", "vote", "join", "leave"):
        allowed -= {"other seat"}
    return allowed | {"owner"}


@pytest.mark.parametrize("names", by_sixes(sorted(OPERATIONS)))
async def test_each_token_calls_the_tools_that_it_is_for(home: House, names: Sequence[str]) -> None:
    known = Known(home)
    for tool in names:
        await _each_caller(home, known, tool)


async def _each_caller(home: House, known: Known, tool: str) -> None:
    for kind in ("owner", *VALID, *BAD):
        if kind == "owner's key":
            continue
        state = await known.meeting()
        key = home.links.owner_key if kind == "owner" else await known.key(kind)  # type: ignore[arg-type]
        answer = await home.client.post(
            f"/api/tools/{tool}",
            json=arguments(OPERATIONS[tool], state),
            headers={"authorization": f"Bearer {key}"},
        )
        if kind in holders(tool):
            assert answer.status_code not in (401, 403), (kind, answer.text)
            known.let_in("POST")
            continue
        assert answer.status_code == (401 if kind in BAD else 403), (kind, answer.text)
        assert answer.json()["error"]
        assert answer.json()["remedy"]
        assert len(await home.types(state)) == state.seq
        assert state.start.topic not in answer.text


async def test_a_list_shows_to_each_what_it_may_know(home: House) -> None:
    state = await home.meeting()
    other = await home.meeting()
    for kind in VALID:
        key = made(home.links, kind, state, elsewhere=other.discussion_id)
        headers = {"authorization": f"Bearer {key}"}
        rows = (await home.client.post("/api/tools/list", json={}, headers=headers)).json()
        seen = {row["discussion_id"] for row in rows["discussions"]}
        assert seen == {
            "lead-all token": {state.discussion_id, other.discussion_id},
            "client token": set(),
            "other discussion": {other.discussion_id},
        }.get(kind, {state.discussion_id})
        assert rows["total"] == len(seen)
        named = {
            each["name"] for each in (await home.client.get("/api/tools", headers=headers)).json()
        }
        assert named >= {"list"}
        assert ("end" in named) == (
            kind in MAY["lead"] or kind in ("client token", "other discussion")
        )


def test_the_addresses_of_resources_and_prompts_are_no_more_than_the_rules_know() -> None:
    from roundtable.surfaces.mcp import prompts
    from roundtable.surfaces.mcp.resources import DISCUSSIONS, EVENTS, TRANSCRIPT

    assert set(RESOURCES) == {DISCUSSIONS, TRANSCRIPT, EVENTS}
    assert set(PROMPTS) == {each.name for each in prompts.listed()}


def test_no_rule_is_looser_than_its_neighbours() -> None:
    """What is public is little, and named here."""
    public = {path for (_, path), rule in ROUTES.items() if rule.needs == "public"}
    assert public == {"/", "/r/{token}", "/api/health", "/healthz", "/readyz", "/api/openapi.json"}
    for (_, path), rule in ROUTES.items():
        assert rule.clients == path.startswith("/v1/")
        assert not re.search(r"/api/(?!r/|health|openapi)", path) or rule.needs != "public"
