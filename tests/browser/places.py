"""Places for windows that are used again: whoever comes to one finds the page's own files read, and
nothing else of whoever was there before."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from .stage import Visitor, place, visitor

_OF_A_WINDOW = frozenset({"viewport", "reduced_motion", "color_scheme"})
"""What a window can be given by itself. Anything else needs a place of its own."""


@dataclass
class Place:
    """A browser context and a page in it that stays: with it stays the process, in which the
    modules of the page are compiled, and the cache, in which they are."""

    context: BrowserContext
    keeper: Page
    storage: CDPSession
    home: str
    been: set[str] = field(default_factory=set)
    taken: bool = False

    @classmethod
    def opened(cls, browser: Browser, home: str) -> Place:
        context = place(browser)
        keeper = context.new_page()
        keeper.goto(f"{home}/healthz")
        return cls(context, keeper, context.new_cdp_session(keeper), home)

    def window(
        self,
        *,
        noting: bool = False,
        viewport: Any = None,
        **media: Any,
    ) -> Visitor:
        self.taken = True
        found = visitor(self.context, noting=noting)
        found.page.on("framenavigated", lambda frame: self.been.add(frame.url))
        if viewport is not None:
            found.page.set_viewport_size(viewport)
        if media:
            found.page.emulate_media(**media)
        return found

    def left(self) -> bool:
        """Take away all that was left here. False where that cannot be done: whoever was
        elsewhere may have left something there."""
        for page in self.context.pages:
            if page is not self.keeper:
                page.close()
        if not all(url == "about:blank" or url.startswith(f"{self.home}/") for url in self.been):
            return False
        self.context.unroute_all()
        self.context.clear_permissions()
        self.context.clear_cookies()
        self.storage.send(
            "Storage.clearDataForOrigin", {"origin": self.home, "storageTypes": "all"}
        )
        self.been.clear()
        self.taken = False
        return True


@dataclass
class Places:
    """All of them, each for one window at a time."""

    browser: Browser
    home: str
    kept: list[Place] = field(default_factory=list)

    def window(self, stack: ExitStack, *, noting: bool = False, **chosen: Any) -> Visitor:
        """A window where nobody else is; when the stack is closed, nothing is left of it."""
        if chosen.keys() <= _OF_A_WINDOW:
            where = next((each for each in self.kept if not each.taken), None)
            if where is None:
                where = Place.opened(self.browser, self.home)
                self.kept.append(where)
            stack.callback(self._leave, where)
            return where.window(noting=noting, **chosen)
        own = place(self.browser, **chosen)
        stack.callback(own.close)
        return visitor(own, noting=noting)

    def _leave(self, where: Place) -> None:
        if not where.left():
            self.kept.remove(where)
            where.context.close()
