"""`roundtable serve` as people and programs meet it: real processes, real ports."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from roundtable.bootstrap import start
from roundtable.core.errors import UsageError
from roundtable.core.events import NoteAdded
from roundtable.ledger.leases import this_owner
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.web import found as finding
from roundtable.surfaces.web.found import (
    Found,
    announce,
    ensure_server,
    owner_url,
    page_url,
    running,
    stop_server,
)
from roundtable.surfaces.web.links import load_links
from tests.servers import hang, provider_server
from tests.surfaces.desk import Desk, Outcome, Running, wait_for

from .house import MEETING, PATIENCE, Frame, Process, alive, feed, frames, house_settings

pytestmark = pytest.mark.anyio
PORT = "0"
"""Any free port: tests run beside other things."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def taken(port: int) -> Iterator[None]:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        yield


def servers_of(home: Path) -> list[int]:
    """The processes of this machine that serve, or are about to serve, this home."""
    mark = f"ROUNDTABLE_HOME={home}".encode()
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (each / "cmdline").read_bytes().split(b"\0")
            if b"serve" in words and mark in (each / "environ").read_bytes().split(b"\0"):
                found.append(int(each.name))
    return [pid for pid in found if alive(pid)]


def command(home: Path, *args: str) -> Outcome:
    env = {"ROUNDTABLE_HOME": str(home), "ROUNDTABLE_LOCAL_SERVERS": "false"}
    with Running(home.parent, args, env) as started:
        return started.end()


async def open_meeting(home: Path, rounds: int = 4) -> str:
    async with start(house_settings(home), env={}) as app:
        options = {**MEETING, "max_rounds": rounds}
        request = OpenRequest(topic="Tea or coffee?", procedure="meeting", options=options)
        return (await app.service.open(request)).discussion_id


def api(home: Path, discussion_id: str, role: str = "viewer", seat: str = "") -> str:
    token = load_links(home).token(discussion_id, role, seat=seat)  # type: ignore[arg-type]
    return f"/api/r/{token}"


@pytest.mark.requirement("D-59", "D-82")
def test_a_busy_port_leads_to_the_next_and_the_real_one_is_told(tmp_path: Path) -> None:
    home = tmp_path / "home"
    port = free_port()
    with taken(port), Process(home, "--port", str(port)) as server:
        found = server.found
        assert found.port > port
        assert found.url == f"http://localhost:{found.port}"
        wait_for(lambda: "?key=" in server.said)
        assert owner_url(found, load_links(home)) in server.said
        assert "0.0.0.0" not in server.said


@pytest.mark.requirement("D-82")
def test_it_listens_on_loopback_alone(tmp_path: Path) -> None:
    with Process(tmp_path / "home", "--port", PORT) as server:
        port = f"{server.found.port:04X}"
        table = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
        listening = [row.split()[1] for row in table if row.split()[3] == "0A"]
        assert [at for at in listening if at.endswith(f":{port}")] == [f"0100007F:{port}"]


