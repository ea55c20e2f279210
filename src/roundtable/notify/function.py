"""A sender from Python: `send_fn(platform, chat_id, message)`, plain or async."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from ..core.errors import ChannelError
from ..ports import Channel, Post
from .base import Aside, ChannelLimits, PlainChannel

SendFn = Callable[[str, str, str], object]
"""Gets platform, chat and message. False, or an exception, means that it was not sent."""


LIMITS = ChannelLimits(limit=20_000)
"""A function knows its platform: it gets whole messages."""


class Function(PlainChannel):
    """Hands every message to a function of the caller's."""

    def __init__(self, send_fn: SendFn, limits: ChannelLimits = LIMITS) -> None:
        super().__init__(limits)
        self._send_fn = send_fn
        self._aside = Aside()

    async def post(self, post: Post) -> str:
        place, send = post.place, self._send_fn
        if inspect.iscoroutinefunction(send):
            answer = await send(place.platform, place.chat_id, post.text)
        else:  # it may block: not in the loop
            answer = await self._aside.run(lambda: send(place.platform, place.chat_id, post.text))
            if inspect.isawaitable(answer):
                answer = await answer
        if answer is False:
            raise ChannelError("send_fn says that it was not sent.")
        return ""


class FunctionChannels:
    """Implements the Channels port: one function sends for every platform."""

    def __init__(self, send_fn: SendFn) -> None:
        self._channel = Function(send_fn)

    def find(self, platform: str) -> Channel:
        del platform
        return self._channel

    @property
    def names(self) -> Sequence[str]:
        return ()

    async def close(self) -> None:
        """Nothing to give back."""
