"""`roundtable chat`: a place where people write to the table."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from ...bootstrap import start
from ...core.errors import UsageError
from ...notify.channels import make_channels
from ...settings import Settings
from ..chat.bot import ChatBot
from ..chat.channel import PlaceChannels
from ..chat.place import Place
from ..files import WorkspaceFiles
from .here import settings_here
from .terminal import echo_error


def chat_command(flags: Mapping[str, Any]) -> int:
    return asyncio.run(_serve(telegram=flags["telegram"]))


async def _serve(*, telegram: bool) -> int:
    place: Place | None = None
    try:
        while True:
            settings = settings_here()
            place = place or _place(settings, telegram=telegram)
            async with start(
                settings,
                delivery=WorkspaceFiles(settings.workspace),
                progress=echo_error,
                channels=PlaceChannels(place, make_channels(settings.choices.channels, os.environ)),
            ) as app:
                bot = ChatBot(
                    app,
                    place,
                    allowed=settings.choices.chat.allow if telegram else None,
                    dedicated=settings.choices.chat.dedicated,
                )
                if not await bot.serve():
                    return 0
    finally:
        if place is not None:
            await place.close()


def _place(settings: Settings, *, telegram: bool) -> Place:
    if not telegram:
        from ..chat.terminal import TerminalPlace

        echo_error("Write /roundtable QUESTION, or /roundtable help. The end: exit.")
        return TerminalPlace()
    from ..chat.telegram import TOKEN, Telegram

    if not os.environ.get(TOKEN, "").strip():
        raise UsageError(
            "Telegram needs a bot's token.",
            f"Get one from @BotFather and set {TOKEN}; without --telegram the chat is here.",
        )
    allowed = settings.choices.chat.allow
    told = ", ".join(allowed) or 'none yet: name them in config.toml, [chat] allow = ["…"]'
    echo_error(f"Listening on Telegram. Chats that may ask: {told}")
    return Telegram(os.environ, settings.choices.chat.telegram_api)
