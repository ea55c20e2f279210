"""A stage for browser tests: the real server process, a second process at the same ledger (this
one), and pages that tell what they did."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from roundtable.bootstrap import App
from roundtable.core.events import Event, NewEvent
from roundtable.core.state import State
from roundtable.ports import Ledger
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.tokens.capability import Role
from roundtable.surfaces.web.links import Links
from tests.views import tables

T = TypeVar("T")
SECONDS = 60
MILLISECOND = timedelta(milliseconds=1)
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A window opens in the process of the one before, which has read the page's modules already.
    "--renderer-process-limit=1",
]
VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
window.ran = [];
window.alert = (what) => window.ran.push(String(what));
"""
PLACES = [
    {"profile": "tea", "role": "advocate", "model": "outside", "display_name": "Tea"},
    {"profile": "milk", "role": "critic", "model": "outside", "display_name": "Milk"},
]


@dataclass
class Stage:
    """What a test has: the server's address, and the means of another process."""

    url: str
    links: Links
    app: App
    ledger: Ledger
    portal: BlockingPortal

    def do(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        result: T = self.portal.call(work)
        return result

    def meeting(self, topic: str = "Tea or coffee?", **options: Any) -> State:
        """Two people and a chair from outside: nothing happens unless somebody speaks."""
        chosen = {"participants": PLACES, "host": "outside", **options}
        request = OpenRequest(topic=topic, procedure="meeting", options=chosen)
        return self.do(lambda: self.app.service.open(request))

    def say(self, state: State, who: str, text: str) -> None:
        """In this process, which is not the one that serves the page."""
        self.do(lambda: self.app.service.speak(state.discussion_id, who, text))

    def read(self, state: State) -> State:
        return self.do(lambda: self.app.service.read(state.discussion_id))

    def put(
        self, discussion_id: str, events: Sequence[Event], *, pace: timedelta = MILLISECOND
    ) -> str:
        """A discussion as its events tell it, one after the other at this pace."""
        began = datetime.now(UTC) - timedelta(minutes=5)
        new = [NewEvent(event, began + n * pace) for n, event in enumerate(events)]
        self.do(lambda: self.ledger.append(discussion_id, new, expected=0))
        return discussion_id

    def driven(self, discussion_id: str) -> str:
        """As if a process elsewhere drove it: it goes on, although nobody does anything."""
        self.do(lambda: self.ledger.take_lease(discussion_id, "elsewhere:1:x", ttl=3600))
        return discussion_id

    def draft(self, page: Page, discussion_id: str, turn: str, words: str, begins: int = 0) -> int:
        """Words of a turn that is being spoken in another process; gives how many there are."""
        said = {
            "discussion_id": discussion_id,
            "turn_id": turn,
            "participant": turn.split("/")[2],
            "attempt": 1,
            "begins": begins,
            "words": words,
        }
        answer = page.request.post(
            f"{self.url}/api/drafts",
            data={"drafts": [said]},
            headers={"Authorization": f"Bearer {self.links.owner_key}"},
        )
        assert answer.ok, answer.text()
        return begins + len(words)

    def link(self, discussion_id: str, role: Role = "viewer", seat: str = "", **more: Any) -> str:
        return f"{self.url}/r/{self.links.token(discussion_id, role, seat=seat, **more)}"

    @property
    def home(self) -> str:
        return f"{self.url}/?key={self.links.owner_key}"


@dataclass
class Visitor:
    """A browser window, and everything that must not happen in it."""

    page: Page
    errors: list[str] = field(default_factory=list)
    noted: list[str] | None = None

    def open(self, url: str) -> Page:
        self.page.goto(url)
        return self.page

    @property
    def requests(self) -> list[str]:
        """Everything that was asked for, in a window that was opened to note it: told one by one,
        the requests of a page cost as much as a tenth of its opening."""
        assert self.noted is not None, "open the window with noting=True"
        return self.noted

    @property
    def violations(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.violations")
        return found

    @property
    def ran(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.ran")
        return found


USUAL: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}


def place(browser: Browser, **context: Any) -> BrowserContext:
    """Where windows can be opened that share cookies and nothing with those of other places."""
    opened = browser.new_context(**{**USUAL, **context})
    opened.set_default_timeout(SECONDS * 1000)
    opened.add_init_script(VIOLATIONS)
    return opened


def visitor(context: BrowserContext, *, noting: bool = False) -> Visitor:
    page = context.new_page()
    found = Visitor(page)
    page.on("pageerror", lambda error: found.errors.append(str(error)))
    if noting:
        noted = found.noted = []
        page.on("request", lambda request: noted.append(request.url))
    return found


def resize(page: Page, size: ViewportSize) -> None:
    """Give the open page another size, to which it has come when this returns."""
    page.set_viewport_size(size)
    # What asks for a size in a script is drawn anew after it was told, not with the styles.
    page.evaluate(
        "async () => { for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame); }"
    )


def overflow(page: Page) -> int:
    """By how much the page is wider than its window."""
    wide: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wide


def events_of(tell: Callable[[], object]) -> list[Event]:
    """The events of a discussion of tests/views/tables, before they are folded."""
    kept: list[Event] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "fold", lambda records: kept.extend(r.event for r in records))
        tell()
    return kept
