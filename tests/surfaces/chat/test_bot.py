"""The bot: what people write becomes discussions, and the answers go where the question came."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roundtable.bootstrap import App, start
from roundtable.notify.channels import make_channels
from roundtable.settings import read_settings
from roundtable.surfaces.chat.bot import ChatBot
from roundtable.surfaces.chat.channel import PlaceChannels
from roundtable.surfaces.chat.grammar import Asks
from roundtable.surfaces.chat.place import Message
from roundtable.surfaces.chat.request import request_of_words
from roundtable.surfaces.cli.app import cli
from roundtable.surfaces.cli.ask import request_of


class Room:
    """A place in memory: what is written there is brought, what is said is kept."""

    platform = "room"
    limit = 4000
    interval = 0.0

    def __init__(self, *written: str, chat: str = "7") -> None:
        self.written = [Message(chat, text, message_id=str(n)) for n, text in enumerate(written)]
        self.said: list[tuple[str, str, tuple[str, ...]]] = []

    async def messages(self) -> AsyncGenerator[Message, None]:
        while self.written:
            yield self.written.pop(0)

    async def say(self, chat_id: str, text: str, *, buttons: Sequence[str] = ()) -> str:
        self.said.append((chat_id, text, tuple(buttons)))
        return str(len(self.said))

    async def close(self) -> None:
        pass

    @property
    def texts(self) -> list[str]:
        return [text for _, text, _ in self.said]


@asynccontextmanager
async def joined(home: Path, room: Room) -> AsyncIterator[App]:
    env = {"ROUNDTABLE_HOME": str(home), "ROUNDTABLE_MODEL": "scripted/echo"}
    env["ROUNDTABLE_LOCAL_SERVERS"] = "false"
    settings = read_settings(env, home)
    channels = PlaceChannels(room, make_channels(settings.choices.channels, env))
    async with start(settings, env=env, channels=channels) as app:
        yield app


async def served(
    home: Path, room: Room, *, allowed: Sequence[str] | None = None, **more: Sequence[str]
) -> bool:
    async with joined(home, room) as app, asyncio.timeout(120):
        return await ChatBot(app, room, allowed=allowed, **more).serve()


QUESTION = "/council Tea or coffee? --quick --all=scripted/echo --no-search"


@pytest.mark.requirement("A-01", "C-01", "A-15")
async def test_a_question_in_a_chat_is_discussed_and_its_news_come_back_to_that_chat(
    tmp_path: Path,
) -> None:
    room = Room(QUESTION)
    assert await served(tmp_path, room) is False
    async with joined(tmp_path, room) as app:
        (row,) = await app.service.summaries()
        state = await app.service.read(row.discussion_id)
    assert (row.status, row.procedure) == ("concluded", "council")
    assert state.start.created_by == "room:7"
    assert {chat for chat, _, _ in room.said} == {"7"}
    assert "🔔" in room.texts[0]
    assert any("🏁" in text for text in room.texts)


@pytest.mark.requirement("C-02", "C-05", "C-06")
async def test_help_and_config_answer_at_once_and_ask_nobody(tmp_path: Path) -> None:
    room = Room("/roundtable help", "/roundtable config", "Good morning")
    await served(tmp_path, room)
    assert len(room.said) == 2
    assert [word in room.texts[0] for word in ("question", "setup", "config", "help")] == [True] * 4
    assert "/roundtable setup" in room.texts[1]
    async with joined(tmp_path, room) as app:
        assert await app.service.summaries() == []


@pytest.mark.requirement("C-07", "C-16", "X-51")
async def test_the_setup_asks_one_question_at_a_time_with_letters_and_stores_at_the_end(
    tmp_path: Path,
) -> None:
    room = Room("/roundtable setup", "A", "sonnet", "Z", "B", "A", "B", "ok", "yes")
    assert await served(tmp_path, room) is True, "a new configuration joins the program anew"
    stored = json.loads((tmp_path / "config.json").read_text("utf-8"))
    assert stored["round2"] is False
    assert all(text.count("?") <= 1 for text in room.texts)
    assert room.said[0][2] == ("A", "B", "C")


@pytest.mark.requirement("C-16")
async def test_cancel_stores_nothing(tmp_path: Path) -> None:
    room = Room("/roundtable setup", "A", "cancel")
    assert await served(tmp_path, room) is False
    assert not (tmp_path / "config.json").exists()
    assert room.texts[-1] == "Nothing was stored."


async def test_a_chat_that_is_not_allowed_spends_nothing_and_learns_its_id(tmp_path: Path) -> None:
    room = Room(QUESTION, "ask the council about tea")
    await served(tmp_path, room, allowed=["8"])
    assert len(room.said) == 1, "chatter of strangers is not answered"
    assert "7" in room.texts[0]
    assert "[chat] allow" in room.texts[0]
    async with joined(tmp_path, room) as app:
        assert await app.service.summaries() == []


@pytest.mark.requirement("A-12")
async def test_in_a_dedicated_chat_every_message_is_a_topic(tmp_path: Path) -> None:
    room = Room("Tea or coffee? --procedure council --quick --all=scripted/echo --no-search")
    await served(tmp_path, room, dedicated=["7"])
    async with joined(tmp_path, room) as app:
        (row,) = await app.service.summaries()
    assert row.topic == "Tea or coffee?"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("/roundtable --context=/etc/passwd What is this?", "--context does not work in a chat"),
        ("/roundtable Tea? --output-dir=/tmp", "--output-dir does not work"),
        ("/roundtable Tea? --panle=a", "--panle"),
        ("/roundtable --quick", "The question is empty"),
    ],
)
async def test_what_cannot_be_asked_is_said_in_the_chat(
    tmp_path: Path, text: str, answer: str
) -> None:
    room = Room(text)
    await served(tmp_path, room)
    (said,) = room.texts
    assert answer in said


async def test_a_message_that_comes_twice_is_answered_once(tmp_path: Path) -> None:
    room = Room("/roundtable help")
    room.written *= 2
    await served(tmp_path, room)
    assert len(room.said) == 1


@pytest.mark.requirement("I-08")
async def test_what_was_under_way_when_the_program_ended_is_taken_up(tmp_path: Path) -> None:
    room = Room()
    async with joined(tmp_path, room) as app:
        bot = ChatBot(app, room, allowed=None)
        await bot.hear(Message("7", QUESTION))
        (task,) = bot._running
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        (row,) = await app.service.summaries()
        assert row.status == "running"
    await served(tmp_path, room)
    async with joined(tmp_path, room) as app:
        (row,) = await app.service.summaries()
    assert row.status == "concluded"


@pytest.mark.requirement("A-01", "X-02")
def test_a_command_line_and_a_chat_message_make_the_same_request(tmp_path: Path) -> None:
    settings = read_settings({"ROUNDTABLE_HOME": str(tmp_path)}, tmp_path)
    for words in (
        ("--debate", "--panel", "a,b", "Tea", "or", "coffee?"),
        ("What's", "better?", "--quick", "--preset=cheap"),
        ("Tea?", "--procedure", "five-round", "--max-calls=5"),
    ):
        parent = cli.make_context("roundtable", ["ask"])
        flags = cli.commands["ask"].make_context("ask", list(words), parent=parent).params
        typed = request_of(" ".join(flags["question"]), flags, settings)
        written = request_of_words(Asks(words), settings, created_by=typed.created_by)
        assert written == typed
