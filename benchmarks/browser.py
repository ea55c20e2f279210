"""What the measurements in a browser share: Chromium, the server beside it, and the work that the
browser itself did, told in processor time, so that others at work on the machine count little."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from anyio.from_thread import BlockingPortal

from roundtable.core.events import Event, NewEvent
from roundtable.ports import Ledger
from roundtable.surfaces.web.found import Found, running

ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE = 120
_TASKS = ("ThreadControllerImpl::RunTask", "RunTask")
_CALIBRATION = """() => {
  const begun = performance.now();
  let rows = [];
  for (let round = 0; round < 60; round += 1) {
    rows = Array.from({ length: 2000 }, (_, at) => ({ at, text: `row ${at * round}` }));
    rows.sort((one, two) => two.text.localeCompare(one.text, "en") || one.at - two.at);
  }
  return performance.now() - begun + (rows.length ? 0 : 1);
}"""
QUIET = 19.0
"""Milliseconds of processor time that the calibrating loop takes where nothing else is at work, on
the machine on which the goals were set."""


def chromium(name: str) -> str | None:
    """The browser, or None with a word about it."""
    named = os.environ.get("ROUNDTABLE_CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if found is None:
        print(f"{name}: skipped, there is no Chromium on the PATH", file=sys.stderr)
    return found


class Speed:
    """How fast this browser is now, beside the quiet machine: a loop that is always the same, run
    between the measurements."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._found: list[float] = []

    def look(self) -> None:
        context = self._browser.new_context()
        page = context.new_page()
        for _ in range(3):  # the first run also compiles it
            tasks = traced(self._browser, page, lambda: page.evaluate(_CALIBRATION))
        self._found.append(max(tasks))
        context.close()

    @property
    def loop(self) -> float:
        return median(self._found)

    @property
    def slower(self) -> float:
        """By which factor everything takes longer here."""
        return self.loop / QUIET


def traced(browser: Any, page: Any, act: Callable[[], object]) -> list[float]:
    """The processor time, in milliseconds, of each task of the page's main thread meanwhile."""
    browser.start_tracing(page=page, categories=["toplevel", "__metadata"])
    try:
        act()
    finally:
        found = json.loads(browser.stop_tracing())["traceEvents"]
    mains = {
        (each["pid"], each["tid"])
        for each in found
        if each.get("name") == "thread_name" and each["args"]["name"] == "CrRendererMain"
    }
    return [
        each["tdur"] / 1000
        for each in found
        if each.get("ph") == "X"
        and each["name"] in _TASKS
        and (each["pid"], each["tid"]) in mains
        and "tdur" in each
    ]


def append(
    portal: BlockingPortal,
    ledger: Ledger,
    discussion: str,
    events: Sequence[Event],
    expected: int | None = None,
) -> None:
    began = datetime.now(UTC) - timedelta(seconds=1)
    new = [NewEvent(event, began) for event in events]
    portal.call(lambda: ledger.append(discussion, new, expected=expected))


class served:  # noqa: N801 - reads as what it is: `with served(home) as found`
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
