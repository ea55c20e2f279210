"""Posts for tests."""

from __future__ import annotations

import asyncio
from typing import Any

from roundtable.core.errors import ChannelError
from roundtable.core.notifications_plan import spelled
from roundtable.ports import Channel, Post

HOSTILE = 'Say "it\'s" `$(touch pwned)`; $HOME & *\n--flag\t\\ 日本語 🏁 <b>'


def a_post(text: str = "💬 Round 1 | Scholar (Ann)\nTea.", **fields: Any) -> Post:
    place = spelled(fields.pop("place", "team"))
    values: dict[str, Any] = {
        "place": place,
        "text": text,
        "discussion_id": "rt_0000000a",
        "kind": "speech",
        "key": f"rt_0000000a/7/speech/{place.name}/0/0",
    }
    return Post(**{**values, **fields})


def send(channel: Channel, post: Post | None = None) -> str:
    """Post within the channel's own time, as the notifier does."""

    async def main() -> str:
        async with asyncio.timeout(channel.timeout):
            return await channel.post(post or a_post())

    return asyncio.run(main())


def refusal(channel: Channel, post: Post | None = None) -> ChannelError:
    """The error with which a post is refused."""
    try:
        send(channel, post)
    except ChannelError as error:
        return error
    raise AssertionError("it was not refused")
