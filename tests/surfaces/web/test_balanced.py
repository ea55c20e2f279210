"""Several web processes at one PostgreSQL, as behind a balancer: whichever is asked, it is the same
installation. Each has a home of its own, as on machines of their own."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from roundtable.bootstrap import start
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.tokens.store import id_of
from roundtable.surfaces.web.links import links_of, load_links
from tests.postgres import PostgresServer, RestartingServer, postgres_that_restarts
from tests.servers import hang, provider_server
from tests.surfaces.desk import Desk

from .house import MEETING, PATIENCE, Frame, Process, feed, house_settings

pytestmark = pytest.mark.anyio
SO_FAR = "These are the words so far: " + '日本語 👩‍🚀 and " more. ' * 200
SLOWLY = {"topic": "Tea or coffee?", "procedure": "council", "options": {"all": "openai/x"}}


@dataclass
class Pair:
    one: Process
    other: Process
    url: str

    @property
    def owner(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {load_links(self.one.home).owner_key}"}

    async def started(self) -> str:
        """A discussion that the one drives, slowly; the path of its link, which leads."""
        made = await self.ask(self.one, "POST", "/api/discussions", json=SLOWLY, headers=self.owner)
        assert made.status_code == 201, made.text
        return "/api/r/" + str(made.json()["url"]).rpartition("/r/")[2]

    async def opened(self) -> str:
        """A discussion in which people speak; the path of the link that leads it."""
        settings = house_settings(self.one.home, ROUNDTABLE_DB=self.url)
        async with start(settings, env={}) as app:
            request = OpenRequest(topic="Tea or coffee?", procedure="meeting", options=MEETING)
            state = await app.service.open(request)
        return f"/api/r/{load_links(self.one.home).token(state.discussion_id, 'host')}"

    async def ask(self, which: Process, method: str, path: str, **more: Any) -> httpx2.Response:
        url = which.found.url
        async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            return await client.request(method, path, **more)

    async def until(self, which: Process, path: str, status: int, **more: Any) -> None:
        """Wait until it is answered so."""
        async with asyncio.timeout(PATIENCE):
            while (await self.ask(which, "GET", path, **more)).status_code != status:
                pass


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Iterator[Pair]:
    with ExitStack() as stack:
        url = postgres.new_database()
        models = stack.enter_context(provider_server(lambda _: hang(SO_FAR)))
        env = {**models.env(), "ROUNDTABLE_DB": url}
        one, other = (
            stack.enter_context(
                Process(tmp_path_factory.mktemp(name) / "home", "--port", "0", **env)
            )
            for name in ("one", "other")
        )
        yield Pair(one, other, url)


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name / "home").mkdir(parents=True)


async def _words(which: Process, path: str) -> str:
    """What is being said there, when all of it has come."""
    text = ""

    def heard(frame: Frame) -> bool:
        nonlocal text
        if frame.event == "draft":
            text = (text if frame.data["begins"] else "") + frame.data["words"]
        return len(text) >= len(SO_FAR.strip())

    async with httpx2.AsyncClient(base_url=which.found.url, timeout=PATIENCE) as client:
        await feed(client, f"{path}/feed", until=heard)
    return text.strip()


@pytest.mark.requirement("Z-21")
async def test_a_link_of_one_opens_on_the_other_and_is_refused_there_once_it_is_ended(
    pair: Pair,
) -> None:
    path = await pair.opened()
    link = path.rpartition("/")[2]
    assert (await pair.ask(pair.other, "GET", path)).json()["topic"] == "Tea or coffee?"

    given = {"label": "client", "may": ["open"]}
    made = await pair.ask(pair.one, "POST", "/api/tokens", json=given, headers=pair.owner)
    token = {"Authorization": f"Bearer {made.json()['token']}"}
    await pair.until(pair.other, "/api/tools", 200, headers=token)

    discussion_id = (await pair.ask(pair.one, "GET", path)).json()["discussion_id"]
    at = f"/api/tokens/{id_of(link)}?discussion={discussion_id}"
    ended = await pair.ask(pair.other, "DELETE", at, headers=pair.owner)
    assert ended.status_code == 200, ended.text
    assert (await pair.ask(pair.other, "GET", path)).status_code == 404
    await pair.until(pair.one, path, 404)
    assert "ended" in (await pair.ask(pair.one, "GET", path)).json()["error"]


@pytest.mark.requirement("Z-21")
async def test_what_happens_on_one_is_seen_live_on_the_other(pair: Pair) -> None:
    path = await pair.opened()
    async with httpx2.AsyncClient(base_url=pair.other.found.url, timeout=PATIENCE) as client:

        def spoken(frame: Frame) -> bool:
            return frame.data.get("type") == "SpeechGiven"

        watching = asyncio.create_task(feed(client, f"{path}/feed", until=spoken))
        said = await pair.ask(pair.one, "POST", f"{path}/speak", json={"text": "Tea, I say."})
        assert said.status_code == 200, said.text
        assert "Tea, I say." in str((await watching)[-1].data)


@pytest.mark.requirement("Z-21")
async def test_words_that_are_being_said_on_one_are_seen_on_the_other(pair: Pair) -> None:
    path = await pair.started()

    for which in (pair.other, pair.one, pair.other):
        assert await _words(which, path) == SO_FAR.strip()


async def test_words_of_a_command_line_run_are_seen_on_every_page(pair: Pair, desk: Desk) -> None:
    args = ("--all=openai/x", "--model", "openai/x", "--quick", "--no-log", "-v")
    with (
        provider_server(lambda _: hang(SO_FAR)) as models,
        desk.start("Tea or coffee?", *args, ROUNDTABLE_DB=pair.url, **models.env()) as run,
    ):
        run.wait_until_it_says("is speaking")
        rows = await pair.ask(pair.one, "GET", "/api/discussions", headers=pair.owner)
        row = rows.json()["discussions"][0]
        token = load_links(pair.one.home).token(row["discussion_id"])
        for which in (pair.one, pair.other):
            assert await _words(which, f"/api/r/{token}") == SO_FAR.strip()


@pytest.mark.requirement("Z-21")
async def test_words_of_what_a_worker_drives_are_seen_on_the_page(
    tmp_path: Path, postgres_url: str, desk: Desk
) -> None:
    with provider_server(lambda _: hang(SO_FAR)) as models:
        env = {**models.env(), "ROUNDTABLE_DB": postgres_url}
        with (
            desk.start("worker", **env) as worker,
            Process(tmp_path / "one" / "home", "--port", "0", **env) as one,
        ):
            worker.wait_until_it_says("Working")
            pair = Pair(one, one, postgres_url)
            sent = {"json": SLOWLY, "headers": pair.owner}
            made = (await pair.ask(one, "POST", "/api/discussions", **sent)).json()
            assert made["driven_here"] is False
            worker.wait_until_it_says("taken")
            path = "/api/r/" + str(made["url"]).rpartition("/r/")[2]
            assert await _words(one, path) == SO_FAR.strip()
            refused = await asyncio.to_thread(
                desk.command, "resume", made["discussion_id"], ROUNDTABLE_DB=postgres_url
            )
            assert "is being run by a worker." in refused.err


@pytest.mark.requirement("I-21")
async def test_passwords_are_counted_by_all_of_them_together(pair: Pair) -> None:
    path = await pair.opened()
    discussion_id = (await pair.ask(pair.one, "GET", path)).json()["discussion_id"]
    locked = load_links(pair.one.home).token(discussion_id, password="secret")
    codes = []
    for number in range(8):
        which = (pair.one, pair.other)[number % 2]
        tried = await pair.ask(which, "POST", f"/api/r/{locked}/unlock", json={"password": "no"})
        codes.append(tried.status_code)
    assert codes == [401] * 5 + [429] * 3


async def test_what_a_home_gave_out_before_it_came_to_a_server_still_opens(
    tmp_path: Path, postgres_url: str
) -> None:
    alone = house_settings(tmp_path / "one" / "home")
    before = links_of(alone)
    ended = before.token("rt_0000000a")
    before.tokens.end_given(ended)
    served = house_settings(tmp_path / "one" / "home", ROUNDTABLE_DB=postgres_url)
    after = links_of(served)
    assert after.owner_key == before.owner_key
    assert after.tokens.is_ended(id_of(ended))
    elsewhere = house_settings(tmp_path / "other" / "home", ROUNDTABLE_DB=postgres_url)
    load_links(elsewhere.home)  # it had a key of its own
    assert links_of(elsewhere).owner_key == before.owner_key
    assert load_links(elsewhere.home).owner_key == before.owner_key
    assert links_of(elsewhere).tokens.is_ended(id_of(ended))


async def test_a_server_is_ready_while_its_database_answers_and_alive_all_the_time(
    tmp_path: Path,
) -> None:
    home = tmp_path / "one" / "home"
    database: RestartingServer
    with (
        postgres_that_restarts() as database,
        Process(home, "--port", "0", ROUNDTABLE_DB=database.url) as server,
    ):
        pair = Pair(server, server, database.url)
        named = {"host": "balancer.example"}
        ready = await pair.ask(server, "GET", "/readyz", headers=named)
        assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
        database.stop()
        assert (await pair.ask(server, "GET", "/readyz")).status_code == 503
        assert (await pair.ask(server, "GET", "/healthz")).status_code == 200
        database.start()
        await pair.until(server, "/readyz", 200)


async def test_a_server_that_is_asked_to_end_is_not_ready_and_lets_its_viewers_ask_again(
    tmp_path: Path, postgres_url: str
) -> None:
    env = {"ROUNDTABLE_DB": postgres_url}
    with Process(tmp_path / "one" / "home", "--port", "0", "--drain", "600", **env) as one:
        pair = Pair(one, one, postgres_url)
        path = await pair.opened()
        url = one.found.url
        async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            begun = asyncio.Event()

            def seen(_: Frame) -> bool:
                begun.set()
                return False

            viewer = asyncio.create_task(feed(client, f"{path}/feed", until=seen))
            await asyncio.wait_for(begun.wait(), PATIENCE)
            one.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE):
                while (await client.get("/readyz")).json() != {"status": "draining"}:
                    pass
            assert (await client.get("/healthz")).status_code == 200
            assert (await client.get(path)).status_code == 200  # it still serves
            one.process.send_signal(signal.SIGTERM)
            assert (await viewer)[-1].data == {"reconnect": True}
            assert b"retry: 1000" in (await viewer)[-1].raw
        assert await asyncio.to_thread(one.process.wait, PATIENCE) == 0, one.said


async def test_a_process_that_serves_has_at_most_six_connections(pair: Pair) -> None:
    path = await pair.started()
    async with httpx2.AsyncClient(base_url=pair.other.found.url, timeout=PATIENCE) as client:
        await feed(client, f"{path}/feed", until=lambda frame: frame.event == "draft")
        connection = await asyncpg.connect(pair.url)
        count = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'roundtable'"
            " AND datname = current_database()"
        )
        await connection.close()
    assert 2 <= count <= 2 * 6
