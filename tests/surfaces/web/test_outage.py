"""The database goes away under the server: every door says so, and the page goes on when it can."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient

from roundtable.bootstrap import start
from roundtable.core.events import AttemptFinished
from roundtable.ledger import shared
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.web import readiness, sse
from roundtable.surfaces.web.app import make_app
from roundtable.surfaces.web.links import links_of
from tests.cluster.proxy import Network
from tests.rehearsal import Voice

from .house import PATIENCE, House, frames, house, house_settings

pytestmark = pytest.mark.anyio


class Mover(Voice):
    """A speaker that takes the database away with its first answer."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.away = path.with_name("somewhere.db")

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        first = not self.requests
        reply = await super().speak(request, on_words)
        if first:
            self.take()
        return reply

    def take(self) -> None:
        self.path.rename(self.away)

    def put_back(self) -> None:
        self.away.rename(self.path)


@pytest.fixture
def mover(tmp_path: Path) -> Mover:
    return Mover(tmp_path / "home" / "roundtable.db")


@pytest.fixture
async def home(tmp_path: Path, mover: Mover) -> AsyncIterator[House]:
    async with house(tmp_path / "home", scripts={"mover": mover}) as opened:
        yield opened


@pytest.mark.requirement("Z-01")
async def test_every_door_says_that_the_database_does_not_answer_and_when_to_ask_again(
    home: House, mover: Mover
) -> None:
    state = await home.meeting()
    asks = [
        ("GET", "/api/discussions", None),
        ("GET", home.at(state), None),
        ("GET", f"{home.at(state)}/derived", None),
        ("POST", f"{home.at(state, 'seat', 'tea')}/speak", {"text": "Tea."}),
        ("POST", "/api/tools/list_discussions", {}),
    ]
    mover.take()
    for method, path, body in asks:
        answer = await home.client.request(method, path, json=body, headers=home.asking(path))
        assert answer.status_code == 503, (path, answer.text)
        assert int(answer.headers["retry-after"]) > 0
        assert answer.json()["error"] == "The database does not answer just now."
        assert answer.json()["remedy"] == "Nothing is lost. Try again in a moment."
        assert str(mover.path.parent) not in answer.text
    mover.put_back()
    for method, path, body in asks[:4]:
        answer = await home.client.request(method, path, json=body, headers=home.asking(path))
        assert answer.status_code == 200, (path, answer.text)


@pytest.mark.requirement("Z-01")
async def test_a_stranger_is_not_told_where_the_database_is_that_does_not_answer(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Network(postgres_url) as network:
        settings = house_settings(tmp_path / "home", ROUNDTABLE_DB=network.url)
        async with start(settings, env={}) as app:
            service = make_app(app, await asyncio.to_thread(links_of, settings))
            hand = service.state.web.hand_cookie
            # What a server believes while its database is away has grown old.
            monkeypatch.setattr(shared, "FRESH", 0.0)
            monkeypatch.setattr(shared, "_PATIENCE", 0.2)
            network.is_lost()
            transport = ASGITransport(service)
            async with AsyncClient(transport=transport, base_url="http://localhost") as client:
                for method, path, own in (
                    ("GET", "/api/tokens", {"authorization": "Bearer rt_nobody"}),
                    ("GET", "/api/r/rtt_nobody", {}),
                    ("POST", "/api/r/rtt_nobody/speak", {"cookie": f"{hand}=rtt_somebody"}),
                    ("GET", "/v1/models", {"authorization": "Bearer rtt_nobody"}),
                ):
                    answer = await client.request(method, path, headers=own)
                    told = (answer.status_code, answer.headers.get("retry-after"))
                    assert told == (503, "5"), (path, answer.text)
                    assert "postgresql" not in answer.text
                    assert "127.0.0.1" not in answer.text
                assert answer.json()["error"]["type"] == "server_error"
            network.is_back()


@pytest.mark.requirement("Z-01")
async def test_a_balancer_is_told_soon_that_a_database_hangs_and_soon_that_it_is_back(
    tmp_path: Path, postgres_url: str
) -> None:
    async with Network(postgres_url) as network:
        settings = house_settings(tmp_path / "home", ROUNDTABLE_DB=network.url)
        async with start(settings, env={}) as app:
            service = make_app(app, await asyncio.to_thread(links_of, settings))
            transport = ASGITransport(service)
            async with AsyncClient(transport=transport, base_url="http://localhost") as client:
                assert (await client.get("/readyz")).status_code == 200
                network.is_lost()
                # Nothing is refused and nothing is closed. What hangs is not waited for to end.
                async with asyncio.timeout(15):
                    answers = [await client.get("/readyz") for _ in range(2)]
                assert [each.status_code for each in answers] == [503, 503]
                network.is_back()
                async with asyncio.timeout(PATIENCE):
                    while (await client.get("/readyz")).status_code != 200:
                        pass
            await service.state.web.readiness.close()


async def test_only_one_question_is_under_way_however_many_want_to_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readiness, "ANSWERS_WITHIN", 0.01)
    asked, answer = 0, asyncio.Event()

    async def ask() -> None:
        nonlocal asked
        asked += 1
        await answer.wait()

    ready = readiness.Readiness(ask)
    assert await asyncio.gather(*(ready.answers() for _ in range(5))) == [False] * 5
    assert not await ready.answers()
    assert asked == 1
    answer.set()
    assert await ready.answers()
    await ready.close()


async def test_whoever_watches_is_told_and_the_discussion_goes_on(
    home: House, mover: Mover, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "LOOK_EVERY", 0.01)
    options = {"all": "scripted/mover", "quick": True}
    request = OpenRequest(topic="Tea or coffee?", procedure="council", options=options)
    state = await home.service.open(request)
    told: list[bool] = []
    async with (
        asyncio.timeout(PATIENCE),
        aclosing(frames(home.client, f"{home.at(state)}/feed")) as coming,
    ):
        home.web.running.drive(state.discussion_id)
        async for frame in coming:
            if frame.event == "away":
                told.append(frame.data["away"])
                if told == [True]:
                    mover.put_back()
    assert told[:2] == [True, False]
    records = await home.service.records(state.discussion_id)
    answers = [each for each in records if isinstance(each.event, AttemptFinished)]
    assert len(answers) == len(mover.requests)
