"""A Chromium, a server, and windows, for as long as the tests need them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, expect, sync_playwright

from roundtable.bootstrap import start
from roundtable.ledger import open_ledger
from roundtable.surfaces.web.links import load_links
from tests.surfaces.web.house import Process, house_settings

from ..debian import Missing
from . import tools
from .decisions import STATES
from .places import Places
from .stage import ARGUMENTS, SECONDS, Stage, Visitor

Open = Callable[..., Visitor]


def _needed(missing: Missing) -> None:
    if os.environ.get("CI"):
        pytest.fail(str(missing))
    pytest.skip(str(missing))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """For this package only: while it is open, an event loop runs in this thread, and tests
    elsewhere have their own."""
    try:
        path = tools.chromium()
    except Missing as missing:
        _needed(missing)
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def axe_script() -> str:
    try:
        return tools.axe().read_text("utf-8")
    except Missing as missing:
        _needed(missing)
        raise


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One server process for all tests, and this process as another one at its ledger."""
    home = tmp_path_factory.mktemp("stage") / "home"
    with ExitStack() as stack:
        served = stack.enter_context(Process(home, "--port", "0"))
        portal = stack.enter_context(start_blocking_portal())
        settings = house_settings(home)
        ledger = portal.call(open_ledger, settings.db)
        stack.callback(lambda: portal.call(ledger.close))
        joined = start(settings, env={}, ledger=ledger)
        app = stack.enter_context(portal.wrap_async_context_manager(joined))
        yield Stage(served.found.url, load_links(home), app, ledger, portal)


@pytest.fixture(scope="package")
def shown(stage: Stage) -> dict[str, str]:
    """A decision in every state it can be in."""
    return {
        name: stage.put(f"rt_dec{number:05x}", tell())
        for number, (name, tell) in enumerate(STATES.items(), 1)
    }


@pytest.fixture(scope="package")
def places(browser: Browser, stage: Stage) -> Places:
    return Places(browser, stage.url)


@pytest.fixture
def window(places: Places) -> Iterator[Open]:
    """Opens windows; when the test is over, none of them has had an error of its own."""
    with ExitStack() as stack:
        found: list[Visitor] = []

        def open_(**chosen: Any) -> Visitor:
            new = places.window(stack, **chosen)
            found.append(new)
            return new

        yield open_
        assert [each.errors for each in found if each.errors] == []
