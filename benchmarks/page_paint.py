"""The page of a long discussion in a real browser: how soon its first screen is complete beside
that of a short one, how much is sent before it, and whether the page ever stands still: while it
loads, while everything is opened, and while 200 more events come in.

The speeches are those of the recorded examples, with what they declare. It needs Chromium and the
extra `web`. Wall times of a browser: run it on a quiet machine.
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
from functools import cache
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from benchmarks.measured import Measured
from roundtable.core.declaration import Decision, Declaration, DeclaredVote, Option
from roundtable.core.events import (
    AttemptFinished,
    AttemptStarted,
    DecisionsTabled,
    DiscussionClosed,
    DiscussionOpened,
    Event,
    NewEvent,
    SpeechGiven,
    StageClosed,
    StageOpened,
    VerdictReached,
)
from roundtable.core.values import Participant, Prompt, Reservation, SpeakerRef, Usage, Verdict
from roundtable.examples import examples
from roundtable.ledger import open_ledger
from roundtable.ports import Ledger
from roundtable.surfaces.web.found import Found, running
from roundtable.surfaces.web.links import load_links

SHORT, EVENTS, MORE, EVERY = 50, 5_000, 200, 0.02
TIMES = 5
NEW_UNTIL = 3
"""The round from which on nothing new is demanded or claimed."""
SMALL, LONG, GROWING = "rt_00000050", "rt_00005000", "rt_00005200"
SEATS = ("ann", "bob", "cid", "dan", "eve")
OPTIONS = ("Modules first", "Services first")
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE = 120
WATCH = """
window.seen = { screen: 0, line: 0, tasks: [] };
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) window.seen.tasks.push([each.startTime, each.duration]);
}).observe({ type: "longtask", buffered: true });
const painted = (name) => requestAnimationFrame(() =>
  setTimeout(() => { window.seen[name] = performance.now(); }));
