"""What holds for every route of the service, walked through its own description: a route that is
added later is walked too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.state import State
from roundtable.surfaces.tokens.capability import OWNER
from roundtable.surfaces.web.guard import CONTENT_POLICY
from roundtable.surfaces.web.intake import DOCUMENTS, LARGEST_BODY, LARGEST_DOCUMENT

from .house import PATIENCE, House, client_token, house

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 1, 2, tzinfo=UTC)
TOPIC = "Tea or coffee?"
JSON = {"content-type": "application/json"}
PUBLIC = {"/api/health", "/healthz", "/readyz"}
"""Answers anybody: it says that it is up, and nothing of what is discussed."""
PAGES = ["/", "/r/{token}", "/nothing/here", "/assets/style.css", "/assets/nothing.js"]
"""Outside of the description."""
Route = tuple[str, str]

ACTS: dict[str, dict[str, Any]] = {
    "speak": {"text": "Tea."},
    "vote": {"in_favour": True},
    "pause": {"reason": "lunch"},
    "resume": {},
    "material": {"source": "a", "text": "b"},
    "extend": {"rounds": 1},
    "share": {},
    "advance": {},
    "skip": {"participant": "tea"},
    "stop": {"reason": ""},
    "outcome": {"outcome": "good"},
    "again": {"stage": "discussion"},
    "answers": {"answers": ["yes"]},
    "address": {},
}
"""In an order in which the host can do all of them."""
MAY = {
    "viewer": set[str](),
    "seat": {"speak", "vote"},
    "host": set(ACTS) - {"vote"},
}


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home", now=lambda: NOW) as opened:
        yield opened


async def described(home: House) -> list[Route]:
    paths = (await home.client.get("/api/openapi.json")).json()["paths"]
    found = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    assert len(found) > 30
    return found


def filled(path: str, state: State, token: str) -> str:
    """The address with the names of what is really there, so that only the credentials lack."""
    return (
        path.replace("{token}", token)
        .replace("{discussion_id}", state.discussion_id)
        .replace("{completion_id}", f"chatcmpl-{state.discussion_id}")
        .replace("{response_id}", f"resp_{state.discussion_id}")
        .replace("{form}", "md")
        .replace("{name}", "list" if path.startswith("/api/tools") else "roundtable")
    )


def tokens(home: House, state: State) -> Iterable[str]:
    """Everything that looks like a link and opens nothing."""
    right = home.links.token(state.discussion_id, "host")
    yield right[:-1] + ("A" if right[-1] != "A" else "B")
    yield home.links.token(state.discussion_id, "host", expires=NOW - timedelta(seconds=1))
    yield state.discussion_id
    yield "x"


@pytest.mark.requirement("I-21", "D-60")
async def test_no_route_tells_anything_without_its_credentials(home: House) -> None:
    state = await home.council()
    routes = await described(home)
    for method, path in [*routes, *(("GET", page) for page in PAGES)]:
        for token in tokens(home, state):
            for sent in (
                {},
                {"authorization": f"Bearer {token}"},
                {"cookie": f"rt_owner=x{token}"},
            ):
                at = filled(path, state, token)
                body: dict[str, Any] = {"json": {}} if method == "POST" else {}
                answer = await home.client.request(method, at, headers=sent, **body)
                if path in PUBLIC or path == "/assets/style.css":
                    assert answer.status_code == 200
                else:
                    assert answer.status_code in (401, 404), (method, path, answer.text)
                for told in (TOPIC, state.discussion_id, "echo", "verdict"):
                    if path != "/assets/style.css":
                        assert told not in answer.text, (method, path)
                assert "set-cookie" not in answer.headers
            if "{token}" not in path:
                break
    assert [row.discussion_id for row in await home.service.summaries()] == [state.discussion_id]
    assert len(await home.types(state)) == state.seq


@pytest.mark.requirement("I-21")
async def test_a_locked_link_tells_nothing_but_that_it_is_locked(home: House) -> None:
    state = await home.council()
    token = home.links.token(state.discussion_id, "host", password="sesame")
    for method, path in await described(home):
        if "{token}" in path and not path.endswith("/unlock"):
            act = ACTS.get(path.rpartition("/")[2], {})
            body: dict[str, Any] = {"json": act} if method == "POST" else {}
            answer = await home.client.request(method, filled(path, state, token), **body)
            assert (answer.status_code, answer.json()["locked"]) == (401, True), path
            assert TOPIC not in answer.text


@pytest.mark.requirement("I-21", "I-33")
@pytest.mark.parametrize("role", ["viewer", "seat", "host"])
async def test_each_link_does_what_its_role_allows_and_nothing_else(home: House, role: str) -> None:
    acts = {
        path.rpartition("/")[2]
        for method, path in await described(home)
        if method == "POST" and "{token}" in path
    }
    assert acts - {"unlock"} == set(ACTS), "an act has no row in the matrix"
    state = await home.meeting()
    link = home.at(state, role, "tea" if role == "seat" else "")
    for act, body in ACTS.items():
        if act == "outcome" and act in MAY[role]:
            # Whoever drives it closes it: only then can it have turned out somehow.
            async with asyncio.timeout(PATIENCE):
                async for _ in home.service.events(state.discussion_id):
                    pass
        before = await home.types(state)
        answer = await home.act(f"{link}/{act}", **body)
        if act in MAY[role]:
            # The host of this table asked nothing, and no address bar shows another link.
            done = 409 if act in ("answers", "address") else 200
            assert answer.status_code == done, (role, act, answer.text)
        else:
            assert answer.status_code == 403, (role, act, answer.text)
            assert answer.json()["remedy"]
            assert await home.types(state) == before
    assert (await home.client.get(f"{link}/bundle")).status_code == (200 if role == "host" else 403)


@pytest.mark.requirement("I-21")
async def test_no_write_is_taken_from_another_site_or_under_another_name(home: House) -> None:
    """With all credentials: it is the browser of the owner that is being used."""
    state = await home.meeting()
    token = home.links.token(state.discussion_id, "host")
    before = await home.types(state)
    writes = [(m, p) for m, p in await described(home) if m != "GET"]
    assert {"/api/tools/{name}", "/v1/chat/completions", "/api/r/{token}/stop"} <= {
        path for _, path in writes
    }
    own = client_token(home.app.settings.home)
    home.links.tokens.opened(home.links.tokens.find(own) or OWNER, "", state.discussion_id)
    for method, path in writes:
        voting = path.endswith("/vote")
        seat = home.links.token(state.discussion_id, "seat", seat="tea")
        at = filled(path, state, seat if voting else token)
        key = {"authorization": f"Bearer {own}"} if path.startswith("/v1/") else home.owner

        async def status(
            at: str = at,
            method: str = method,
            body: bytes = b"{}",
            key: Mapping[str, str] = key,
            **more: str,
        ) -> int:
            headers = {**key, **JSON, **{k.replace("_", "-"): v for k, v in more.items()}}
            return (
                await home.client.request(method, at, content=body, headers=headers)
            ).status_code

        assert await status(host="evil.example") == 421, path
        assert await status(origin="https://evil.example") == 403, path
        assert await status(origin="null") == 403, path
        assert await status(sec_fetch_site="cross-site") == 403, path
        assert await status(content_type="text/plain") == 415, path
        largest = LARGEST_DOCUMENT if path == DOCUMENTS else LARGEST_BODY
        assert await status(body=b" " * (largest + 1)) == 413, path
    assert await home.types(state) == before
    assert len(await home.service.summaries()) == 1


@pytest.mark.requirement("I-21")
async def test_every_answer_has_the_strict_headers_whatever_it_says(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = await home.council()
    token = home.links.token(state.discussion_id)

    async def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    seen: dict[int, str] = {}

    async def look(method: str, path: str, **more: Any) -> None:
        answer = await home.client.request(method, path, **more)
        seen[answer.status_code] = path
        assert answer.headers.get_list("content-security-policy") == [CONTENT_POLICY], path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        if "assets" in path:
            assert answer.headers["cache-control"] == "no-cache", path
        else:
            assert "no-store" in answer.headers["cache-control"] or "/derived" in path

    for path in PAGES:
        await look("GET", filled(path, state, token))
    for method, path in await described(home):
        if method == "GET":
            await look(method, filled(path, state, token), headers=dict(home.owner))
        await look("PATCH", filled(path, state, token), json={})
        await look("OPTIONS", filled(path, state, token))
    await look("GET", f"/api/r/{token}/bundle")
    await look("GET", f"/?key={home.links.owner_key}")
    await look("GET", "/", headers={"host": "evil.example"})
    await look("POST", f"/api/r/{token}/speak", json={"text": 1})
    monkeypatch.setattr(type(home.service), "summaries", broken)
    await look("GET", "/api/discussions", headers=dict(home.owner))
    assert set(seen) >= {200, 303, 401, 403, 404, 405, 421, 422, 500}
