"""The page with 5,000 events in a real browser: how soon there is something to read, how much is
sent for it, and whether the page stands still while 200 more events come in.

It needs Chromium and the extra `web`. Wall times of a browser: run it on a quiet machine.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from benchmarks.measured import Measured
from roundtable.core.events import (
    AttemptFinished,
    AttemptStarted,
    DiscussionOpened,
    Event,
    NewEvent,
    PointRaised,
    SpeechGiven,
    StageOpened,
    StanceTaken,
)
from roundtable.core.values import Participant, Prompt, Reservation, SpeakerRef, Usage
from roundtable.ledger import open_ledger
from roundtable.ports import Ledger
from roundtable.surfaces.web.found import Found, running
from roundtable.surfaces.web.links import load_links

EVENTS, MORE, EVERY = 5_000, 200, 0.02
DISCUSSION = "rt_00005000"
SEATS = ("ann", "bob", "cid", "dan", "eve")
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE = 120
WATCH = """
window.seen = { speech: 0, tasks: [] };
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) window.seen.tasks.push([each.startTime, each.duration]);
}).observe({ type: "longtask", buffered: true });
new MutationObserver((_, watch) => {
  if (!document.querySelector("article.speech .words > *")) return;
  watch.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.seen.speech = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""
WORDS = (
    "## Position\n\nIn round {round} {who} holds that the **monolith** comes first.\n\n"
    "1. Every network hop is a failure to handle, and five people handle few of them.\n"
    "2. A module boundary costs nothing to move; a service boundary costs a quarter.\n\n"
    "> The bill for distribution comes later, and it comes with interest.\n\n"
    "So I would begin with modules, measure, and cut where it hurts.\n"
)


def run() -> list[Measured]:
    chromium = os.environ.get("ROUNDTABLE_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("page_paint: skipped, there is no Chromium on the PATH", file=sys.stderr)
        return []
    with TemporaryDirectory() as folder, start_blocking_portal() as portal:
        home = Path(folder)
        events = list(_events(EVENTS + MORE))
        ledger = portal.call(open_ledger, str(home / "roundtable.db"))
        try:
            _append(portal, ledger, events[:EVENTS], expected=0)
            with _served(home) as found:
                token = load_links(home).token(DISCUSSION)
                return _measured(chromium, f"{found.url}/r/{token}", portal, ledger, events)
        finally:
            portal.call(ledger.close)


def _measured(
    chromium: str, url: str, portal: BlockingPortal, ledger: Ledger, events: Sequence[Event]
) -> list[Measured]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(PATIENCE * 1000)
        context.add_init_script(WATCH)
        # The first visitor of all lets the server read the ledger; the second is the usual one.
        first = _opened(context.new_page(), url)
        page = context.new_page()
        again = _opened(page, url)
        _all_there(page, _speeches(events[:EVENTS]))
        whole = page.evaluate("performance.now()")
        sizes: dict[str, int] = page.evaluate(
            """() => performance.getEntriesByType("resource").reduce((sum, each) => {
                 const kind = each.name.includes("/assets/") ? "assets" : "data";
                 return { ...sum, [kind]: sum[kind] + each.encodedBodySize }; },
                 { assets: 0, data: 0 })"""
        )
        loading = _tasks(page, 0)
        begun = page.evaluate("performance.now()")
        for event in events[EVENTS:]:
            _append(portal, ledger, [event])
            time.sleep(EVERY)
        shown = _speeches(events)
        _all_there(page, shown)
        streaming = _tasks(page, begun)
        seconds = (page.evaluate("performance.now()") - begun) / 1000
        doubled = page.locator("article.speech:not(.draft)").count() - shown
        browser.close()
    return [
        Measured(f"first speech of {EVENTS:,} events painted", again, "ms", 1_500),
        Measured("the same for the first visitor of all", first, "ms"),
        Measured("all of them in the page", whole, "ms"),
        Measured("longest task while it loads", max(loading, default=0), "ms"),
        Measured("the page's files", sizes["assets"] / 1024, "KiB", 200, "uncompressed"),
        Measured("its events and what derives", sizes["data"] / 1024, "KiB"),
        Measured(
            f"longest task while {MORE} events stream in",
            max(streaming, default=0),
            "ms",
            200,
            f"{sum(streaming):.0f} ms of long tasks in {seconds:.1f} s",
        ),
        Measured("speeches lost or doubled", abs(doubled), "", 0),
    ]


def _opened(page: Any, url: str) -> float:
    """Milliseconds from the beginning of the navigation until the first speech was painted."""
    page.goto(url)
    page.wait_for_function("() => window.seen.speech > 0")
    return float(page.evaluate("window.seen.speech"))


def _all_there(page: Any, speeches: int) -> None:
    # A function and no expression: the page's policy allows no evaluated text.
    page.wait_for_function(
        "(many) => document.querySelectorAll('article.speech:not(.draft)').length >= many",
        arg=speeches,
    )


def _tasks(page: Any, after: float) -> list[float]:
    found = page.evaluate("window.seen.tasks")
    return [duration for start, duration in found if start >= after]


def _speeches(events: Sequence[Event]) -> int:
    return sum(isinstance(event, SpeechGiven) for event in events)


def _append(
    portal: BlockingPortal, ledger: Ledger, events: Sequence[Event], expected: int | None = None
) -> None:
    began = datetime.now(UTC) - timedelta(seconds=1)
    new = [NewEvent(event, began) for event in events]
    portal.call(lambda: ledger.append(DISCUSSION, new, expected=expected))


class _served:  # noqa: N801 - reads as what it is: `with _served(home) as found`
    """The server in a process of its own."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def __enter__(self) -> Found:
        env = {**os.environ, "ROUNDTABLE_HOME": str(self._home), "ROUNDTABLE_LOCAL_SERVERS": "0"}
        env["ROUNDTABLE_DB"] = str(self._home / "roundtable.db")
        env["PYTHONPATH"] = os.pathsep.join(str(Path(each).resolve()) for each in sys.path)
        command = [sys.executable, "-m", "roundtable", "serve", "--port", "0", "--no-browser"]
        self._process = subprocess.Popen(
            command, env=env, cwd=self._home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + PATIENCE
        while (found := running(self._home)) is None:
            assert self._process.poll() is None, "the server did not start"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)
        return found

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(PATIENCE)


def _events(count: int) -> Iterator[Event]:
    """A long meeting: calls, speeches, a few points and many stances."""
    return islice(_meeting(), count)


def _meeting() -> Iterator[Event]:
    people = tuple(
        Participant(
            id=name, name=name.title(), role="engineer", speakers=(SpeakerRef(model=f"m/{name}"),)
        )
        for name in SEATS
    )
    host = Participant(
        id="coordinator", name="Coordinator", role="Host", speakers=(SpeakerRef(model="m/host"),)
    )
    yield DiscussionOpened(
        topic="Should a team of five build its product on microservices or on a monolith?",
        procedure="meeting",
        options={"max_rounds": 10, "summaries": False},
        participants=people,
        host=host,
    )
    round_ = 0
    while True:
        round_ += 1
        turns = tuple(f"{round_}/discussion/{name}" for name in SEATS)
        yield StageOpened(stage="discussion", round=round_, turns=turns)
        for name, turn in zip(SEATS, turns, strict=True):
            yield from _turn(round_, name, turn)


def _turn(round_: int, name: str, turn: str) -> Iterator[Event]:
    text = WORDS.format(round=round_, who=name.title())
    yield AttemptStarted(
        turn_id=turn,
        attempt=1,
        stage="discussion",
        round=round_,
        participant=name,
        model=f"m/{name}",
        purpose="answer",
        label=turn,
        prompt=Prompt(template="x", version=1, hash="f" * 64, system="", user="p" * 2_000),
        reserved=Reservation(input_tokens=1, output_tokens=1, cost_usd=0.1),
    )
    yield AttemptFinished(
        turn_id=turn,
        attempt=1,
        text=text,
        usage=Usage(input_tokens=900, output_tokens=150, priced_usd=0.002),
    )
    yield SpeechGiven(
        turn_id=turn,
        stage="discussion",
        round=round_,
        participant=name,
        model=f"m/{name}",
        text=text,
    )
    if round_ == 1:
        yield PointRaised(point_id=f"p-{name}", text=f"{name} is right", turn_id=turn, round=1)
    for number, other in enumerate(SEATS[: 1 if round_ == 1 else len(SEATS)]):
        yield StanceTaken(
            participant=name,
            point_id=f"p-{other}",
            position="agree" if (number + round_) % 3 else "disagree",
            turn_id=turn,
            round=round_,
        )