new MutationObserver((_, watch) => {
  if (!window.seen.line && document.querySelector("article.speech .line")) {
    window.seen.line = 1;
    painted("line");
  }
  if (!window.seen.screen && document.querySelector(".first:not(.coming)")) {
    window.seen.screen = 1;
    painted("screen");
  }
  if (window.seen.line && window.seen.screen) watch.disconnect();
}).observe(document, { childList: true, subtree: true });
"""


def run() -> list[Measured]:
    chromium = os.environ.get("ROUNDTABLE_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("page_paint: skipped, there is no Chromium on the PATH", file=sys.stderr)
        return []
    with TemporaryDirectory() as folder, start_blocking_portal() as portal:
        home = Path(folder)
        ledger = portal.call(open_ledger, str(home / "roundtable.db"))
        try:
            for name, number in ((SMALL, SHORT), (LONG, EVENTS)):
                _append(portal, ledger, name, list(_concluded(number)), expected=0)
            growing = list(islice(_meeting(), EVENTS + MORE))
            _append(portal, ledger, GROWING, growing[:EVENTS], expected=0)
            with _served(home) as found:
                links = load_links(home)
                urls = {
                    each: f"{found.url}/r/{links.token(each)}" for each in (SMALL, LONG, GROWING)
                }
                return _measured(chromium, urls, portal, ledger, growing)
        finally:
            portal.call(ledger.close)


def _measured(
    chromium: str,
    urls: dict[str, str],
    portal: BlockingPortal,
    ledger: Ledger,
    growing: Sequence[Event],
) -> list[Measured]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(PATIENCE * 1000)
        context.add_init_script(WATCH)
        # The first visitor of all lets the server read the ledger; later ones are the usual.
        first = _screen(context, urls[LONG])
        _screen(context, urls[SMALL])
        short = [_screen(context, urls[SMALL]) for _ in range(TIMES)]
        long = [_screen(context, urls[LONG]) for _ in range(TIMES)]
        page = context.new_page()
        page.goto(urls[LONG])
        lines = sum(isinstance(each, SpeechGiven) for each in _concluded(EVENTS)) - 1
        _all_there(page, lines)
        before, whole = page.evaluate(BEFORE), page.evaluate(ALL)
        loading = _tasks(page, 0)
        opening = _opened_at_once(page)
        page.close()
        streaming, seconds, doubled = _streamed(context, urls[GROWING], portal, ledger, growing)
        browser.close()
    return [
        Measured(f"first screen of {EVENTS:,} events complete", median(long), "ms", 1_500),
        Measured(f"the same of {SHORT} events", median(short), "ms"),
        Measured("the one divided by the other", median(long) / median(short), "×", 1.5),
        Measured("the same for the first visitor of all", first, "ms"),
        Measured("longest task while it loads", max(loading, default=0), "ms", 100),
        Measured("longest task when everything is opened", max(opening, default=0), "ms", 100),
        Measured("sent before the first screen", before / 1024, "KiB"),
        Measured("sent in all", whole / 1024, "KiB"),
        Measured(
            f"longest task while {MORE} events stream in",
            max(streaming, default=0),
            "ms",
            100,
            f"{sum(streaming):.0f} ms of long tasks in {seconds:.1f} s",
        ),
        Measured("speeches lost or doubled", abs(doubled), "", 0),
    ]


BEFORE = """() => performance.getEntriesByType("resource")
  .filter((each) => each.responseEnd <= window.seen.screen)
  .reduce((sum, each) => sum + each.encodedBodySize, 0)"""
ALL = """() => performance.getEntriesByType("resource")
  .reduce((sum, each) => sum + each.encodedBodySize, 0)"""


def _screen(context: Any, url: str) -> float:
    """Milliseconds from the beginning of the navigation until the first screen was painted."""
    page = context.new_page()
    page.goto(url)
    page.wait_for_function("() => window.seen.screen > 1")
    found = float(page.evaluate("window.seen.screen"))
    page.close()
    return found


def _opened_at_once(page: Any) -> list[float]:
    begun = page.evaluate("performance.now()")
    page.locator(".talk-h > .link").click()
    page.wait_for_function("() => document.querySelectorAll('article.speech > .said').length > 100")
    for _ in range(20):
        page.mouse.wheel(0, 2_000)
        page.wait_for_timeout(50)
    return _tasks(page, begun)


def _streamed(
    context: Any, url: str, portal: BlockingPortal, ledger: Ledger, events: Sequence[Event]
) -> tuple[list[float], float, int]:
    page = context.new_page()
    page.goto(url)
    _all_there(page, _speeches(events[:EVENTS]))
    begun = page.evaluate("performance.now()")
    for event in events[EVENTS:]:
        _append(portal, ledger, GROWING, [event])
        time.sleep(EVERY)
    shown = _speeches(events)
    _all_there(page, shown)
    seconds = (page.evaluate("performance.now()") - begun) / 1000
    doubled = page.locator("article.speech:not(.draft)").count() - shown
    return _tasks(page, begun), seconds, doubled


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
    portal: BlockingPortal,
    ledger: Ledger,
    discussion: str,
    events: Sequence[Event],
    expected: int | None = None,
) -> None:
    began = datetime.now(UTC) - timedelta(seconds=1)
    new = [NewEvent(event, began) for event in events]
    portal.call(lambda: ledger.append(discussion, new, expected=expected))


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


@cache
def _recorded() -> tuple[SpeechGiven, ...]:
    """What was really said, by seats, in the recorded examples."""
    return tuple(
        record.event
        for example in examples().values()
        for record in example.records()
        if isinstance(record.event, SpeechGiven) and record.event.round and record.event.text
    )


def _concluded(count: int) -> Iterator[Event]:
    """So many events, and an end."""
    yield from islice(_meeting(), count - 2)
    answer = "Begin with modules. “Every hop is a failure to handle” [1/discussion/ann]."
    yield VerdictReached(verdict=Verdict(answer=answer, why=(answer,), author="m/host"))
    yield DiscussionClosed(status="concluded", stop_reason="verdict")


def _meeting() -> Iterator[Event]:
    """A long meeting with real speeches: calls, declarations, points and votes."""
    people = tuple(
        Participant(
            id=name, name=name.title(), role="engineer", speakers=(SpeakerRef(model=f"m/{name}"),)
        )
        for name in SEATS
    )
    host = Participant(
        id="coordinator", name="Coordinator", role="Host", speakers=(SpeakerRef(model="m/host"),)
    )
    question = "Should a team of five build its product on microservices or on a monolith?"
    yield DiscussionOpened(
        topic=question,
        procedure="meeting",
        options={"max_rounds": 10, "summaries": False},
        participants=people,
        host=host,
    )
    options = tuple(Option(id=f"o{n}", text=text) for n, text in enumerate(OPTIONS, 1))
    yield DecisionsTabled(decisions=(Decision(id="d1", question=question, options=options),))
    round_ = 0
    while True:
        round_ += 1
        turns = tuple(f"{round_}/discussion/{name}" for name in SEATS)
        yield StageOpened(stage="discussion", round=round_, turns=turns)
        for place, (name, turn) in enumerate(zip(SEATS, turns, strict=True)):
            yield from _turn(round_, place, name, turn)
        yield StageClosed(stage="discussion", round=round_, spoke=SEATS)


def _turn(round_: int, place: int, name: str, turn: str) -> Iterator[Event]:
    said = _recorded()[(round_ * len(SEATS) + place) % len(_recorded())]
    held = said.declaration or Declaration()
    declared = Declaration(
        position=held.position,
        confidence=held.confidence,
        conditions=held.conditions if round_ < NEW_UNTIL else (),
        new_points=held.new_points if round_ < NEW_UNTIL else (),
        votes=(DeclaredVote(on="d1", choice="o1" if (place + round_ // 20) % 2 else "o2"),),
    )
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
        text=said.text,
        usage=Usage(input_tokens=900, output_tokens=150, priced_usd=0.002),
    )
    yield SpeechGiven(
        turn_id=turn,
        stage="discussion",
        round=round_,
        participant=name,
        model=f"m/{name}",
        text=said.text,
        declaration=declared,
        independent=round_ == 1,
    )
