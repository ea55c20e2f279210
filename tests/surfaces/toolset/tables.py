"""Tables for the toolset's tests: everybody from outside, everything in a folder of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from roundtable.core.state import State
from roundtable.core.values import NewsChannel, NewsPlan
from roundtable.ports import Speaker
from roundtable.surfaces.toolset import Toolset
from roundtable.surfaces.toolset.moderate import SeatWish
from roundtable.surfaces.toolset.opening import open_toolset
from tests.declaring import fields

TOPIC = "Should the shop move to one database?"
SEATS: list[SeatWish] = [
    {"profile": "arch", "role": "Architect", "perspective": "structure", "display_name": "Ann"},
    {"profile": "back", "role": "Backend", "perspective": "operations", "display_name": "Bob"},
    {"profile": "prod", "role": "Product", "perspective": "users"},
]
NAMES = ("arch", "back", "prod")
ENV = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_COMMAND_AGENTS": "false"}
TOLD = NewsPlan(channels=(NewsChannel(platform="team", chat_id="room"),))


def declares(*lines: str, words: str = "I have thought about it.") -> dict[str, Any]:
    """The arguments of a speech that declares what these lines say."""
    return {"content": words, "declaration": fields(*lines)}


@asynccontextmanager
async def tools(
    place: Path, *, speakers: Mapping[str, Speaker] | None = None, **more: Any
) -> AsyncIterator[Toolset]:
    """A toolset over a home and a workspace in this folder."""
    (place / "work").mkdir(exist_ok=True, parents=True)
    async with open_toolset(
        home=place / "home",
        env=more.pop("env", ENV),
        workspace=place / "work",
        speakers=speakers,
        web=more.pop("web", False),
        **more,
    ) as opened:
        yield opened


async def started(toolset: Toolset, count: int = 3, **more: Any) -> str:
    opened = await toolset.create_discussion(topic=TOPIC, participants=SEATS[:count], **more)
    return opened.discussion_id


async def stored(toolset: Toolset, discussion_id: str) -> State:
    return await toolset.app.service.read(discussion_id)
