"""The page's feed: from an append in one process to the viewers of another, and 200 discussions
behind one server.

The server is `roundtable serve`, the viewers are a process of their own, and the events are
appended here. A latency begins when the append returns and ends when a viewer has read the event.
CPU is the server's alone. The 200 councils are opened through HTTP and each of them is watched;
against them stand the same calls made bare, in this process, as in the benchmark `overhead`, with
answers in large pieces: the harder case for us.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.bare import Bare, prompts_of
from benchmarks.measured import Measured
from benchmarks.provider import MODEL, provider, settings
from benchmarks.web_viewers import Seen, viewers
from roundtable.bootstrap import start
from roundtable.core.events import NoteAdded
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.web.found import Found, running
from roundtable.surfaces.web.links import load_links

TEXT = "A sentence of the usual length, said by one expert to the others. " * 8
CROWDS = {1: (300, 0.01), 180: (150, 0.05)}
"""Viewers: the events that they are shown, and the pause after each."""
DISCUSSIONS = 200
CONCURRENCY = 64
LATENCY = 0.05
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    found: Found
    home: Path

    @property
    def cpu(self) -> float:
        """Seconds of processor time that it has used so far."""
        stat = Path(f"/proc/{self.found.pid}/stat").read_text("ascii")
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    def path(self, discussion_id: str) -> str:
        return f"/api/r/{load_links(self.home).token(discussion_id)}/feed"

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {load_links(self.home).owner_key}",
        }
        data = json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.found.port}{path}"
        with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as answer:
            return json.load(answer)


@contextmanager
def server(home: Path, env: Mapping[str, str]) -> Iterator[Server]:
    home.mkdir(exist_ok=True)
    own = {
        "ROUNDTABLE_HOME": str(home),
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "roundtable", "serve", "--no-browser", "--port", "0"],
        stdout=subprocess.DEVNULL,
        cwd=home,
        env={**os.environ, **env, **own},
    )
    try:
        while (found := running(home)) is None:
            assert process.poll() is None, "the server did not start"
            time.sleep(0.05)
        yield Server(found, home)
    finally:
        process.terminate()
        process.wait(30)


def run() -> list[Measured]:
    rows: list[Measured] = []
    with TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with server(home, {}) as serving:
            for crowd, (events, pause) in CROWDS.items():
                rows += asyncio.run(_shown(serving, crowd, events, pause))
    return rows + _many_discussions()


async def _shown(serving: Server, crowd: int, events: int, pause: float) -> list[Measured]:
    async with start(settings(serving.home, {}), env={}) as app:
        request = OpenRequest(
            topic="Tea or coffee?",
            procedure="meeting",
            options={
                "participants": [
                    {"profile": name, "role": name, "model": "outside"} for name in ("a", "b")
                ]
            },
        )
        state = await app.service.open(request)
        first = state.seq + 1
        last = state.seq + events
        paths = [serving.path(state.discussion_id)] * crowd
        appended: dict[int, float] = {}
        with viewers(serving.found.port, paths, until=last) as watching:
            cpu = serving.cpu
            for _ in range(events):
                note = NoteAdded(code="said", text=TEXT)
                (record,) = await app.service.record(state.discussion_id, note)
                appended[record.seq] = time.monotonic()
                await asyncio.sleep(pause)
            seen = await asyncio.to_thread(watching.seen)
            cpu = serving.cpu - cpu
    waits = sorted(
        1000 * (at - appended[seq]) for each in seen for seq, at in each if seq in appended
    )
    wrong = sum(_lost_or_doubled(each, first, last) for each in seen)
    who = f"{crowd} viewer" if crowd == 1 else f"{crowd} viewers"
    return [
        Measured(f"event shown after, median, {who}", statistics.median(waits), "ms", 1000),
        Measured(f"event shown after, p99, {who}", waits[int(len(waits) * 0.99)], "ms", 1000),
        Measured(f"CPU per event and viewer, {who}", 1e6 * cpu / (events * crowd), "µs"),
        Measured(f"events lost or doubled, {who}", wrong, "", 0, f"{events} events"),
    ]


def _lost_or_doubled(seen: Seen, first: int, last: int) -> int:
    counts = Counter(seq for seq, _ in seen)
    return sum(abs(counts[seq] - 1) for seq in range(first, last + 1))


def _many_discussions() -> list[Measured]:
    with provider(latency=LATENCY, whole=True) as models, TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        config = f'default_model = "{MODEL}"\nlocal_servers = false\nconcurrency = {CONCURRENCY}\n'
        assert tomllib.loads(config)
        (home / "config.toml").write_text(config, "utf-8")
        env = {**models.env(), "ROUNDTABLE_SEARCH": "none"}
        with server(home, env) as serving:
            _councils(serving, 4, watched=True)  # imports, connections, templates
            alone, _ = _councils(serving, DISCUSSIONS, watched=False)
            watched, wrong = _councils(serving, DISCUSSIONS, watched=True)
        bare = asyncio.run(_bare(home, env))
    many = f"CPU per call, {DISCUSSIONS} councils behind one server"
    return [
        Measured(f"{many} ÷ bare", alone / bare, "x", 1.5, f"{alone:.1f} ms against {bare:.1f} ms"),
        Measured(f"{many}, each watched ÷ bare", watched / bare, "x", None, f"{watched:.1f} ms"),
        Measured("events lost or doubled by their viewers", wrong, "", 0),
    ]


def _councils(serving: Server, count: int, *, watched: bool) -> tuple[float, int]:
    """Hold so many at once: milliseconds of the server's CPU for each call, and how many events
    their viewers missed or got twice."""
    body = {
        "topic": "Tea or coffee?",
        "procedure": "council",
        "options": {"all": MODEL, "quick": True},
        "run": False,
    }
    ids = [serving.post("/api/discussions", body)["discussion_id"] for _ in range(count)]
    cpu = serving.cpu
    paths = [serving.path(each) for each in ids] if watched else []
    with viewers(serving.found.port, paths) as watching:
        for each in ids:
            serving.post(f"/api/discussions/{each}/run", {})
        seen = watching.seen()
    calls, wrong = asyncio.run(_counted(serving.home, ids, seen))
    return 1000 * (serving.cpu - cpu) / calls, wrong


async def _counted(home: Path, ids: Sequence[str], seen: Sequence[Seen]) -> tuple[int, int]:
    """The calls of these discussions once all are closed, and what their viewers got wrong."""
    async with start(settings(home, {}), env={}) as app:
        for each in ids:
            async for _ in app.service.events(each):
                pass
        states = [await app.service.read(each) for each in ids]
    assert all(state.status == "concluded" for state in states)
    wrong = sum(_lost_or_doubled(each, 1, state.seq) for each, state in zip(seen, states))  # noqa: B905
    return sum(state.usage.calls for state in states), wrong


async def _bare(home: Path, env: dict[str, str]) -> float:
    """Milliseconds of CPU for each of the same calls, with nothing around them."""
    async with start(settings(home, env), env=env) as app:
        newest = (await app.service.summaries(limit=1))[0].discussion_id
        prompts = prompts_of(await app.service.read(newest))
    async with Bare(env, concurrency=CONCURRENCY) as bare:
        await bare.councils(prompts, 4)
        begun = time.process_time()
        calls = await bare.councils(prompts, DISCUSSIONS)
        return 1000 * (time.process_time() - begun) / calls
