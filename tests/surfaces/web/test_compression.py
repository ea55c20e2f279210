"""What is large goes compressed and is not sent twice, and a feed goes as it comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .house import house

pytestmark = pytest.mark.anyio


async def test_pages_and_events_are_compressed_and_a_feed_is_not(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        state = await home.council()
        asks = {"Accept-Encoding": "gzip"}
        for path in (f"{home.at(state)}/events", f"{home.at(state)}/derived", "/assets/style.css"):
            answer = await home.client.get(path, headers=asks)
            assert answer.headers["content-encoding"] == "gzip", path
            plain = await home.client.get(path, headers={"Accept-Encoding": "identity"})
            assert "content-encoding" not in plain.headers
            assert plain.content == answer.content, "the client unpacks to the same bytes"
        feed = await home.client.get(f"{home.at(state)}/feed", headers=asks)
        assert feed.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in feed.headers


async def test_a_script_is_asked_for_before_each_use_and_sent_once(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        first = await home.client.get("/assets/app.js")
        asks = {"if-none-match": first.headers["etag"]}
        again = await home.client.get("/assets/app.js", headers=asks)
        assert (again.status_code, again.content) == (304, b"")
        for answer in (first, again):
            assert answer.headers["cache-control"] == "no-cache"
