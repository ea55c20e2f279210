"""A house with a page: the real server on a real port, in this process or in one of its own."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from roundtable.bootstrap import App, start
from roundtable.core.state import State
from roundtable.engine.service import Service
from roundtable.net import trusted_roots
from roundtable.ports import Speaker
from roundtable.procedures.opening import OpenRequest
from roundtable.settings import Settings, read_settings
from roundtable.surfaces.tokens.capability import Act, Capability
from roundtable.surfaces.web.access import Web
from roundtable.surfaces.web.app import make_app
from roundtable.surfaces.web.found import Found, running
from roundtable.surfaces.web.limits import Rate
from roundtable.surfaces.web.links import Links, load_links
from roundtable.surfaces.web.serve import PageServer, bind, server_config
from tests.forked import Program
from tests.surfaces.desk import environment, wait_for

PATIENCE = 60
QUICK = {"all": "scripted/echo", "quick": True}
MEETING = {
    "host": "outside",
    "participants": [
        {"profile": "tea", "role": "advocate", "model": "outside"},
        {"profile": "coffee", "role": "critic", "model": "outside"},
    ],
}
"""A meeting that two from outside hold: nothing happens unless somebody speaks."""
Json = dict[str, Any]


def house_settings(home: Path, **env: str) -> Settings:
    home.mkdir(parents=True, exist_ok=True)
    own = {"ROUNDTABLE_HOME": str(home), "ROUNDTABLE_LOCAL_SERVERS": "false"}
    own |= {"ROUNDTABLE_MODEL_LISTS": "false"}
    return read_settings({**own, "ROUNDTABLE_SEARCH": "none", **env}, home)


def client_token(home: Path, *may: Act, **more: Any) -> str:
    """A token as `roundtable tokens add` gives it out: for its own discussions, if nothing is
    said."""
    usual: Json = {"discussions": frozenset(), "channels": frozenset()}
    wanted = Capability(frozenset(may or ("open",)), **{**usual, **more})
    return load_links(home).tokens.add(wanted)[0]


@dataclass(frozen=True)
class Frame:
    """One server-sent event."""

    event: str
    data: Json
    id: int | None = None
    raw: bytes = b""


@dataclass
class House:
    """A server that is up, with its owner's means to look inside."""

    app: App
    links: Links
    url: str
    client: httpx2.AsyncClient
    web: Web
    server: PageServer
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    @property
    def service(self) -> Service:
        return self.app.service

    @property
    def owner(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.links.owner_key}"}

    def asking(self, path: str) -> dict[str, str]:
        """The headers of somebody who may ask for this: OpenAI's clients have no owner's key."""
        if not path.startswith("/v1/"):
            return dict(self.owner)
        return {"Authorization": f"Bearer {client_token(self.app.settings.home)}"}

    async def meeting(self) -> State:
        request = OpenRequest(topic="Tea or coffee?", procedure="meeting", options=MEETING)
        return await self.service.open(request)

    async def council(self) -> State:
        state = await self.service.open(OpenRequest(topic="Tea or coffee?", options=QUICK))
        return await self.service.run(state.discussion_id)

    def at(self, state: State, role: str = "viewer", seat: str = "", **more: Any) -> str:
        """The API of a discussion through a link."""
        token = self.links.token(state.discussion_id, role, seat=seat, **more)  # type: ignore[arg-type]
        return f"/api/r/{token}"

    async def act(self, path: str, **body: Any) -> httpx2.Response:
        return await self.client.post(path, json=body)

    async def types(self, state: State) -> list[str]:
        return [record.event.type for record in await self.service.records(state.discussion_id)]


@asynccontextmanager
async def house(
    home: Path,
    *,
    scripts: Mapping[str, Speaker] | None = None,
    rate: Rate | None = None,
    env: Mapping[str, str] | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> AsyncIterator[House]:
    """The server in this process, on a port of its own."""
    settings = house_settings(home)
    links = load_links(home)
    async with start(settings, env=env or {}, scripts=scripts) as app:
        service = make_app(app, links, rate=rate or Rate(6_000, 1_000), now=now)
        up = asyncio.Event()
        server = PageServer(server_config(service), service.state.web, up.set)
        sockets = bind("127.0.0.1", 0)
        serving = asyncio.create_task(server.serve(sockets=sockets))
        await asyncio.wait_for(up.wait(), PATIENCE)
        url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(
            base_url=url, timeout=PATIENCE, limits=limits, verify=trusted_roots()
        ) as client:
            try:
                yield House(app, links, url, client, service.state.web, server)
            finally:
                server.should_exit = True
                await asyncio.wait_for(serving, PATIENCE)
                for each in sockets:
                    each.close()


async def frames(
    client: httpx2.AsyncClient, path: str, headers: Mapping[str, str] | None = None
) -> AsyncGenerator[Frame, None]:
    """What a feed says, comments left out, until it ends."""
    async with client.stream("GET", path, headers=dict(headers or {})) as response:
        assert response.status_code == 200, await response.aread()
        buffer = b""
        async for piece in response.aiter_bytes():
            buffer += piece
            while b"\n\n" in buffer:
                raw, _, buffer = buffer.partition(b"\n\n")
                if (frame := _parsed(raw)) is not None:
                    yield frame


async def feed(
    client: httpx2.AsyncClient,
    path: str,
    *,
    until: Callable[[Frame], bool] = lambda _: False,
    headers: Mapping[str, str] | None = None,
) -> list[Frame]:
    """The frames up to the one that is waited for, or to the end."""
    found: list[Frame] = []
    async with asyncio.timeout(PATIENCE), aclosing(frames(client, path, headers)) as coming:
        async for frame in coming:
            found.append(frame)
            if until(frame):
                break
    return found


def _parsed(raw: bytes) -> Frame | None:
    fields: dict[str, str] = {}
    for line in raw.decode().split("\n"):
        name, _, value = line.partition(": ")
        if name:
            fields[name] = value
    if "data" not in fields:
        return None
    number = int(fields["id"]) if "id" in fields else None
    return Frame(fields["event"], json.loads(fields["data"]), number, raw)


class Process:
    """`roundtable serve` as a process of its own. Ended by its pid when the test is over."""

    def __init__(self, home: Path, *args: str, **env: str) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        self._log = home.parent / f"serve-{len(list(home.parent.glob('serve-*')))}.log"
        own = {"ROUNDTABLE_HOME": str(home), "ROUNDTABLE_LOCAL_SERVERS": "false", **env}
        self._log.touch()
        self.process = Program(
            ["serve", "--no-browser", *args],
            stdout=self._log,
            stderr=self._log,
            cwd=home.parent,
            env=environment(own),
        )

    def __enter__(self) -> Process:
        wait_for(lambda: self._up() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)

    def _up(self) -> bool:
        found = running(self.home)
        return found is not None and found.pid == self.process.pid

    @property
    def found(self) -> Found:
        found = running(self.home)
        assert found is not None
        return found

    @property
    def said(self) -> str:
        return self._log.read_text("utf-8")

    def ask_to_end(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE)


def alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return True
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")
