"""Where too much waits for workers, an opening is refused at every door, with a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient

from roundtable.bootstrap import start
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
            assert "Try again in about 60 s" in refused.json()["remedy"]
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
