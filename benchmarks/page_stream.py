"""What a browser works while three speakers write at once: the processor time of the page beside
that of a bare page, which gets the same words by the same feed and appends them as plain text.

It needs Chromium and the extra `web`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from anyio.from_thread import start_blocking_portal

from benchmarks.browser import ARGUMENTS, PATIENCE, append, chromium, served, traced
from benchmarks.measured import Measured
from benchmarks.page_paint import recorded
from roundtable.core.events import AttemptStarted, DiscussionOpened, Event, StageOpened
from roundtable.core.values import Participant, Prompt, Reservation, SpeakerRef
from roundtable.ledger import open_ledger
from roundtable.surfaces.web.links import Links, load_links

SEATS = ("ann", "bob", "cid")
EVERY, STEPS, CHARACTERS = 0.1, 80, 40
"""Each speaker says 40 characters ten times a second, about sixty words a second, for 8 seconds."""
TIMES = 3
MOST = 3.0
"""How often the work of a bare page the page may take."""
BARE = """(base) => {
  document.body.replaceChildren();
  const places = {};
  const source = new EventSource(`${base}/feed?after=0`);
  source.addEventListener("draft", (message) => {
    const { turn_id: turn, text, begins, words } = JSON.parse(message.data);
    if (!places[turn]) {
      const place = document.createElement("p");
      place.append("");
      document.body.append(place);
      places[turn] = place.firstChild;
    }
    const node = places[turn];
    if (text !== undefined) node.data = text;
    else if (begins !== undefined) node.data = node.data.slice(0, begins) + words;
    else node.appendData(words);
  });
}"""


def run() -> list[Measured]:
    found = chromium("page_stream")
    if found is None:
        return []
    names = [f"rt_5700000{number}" for number in range(2 * TIMES + 1)]
    with TemporaryDirectory() as folder, start_blocking_portal() as portal:
        home = Path(folder)
        ledger = portal.call(open_ledger, str(home / "roundtable.db"))
        try:
            for name in names:
                append(portal, ledger, name, _begun(), expected=0)
                portal.call(partial(ledger.take_lease, name, "elsewhere:1:x", ttl=3600))
            with served(home) as server:
                return _measured(found, server.url, load_links(home), names)
        finally:
            portal.call(ledger.close)


def _measured(chromium: str, url: str, links: Links, names: Sequence[str]) -> list[Measured]:
    from playwright.sync_api import sync_playwright

    pages: list[float] = []
    bares: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(PATIENCE * 1000)

        def opened(name: str) -> Any:
            page = context.new_page()
            page.goto(f"{url}/r/{links.token(name)}")
            page.locator(".voice").nth(2).wait_for()
            return page

        def bare(name: str) -> Any:
            page = context.new_page()
            page.goto(f"{url}/assets/icon.svg")
            page.goto(f"{url}/nothing-here")
            page.evaluate(BARE, f"/api/r/{links.token(name)}")
            return page

        def measured(name: str, show: Callable[[str], Any], place: str) -> float:
            page = show(name)

            def speak() -> None:
                _speak(context, url, links, name)
                page.wait_for_function(
                    "(place) => [...document.querySelectorAll(place)].slice(0, 3)"
                    ".every((each) => each.textContent.includes('The end.'))",
                    arg=place,
                )

            tasks = traced(browser, page, speak)
            page.close()
            return sum(tasks)

        measured(names[0], opened, ".growing")  # the server and the browser are warm from here on
        for number in range(TIMES):
            pages.append(measured(names[1 + 2 * number], opened, ".growing"))
            bares.append(measured(names[2 + 2 * number], bare, "p"))
        browser.close()
    seconds = STEPS * EVERY
    return [
        Measured("work of the page while three speakers stream", median(pages), "ms"),
        Measured("the same of a bare page", median(bares), "ms", None, f"in {seconds:.0f} s"),
        Measured("the one divided by the other", median(pages) / median(bares), "×", MOST),
    ]


def _speak(context: Any, url: str, links: Links, name: str) -> None:
    texts = {seat: _words(place) for place, seat in enumerate(SEATS)}
    begun = time.monotonic()
    for step in range(STEPS + 1):
        at = step * CHARACTERS
        said = [
            {
                "discussion_id": name,
                "turn_id": f"1/answer/{seat}",
                "participant": seat,
                "attempt": 1,
                "begins": at,
                "words": text[at : at + CHARACTERS] if step < STEPS else "\n\nThe end.\n\n",
            }
            for seat, text in texts.items()
        ]
        answer = context.request.post(
            f"{url}/api/drafts",
            data={"drafts": said},
            headers={"Authorization": f"Bearer {links.owner_key}"},
        )
        assert answer.ok, answer.text()
        time.sleep(max(0.0, begun + (step + 1) * EVERY - time.monotonic()))


def _words(place: int) -> str:
    """What was really said, as Markdown, long enough."""
    said = [each.text for each in recorded()]
    return "\n\n".join(said[place:] + said[:place])[: STEPS * CHARACTERS]


def _begun() -> list[Event]:
    people = tuple(
        Participant(
            id=name, name=name.title(), role="engineer", speakers=(SpeakerRef(model=f"m/{name}"),)
        )
        for name in SEATS
    )
    turns = tuple(f"1/answer/{name}" for name in SEATS)
    host = Participant(
        id="coordinator", name="Host", role="Host", speakers=(SpeakerRef(model="m/host"),)
    )
    return [
        DiscussionOpened(
            topic="Should a team of five build its product on microservices or on a monolith?",
            procedure="deliberation",
            options={"critique": True},
            participants=people,
            host=host,
        ),
        StageOpened(stage="answer", round=1, turns=turns),
        *(
            AttemptStarted(
                turn_id=turn,
                attempt=1,
                stage="answer",
                round=1,
                participant=name,
                model=f"m/{name}",
                purpose="answer",
                label=turn,
                prompt=Prompt(template="x", version=1, hash="f" * 64, system="", user=""),
                reserved=Reservation(input_tokens=1, output_tokens=1, cost_usd=0.1),
            )
            for name, turn in zip(SEATS, turns, strict=True)
        ),
    ]
