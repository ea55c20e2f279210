"""Telegram as a place, against its own API on loopback."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from roundtable.core.errors import BadSetting, ChannelError
from roundtable.surfaces.chat.place import Message
from roundtable.surfaces.chat.telegram import Telegram
from tests.search.server import search_server

from .telegram_server import TOKEN, TelegramServer

ENV = {"TELEGRAM_BOT_TOKEN": TOKEN}


async def heard(place: Telegram, count: int) -> list[Message]:
    found: list[Message] = []
    async with asyncio.timeout(30), aclosing(place.messages()) as messages:
        async for message in messages:
            found.append(message)
            if len(found) == count:
                return found
    return found


async def test_messages_come_once_and_what_nobody_wrote_is_passed_over() -> None:
    server = TelegramServer()
    server.writes(7, "Hello")
    server.writes(7, "from a bot", **{"from": {"id": 2, "is_bot": True}})
    server.writes(7, None, photo=[])
    server.writes(-8, "中文 🎯")
    with search_server(server) as there:
        place = Telegram(ENV, there.url, poll_seconds=1)
        assert await heard(place, 2) == [
            Message("7", "Hello", "ada", "1"),
            Message("-8", "中文 🎯", "ada", "4"),
        ]
        server.writes(7, "Again")
        assert await heard(place, 1) == [Message("7", "Again", "ada", "5")]
        await place.close()


async def test_trouble_is_waited_out_and_nothing_is_missed() -> None:
    server = TelegramServer(fails=[(502, None), (429, 0)])
    server.writes(7, "Hello")
    with search_server(server) as there:
        place = Telegram(ENV, there.url, poll_seconds=1)
        assert [message.text for message in await heard(place, 1)] == ["Hello"]
        await place.close()


@pytest.mark.requirement("C-07")
async def test_options_are_shown_as_buttons_and_a_long_text_is_cut_to_what_telegram_takes() -> None:
    server = TelegramServer()
    with search_server(server) as there:
        place = Telegram(ENV, there.url)
        assert await place.say("7", "Which? " + "x" * 5000, buttons=["A", "B"]) == "9001"
        await place.close()
    (sent,) = server.sent
    assert sent["reply_markup"]["keyboard"] == [[{"text": "A"}, {"text": "B"}]]
    assert len(sent["text"]) <= 4096


@pytest.mark.requirement("I-20")
@pytest.mark.parametrize(
    ("status", "permanent"), [(401, True), (403, True), (429, False), (500, False)]
)
async def test_a_refusal_says_what_to_do_and_never_shows_the_token(
    status: int, permanent: bool
) -> None:
    server = TelegramServer(fails=[(status, 7 if status == 429 else None)])
    with search_server(server) as there:
        place = Telegram(ENV, there.url)
        with pytest.raises(ChannelError) as refused:
            await place.say("7", "Hello")
        await place.close()
    assert refused.value.permanent is permanent
    assert refused.value.retry_after == (7 if status == 429 else None)
    assert refused.value.remedy
    assert "planted" not in str(refused.value)


async def test_a_bot_that_telegram_does_not_know_is_a_setting_to_mend() -> None:
    with search_server(TelegramServer()) as there:
        for env in ({}, {"TELEGRAM_BOT_TOKEN": "1:wrong"}):
            place = Telegram(env, there.url)
            with pytest.raises(BadSetting, match="TELEGRAM_BOT_TOKEN"):
                await heard(place, 1)
            await place.close()


async def test_a_place_that_cannot_be_reached_does_not_show_its_address() -> None:
    place = Telegram(ENV, "http://127.0.0.1:9")
    with pytest.raises(ChannelError, match="cannot be reached") as refused:
        await place.say("7", "Hello")
    assert "planted" not in repr(refused.value)
    await place.close()
