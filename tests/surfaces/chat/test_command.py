"""`roundtable chat` as a process: a Telegram bot that is killed loses nothing."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.search.server import search_server
from tests.surfaces.desk import Desk, Running, wait_for

from .telegram_server import TOKEN, TelegramServer

QUESTION = "/council Tea or coffee? --quick --all=scripted/echo --no-search"


@pytest.fixture
def telegram(desk: Desk) -> Iterator[TelegramServer]:
    server = TelegramServer()
    with search_server(server) as there:
        desk.home.mkdir(exist_ok=True)
        (desk.home / "config.toml").write_text(
            f'[chat]\nallow = ["7"]\ntelegram_api = "{there.url}"\n', "utf-8"
        )
        yield server


def bot(desk: Desk) -> Running:
    return desk.start(
        "chat", "--telegram", TELEGRAM_BOT_TOKEN=TOKEN, ROUNDTABLE_MODEL="scripted/echo"
    )


@pytest.mark.requirement("A-01", "X-29", "I-20")
def test_a_bot_answers_where_it_was_asked_and_a_killed_one_is_taken_up(
    desk: Desk, telegram: TelegramServer
) -> None:
    telegram.writes(7, QUESTION)
    telegram.writes(8, "/council May I?")
    with bot(desk) as first:
        wait_for(lambda: len(telegram.said(7)) >= 2 or first.process.poll() is not None)
        first.process.kill()
        first.process.wait()
    with bot(desk) as second:
        wait_for(lambda: any("🏁" in text for text in telegram.said(7)))
        wait_for(lambda: bool(telegram.said(8)))
        second.process.send_signal(signal.SIGINT)
        outcome = second.end()
    assert sum("🏁" in text for text in telegram.said(7)) == 1
    assert "may not ask" in telegram.said(8)[0]
    assert TOKEN not in first.err + outcome.err + outcome.out
    (row,) = desk("list", "--json").document
    assert row["status"] == "concluded"


def test_a_bot_without_a_token_says_what_to_set(desk: Desk, telegram: TelegramServer) -> None:
    outcome = desk.command("chat", "--telegram")
    assert outcome.code == 2
    assert "TELEGRAM_BOT_TOKEN" in outcome.err
    assert "Listening" not in outcome.err
    assert telegram.sent == []


def test_the_terminal_is_a_chat_for_one_person(desk: Desk) -> None:
    typed = f"/roundtable help\nGood morning\n{QUESTION}\nexit\n"
    outcome = desk.command("chat", stdin=typed.encode(), ROUNDTABLE_MODEL="scripted/echo")
    assert outcome.code == 0, outcome.err
    assert "setup" in outcome.out
    assert outcome.out.count("That is not for the table") == 1
    assert "🏁" in outcome.out
