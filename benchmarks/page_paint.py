"""The page of a long discussion in a real browser: how soon its first screen is complete beside
that of a short one, how much is sent before it, and whether the page ever stands still: while it
loads, while everything is opened, and while 200 more events come in.

The speeches are those of the recorded examples, with what they declare. It needs Chromium and the
extra `web`. Tasks are told in processor time beside a calibrating loop, so that they can be judged
on a machine that is busy; what takes wall time is told as one page beside the other.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from benchmarks.browser import ARGUMENTS, PATIENCE, QUIET, Speed, append, chromium, served, traced
from benchmarks.measured import Measured
from roundtable.core.declaration import Decision, Declaration, DeclaredVote, Option
from roundtable.core.events import (
    AttemptFinished,
    AttemptStarted,
    DecisionsTabled,
    DiscussionClosed,
    DiscussionOpened,
    Event,
    SpeechGiven,
    StageClosed,
    StageOpened,
    VerdictReached,
)
from roundtable.core.values import Participant, Prompt, Reservation, SpeakerRef, Usage, Verdict
from roundtable.examples import examples
from roundtable.ledger import open_ledger
from roundtable.ports import Ledger
from roundtable.surfaces.web.links import load_links

SHORT, EVENTS, MORE, EVERY = 50, 5_000, 200, 0.02
TIMES = 5
NEW_UNTIL = 3
"""The round from which on nothing new is demanded or claimed."""
SMALL, LONG, GROWING = "rt_00000050", "rt_00005000", "rt_00005200"
SEATS = ("ann", "bob", "cid", "dan", "eve")
OPTIONS = ("Modules first", "Services first")
LONGEST, BYTES = 100, 220
"""Milliseconds of processor time that one task may take, and KiB before the first screen."""
WATCH = """
window.seen = { screen: 0, line: 0 };
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
    found = chromium("page_paint")
    if found is None:
        return []
    with TemporaryDirectory() as folder, start_blocking_portal() as portal:
        home = Path(folder)
        ledger = portal.call(open_ledger, str(home / "roundtable.db"))
        try:
            for name, number in ((SMALL, SHORT), (LONG, EVENTS)):
                append(portal, ledger, name, list(_concluded(number)), expected=0)
            growing = list(islice(_meeting(), EVENTS + MORE))
            append(portal, ledger, GROWING, growing[:EVENTS], expected=0)
            with served(home) as server:
                links = load_links(home)
                urls = {
                    each: f"{server.url}/r/{links.token(each)}" for each in (SMALL, LONG, GROWING)
                }
                return _measured(found, urls, portal, ledger, growing)
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
        speed = Speed(browser)
        # The first visitor of all lets the server read the ledger; later ones are the usual.
        first = _screen(context, urls[LONG])
        _screen(context, urls[SMALL])
        # In turn, so that both meet the same machine.
        pairs = [
            (_screen(context, urls[SMALL]), _screen(context, urls[LONG])) for _ in range(TIMES)
        ]
        short, long = [each[0] for each in pairs], [each[1] for each in pairs]
        speed.look()
        lines = sum(isinstance(each, SpeechGiven) for each in _concluded(EVENTS)) - 1
        page = context.new_page()

        def load() -> None:
            page.goto(urls[LONG])
            _all_there(page, lines)

        loading = traced(browser, page, load)
        before, whole = page.evaluate(BEFORE), page.evaluate(ALL)
        speed.look()
        opening = traced(browser, page, lambda: _open_all(page))
        page.close()
        speed.look()
        page = context.new_page()
        page.goto(urls[GROWING])
        _all_there(page, _speeches(growing[:EVENTS]))
        streaming = traced(browser, page, lambda: _stream(page, portal, ledger, growing))
        doubled = page.locator("article.speech:not(.draft)").count() - _speeches(growing)
        page.close()
        speed.look()
        browser.close()
    return [
        Measured(f"first screen of {EVENTS:,} events complete", median(long), "ms"),
        Measured(f"the same of {SHORT} events", median(short), "ms"),
        Measured("the one divided by the other, at their best", min(long) / min(short), "×", 1.5),
        Measured("the same for the first visitor of all", first, "ms"),
        _longest("longest task while it loads", loading, speed),
        _longest("longest task when everything is opened", opening, speed),
        _longest(f"longest task while {MORE} events stream in", streaming, speed),
        Measured("the calibrating loop", speed.loop, "ms", None, f"{QUIET:g} on a quiet machine"),
        Measured("sent before the first screen", before / 1024, "KiB", BYTES),
        Measured("sent in all", whole / 1024, "KiB"),
        Measured("speeches lost or doubled", abs(doubled), "", 0),
    ]


def _longest(name: str, tasks: Sequence[float], speed: Speed) -> Measured:
    """In processor time, as it would be on a quiet machine."""
    most = max(tasks, default=0)
    detail = f"{most:.0f} ms here, {most / speed.loop:.2f} × the calibrating loop"
    return Measured(name, most / speed.slower, "ms", LONGEST, detail)


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


def _open_all(page: Any) -> None:
    page.locator(".talk-h > .link").click()
    page.wait_for_function("() => document.querySelectorAll('article.speech > .said').length > 100")
    for _ in range(20):
        page.mouse.wheel(0, 2_000)
        page.wait_for_timeout(50)


def _stream(page: Any, portal: BlockingPortal, ledger: Ledger, events: Sequence[Event]) -> None:
    for event in events[EVENTS:]:
        append(portal, ledger, GROWING, [event])
        time.sleep(EVERY)
    _all_there(page, _speeches(events))


def _all_there(page: Any, speeches: int) -> None:
    # A function and no expression: the page's policy allows no evaluated text.
    page.wait_for_function(
        "(many) => document.querySelectorAll('article.speech:not(.draft)').length >= many",
        arg=speeches,
    )


def _speeches(events: Sequence[Event]) -> int:
    return sum(isinstance(event, SpeechGiven) for event in events)


@cache
def recorded() -> tuple[SpeechGiven, ...]:
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
    said = recorded()[(round_ * len(SEATS) + place) % len(recorded())]
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
