"""Words on their way: kept in order, begun anew when some are missing, never waited for."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from roundtable.engine.tools import Draft
from roundtable.ledger.leases import this_owner
from roundtable.surfaces.web import drafts
from roundtable.surfaces.web.drafts import DraftStore, posting
from roundtable.surfaces.web.found import Found, announce

from .house import PATIENCE, house

pytestmark = pytest.mark.anyio


def draft(words: str, attempt: int = 1, turn: str = "1/answer/muse") -> Draft:
    return Draft("rt_1", turn, "muse", attempt, words)


def text(store: DraftStore, turn: str = "1/answer/muse") -> str | None:
    speaking = store.get("rt_1", turn)
    return speaking.text if speaking else None


def test_words_of_a_turn_add_up_and_a_new_attempt_begins_anew() -> None:
    store = DraftStore()
    store.add(draft("Tea, "))
    store.add(draft("then."))
    assert text(store) == "Tea, then."
    store.add(draft("Coffee.", attempt=2))
    store.add(draft(" Late.", attempt=1))
    assert text(store) == "Coffee."
    store.drop("rt_1", "1/answer/muse", attempt=1)
    assert text(store) == "Coffee."
    store.drop("rt_1", "1/answer/muse")
    assert text(store) is None


def test_words_with_a_gap_before_them_are_asked_for_again() -> None:
    store = DraftStore()
    assert store.put("rt_1", "t", "muse", 1, 0, "One ")
    assert store.put("rt_1", "t", "muse", 1, 4, "two ")
    assert not store.put("rt_1", "t", "muse", 1, 12, "four")
    assert text(store, "t") == "One two "
    assert store.put("rt_1", "t", "muse", 1, 0, "One two three four")
    assert text(store, "t") == "One two three four"


def test_a_desk_does_not_grow_without_end() -> None:
    store = DraftStore()
    for number in range(drafts._MOST_TURNS + 10):
        store.add(draft("word", turn=str(number)))
    assert len(store.of("rt_1")) == drafts._MOST_TURNS
    for _ in range(10):
        store.add(draft("x" * drafts._LONGEST, turn="long"))
    assert len(text(store, "long") or "") == drafts._LONGEST


async def test_a_process_that_drives_posts_its_words_to_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "LOOK_EVERY", 0.01)
    async with house(tmp_path / "home") as home:
        heard: list[str] = []
        port = int(home.url.rsplit(":", 1)[1])
        announce(tmp_path / "home", Found(home.url, port, 1), "elsewhere:1:")
        told = asyncio.Event()

        def tell(_: str) -> None:
            if text(home.web.running.draft_store) == "Tea, 😀 then.":
                told.set()

        with home.web.running.draft_store.listening("rt_1", tell):
            async with posting(tmp_path / "home", lambda d: heard.append(d.words)) as on_draft:
                for word in ("Tea, ", "😀 ", "then."):
                    on_draft(draft(word))
                    await asyncio.sleep(0)
                await asyncio.wait_for(told.wait(), PATIENCE)
                # The server has forgotten all of it, as one does that was started again.
                home.web.running.draft_store.drop("rt_1", "1/answer/muse")
                told.clear()
                on_draft(draft(""))
                on_draft(draft(" "))
                while not told.is_set():
                    async with asyncio.timeout(PATIENCE):
                        await asyncio.sleep(0.01)
                        if text(home.web.running.draft_store) == "Tea, 😀 then. ":
                            break
                        on_draft(draft(""))
        assert heard[:3] == ["Tea, ", "😀 ", "then."]


async def test_without_a_server_words_go_nowhere_and_nobody_waits(tmp_path: Path) -> None:
    heard: list[str] = []
    async with posting(tmp_path, lambda d: heard.append(d.words)) as on_draft:
        on_draft(draft("Tea."))
        await asyncio.sleep(0)
    announce(tmp_path, Found("http://localhost:9", 9, 1), this_owner())
    async with posting(tmp_path, lambda d: heard.append(d.words)) as on_draft:
        on_draft(draft("Tea."))
        await asyncio.sleep(0)
    assert heard == ["Tea.", "Tea."]
