"""Those who try, those who leave, and what runs out: through the real server."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from roundtable.surfaces.web import sse
from roundtable.surfaces.web.links import load_links
from tests.servers import provider_server
from tests.surfaces.desk import wait_for
from tests.surfaces.test_interruption import stuck_engineer

from .house import PATIENCE, Frame, House, Process, feed, frames, house

pytestmark = pytest.mark.anyio
LARGE = "x" * 5_000_000
FITS_THE_BODY = "x" * 1_900_000


class Clock:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 2, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def home(tmp_path: Path, clock: Clock) -> AsyncIterator[House]:
    async with house(tmp_path / "home", now=clock) as opened:
        yield opened


# --- links ----------------------------------------------------------------------------------------


@pytest.mark.requirement("I-21")
async def test_a_feed_ends_when_its_link_runs_out(home: House, clock: Clock) -> None:
    state = await home.meeting()
    link = home.at(state, expires=clock.at + timedelta(hours=1))
    begun = asyncio.Event()

    def seen(_: Frame) -> bool:
        begun.set()
        return False

    watching = asyncio.create_task(feed(home.client, f"{link}/feed", until=seen))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    clock.at += timedelta(hours=2)
    await home.service.speak(state.discussion_id, "tea", "Said before the end was noticed.")
    await home.service.speak(state.discussion_id, "coffee", "A secret.")
    told = await asyncio.wait_for(watching, PATIENCE)
    assert told[-1].event == "end"
    assert "A secret." not in str([frame.data for frame in told])
    assert (await home.client.get(f"{link}/feed")).status_code == 404


@pytest.mark.requirement("I-21")
async def test_a_quiet_feed_ends_at_the_very_time_of_its_link(home: House, clock: Clock) -> None:
    state = await home.meeting()
    link = home.at(state, expires=clock.at + timedelta(seconds=1))
    clock.at += timedelta(seconds=0.9)
    assert (await feed(home.client, f"{link}/feed"))[-1].event == "end"


@pytest.mark.requirement("I-21")
async def test_a_host_for_some_hours_gives_out_no_link_for_longer(
    home: House, clock: Clock
) -> None:
    state = await home.meeting()
    ends = clock.at + timedelta(hours=2)
    host = home.at(state, "host", expires=ends)
    wishes: tuple[dict[str, Any], ...] = (
        {},
        {"hours": 1_000},
        {"role": "host"},
        {"role": "seat", "seat": "tea"},
    )
    shared = [await home.act(f"{host}/share", **wish) for wish in wishes]
    shown = (await home.client.get(host)).json()["links"].values()
    for url in (*shown, *(answer.json()["url"] for answer in shared)):
        grant = home.links.read(url.rpartition("/")[2], now=clock.at)
        assert grant is not None
        assert grant.expires == ends
    shorter = (await home.act(f"{host}/share", hours=1)).json()
    assert shorter["expires"] == (clock.at + timedelta(hours=1)).isoformat()
    owner = await home.client.post(f"{host}/share", json={}, headers=dict(home.owner))
    assert owner.json()["expires"] is None


@pytest.mark.requirement("I-21")
async def test_passwords_cannot_be_tried_one_after_another(home: House) -> None:
    state = await home.meeting()
    link = home.at(state, password="0007")
    tries = [await home.act(f"{link}/unlock", password=f"{n:04}") for n in range(8)]
    codes = [answer.status_code for answer in tries]
    assert codes == [401] * 5 + [429] * 3, "the right one came too late to be looked at"
    assert int(tries[-1].headers["retry-after"]) > 5
    assert tries[-1].json()["locked"] is True
    # Links that nobody gave out do not push this one from the list of those that are slowed down.
    for number in range(200):
        await home.act(f"/api/r/x{number}/unlock", password="x")
    assert (await home.act(f"{link}/unlock", password="0007")).status_code == 429
    other = home.at(state, password="other")
    assert (await home.act(f"{other}/unlock", password="other")).status_code == 204


@pytest.mark.requirement("I-33")
async def test_a_seats_link_speaks_for_that_seat_alone(home: House) -> None:
    state = await home.meeting()
    tea, coffee = home.at(state, "seat", "tea"), home.at(state, "seat", "coffee")
    for body in ({"participant": "tea"}, {"seat": "tea"}, {"speaker": "coordinator"}):
        answer = await home.act(f"{coffee}/speak", text="As tea.", **body)
        assert answer.status_code == 422
    assert (await home.act(f"{coffee}/speak", text="Out of turn.")).status_code == 409
    for nobody in ("coordinator", "host", "Tea"):
        lent = await home.act(f"{home.at(state, 'host')}/share", role="seat", seat=nobody)
        assert lent.status_code == 422, "no link is given out for a seat that is none"
    for nobody in ("Tea", "host", ""):
        answer = await home.act(f"{home.at(state, 'seat', nobody)}/speak", text="Who?")
        assert answer.status_code in (403, 404, 409), (nobody, answer.text)
    assert "SpeechGiven" not in await home.types(state)
    assert (await home.act(f"{tea}/speak", text="As myself.")).status_code == 200
    both = [home.act(f"{coffee}/speak", text=f"At once {n}.") for n in range(8)]
    codes = sorted([answer.status_code for answer in await asyncio.gather(*both)])
    assert codes == [200] + [409] * 7
    await home.service.conclude(state.discussion_id, "Water.")
    late = await home.act(f"{home.at(state, 'seat', 'tea')}/speak", text="After the end.")
    assert late.status_code == 409
    assert late.json()["remedy"]


# --- sizes and places -----------------------------------------------------------------------------


@pytest.mark.requirement("I-16")
async def test_words_of_five_megabytes_are_refused_by_every_act(home: House) -> None:
    state = await home.meeting()
    host, seat = home.at(state, "host"), home.at(state, "seat", "tea")
    before = await home.types(state)
    for text in (LARGE, FITS_THE_BODY):
        acts: list[tuple[str, dict[str, Any]]] = [
            (f"{seat}/speak", {"text": text}),
            (f"{host}/speak", {"text": text}),
            *([(f"{host}/material", {"source": "a", "text": text})] if text is LARGE else []),
            (f"{host}/material", {"source": text, "text": "b"}),
            (f"{host}/pause", {"reason": text}),
            (f"{host}/stop", {"reason": text}),
            (f"{host}/skip", {"participant": text}),
            (f"{host}/share", {"password": text}),
            (f"{host}/unlock", {"password": text}),
            ("/api/discussions", {"topic": text}),
            ("/api/estimate", {"topic": text}),
            ("/api/suggest", {"topic": text}),
            ("/api/tools/init", {"topic": text, "participants": []}),
        ]
        for path, body in acts:
            answer = await home.client.post(path, json=body, headers=dict(home.owner))
            wanted = (413,) if text is LARGE else (409, 422)
            assert answer.status_code in wanted, (path, list(body), answer.status_code)
            assert len(answer.text) < 2_000
    assert await home.types(state) == before


@pytest.mark.requirement("I-21")
@pytest.mark.parametrize(
    "place",
    [
        "/etc/cron.md",
        "../outside.md",
        "a/../../outside.md",
        "..\\outside.md",
        "C:\\outside.md",
        "ok.md\x00.sh",
        "\n/outside.md",
        "inside.sh",
        "",
    ],
)
async def test_no_path_leads_out_of_the_workspace(home: House, tmp_path: Path, place: str) -> None:
    seats = [{"profile": "tea", "role": "a"}, {"profile": "coffee", "role": "b"}]
    asked: list[tuple[str, dict[str, Any]]] = [
        (
            "/api/discussions",
            {
                "topic": "Q?",
                "procedure": "meeting",
                "options": {"participants": seats, "output_path": place},
                "run": False,
            },
        ),
        (
            "/api/tools/init",
            {"topic": "Q?", "participants": seats, "output_path": place, "web": False},
        ),
    ]
    for path, body in asked:
        answer = await home.client.post(path, json=body, headers=dict(home.owner))
        assert answer.status_code == 422, answer.text
        assert "output_path" in answer.json()["error"]
    assert await home.service.summaries() == []
    assert not await asyncio.to_thread(lambda: list(tmp_path.rglob("*.md")))


@pytest.mark.requirement("I-21")
async def test_no_path_leads_out_of_what_is_exported_or_served(home: House) -> None:
    state = await home.council()
    (home.app.settings.home / "secret.md").write_text("the secret", "utf-8")
    link = home.at(state)
    for tail in (
        "export.md/../../../secret.md",
        "export.%2e%2e%2fsecret.md",
        "export...%2f..%2fsecret.md",
        "export.md%00",
        "export./etc/passwd",
    ):
        answer = await home.client.get(f"{link}/{tail}")
        assert answer.status_code in (400, 404), tail
        assert "the secret" not in answer.text
    for path in ("../app.py", "%2e%2e/app.py", "..%2fapp.py", "%2e%2e%2fweb.key", "//etc/passwd"):
        answer = await home.client.get(f"/assets/{path}")
        assert answer.status_code == 404, path
    for id_ in ("..", "%2e%2e%2f", "rt_0; DROP", "rt_%00"):
        for method, tail in (("DELETE", ""), ("POST", "/run")):
            body: dict[str, Any] = {"json": {}} if method == "POST" else {}
            answer = await home.client.request(
                method, f"/api/discussions/{id_}{tail}", headers=dict(home.owner), **body
            )
            assert answer.status_code in (307, 404, 405), (method, id_)


# --- those who leave ------------------------------------------------------------------------------


@pytest.mark.requirement("Z-17")
async def test_a_viewer_that_vanishes_is_let_go(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "LINGER", 0.01)
    state = await home.meeting()
    async with (
        httpx2.AsyncClient(base_url=home.url, timeout=PATIENCE) as client,
        aclosing(frames(client, f"{home.at(state)}/feed")) as coming,
    ):
        await anext(coming)
        assert home.web.rooms._rooms
    await asyncio.to_thread(wait_for, lambda: not home.web.rooms._rooms)
    assert (await home.act(f"{home.at(state, 'seat', 'tea')}/speak", text="Still.")).is_success


@pytest.mark.requirement("I-07", "I-08")
async def test_a_killed_server_that_comes_back_goes_on_and_asks_nobody_twice(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    seats = {"scholar": "openai/scholar", "engineer": "openai/engineer", "muse": "openai/muse"}
    body = {
        "topic": "Tea or coffee?",
        "procedure": "council",
        "options": {**seats, "quick": True},
        "search": False,
    }
    released = threading.Event()
    with provider_server(stuck_engineer(released)) as provider:
        env = {**provider.env(), "ROUNDTABLE_MODEL": "openai/captain"}
        owner = {"Authorization": f"Bearer {load_links(home).owner_key}"}
        with Process(home, "--port", "0", **env) as server:
            async with httpx2.AsyncClient(base_url=server.found.url, timeout=PATIENCE) as client:
                made = (await client.post("/api/discussions", json=body, headers=owner)).json()
                path = "/api/r/" + made["url"].rpartition("/")[2]
                spoken: set[str] = set()

                def both(frame: Frame) -> bool:
                    if frame.data.get("type") == "SpeechGiven":
                        spoken.add(frame.data["turn_id"])
                    return len(spoken) == 3  # the briefing, and two who answered

                await feed(client, f"{path}/feed", until=both)
                await asyncio.to_thread(
                    wait_for,
                    lambda: any(r.body["model"] == "engineer" for r in provider.requests),
                )
            server.process.kill()
            server.process.wait(PATIENCE)
        released.set()
        with Process(home, "--port", "0", "--resume-all", **env) as server:
            async with httpx2.AsyncClient(base_url=server.found.url, timeout=PATIENCE) as client:
                assert (await feed(client, f"{path}/feed"))[-1].event == "end"
                assert (await client.get(path)).json()["status"] == "concluded"
        calls = sorted(r.body["model"] for r in provider.requests if r.state == "finished")
    assert calls == ["captain", "captain", "engineer", "muse", "scholar"]


# --- what is logged -------------------------------------------------------------------------------


@pytest.mark.requirement("I-20", "I-21")
async def test_a_defect_is_logged_without_the_link_through_which_it_was_met(
    home: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    state = await home.meeting()
    token = home.links.token(state.discussion_id, "host", password="sesame")
    assert (await home.act(f"/api/r/{token}/unlock", password="sesame")).is_success

    async def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("the defect")

    for name in ("speak", "records", "summaries", "read"):
        monkeypatch.setattr(type(home.service), name, broken)
    with caplog.at_level(logging.DEBUG):
        asked = [
            await home.act(f"/api/r/{token}/speak", text="The words."),
            await home.client.get(f"/api/r/{token}/export.md"),
            await home.client.get("/api/discussions", headers=dict(home.owner)),
            await home.client.post("/v1/responses", json={}, headers=dict(home.owner)),
        ]
    assert [answer.status_code for answer in asked[:3]] == [500] * 3
    assert all("the defect" not in answer.text for answer in asked)
    # This server has no file of its own: its log is what it prints.
    assert "what `roundtable serve` prints" in asked[0].json()["remedy"]
    ours = [each for each in caplog.records if not each.name.startswith(("httpx", "httpcore"))]
    said = "\n".join(logging.Formatter().format(each) for each in ours)
    assert "the defect" in said
    for secret in (token, home.links.owner_key, home.links.session, "sesame", "The words."):
        assert secret not in said


@pytest.mark.requirement("I-20")
async def test_the_files_of_a_server_hold_no_key_but_its_own(tmp_path: Path) -> None:
    home = tmp_path / "home"
    key = load_links(home).owner_key
    with Process(home, "--port", "0", "--background") as server:
        async with httpx2.AsyncClient(base_url=server.found.url, timeout=PATIENCE) as client:
            await client.get(f"/?key={key}")
            await client.get(
                f"/api/discussions?key={key}", headers={"authorization": f"Bearer {key}"}
            )
        assert key not in (home / "web.json").read_text("utf-8")
        assert (home / "web.key").stat().st_mode & 0o077 == 0
        for file in home.rglob("*"):
            if file.is_file():
                assert key.encode() not in file.read_bytes(), file.name


@pytest.mark.requirement("I-21")
async def test_one_who_only_watches_learns_neither_prompts_nor_where_news_go(home: House) -> None:
    body = {
        "topic": "Tea?",
        "procedure": "council",
        "options": {"all": "scripted/echo", "quick": True},
        "context": [{"source": "notes.md", "text": "the whole secret plan"}],
        "news": {"channels": [{"platform": "lark", "chat_id": "room-7"}]},
        "run": False,
    }
    made = await home.client.post("/api/discussions", json=body, headers=dict(home.owner))
    assert made.status_code == 201, made.text
    state = await home.service.run(made.json()["discussion_id"])
    assert "room-7" in str(await home.service.records(state.discussion_id))
    forms = ("md", "json", "html", "page")
    for what in ("", "/events", "/feed", "/derived", *(f"/export.{form}" for form in forms)):
        answer = await home.client.get(f"{home.at(state)}{what}")
        assert answer.status_code == 200
        for kept in ("room-7", "secret plan"):
            assert kept not in answer.text, (what, kept)
