"""What a link opens and allows, through the real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from roundtable.core.events import MaterialAdded, SpeechGiven, TurnFailed
from roundtable.surfaces.web.limits import Rate

from .house import MEETING, House, house

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home", now=lambda: NOW) as opened:
        yield opened


def code(answer: httpx2.Response) -> int:
    if answer.status_code >= 400:
        assert set(answer.json()) >= {"error", "remedy"}, answer.text
    return answer.status_code


async def test_a_link_says_what_it_opens(home: House) -> None:
    state = await home.meeting()
    opened = (await home.client.get(home.at(state, "seat", "tea"))).json()
    assert (opened["role"], opened["seat"], opened["topic"]) == ("seat", "tea", "Tea or coffee?")
    assert (opened["status"], opened["links"]) == ("running", None)
    assert opened["last_seq"] == len(await home.service.records(state.discussion_id))
    links = (await home.client.get(home.at(state, "host"))).json()["links"]
    assert set(links) == {"viewer", "tea", "coffee"}
    assert (await home.client.get(links["tea"].replace("/r/", "/api/r/"))).json()["seat"] == "tea"


@pytest.mark.requirement("D-60")
async def test_a_wrong_link_opens_neither_page_nor_data(home: House) -> None:
    state = await home.meeting()
    right = home.at(state)
    wrong = right[:-1] + ("A" if right[-1] != "A" else "B")
    gone = home.at(state, expires=NOW - timedelta(seconds=1))
    for path in (wrong, gone):
        assert (await home.client.get(path.removeprefix("/api"))).status_code == 404
        for what in ("", "/events", "/feed", "/derived", "/export.md", "/bundle"):
            assert code(await home.client.get(f"{path}{what}")) == 404
        for act in ("speak", "pause", "unlock"):
            assert code(await home.act(f"{path}/{act}", text="x", password="x", reason="")) == 404
    assert (await home.client.get(right.removeprefix("/api"))).status_code == 200


async def test_a_locked_link_needs_its_password_once(home: House) -> None:
    state = await home.meeting()
    path = home.at(state, "host", password="sesame")
    locked = await home.client.get(path)
    assert (locked.status_code, locked.json()["locked"]) == (401, True)
    assert (await home.act(f"{path}/pause", reason="")).status_code == 401
    assert (await home.act(f"{path}/unlock", password="wrong")).status_code == 401
    unlocked = await home.act(f"{path}/unlock", password="sesame")
    cookie = unlocked.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert (await home.client.get(path)).status_code == 200
    other = home.at(state, "host", password="sesame")
    assert (await home.client.get(other)).status_code == 401


@pytest.mark.requirement("I-33")
async def test_the_host_leads_and_every_act_is_an_event(home: House) -> None:
    state = await home.meeting()
    host = home.at(state, "host")
    assert code(await home.act(f"{host}/pause", reason="lunch")) == 200
    assert code(await home.act(f"{host}/resume")) == 200
    assert code(await home.act(f"{host}/speak", text="What about water?", key="k1")) == 200
    assert code(await home.act(f"{host}/speak", text="What about water?", key="k1")) == 200
    assert (
        code(await home.act(f"{host}/material", source="notes.md", text="Water is cheap.")) == 200
    )
    assert code(await home.act(f"{host}/extend", rounds=2)) == 200
    assert code(await home.act(f"{host}/skip", participant="tea")) == 200
    assert code(await home.act(f"{host}/advance")) == 200
    stopped = await home.act(f"{host}/stop", reason="enough")
    assert code(stopped) == 200
    records = await home.service.records(state.discussion_id)
    types: list[str] = [record.event.type for record in records]
    wanted = ["DiscussionPaused", "DiscussionResumed", "SpeechGiven", "MaterialAdded"]
    wanted += ["RoundsExtended", "TurnFailed", "RoundAdvanced", "StopRequested"]
    first = [types.index(name) for name in wanted]
    assert first == sorted(first)
    material = next(r.event for r in records if isinstance(r.event, MaterialAdded))
    assert (material.material.source, material.by) == ("notes.md", "the host")
    remarks = [r.event for r in records if isinstance(r.event, SpeechGiven)]
    assert sum(event.text == "What about water?" for event in remarks) == 1
    skipped = next(r.event for r in records if isinstance(r.event, TurnFailed))
    assert (skipped.participant, skipped.cause) == ("tea", "absent")
    await home.web.running.over(state.discussion_id)
    closed = (await home.service.read(state.discussion_id)).closed
    assert closed is not None
    assert closed.stop_reason == "stopped_by_user"


@pytest.mark.requirement("I-33")
async def test_a_person_speaks_and_votes_for_a_seat(home: House) -> None:
    state = await home.meeting()
    seat = home.at(state, "seat", "tea")
    declaration = {"position": "Tea.", "new_points": ["Tea keeps."], "votes": [], "end": False}
    spoken = {"text": "Tea, because it keeps.", "declaration": declaration, "key": "once"}
    unread = await home.act(f"{seat}/speak", **{**spoken, "declaration": {"position": "…"}})
    assert code(unread) == 409
    assert "The position is missing" in unread.json()["error"]
    said = await home.act(f"{seat}/speak", **spoken)
    assert said.json() == {
        "turn_id": "1/discussion/tea",
        "round": 1,
        "flags": ["[not 200-500 words]"],
        "recorded": "position: Tea.",
        "problems": [
            "The speech has 4 words; at least 200 are needed. It is recorded, and flagged."
        ],
        "new_points": ["p1"],
        "new_conditions": [],
        "amended": [],
    }
    again = await home.act(f"{seat}/speak", **spoken)
    assert again.json() == said.json()
    early = await home.act(f"{seat}/speak", text="And another thing.")
    assert code(early) == 409
    assert "turn" in early.json()["error"]
    assert code(await home.act(f"{seat}/vote", in_favour=True)) == 200
    assert (await home.service.read(state.discussion_id)).end_votes == {"tea": True}


@pytest.mark.requirement("Z-22")
async def test_prose_of_a_seat_is_taken_and_its_reader_told_that_it_counts_for_nothing(
    home: House,
) -> None:
    state = await home.meeting()
    said = await home.act(f"{home.at(state, 'seat', 'tea')}/speak", text="Tea, I would say.")
    assert "[no declaration]" in said.json()["flags"]
    assert "nothing of it is counted" in said.json()["problems"][0]


async def test_nobody_does_more_than_its_link_allows(home: House) -> None:
    state = await home.meeting()
    bodies: dict[str, dict[str, Any]] = {
        "pause": {"reason": ""},
        "resume": {},
        "skip": {"participant": "tea"},
        "material": {"source": "a", "text": "b"},
        "extend": {"rounds": 1},
        "advance": {},
        "stop": {"reason": ""},
        "share": {},
    }
    before = await home.types(state)
    for role, seat in (("viewer", ""), ("seat", "tea")):
        for act, body in bodies.items():
            assert code(await home.act(f"{home.at(state, role, seat)}/{act}", **body)) == 403
        assert code(await home.client.get(f"{home.at(state, role, seat)}/bundle")) == 403
    assert code(await home.act(f"{home.at(state)}/speak", text="Hello")) == 403
    assert code(await home.act(f"{home.at(state)}/vote", in_favour=True)) == 403
    assert await home.types(state) == before


async def test_what_cannot_be_done_says_why_and_what_to_do(home: House) -> None:
    state = await home.meeting()
    host = home.at(state, "host")
    assert code(await home.act(f"{host}/skip", participant="Tea")) == 404
    assert code(await home.act(f"{host}/extend", rounds=1_000)) == 409
    assert code(await home.act(f"{host}/extend", rounds="many")) == 422
    assert code(await home.act(f"{host}/extend", rounds=1, surprise=True)) == 422
    assert code(await home.act(f"{host}/speak", text="  ")) == 409
    assert code(await home.act(f"{host}/material", source="a", text="\x00")) == 422
    assert code(await home.act(f"{host}/share", role="seat", seat="Tea")) == 422
    assert code(await home.act(f"{host}/nonsense")) == 404
    assert code(await home.client.get("/api/discussions/rt_0/run", headers=home.owner)) == 405
    ended = await home.council()
    assert code(await home.act(f"{home.at(ended, 'host')}/pause", reason="")) == 409
    broken = await home.client.post(
        f"{host}/speak", content=b"{", headers={"content-type": "application/json"}
    )
    assert code(broken) == 422


async def test_the_host_shares_links_that_end_and_need_a_password(home: House) -> None:
    state = await home.meeting()
    answer = await home.act(
        f"{home.at(state, 'host')}/share", role="seat", seat="coffee", hours=2, password="bean"
    )
    shared = answer.json()
    assert shared["url"] == f"{home.url}/r/{shared['token']}"
    grant = home.links.read(shared["token"], now=NOW)
    assert grant is not None
    assert (grant.role, grant.seat, grant.locked) == ("seat", "coffee", True)
    assert grant.expires == NOW + timedelta(hours=2)
    assert "bean" not in answer.text


@pytest.mark.requirement("I-21")
async def test_nobody_but_the_owner_sees_or_starts_discussions(home: House) -> None:
    state = await home.meeting()
    asks: list[tuple[str, str, Any]] = [
        ("GET", "/api/discussions", None),
        ("POST", "/api/discussions", {"topic": "Mine?"}),
        ("DELETE", f"/api/discussions/{state.discussion_id}", None),
        ("POST", f"/api/discussions/{state.discussion_id}/run", {}),
        ("POST", "/api/drafts", {"drafts": []}),
    ]
    for method, path, body in asks:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic x"}):
            answer = await home.client.request(method, path, json=body, headers=headers)
            assert code(answer) == 401, (method, path)
            assert "roundtable serve" in answer.json()["remedy"]
    assert len(await home.service.summaries()) == 1


async def test_the_owners_link_lets_a_browser_in_and_leaves_the_address(home: House) -> None:
    assert (await home.client.get("/")).status_code == 401
    assert (await home.client.get("/?key=wrong")).status_code == 401
    let_in = await home.client.get(f"/?key={home.links.owner_key}")
    assert (let_in.status_code, let_in.headers["location"]) == (303, "/")
    cookie = let_in.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert home.links.owner_key not in let_in.headers["set-cookie"]
    assert (await home.client.get("/")).status_code == 200
    assert (await home.client.get("/api/discussions")).status_code == 200


@pytest.mark.requirement("D-02")
async def test_a_meeting_that_only_people_hold_is_opened_and_estimated(home: House) -> None:
    asked = {"topic": "Tea?", "procedure": "meeting", "options": MEETING, "run": False}
    opened = await home.client.post("/api/discussions", json=asked, headers=home.owner)
    assert opened.status_code == 201, opened.text
    state = await home.service.read(opened.json()["discussion_id"])
    assert (await home.service.estimate(state)).expected.calls == 0


@pytest.mark.requirement("I-10")
async def test_the_owner_opens_lists_runs_exports_and_deletes(home: House) -> None:
    body = {"topic": "Tea or coffee?", "procedure": "council", "run": False, "key": "one"}
    body["options"] = {"all": "scripted/echo", "quick": True}
    made = await home.client.post("/api/discussions", json=body, headers=home.owner)
    assert made.status_code == 201, made.text
    again = await home.client.post("/api/discussions", json=body, headers=home.owner)
    assert again.json()["discussion_id"] == made.json()["discussion_id"]
    discussion_id = made.json()["discussion_id"]
    assert (made.json()["status"], made.json()["driven_here"]) == ("running", False)
    listed = await home.client.get("/api/discussions?search=COFFEE", headers=home.owner)
    (row,) = listed.json()["discussions"]
    assert (row["discussion_id"], row["status"]) == (discussion_id, "interrupted")
    shown = await home.client.get(f"{home.at(await home.app.service.read(discussion_id))}/derived")
    assert shown.json()["decision"]["kind"] == "interrupted"
    assert (await home.client.get("/api/discussions?search=x", headers=home.owner)).json() == {
        "discussions": [],
        "pending": 0,
        "counts": {},
        "procedures": [],
        "total": 0,
    }
    path = f"/api/discussions/{discussion_id}"
    run = await home.client.post(f"{path}/run", json={}, headers=home.owner)
    assert (run.status_code, run.json()["driven_here"]) == (202, True)
    await home.web.running.over(discussion_id)
    api = row["url"].removeprefix(home.url).replace("/r/", "/api/r/")
    assert "# " in (await home.client.get(f"{api}/export.md")).text
    assert (await home.client.get(f"{api}/export.json")).json()["status"] == "concluded"
    html = await home.client.get(f"{api}/export.html")
    assert html.headers["content-disposition"].startswith("attachment")
    assert html.text.startswith("<!doctype html>")
    assert (await home.client.get(f"{api}/bundle")).status_code == 200
    assert code(await home.client.get(f"{api}/export.exe")) == 400
    assert (await home.client.delete(path, headers=home.owner)).status_code == 204
    assert code(await home.client.get(api)) == 404
    assert code(await home.client.delete(path, headers=home.owner)) == 404


@pytest.mark.requirement("I-20")
async def test_a_secret_in_a_discussion_is_not_shown(home: House) -> None:
    secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
    state = await home.meeting()
    seat = home.at(state, "seat", "tea")
    assert code(await home.act(f"{seat}/speak", text=f"The key is {secret}.")) == 200
    for what in ("", "/events", "/derived", "/export.md", "/export.json", "/export.html"):
        answer = await home.client.get(f"{seat}{what}")
        assert answer.status_code == 200
        assert secret not in answer.text, what


async def test_a_link_that_writes_too_often_is_slowed_down(tmp_path: Path) -> None:
    async with house(tmp_path / "home", rate=Rate(30, 3)) as home:
        state = await home.meeting()
        host = home.at(state, "host")
        codes = [(await home.act(f"{host}/pause", reason="")).status_code for _ in range(4)]
        assert codes == [200, 200, 200, 429]
        assert (await home.act(f"{home.at(state, 'seat', 'tea')}/vote", in_favour=True)).is_success
        assert (await home.client.get(host)).is_success


async def test_the_service_describes_itself(home: House) -> None:
    described = (await home.client.get("/api/openapi.json")).json()
    assert described["info"]["title"] == "Roundtable"
    paths = set(described["paths"])
    acts = ("speak", "pause", "resume", "skip", "material", "extend", "advance", "stop", "vote")
    assert {f"/api/r/{{token}}/{act}" for act in acts} <= paths
    assert {"/api/discussions", "/api/r/{token}/feed", "/api/r/{token}/derived"} <= paths


async def test_an_unknown_address_is_answered_in_words_for_people_and_as_json_for_programs(
    home: House,
) -> None:
    page = await home.client.get("/decisions")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such page" in page.text
    api = await home.client.get("/api/decisions")
    assert (api.status_code, "error" in api.json()) == (404, True)
