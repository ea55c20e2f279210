"""Numbers that no program expects, wherever the service and the tools take one: they are found in
the descriptions, so a number that is added later is tried too."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import BadSetting, RoundtableError, UsageError
from roundtable.core.values import Budget
from roundtable.procedures.opening import LARGEST_LIMIT, OpenRequest
from roundtable.surfaces.toolset import Toolset
from tests.surfaces.web.house import QUICK, House, house

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("Z-39")]
ABSURD = (
    *("9007199254740993", str(2**63), str(2**64), f"1{'0' * 400}", "9" * 5_000),
    *("-1", str(-(2**63) - 1), "1e308", "1e400", "-0.0", "1e-320", "NaN", "Infinity", "-Infinity"),
)
SEATS = [{"profile": "tea", "role": "a"}, {"profile": "coffee", "role": "b"}]
WORDS: dict[str, Any] = {
    "topic": "Tea?",
    "question": "Tea?",
    "procedure": "council",
    "participants": SEATS,
    "participant": "tea",
    "profile": "tea",
    "speaker": "coordinator",
    "content": "Tea.",
    "text": "Tea.",
    "role": "critic",
    "model": "roundtable/council",
    "messages": [{"role": "user", "content": "Tea?"}],
    "input": "Tea?",
    "words": "Tea",
    "turn_id": "1/discussion/tea",
    "wait": 0,
}
"""For fields that must be there; others get a letter."""
Place = tuple[str | int, ...]


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as opened:
        yield opened


def numbers(schema: Any, parts: dict[str, Any], at: Place = ()) -> Iterator[Place]:
    """Where a body may hold a number. Options of procedures are checked by their own tests."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield from numbers(parts[name], parts, at) if at.count(name) == 0 else ()
        return
    if schema.get("type") in ("integer", "number"):
        yield at
    for each in schema.get("anyOf", ()):
        yield from numbers(each, parts, at)
    if "items" in schema:
        yield from numbers(schema["items"], parts, (*at, 0))
    for name, each in schema.get("properties", {}).items():
        if name != "options":
            yield from numbers(each, parts, (*at, name))


def filled(schema: Any, parts: dict[str, Any], at: Place, words: dict[str, Any]) -> Any:
    """The smallest body that has this place, with a mark in it."""
    if "$ref" in schema:
        return filled(parts[schema["$ref"].rpartition("/")[2]], parts, at, words)
    if not at and schema.get("type") in ("integer", "number"):
        return "NUMBER"
    for each in schema.get("anyOf", ()):
        if at in set(numbers(each, parts)):
            return filled(each, parts, at, words)
    if schema.get("type") == "array":
        return [filled(schema["items"], parts, at[1:], words)]
    made = {name: words.get(name, "a") for name in schema.get("required", ()) if name != at[0]}
    made |= {"options": dict(QUICK)} if "options" in schema.get("properties", {}) else {}
    made |= {"wait": 0} if "wait" in schema.get("properties", {}) else {}
    return {**made, str(at[0]): filled(schema["properties"][at[0]], parts, at[1:], words)}


async def test_no_number_in_a_body_breaks_the_service(home: House) -> None:
    state = await home.meeting()
    described = (await home.client.get("/api/openapi.json")).json()
    parts = described["components"]["schemas"]
    words = {**WORDS, "discussion_id": state.discussion_id, "attempt": 1, "begins": 0}
    found = 0
    for path, methods in described["paths"].items():
        if not (body := methods.get("post", {}).get("requestBody")):
            continue
        schema = body["content"]["application/json"]["schema"]
        for place in numbers(schema, parts):
            found += 1
            await _tried(home, path, filled(schema, parts, place, words), state.discussion_id)
    assert found > 8


async def _tried(home: House, path: str, body: Any, discussion_id: str) -> None:
    at = path.replace("{token}", home.links.token(discussion_id, "host"))
    headers = {**home.asking(path), "content-type": "application/json"}
    for value in ABSURD:
        sent = json.dumps(body).replace('"NUMBER"', value)
        answer = await home.client.post(at, content=sent, headers=headers)
        # 502: a table whose budget ended it at once
        assert answer.status_code < 500 or answer.status_code == 502, (at, sent[:300])


async def test_no_number_in_an_argument_breaks_a_tool(home: House) -> None:
    state = await home.meeting()
    toolset = Toolset(home.app)
    words = {**WORDS, "discussion_id": state.discussion_id}
    found = 0
    for name, operation in toolset.operations.items():
        schema = operation.input_schema
        parts = schema.get("$defs", {})
        for place in numbers(schema, parts):
            found += 1
            body = filled(schema, parts, place, words)
            if "web" in schema.get("properties", {}):
                body["web"] = False  # a page would be served by a process that nobody here ends
            await _tried(home, f"/api/tools/{name}", body, state.discussion_id)
    assert found > 8


@pytest.mark.parametrize("cursor", [-1, 2**53 + 1, 2**63, 10**400])
async def test_a_cursor_that_no_event_can_have_is_refused(home: House, cursor: int) -> None:
    state = await home.meeting()
    with pytest.raises(UsageError, match="A cursor is a whole number from 0 to 9007199254740992"):
        await home.service.records(state.discussion_id, after=cursor)
    with pytest.raises(UsageError, match="A cursor"):
        home.service.events(state.discussion_id, after=cursor)
    with pytest.raises(RoundtableError):
        await Toolset(home.app).call(
            "poll", {"discussion_id": state.discussion_id, "cursor": cursor, "wait": 0}
        )


@pytest.mark.parametrize("limit", [LARGEST_LIMIT + 1, 10**400, float("inf")])
async def test_a_limit_that_limits_nothing_is_left_out_instead(home: House, limit: float) -> None:
    name = "max_seconds" if isinstance(limit, float) else "max_calls"
    request = OpenRequest(topic="Tea?", options=QUICK, budget=Budget.model_validate({name: limit}))
    with pytest.raises(BadSetting, match=f"{name}: expected a number up to .*leave it out"):
        await home.service.open(request)
