"""Who is told of new discussions, as a person configures it: channels by name, and a plan."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from .errors import BadSetting
from .notifications import CHAT_ROOM
from .values import NEWS_KINDS, NewsChannel, NewsKind, NewsPlan, Value

CONFIDENTIAL = NewsPlan(enabled=False)
"""The plan of a discussion of which nobody may hear."""
THREADS = "+threads"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def spelled(text: str) -> NewsChannel:
    """A channel from `NAME`, `NAME:CHAT` or either with `+threads`. An address is refused: it may
    hold a password, and plans are stored."""
    bare = text.strip().removesuffix(THREADS)
    name, _, chat = bare.partition(":")
    if not _NAME.fullmatch(name) or chat.startswith("//"):
        raise BadSetting(
            "channel",
            f"{name}:…" if chat else repr(bare[:40]),
            "the name of a channel, NAME or NAME:CHAT; its address belongs into [channels] in "
            "config.toml or into ROUNDTABLE_CHANNEL_NAME",
        )
    return NewsChannel(platform=name, chat_id=chat, threads=text.strip().endswith(THREADS))


def _channel(value: object) -> object:
    return spelled(value) if isinstance(value, str) else value


def _address(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


class ChannelSettings(Value):
    """How a channel is reached. In a file also just its address."""

    url: str = Field(default="", repr=False)
    """`slack://…`, `https://…`, `file:PATH`, `discord-bot:` …; `{chat_id}` stands for the chat."""
    command: tuple[str, ...] = ()
    """A program that sends: it is given a profile, the chat and the message."""
    token: str = Field(default="", repr=False)
    base_url: str = ""
    limit: int | None = Field(default=None, ge=50)
    """Characters of one post; longer messages are parted."""
    per_minute: float | None = Field(default=None, gt=0)
    timeout: float | None = Field(default=None, gt=0, le=120)


Address = Annotated[ChannelSettings, BeforeValidator(_address)]


class NotificationSettings(Value):
    """The default plan, for all new discussions."""

    enabled: bool = True
    channels: tuple[Annotated[NewsChannel, BeforeValidator(_channel)], ...] = ()
    events: tuple[NewsKind, ...] = NEWS_KINDS
    speech_limit: int = Field(default=200, ge=1)
    enable_chat_room: bool = False
    """Whether discussions can be read along in the channel `chat-room`."""

    def plan(
        self,
        channels: Sequence[NewsChannel] = (),
        *,
        here: NewsChannel | None = None,
        chat_room: bool | None = None,
    ) -> NewsPlan | None:
        """The plan with these channels, else with the configured ones, else with the place that
        the command came from. None if nobody is told."""
        if not self.enabled and not channels:
            return None
        told = [*(channels or self.channels)]
        if not told and here is not None:
            told = [here]
        if self.enable_chat_room if chat_room is None else chat_room:
            told.append(NewsChannel(platform=CHAT_ROOM))
        if not told:
            return None
        return NewsPlan(
            channels=tuple({each.name: each for each in told}.values()),
            events=self.events,
            speech_limit=self.speech_limit,
        )


def output_channel(output: Mapping[str, Any]) -> tuple[NewsChannel, ...]:
    """The destination of `output` in panels.json: channel, target, useThreads."""
    channel, target = output.get("channel"), output.get("target")
    if not channel:
        return ()
    place = spelled(f"{channel}:{target}" if target else str(channel))
    return (place.model_copy(update={"threads": bool(output.get("useThreads"))}),)
