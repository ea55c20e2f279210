"""A run says and shows where it can be watched, before anybody speaks."""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import UsageError
from roundtable.surfaces.cli import page
from roundtable.surfaces.cli.page import PagePlan, page_plan
from roundtable.surfaces.python import Roundtable
from roundtable.surfaces.web import found
from roundtable.surfaces.web.browser import has_display, open_browser
from roundtable.surfaces.web.found import Found
from tests.surfaces.desk import Desk, wait_for


@pytest.mark.requirement("X-40", "D-58", "D-62")
def test_the_page_of_a_run_by_flag_setting_person_and_display() -> None:
    both = (True, False)
    for asked, setting, person, display in itertools.product(
        (None, *both), (None, *both), both, both
    ):
        secret, plan = (
            page_plan(
                asked=asked,
                setting=setting,
                person=person,
                display=display,
                confidential=confidential,
            )
            for confidential in both
        )
        assert secret == PagePlan()
        off = asked is False or (asked is None and setting is False)
        unasked = asked is None and setting is None and person and display
        wanted = asked is True or (asked is None and setting is True and person) or unasked
        assert plan.serve is (wanted and not off)
        assert plan.browser is (plan.serve and person and display)
        assert plan.tell is (plan.serve or (not off and person and not wanted))


@pytest.mark.requirement("X-40", "D-62")
@pytest.mark.parametrize(
    ("platform", "env", "shown"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", {"DISPLAY": ":0", "CI": "true"}, False),
        ("linux", {"DISPLAY": ":10", "SSH_CONNECTION": "1 2 3 4"}, False),
        ("darwin", {}, True),
        ("darwin", {"SSH_TTY": "/dev/ttys1"}, False),
        ("win32", {}, True),
        ("win32", {"CI": "1"}, False),
    ],
)
def test_a_browser_needs_somebody_at_the_screen(
    platform: str, env: dict[str, str], shown: bool
) -> None:
    assert has_display(env, platform) is shown


class Spy:
    """Sees the browser being opened, and what the ledger held then."""

    def __init__(self, trouble: str = "") -> None:
        self.trouble = trouble
        self.opened: list[tuple[str, str | None]] = []
        self.said_before: list[int] = []

    def __call__(self, url: str, command: str | None = None) -> str:
        self.opened.append((url, command))
        return self.trouble


def at_a_screen(monkeypatch: pytest.MonkeyPatch, spy: Spy) -> None:
    async def served(*_: Any, **__: Any) -> Found:
        return Found("http://localhost:8200", 8200, 1)

    monkeypatch.setattr(page, "open_browser", spy)
    monkeypatch.setattr(page, "is_terminal", lambda _: True)
    monkeypatch.setattr(page, "has_display", lambda _: True)
    monkeypatch.setattr(found, "ensure_server", served)


@pytest.mark.requirement("D-62", "D-80")
def test_the_browser_opens_once_and_before_the_first_speech(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = Spy()
    at_a_screen(monkeypatch, spy)
    monkeypatch.setenv("ROUNDTABLE_BROWSER", "my-browser --app={url}")
    done = desk.ask("--web", "--plain")
    assert done.code == 0, done.err
    ((url, command),) = spy.opened
    assert url.startswith("http://localhost:8200/r/")
    assert command == "my-browser --app={url}"
    lines = done.err.splitlines()
    told = next(n for n, line in enumerate(lines) if line == f"Page: {url}")
    assert told < next(n for n, line in enumerate(lines) if line.startswith("Scholar: "))


@pytest.mark.requirement("D-80")
def test_a_browser_that_does_not_open_is_said_and_the_run_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_screen(monkeypatch, Spy("No browser could be opened."))
    done = desk.ask("--web")
    assert done.code == 0
    assert "No browser could be opened. Open the page's link yourself." in done.err
    assert "Page: http://localhost:8200/r/" in done.err


@pytest.mark.requirement("D-58", "D-62", "X-40")
def test_a_person_at_a_screen_is_shown_the_page_unasked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = Spy()
    at_a_screen(monkeypatch, spy)
    assert desk.ask().code == 0
    assert len(spy.opened) == 1
    monkeypatch.setattr(page, "find_spec", lambda _: None)
    assert desk.ask().code == 0
    assert len(spy.opened) == 1, "a base install has no page, and says nothing of it"


@pytest.mark.requirement("D-58", "D-62", "X-40", "B-63")
@pytest.mark.parametrize("flags", [("--no-web",), ("--web", "--json"), ("--web", "--confidential")])
def test_nothing_opens_a_browser_that_is_not_wanted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    spy = Spy()
    at_a_screen(monkeypatch, spy)
    assert desk.ask(*flags).code == 0
    assert spy.opened == []


@pytest.mark.requirement("D-62")
def test_the_library_never_opens_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("subprocess.Popen", opened.append)

    async def main() -> None:
        async with Roundtable(home=tmp_path / "home", env={}) as table:
            await table.ask("Tea or coffee?", all="scripted/echo", quick=True)

    asyncio.run(main())
    assert opened == []


def test_a_page_that_cannot_be_served_is_a_note_and_the_run_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def absent(*_: Any, **__: Any) -> Found:
        raise UsageError("The page needs libraries.", "pip install 'roundtable-council[web]'")

    at_a_screen(monkeypatch, Spy())
    monkeypatch.setattr(found, "ensure_server", absent)
    done = desk.ask("--web")
    assert done.code == 0
    assert "Note: The page needs libraries. pip install 'roundtable-council[web]'" in done.err


@pytest.mark.requirement("D-62")
def test_the_users_own_command_shows_the_page(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f"import sys; open({str(seen)!r}, 'w').write(sys.argv[1])"
    for command in (
        f'"{sys.executable}" -c "{script}"',
        f'"{sys.executable}" -c "{script}" {{url}}',
    ):
        seen.unlink(missing_ok=True)
        assert open_browser("http://localhost:8199/r/x;y", command) == ""
        wait_for(lambda: seen.exists() and seen.read_text() == "http://localhost:8199/r/x;y")
    assert "could not be opened" in open_browser("http://localhost", "no-such-browser-anywhere")
    assert "empty" in open_browser("http://localhost", "  ")
