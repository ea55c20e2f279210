"""Recorded examples on the page: listed for whoever has no key, each an ordinary page to read."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from roundtable.examples import examples

from .house import house

pytestmark = pytest.mark.requirement("Z-37")


async def test_examples_are_listed_and_each_opens_as_a_concluded_page(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        listed = (await home.client.get("/api/examples", headers=home.owner)).json()["examples"]
        assert [row["name"] for row in listed] == list(examples())
        for row in listed:
            assert row["provenance"] == examples()[row["name"]].provenance
            link = urlsplit(row["url"]).path
            assert (await home.client.get(link)).status_code == 200
            opened = (await home.client.get(f"/api{link}")).json()
            assert (opened["role"], opened["status"]) == ("viewer", "concluded")
            derived = (await home.client.get(f"/api{link}/derived")).json()
            assert [n["code"] for n in derived["decision"]["made"]["notes"]].count("example") == 1
            decision = derived["decision"]
            assert row["answer"] == decision["answer"]["first"]
            assert row["confidence"] == decision["confidence"]
            assert row["vote"] == next(iter(decision["votes"]), None)
            events = (await home.client.get(f"/api{link}/events?limit=5000")).json()
            assert events["events"][-1]["code"] == "example"
            feed = await home.client.get(f"/api{link}/feed")
            assert feed.text.rstrip().endswith("data: {}") or "event: end" in feed.text
            for form in ("md", "json", "html", "page"):
                assert (await home.client.get(f"/api{link}/export.{form}")).status_code == 200
        rows = (await home.client.get("/api/discussions", headers=home.owner)).json()
        assert rows["discussions"] == []


async def test_whoever_acts_on_an_example_is_refused_with_a_reason(tmp_path: Path) -> None:
    name = next(iter(examples()))
    async with house(tmp_path / "home") as home:
        link = f"/api/r/{home.links.token(f'example:{name}', 'host')}"
        for path, body in (("outcome", {"outcome": "good"}), ("speak", {"text": "A word."}),
                           ("again", {"stage": "synthesis"})):  # fmt: skip
            refused = await home.act(f"{link}/{path}", **body)
            assert refused.status_code in (403, 409), path
            assert refused.json()["error"]
        gone = await home.client.delete(f"/api/discussions/example:{name}", headers=home.owner)
        assert gone.status_code == 409
        assert "recorded example" in gone.json()["error"]
        unknown = f"/api/r/{home.links.token('example:nope')}"
        assert (await home.client.get(unknown)).status_code == 404


async def test_the_list_of_examples_is_its_owners(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        assert (await home.client.get("/api/examples")).status_code == 401
