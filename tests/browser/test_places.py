"""The places of windows, which tests share one after the other: nobody finds what another left."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .places import Places
from .stage import Stage

LEAVE = """async () => {
  localStorage.setItem("left", "1");
  sessionStorage.setItem("left", "1");
  document.cookie = "left=1";
  await new Promise((done, failed) => {
    const opening = indexedDB.open("left");
    opening.onsuccess = done;
    opening.onerror = failed;
  });
  await caches.open("left");
}"""
FIND = """async () => ({
  local: localStorage.length,
  session: sessionStorage.length,
  cookies: document.cookie,
  databases: (await indexedDB.databases()).length,
  caches: (await caches.keys()).length,
  clipboard: (await navigator.permissions.query({ name: "clipboard-read" })).state,
  history: history.length,
  width: innerWidth,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  still: matchMedia("(prefers-reduced-motion: reduce)").matches,
})"""


@pytest.fixture
def few(places: Places) -> Places:
    """Places that no other test has been to."""
    return Places(places.browser, places.home)


def test_whoever_comes_to_a_place_finds_nothing_of_whoever_was_there_before(
    stage: Stage, few: Places
) -> None:
    with ExitStack() as first:
        page = few.window(first).open(f"{stage.url}/healthz")
        untouched = page.evaluate(FIND)
    small = {"width": 360, "height": 740}
    with ExitStack() as other:
        chosen: dict[str, Any] = {"viewport": small, "color_scheme": "dark"}
        chosen["reduced_motion"] = "no-preference"
        guest = few.window(other, **chosen)
        guest.open(f"{stage.url}/healthz")
        guest.open(stage.home)
        guest.page.context.grant_permissions(["clipboard-read"])
        guest.page.context.route("**/healthz", lambda route: route.abort())
        guest.page.evaluate(LEAVE)
        found = guest.page.evaluate(FIND)
        assert all(found[each] != untouched[each] for each in untouched), (found, untouched)
    with ExitStack() as last:
        again = few.window(last)
        assert again.open(f"{stage.url}/healthz").evaluate(FIND) == untouched
        again.open(f"{stage.url}/")
        assert again.page.get_by_text("This page is its owner's").count() == 1
    assert len(few.kept) == 1
    few.kept[0].context.close()


def test_windows_that_are_open_at_the_same_time_share_nothing(stage: Stage, few: Places) -> None:
    with ExitStack() as stack:
        one, other = (few.window(stack).open(f"{stage.url}/healthz") for _ in range(2))
        untouched = other.evaluate(FIND)
        one.evaluate(LEAVE)
        assert other.evaluate(FIND) == untouched
    for each in few.kept:
        each.context.close()


def test_a_place_from_which_somebody_went_elsewhere_is_not_used_again(
    stage: Stage, few: Places, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    file.write_text("<p>From a disk", "utf-8")
    with ExitStack() as stack:
        few.window(stack).open(file.as_uri())
        assert len(few.kept) == 1
    assert few.kept == []
    with ExitStack() as stack:
        few.window(stack).open(f"{stage.url}/healthz")
    assert len(few.kept) == 1
    few.kept[0].context.close()
