"""The choice: settings first, then the environment, then ddgs, then none."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from roundtable.bootstrap import start
from roundtable.core.errors import BadSetting, SearchError
from roundtable.core.events import SearchFailed, SearchFinished
from roundtable.core.values import SearchHit
from roundtable.ledger.memory import MemoryLedger
from roundtable.procedures.opening import OpenRequest
from roundtable.search.choose import SearchName, choose_search
from roundtable.settings import read_settings
from tests.trusted import trust_project

from . import formats
from .server import always, answer, search_server

KEYS = {"TAVILY_API_KEY": "tvly-x", "BRAVE_API_KEY": "BSA-x"}


@pytest.fixture(autouse=True)
def _no_ddgs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs", None)


def chosen(
    wanted: SearchName | None = None, url: str | None = None, env: dict[str, str] | None = None
) -> str | None:
    search = choose_search(wanted, url, env or {})
    return search.name if search else None


@pytest.mark.requirement("X-30")
def test_with_nothing_configured_there_is_no_search() -> None:
    assert chosen() is None
    assert chosen(env={"TAVILY_API_KEY": " ", "BRAVE_API_KEY": "", "SEARXNG_URL": ""}) is None


def test_the_environment_opens_a_search() -> None:
    everything = {**KEYS, "SEARXNG_URL": "http://localhost:8888"}
    assert chosen(env=everything) == "searxng"
    assert chosen(url="http://localhost:8888", env=KEYS) == "searxng"
    assert chosen(env=KEYS) == "tavily"
    assert chosen(env={"BRAVE_API_KEY": "BSA-x"}) == "brave"


def test_ddgs_is_used_when_it_is_installed_and_nothing_else_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package = ModuleType("ddgs")
    package.__spec__ = sys.__spec__
    monkeypatch.setitem(sys.modules, "ddgs", package)
    assert chosen() == "ddgs"
    assert chosen(env=KEYS) == "tavily"


@pytest.mark.parametrize("name", ["searxng", "tavily", "brave", "ddgs"])
async def test_what_the_settings_name_is_taken_and_says_what_it_lacks(name: SearchName) -> None:
    search = choose_search(name, None, {})
    assert search is not None
    assert search.name == name
    with pytest.raises(SearchError, match=r"Set SEARXNG_URL|Set \w+_API_KEY|pip install"):
        await search.find("tea", 5)


def test_none_is_none_whatever_the_environment_offers() -> None:
    assert chosen("none", "http://localhost:8888", KEYS) is None


async def test_no_key_is_seen_in_what_is_chosen() -> None:
    env = {"TAVILY_API_KEY": formats.KEY}
    with search_server(always(answer(formats.tavily_error(formats.KEY), 401))) as server:
        search = choose_search(None, None, {**env, "TAVILY_BASE_URL": server.url})
        assert search is not None
        with pytest.raises(SearchError) as caught:
            await search.find("tea", 5)
    assert formats.KEY not in f"{search!r} {vars(search)!r} {caught.value!r} {caught.value}"


def test_the_settings_come_from_the_environment_or_the_users_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = {"ROUNDTABLE_HOME": str(home)}
    (home / "config.toml").write_text('search = "ddgs"\nsearxng_url = "http://a"\n', "utf-8")
    choices = read_settings(env, tmp_path).choices
    assert (choices.search, choices.searxng_url) == ("ddgs", "http://a")
    env |= {"ROUNDTABLE_SEARCH": "none", "SEARXNG_URL": "http://b"}
    choices = read_settings(env, tmp_path).choices
    assert (choices.search, choices.searxng_url) == ("none", "http://b")
    with pytest.raises(BadSetting, match="ROUNDTABLE_SEARCH: search: expected 'searxng', 'tavily'"):
        read_settings(env | {"ROUNDTABLE_SEARCH": "altavista"}, tmp_path)


@pytest.mark.requirement("I-24")
@pytest.mark.parametrize("line", ['searxng_url = "http://evil.example"', 'search = "ddgs"'])
def test_a_projects_file_decides_nothing_about_the_search(tmp_path: Path, line: str) -> None:
    (tmp_path / "roundtable.toml").write_text(line, "utf-8")
    trust_project(tmp_path / "home", tmp_path)
    with pytest.raises(BadSetting, match="may be set in"):
        read_settings({"ROUNDTABLE_HOME": str(tmp_path / "home")}, tmp_path)


@pytest.mark.requirement("X-30", "C-19")
async def test_a_whole_discussion_uses_the_search_of_the_environment(tmp_path: Path) -> None:
    row = ("Tea", "https://example.org/tea", "Tea is <b>old</b>.")
    with search_server(always(answer(formats.searxng(row)))) as server:
        env = {"SEARXNG_URL": server.url, "ROUNDTABLE_LOCAL_SERVERS": "false"}
        event = await discussed(tmp_path, env)
        assert event == SearchFinished(
            query="Tea or coffee?",
            provider="searxng",
            hits=(SearchHit(title="Tea", url="https://example.org/tea", text="Tea is old."),),
        )
    event = await discussed(tmp_path, env)
    assert isinstance(event, SearchFailed)
    assert event.message == (
        "SearXNG cannot be reached at 127.0.0.1. Check the address and the network."
    )


async def discussed(home: Path, env: dict[str, str]) -> object:
    settings = read_settings({"ROUNDTABLE_HOME": str(home), **env}, home)
    async with start(settings, env=env, ledger=MemoryLedger()) as app:
        options = {"all": "scripted/echo", "quick": True}
        opened = await app.service.open(OpenRequest(topic="Tea or coffee?", options=options))
        state = await app.service.run(opened.discussion_id)
    (event,) = state.searches
    return event
