"""Where too much waits for workers, an opening is refused at every door, with a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient, Response

from roundtable.bootstrap import start
from roundtable.core.errors import TooBusy
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.tokens.capability import OWNER, Capability
from roundtable.surfaces.tokens.monthly import allow
from roundtable.surfaces.tokens.opening import open_as
from roundtable.surfaces.web.app import make_app
from roundtable.surfaces.web.limits import Rate
from roundtable.surfaces.web.links import links_of

from .house import QUICK, house_settings

QUICK_MODEL = "roundtable/quick"


@pytest.mark.requirement("Z-21")
async def test_an_opening_too_many_is_refused_with_429_and_takes_nothing(
    tmp_path: Path, postgres_url: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("[waiting]\neach = 1\n", "utf-8")
    env = {"ROUNDTABLE_DRIVE": "workers", "ROUNDTABLE_MODEL": "scripted/echo"}
    settings = house_settings(home, ROUNDTABLE_DB=postgres_url, **env)
    async with start(settings, env={}) as app:
        links = links_of(settings)
        service = make_app(app, links, rate=Rate(6_000, 1_000))
        opens = Capability(frozenset(["open"]), discussions=frozenset(), channels=frozenset())
        secret, _ = links.tokens.add(opens)
        held = links.tokens.find(secret)
        assert held is not None
        await allow(app, held.id, 1.0)
        # A table of scripts that somebody calls: it needs a driver.
        body = {"topic": "Why?", "procedure": "council", "options": QUICK}
        body["budget"] = {"max_cost_usd": 0.25}
        headers = {"Authorization": f"Bearer {secret}"}
        transport = ASGITransport(service)
        async with AsyncClient(transport=transport, base_url="http://localhost") as client:
            first = await client.post("/api/discussions", json=body, headers=headers)
            assert first.status_code == 201, first.text
            refused = await client.post("/api/discussions", json=body, headers=headers)
            assert refused.status_code == 429, refused.text
            assert refused.headers["retry-after"] == "60"
            assert "there is no worker" in refused.json()["error"]
            asked = {"question": "Why?", "procedure": "council", "options": QUICK, "web": False}
            tool = await client.post("/api/tools/ask", json=asked, headers=headers)
            assert (tool.status_code, tool.headers["retry-after"]) == (429, "60")
            said = {"model": QUICK_MODEL, "messages": [{"role": "user", "content": "Why?"}]}
            wire = await client.post("/v1/chat/completions", json=said, headers=headers)
            assert (wire.status_code, wire.headers["retry-after"]) == (429, "60")
            # Its clients try again by themselves where that pays for nothing twice.
            assert wire.headers["x-should-retry"] == "true"
            assert wire.json()["error"]["type"] == "rate_limit_error"
        rows = await app.service.summaries()
        assert len(rows) == 1
        purses, now = await (await app.purses()).look([held.id])
        assert purses[held.id].gone(now) == 0.25  # only what was opened
        # Others are not held up by it.
        state, _ = await open_as(app, OWNER, OpenRequest("Why?", options=QUICK, created_by="page"))
        assert state.closed is None


@pytest.mark.requirement("Z-21")
async def test_what_was_only_opened_waits_in_its_askers_line_once_it_is_let_begin(
    tmp_path: Path, postgres_url: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("[waiting]\neach = 1\n", "utf-8")
    settings = house_settings(home, ROUNDTABLE_DB=postgres_url, ROUNDTABLE_DRIVE="workers")
    async with start(settings, env={}) as app:
        links = links_of(settings)
        service = make_app(app, links, rate=Rate(6_000, 1_000))
        opens = Capability(
            frozenset(["open", "lead"]), discussions=frozenset(), channels=frozenset()
        )
        secret, _ = links.tokens.add(opens)
        body = {"topic": "Why?", "procedure": "council", "options": QUICK, "run": False}
        token, owner = ({"Authorization": f"Bearer {each}"} for each in (secret, links.owner_key))
        transport = ASGITransport(service)
        async with AsyncClient(transport=transport, base_url="http://localhost") as client:

            async def opened(headers: dict[str, str], **more: object) -> Response:
                return await client.post("/api/discussions", json={**body, **more}, headers=headers)

            async def let_begin(made: Response, headers: dict[str, str]) -> Response:
                path = f"/api/discussions/{made.json()['discussion_id']}/run"
                return await client.post(path, json={}, headers=headers)

            theirs = [await opened(token) for _ in range(2)]
            assert [each.json()["status"] for each in theirs] == ["running"] * 2
            first = await let_begin(theirs[0], token)
            assert (first.status_code, first.json()["status"]) == (202, "queued"), first.text
            second = await let_begin(theirs[1], token)
            assert (second.status_code, "of yours" in second.text) == (429, True), second.text
            # Nor does it go on from a pause, or with higher limits, before others have gone.
            link = "/api/r/" + str(theirs[1].json()["url"]).rpartition("/r/")[2]
            paused = await client.post(f"{link}/pause", json={"reason": ""}, headers=token)
            assert paused.status_code == 200, paused.text
            for path in (f"{link}/resume", "/api/tools/resume"):
                given = {"discussion_id": theirs[1].json()["discussion_id"]}
                sent = given if "tools" in path else {}
                resumed = await client.post(path, json=sent, headers=token)
                assert resumed.status_code == 429, resumed.text
            state = await app.service.read(theirs[1].json()["discussion_id"])
            assert state.paused is not None, "what is refused changes nothing"
            # The owner's line is another one, and the same by every surface.
            own = await opened(owner, run=True)
            assert (own.status_code, own.json()["status"]) == (201, "queued"), own.text
        with pytest.raises(TooBusy, match="of yours"):
            await open_as(app, OWNER, OpenRequest("Why?", options=QUICK, created_by="mcp"))
