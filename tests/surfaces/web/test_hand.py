"""The address bar shows a link to watch; who leads or speaks does so through the browser's hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from roundtable.core.state import State
from roundtable.surfaces.tokens.store import id_of
from roundtable.surfaces.web.limits import Rate

from .house import House, house

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("Z-34")]


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as opened:
        yield opened


class Browser:
    """Keeps cookies as a browser does, each for its path."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def open(self, link: str) -> str:
        """Open a link; the API of what the address bar then shows."""
        answer = await self.client.get(link, follow_redirects=True)
        assert answer.status_code == 200, answer.text
        return f"/api{answer.url.path}"

    async def told(self, api: str) -> tuple[str, str, bool]:
        found = (await self.client.get(api)).json()
        return found["role"], found["seat"], found["leads"]


Two = tuple[Browser, Browser]


@asynccontextmanager
async def browsers(home: House) -> AsyncIterator[Two]:
    """Mine, and somebody else's."""
    async with (
        httpx2.AsyncClient(base_url=home.url, timeout=60) as mine,
        httpx2.AsyncClient(base_url=home.url, timeout=60) as other,
    ):
        yield Browser(mine), Browser(other)


@pytest.fixture
async def two(home: House) -> AsyncIterator[Two]:
    async with browsers(home) as found:
        yield found


def page_of(home: House, state: State, role: str, seat: str = "", **more: object) -> str:
    return home.at(state, role, seat, **more).removeprefix("/api")


async def test_who_leads_shows_a_link_to_watch_and_still_leads(home: House, two: Two) -> None:
    state = await home.meeting()
    mine, other = two
    link = page_of(home, state, "host")
    shown = await mine.open(link)
    assert link.rpartition("/")[2] not in shown
    assert await mine.told(shown) == ("host", "", True)
    assert (await mine.client.post(f"{shown}/pause", json={"reason": ""})).status_code == 200
    # Whoever gets the address passed on watches, and no more.
    assert await other.told(await other.open(shown.removeprefix("/api"))) == ("viewer", "", False)
    refused = await other.client.post(f"{shown}/resume")
    assert refused.status_code == 403
    assert "lead" in refused.json()["error"]


async def test_the_cookie_is_the_servers_alone_and_goes_nowhere_else(home: House) -> None:
    state = await home.meeting()
    answer = await home.client.get(page_of(home, state, "host"))
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert f"path=/api{answer.headers['location']}".lower() in cookie


async def test_two_seats_in_two_tabs_of_one_browser_speak_each_for_itself(
    home: House, two: Two
) -> None:
    state = await home.meeting()
    mine, _ = two
    tea = await mine.open(page_of(home, state, "seat", "tea"))
    coffee = await mine.open(page_of(home, state, "seat", "coffee"))
    assert tea != coffee
    assert await mine.told(tea) == ("seat", "tea", False)
    assert await mine.told(coffee) == ("seat", "coffee", False)


async def test_the_owner_who_holds_a_seat_also_leads(home: House, two: Two) -> None:
    state = await home.meeting()
    mine, _ = two
    await mine.client.get("/", params={"key": home.links.owner_key}, follow_redirects=True)
    shown = await mine.open(page_of(home, state, "seat", "tea"))
    assert await mine.told(shown) == ("seat", "tea", True)
    assert (await mine.client.post(f"{shown}/pause", json={"reason": ""})).status_code == 200


async def test_a_hand_counts_only_for_the_address_that_was_made_through_it(
    home: House, two: Two
) -> None:
    state, elsewhere = await home.meeting(), await home.meeting()
    name = home.web.hand_cookie
    shown = await two[0].open(page_of(home, state, "host"))
    standing = home.at(state)
    foreign = home.at(elsewhere, "host").removeprefix("/api/r/")
    own = home.at(state, "host").removeprefix("/api/r/")
    for api, hand, leads in (
        (shown, own, True),
        (shown, foreign, False),
        (shown, own[:-1] + ("A" if own[-1] != "A" else "B"), False),
        (shown, "", False),
        (standing, own, False),
    ):
        headers = {"cookie": f"{name}={hand}"}
        assert (await home.client.get(api, headers=headers)).json()["leads"] is leads
        status = (await home.client.post(f"{api}/pause", json={}, headers=headers)).status_code
        assert (status == 200) is leads


async def test_what_was_ended_in_the_hand_ends_the_address_too(home: House, two: Two) -> None:
    state = await home.meeting()
    link = home.links.token(
        state.discussion_id, "host", expires=datetime.now(UTC) + timedelta(hours=2)
    )
    mine, _ = two
    shown = await mine.open(f"/r/{link}")
    home.links.tokens.end_given(link)
    assert (await mine.client.get(shown)).status_code == 404
    assert (await mine.client.get(shown.removeprefix("/api"))).status_code == 404


async def test_an_address_can_be_made_anew_and_the_old_one_opens_nothing(
    home: House, two: Two
) -> None:
    state = await home.meeting()
    mine, other = two
    shown = await mine.open(page_of(home, state, "host"))
    assert (await other.client.post(f"{shown}/address")).status_code == 403
    made = (await mine.client.post(f"{shown}/address", json={})).json()
    fresh = f"/api/r/{made['token']}"
    assert made["id"] == id_of(made["token"])
    assert (await other.client.get(shown)).status_code == 404
    assert await mine.told(fresh) == ("host", "", True)
    assert await other.told(await other.open(f"/r/{made['token']}")) == ("viewer", "", False)
    direct = await home.client.post(f"{home.at(state, 'host')}/address", json={})
    assert direct.status_code == 409


async def test_a_locked_link_stays_in_the_address_bar(home: House) -> None:
    state = await home.meeting()
    token = home.links.token(state.discussion_id, "host", password="earl grey")
    answer = await home.client.get(f"/r/{token}")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers


async def test_who_watches_does_not_use_up_what_the_leader_may_do(tmp_path: Path) -> None:
    async with house(tmp_path / "home", rate=Rate(1, 3, monotonic=lambda: 0.0)) as home:
        state = await home.meeting()
        async with browsers(home) as (mine, other):
            shown = await mine.open(page_of(home, state, "host"))
            codes = [(await other.client.post(f"{shown}/resume")).status_code for _ in range(5)]
            assert codes[-1] == 429
            paused = await mine.client.post(f"{shown}/pause", json={"reason": ""})
            assert paused.status_code == 200
