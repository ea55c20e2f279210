"""The page of a discussion that was started through the tools."""

from __future__ import annotations

import asyncio
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest

from roundtable.core.errors import UsageError
from roundtable.surfaces.toolset.base import STARTED
from roundtable.surfaces.web import found
from tests.surfaces.desk import environment

from .tables import ENV, SEATS, TOPIC, tools


def page(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return str(answer.read().decode())


@pytest.mark.requirement("D-05", "D-58", "D-81")
async def test_a_discussion_gets_a_page_whose_server_outlives_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(ENV).items():
        monkeypatch.setenv(name, value)
    async with tools(tmp_path, env=environment(ENV), web=True) as toolset:
        home = toolset.app.settings.home
        try:
            opened = await toolset.create_discussion(topic=TOPIC, participants=SEATS, web_port=0)
            assert opened.warnings == [STARTED]
            assert "roundtable serve --stop" in STARTED
            assert opened.web_url is not None
            assert "/r/" in opened.web_url
            assert "<html" in await asyncio.to_thread(page, opened.web_url)
            invited = await toolset.invite(opened.discussion_id, "arch")
            again = await toolset.create_discussion(topic=TOPIC, participants=SEATS)
            assert again.warnings == [], "the server is there already"
            assert invited.web_url is not None
            assert invited.web_url != opened.web_url
            quiet = await toolset.create_discussion(topic=TOPIC, participants=SEATS, web=False)
            assert quiet.web_url is None
        finally:
            await asyncio.to_thread(found.stop_server, home)


async def test_without_the_pages_libraries_the_answer_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(name: str) -> object:
        return None if name in ("fastapi", "uvicorn") else find_spec(name)

    monkeypatch.setattr(found, "find_spec", without)
    with pytest.raises(UsageError):
        found.require_web()
    async with tools(tmp_path, web=True) as toolset:
        opened = await toolset.create_discussion(topic=TOPIC, participants=SEATS)
        assert opened.web_url is None
        assert any("roundtable-council[web]" in each for each in opened.warnings)
