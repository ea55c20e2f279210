"""A place as a channel for news: what a discussion has to tell goes to the chat that asked."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.values import NewsChannel
from ...ports import Ability, Channel, Channels, Post
from .place import Place


class PlaceChannel:
    """Posts into a place. A chat is always private to those in it, so nothing more is needed than
    its id."""

    timeout = 30.0
    abilities: frozenset[Ability] = frozenset(["buttons"])

    def __init__(self, place: Place) -> None:
        self._place = place

    @property
    def limit(self) -> int:
        return self._place.limit

    @property
    def interval(self) -> float:
        return self._place.interval

    def problem(self, place: NewsChannel) -> tuple[str, str] | None:
        if place.chat_id:
            return None
        return f"{place.platform} needs to know the chat.", "Give its chat_id."

    async def post(self, post: Post) -> str:
        return await self._place.say(post.place.chat_id, post.text)

    async def close(self) -> None:
        """The place is closed by whoever serves it."""


class PlaceChannels:
    """The place beside the channels that the user set up."""

    def __init__(self, place: Place, others: Channels) -> None:
        self._platform = place.platform
        self._place = PlaceChannel(place)
        self._others = others

    def find(self, platform: str) -> Channel | None:
        return self._place if platform == self._platform else self._others.find(platform)

    @property
    def names(self) -> Sequence[str]:
        return (self._platform, *self._others.names)

    async def close(self) -> None:
        await self._others.close()
