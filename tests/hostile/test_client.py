"""A client that sends what nobody should: heads, bodies and documents made to hurt."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from roundtable.surfaces.web.intake import MOST_PARTS
from tests.surfaces.web.house import House, house
from tests.surfaces.web.stalling import head, raw

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("Z-39")]
TAKERS = (
    "/api/discussions",
    "/api/estimate",
    "/api/tools/list",
    "/v1/chat/completions",
    "/v1/responses",
    "{link}/material",
    "{link}/speak",
)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as opened:
        yield opened


@pytest.mark.parametrize(
    ("document", "statuses"),
    [
        (b"[" * 1_000_000, {413}),
        (b"[" * 100_000, {400, 422}),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, {400, 422}),
        (b"[" + b"{}," * 650_000 + b"{}]", {413}),
        (b'{"topic":"a","context":[' + b'{"source":"","text":""},' * 80_000 + b"1]}", {400, 422}),
        (b'{"a": "' + b"\\ud800" * 100_000 + b'"}', {400, 422}),
        (b"\x00" * 1_000, {400, 422}),
        (b'{"a": ' + b"9" * 1_000_000 + b"}", {400, 422}),
        (b"{" + b",".join(b'"k%d": 1' % n for n in range(100_000)) + b"}", {400, 422}),
    ],
    ids=["deep", "less-deep", "deep-objects", "many", "rows", "halves", "zeros", "number", "keys"],
)
async def test_no_document_breaks_a_route(home: House, document: bytes, statuses: set[int]) -> None:
    state = await home.meeting()
    before = state.seq
    for path in TAKERS:  # one after another, at the same server
        headers = {**home.asking(path), "content-type": "application/json"}
        at = path.format(link=home.at(state, "host"))
        answer = await home.client.post(at, content=document, headers=headers)
        assert answer.status_code in statuses, (path, answer.text[:300])
        assert len(answer.content) < 5_000, path
        assert (await home.service.read(state.discussion_id)).seq == before, path


async def test_what_has_too_many_parts_is_told_what_to_do(home: House) -> None:
    headers = {**home.owner, "content-type": "application/json"}
    body = b"[" + b"[]," * MOST_PARTS + b"[]]"
    answer = await home.client.post("/api/discussions", content=body, headers=headers)
    assert answer.json() == {
        "error": "The request has too many parts: at most 200,000 lists and objects fit.",
        "remedy": "Send long material as one text.",
    }


async def test_code_with_many_braces_is_no_such_document(home: House) -> None:
    state = await home.meeting()
    code = "function f() { return [1, 2, {a: 3}]; }\n" * 20_000
    answer = await home.act(f"{home.at(state, 'host')}/material", source="f.js", text=code)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "lines",
    [
        "".join(f"x-{n}: y\r\n" for n in range(100_000)),
        f"x: {'y' * 10_000_000}\r\n",
        f"cookie: {'a=b; ' * 100_000}\r\n",
        "x: \x00\r\n",
        "x y: z\r\n",
        " folded\r\n",
        "content-length: 1\r\ncontent-length: 2\r\n",
        "content-length: 1\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked, gzip\r\n",
        "transfer-encoding: identity\r\n",
    ],
    ids=[
        "many",
        "long",
        "cookies",
        "zero",
        "space",
        "folded",
        "lengths",
        "both",
        "codings",
        "identity",
    ],
)
async def test_a_head_that_is_none_is_refused_and_its_connection_closed(
    home: House, lines: str, request: pytest.FixtureRequest
) -> None:
    asked = f"POST /api/discussions HTTP/1.1\r\nconnection: close\r\nhost: localhost\r\n{lines}\r\n"
    async with raw(home) as client:
        with suppress(ConnectionError):  # it may be refused before it is sent
            await client.send(asked)
        told = await client.rest()
    # A folded line goes on with the host, which is then none of ours.
    refused = {"folded": b"421"}.get(request.node.callspec.id, b"400")
    assert told[9:12] in (refused, b"431", b"501", b"")
    assert (await home.client.get("/api/health")).status_code == 200


async def test_a_long_address_is_refused(home: House) -> None:
    async with raw(home) as client:
        with suppress(ConnectionError):
            await client.send(head("GET", f"/api/r/{'x' * 1_000_000}"))
        told = await client.rest()
    assert told[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 431")


async def test_a_packed_body_is_not_unpacked(home: House) -> None:
    packed = gzip.compress(json.dumps({"topic": "x" * 5_000_000}).encode(), 1)
    headers = {**home.owner, "content-type": "application/json", "content-encoding": "gzip"}
    answer = await home.client.post("/api/discussions", content=packed, headers=headers)
    assert answer.status_code in (400, 415, 422)