@pytest.mark.requirement("D-83")
def test_a_server_outlives_its_starter_is_found_again_and_can_be_stopped(tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = house_settings(home)
    assert running(home) is None
    found = asyncio.run(ensure_server(settings, port=0))
    try:
        assert alive(found.pid)
        assert asyncio.run(ensure_server(settings, port=0)) == found
        told = command(home, "serve", "--status")
        assert told.out.strip() == owner_url(found, load_links(home))
        again = command(home, "serve", "--no-browser")
        assert (again.code, again.out) == (0, told.out)
        assert f"on port {found.port}, by process {found.pid}" in again.err
        assert "Nothing was started" not in again.err
        other = command(home, "serve", "--no-browser", "--port", "9491")
        assert (other.code, other.out) == (0, told.out)
        assert "Nothing was started on port 9491" in other.err
        assert "roundtable serve --stop" in other.err
    finally:
        stopped = command(home, "serve", "--stop")
    assert stopped.err.strip() == "Stopped."
    assert servers_of(home) == []
    assert not (home / "web.json").exists()
    assert running(home) is None
    assert stop_server(home) is False
    assert command(home, "serve", "--status").code == 1


@pytest.mark.requirement("D-83")
def test_starters_that_come_at_the_same_time_start_one_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = house_settings(home)

    async def both() -> list[Found]:
        return await asyncio.gather(*(ensure_server(settings, port=0) for _ in range(3)))

    found = asyncio.run(both())
    try:
        assert len(set(found)) == 1
        assert servers_of(home) == [found[0].pid]
    finally:
        assert stop_server(home)
    assert servers_of(home) == []


def test_a_killed_server_is_not_found_and_its_place_is_taken(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Process(home, "--port", PORT) as server:
        server.process.kill()
        server.process.wait(PATIENCE)
    assert (home / "web.json").exists()
    assert running(home) is None
    assert stop_server(home) is False
    assert not (home / "web.json").exists()
    with Process(home, "--port", PORT) as server:
        assert server.found.pid == server.process.pid


def test_somebody_else_at_the_port_is_not_taken_for_our_server(tmp_path: Path) -> None:
    """It would get the owner's key."""
    home, other = tmp_path / "home", tmp_path / "other"
    with Process(other, "--port", PORT) as stranger:
        found = stranger.found
        pid = stranger.process.pid
        announce(home_of(home), Found(found.url, found.port, pid, found.host), "x:1:")
        assert running(home) is None


def home_of(home: Path) -> Path:
    home.mkdir()
    return home


def test_this_process_is_found_by_itself_without_being_asked(tmp_path: Path) -> None:
    found = Found("http://localhost:1", 1, os.getpid())
    announce(tmp_path, found, this_owner())
    assert running(tmp_path) == found


async def test_without_its_libraries_the_page_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'roundtable-council\[web\]'"):
        await ensure_server(house_settings(tmp_path / "home"))


@pytest.mark.requirement("D-61", "D-63", "D-78")
async def test_a_speech_of_another_process_shows(tmp_path: Path) -> None:
    home = tmp_path / "home"
    discussion_id = await open_meeting(home)
    path = api(home, discussion_id)
    with Process(home, "--port", PORT) as server:
        async with httpx2.AsyncClient(base_url=server.found.url, timeout=PATIENCE) as client:
            begun = asyncio.Event()

            def spoken(frame: Frame) -> bool:
                begun.set()
                return frame.data.get("type") == "SpeechGiven"

            seen = asyncio.create_task(feed(client, f"{path}/feed", until=spoken))
            await asyncio.wait_for(begun.wait(), PATIENCE)
            async with start(house_settings(home), env={}) as app:
                await app.service.speak(discussion_id, "tea", "Tea, from elsewhere.")
                last = (await asyncio.wait_for(seen, PATIENCE))[-1]
                assert "Tea, from elsewhere." in last.data["html"]
                await app.service.conclude(discussion_id, "Water.")
            rest = await feed(client, f"{path}/feed", headers={"Last-Event-ID": str(last.id)})
            assert rest[-1].event == "end"
            opened = (await client.get(path)).json()
            assert opened["status"] == "concluded"


@pytest.mark.requirement("D-76", "D-77", "D-64", "D-78", "D-79", "Z-10")
async def test_eight_processes_hold_a_discussion_and_the_page_shows_all_of_it(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    discussion_id = await open_meeting(home)
    path = api(home, discussion_id)
    with Process(home, "--port", PORT) as server:
        async with httpx2.AsyncClient(base_url=server.found.url, timeout=PATIENCE) as client:
            watching = asyncio.create_task(feed(client, f"{path}/feed"))
            for number in range(6):
                who = ("tea", "coffee")[number % 2]
                words = ("speak", discussion_id, f"Speech {number} of {who}.", "--as", who)
                spoke = await asyncio.to_thread(command, home, *words)
                assert spoke.code == 0, spoke.err
            done = await asyncio.to_thread(
                command, home, "conclude", discussion_id, "Both, at their time."
            )
            assert done.code == 0, done.err
            seen = await asyncio.wait_for(watching, PATIENCE)
            html = [f.data["html"] for f in seen if f.data.get("type") == "SpeechGiven"]
            for number in range(6):
                assert sum(f"Speech {number} of" in each for each in html) == 1
            assert sum("Both, at their time." in each for each in html) == 1
            shown = (await client.get(f"{path}/derived")).json()
            assert "Both, at their time." in shown["decision"]["answer"]["written_html"]
            assert (await client.get(path)).json()["status"] == "concluded"


@pytest.mark.requirement("I-22")
async def test_a_viewer_goes_on_where_it_was_when_the_server_was_killed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    discussion_id = await open_meeting(home)
    path = f"{api(home, discussion_id)}/feed"
    port = str(free_port())
    seen: list[Frame] = []
    async with start(house_settings(home), env={}) as app:

        async def note(number: int) -> None:
            await app.service.record(discussion_id, NoteAdded(code="said", text=str(number)))

        for round_ in range(3):
            with Process(home, "--port", port) as server:
                url = f"http://localhost:{port}"
                assert server.found.url == url
                async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE) as client:
                    headers = {"Last-Event-ID": str(seen[-1].id)} if seen else {}
                    wanted = str(round_)
                    await note(round_)
                    async with asyncio.timeout(PATIENCE):
                        async for frame in frames(client, path, headers):
                            seen.append(frame)
                            if frame.data.get("text") == wanted:
                                break
                server.process.kill()
                server.process.wait(PATIENCE)
            await note(100 + round_)
        last = len(await app.service.records(discussion_id))
        with Process(home, "--port", port) as server:
            async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE) as client:
                headers = {"Last-Event-ID": str(seen[-1].id)}
                seen += await feed(
                    client, path, headers=headers, until=lambda frame: frame.id == last
                )
    assert [frame.id for frame in seen] == list(range(1, last + 1))


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
async def test_a_server_that_is_asked_to_end_interrupts_resumably(
    tmp_path: Path, sign: signal.Signals
) -> None:
    home = tmp_path / "home"
    with Process(home, "--port", PORT) as server:
        owner = {"Authorization": f"Bearer {load_links(home).owner_key}"}
        async with httpx2.AsyncClient(base_url=server.found.url, timeout=PATIENCE) as client:
            body = {
                "topic": "Tea or coffee?",
                "procedure": "council",
                "options": {"all": "scripted/slow", "quick": True},
            }
            made = (await client.post("/api/discussions", json=body, headers=owner)).json()
            path = made["url"].replace("/r/", "/api/r/") + "/feed"
            begun = asyncio.Event()

            def speaking(frame: Frame) -> bool:
                if frame.data.get("type") == "AttemptStarted":
                    begun.set()
                return False

            viewer = asyncio.create_task(feed(client, path, until=speaking))
            await asyncio.wait_for(begun.wait(), PATIENCE)
            server.process.send_signal(sign)
            code = await asyncio.to_thread(server.process.wait, PATIENCE)
            assert (await asyncio.wait_for(viewer, PATIENCE))[-1].event == "end"
        assert code == 0, server.said
        assert "Traceback" not in server.said
    assert not (home / "web.json").exists()
    async with start(house_settings(home), env={}) as app:
        (row,) = await app.service.summaries()
        assert (row.status, row.driver) == ("running", None)
    with Process(home, "--port", PORT, "--resume-all") as server:
        async with httpx2.AsyncClient(base_url=server.found.url, timeout=PATIENCE) as client:
            opened = await client.get(api(home, made["discussion_id"]))
            assert opened.json()["driven_here"] is True


@pytest.mark.requirement("I-20", "I-21")
async def test_no_token_or_key_reaches_the_log(tmp_path: Path) -> None:
    home = tmp_path / "home"
    discussion_id = await open_meeting(home)
    settings = house_settings(home)
    links = load_links(home)
    found = await ensure_server(settings, port=0)
    try:
        token = links.token(discussion_id, "host")
        async with httpx2.AsyncClient(base_url=found.url, timeout=PATIENCE) as client:
            for path in ("/r/{}", "/api/r/{}", "/api/r/{}/events", "/api/r/{}x", "/api/r/{}/no"):
                await client.get(path.format(token))
            await client.get(f"/?key={links.owner_key}")
            await client.post(f"/api/r/{token}/speak", content=b"\xff")
    finally:
        assert stop_server(home)
    log = (home / "web.log").read_text("utf-8")
    assert token not in log
    assert links.owner_key not in log


@pytest.mark.requirement("D-81")
async def test_a_pages_address_can_be_had_and_opened_by_anybody_who_has_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    discussion_id = await open_meeting(home)
    with Process(home, "--port", PORT) as server:
        url = page_url(server.found, load_links(home), discussion_id)
        assert url.startswith("http://localhost:")
        async with httpx2.AsyncClient(timeout=PATIENCE) as client:
            page = await client.get(url)
            assert page.status_code == 200
            assert "text/html" in page.headers["content-type"]


def test_a_command_line_run_shows_its_words_on_the_page(desk: Desk) -> None:
    """Drafts of a process that drives reach the server that shows."""
    args = ("--all=openai/x", "--model", "openai/x", "--quick", "--no-log", "-v")
    with (
        Process(desk.home, "--port", PORT) as server,
        provider_server(lambda _: hang("Words so far, and more to come. ")) as models,
        desk.start("Tea or coffee?", *args, **models.env()) as run,
    ):
        run.wait_until_it_says("is speaking")
        named = re.search(r"rt_[0-9a-f]{8}", run.err)
        assert named is not None
        path = f"{api(desk.home, named[0])}/feed"

        async def heard() -> Frame:
            url = server.found.url
            async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE) as client:
                return (await feed(client, path, until=lambda f: f.event == "draft"))[-1]

        draft = asyncio.run(heard())
        assert draft.event == "draft"
        assert draft.data["words"]
