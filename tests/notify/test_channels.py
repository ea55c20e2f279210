"""Which channels there are, and that all of them keep the port's contract."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from pathlib import Path

import pytest

from roundtable.core.errors import BadSetting, ChannelError
from roundtable.core.notifications_plan import ChannelSettings, spelled
from roundtable.notify.channels import make_channel, make_channels
from roundtable.notify.command import Command
from roundtable.notify.discord import DiscordBot
from roundtable.notify.function import Function, FunctionChannels
from roundtable.notify.local import DryRun
from roundtable.notify.webhook import Webhook
from roundtable.ports import Channel, CheckableChannel, ThreadChannel
from tests.surfaces.desk import wait_for

from .posts import HOSTILE, a_post, refusal, send
from .wire import HANG, Answer, platform

KEEPER = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(repr(sys.argv[2:]), 'utf-8')"


def made(url: str, **more: object) -> Channel:
    return make_channel("team", ChannelSettings.model_validate({"url": url, **more}), {})


def test_channels_come_from_files_the_environment_and_credentials() -> None:
    env = {
        "ROUNDTABLE_CHANNEL_ON_CALL": "file:/tmp/on-call.log",
        "ROUNDTABLE_CHANNEL_TEAM": "dry-run:",
        "ROUNDTABLE_CHANNEL_EMPTY": " ",
        "DISCORD_BOT_TOKEN": "x",
    }
    configured = {"team": ChannelSettings(url="file:/tmp/team.log")}
    channels = make_channels(configured, env)
    assert set(channels.names) == {"stdout", "stderr", "dry-run", "discord", "team", "on-call"}
    assert isinstance(channels.find("team"), DryRun)  # the environment is the stronger one
    assert isinstance(channels.find("discord"), DiscordBot)
    assert channels.find("on_call") is channels.find("on-call") is not None
    assert channels.find("nobody") is None


def test_making_channels_imports_nothing_heavy() -> None:
    import subprocess

    code = (
        "import sys; from roundtable.notify.channels import make_channels; "
        "make_channels({}, {'DISCORD_BOT_TOKEN': 'x'}).find('discord'); "
        "print([m for m in ('apprise', 'httpx2', 'requests') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("url", ["", "slack"])
def test_an_address_that_is_none_is_an_error_that_does_not_repeat_it(url: str) -> None:
    with pytest.raises(BadSetting, match=r"channels\.team"):
        made(url)


def test_limits_can_be_set_for_each_channel() -> None:
    channel = made("dry-run:", limit=500, per_minute=30, timeout=5)
    assert (channel.limit, channel.interval, channel.timeout) == (500, 2.0, 5.0)


@pytest.mark.requirement("X-29")
def test_abilities_tell_what_a_channel_really_can() -> None:
    for url in ("dry-run:", "file:x", "stdout:", "discord-bot:x", "feishu-app:", "slack://a/b/c"):
        channel = made(url)
        assert ("threads" in channel.abilities) is isinstance(channel, ThreadChannel)
        assert ("check" in channel.abilities) is isinstance(channel, CheckableChannel)


@pytest.mark.requirement("I-34")
def test_a_webhook_gets_one_json_document_for_each_post() -> None:
    with platform() as there:
        channel = made(f"webhook+{there.url}/hook?k=1")
        assert isinstance(channel, Webhook)
        send(channel, a_post(HOSTILE, place="team:ops"))
    (got,) = there.got
    assert (got.path, got.query) == ("/hook", {"k": "1"})
    assert got.body == {
        "text": HOSTILE,
        "unfurl_links": False,
        "unfurl_media": False,
        "kind": "speech",
        "discussion_id": "rt_0000000a",
        "channel": "team:ops",
        "chat_id": "ops",
    }
    assert len(got.headers["idempotency-key"]) == 64


def test_a_webhook_that_redirects_is_not_followed() -> None:
    with platform(lambda _: Answer(302, None, {"location": "http://127.0.0.1:9/"})) as there:
        assert refusal(made(there.url)).permanent
    assert len(there.got) == 1


@pytest.mark.parametrize(
    ("answer", "permanent", "retry_after"),
    [
        (Answer(429, None, {"retry-after": "7"}), False, 7.0),
        (Answer(500), False, None),
        (Answer(503, raw="<html>busy</html>"), False, None),
        (HANG, False, None),
        (Answer(410), True, None),
    ],
    ids=["429", "500", "503", "hangs", "410"],
)
def test_a_webhook_in_trouble_says_whether_trying_again_can_help(
    answer: Answer, permanent: bool, retry_after: float | None
) -> None:
    with platform(lambda _: answer) as there, pytest.raises(ChannelError) as raised:
        asyncio.run(made(f"{there.url}/secret-path?key=secret", timeout=0.3).post(a_post()))
    error = raised.value
    assert (error.permanent, error.retry_after) == (permanent, retry_after)
    assert "secret" not in str(error)


@pytest.mark.requirement("I-34")
@pytest.mark.parametrize("name", ["news.log", "news.jsonl"])
def test_a_file_keeps_every_message(tmp_path: Path, name: str) -> None:
    path = tmp_path / "new folder" / name
    channel = made(f"file:{path}")
    send(channel, a_post("first"))
    send(channel, a_post(HOSTILE))
    text = path.read_text("utf-8")
    if name.endswith(".jsonl"):
        rows = [json.loads(line) for line in text.splitlines()]
        assert [row["text"] for row in rows] == ["first", HOSTILE]
    else:
        assert "] first\n" in text
        assert f"] {HOSTILE}\n" in text


def test_a_file_that_cannot_be_written_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", "utf-8")
    error = refusal(made(f"file:{tmp_path}/taken/news.log"))
    assert "cannot be written" in error.message
    assert made(f"file:{tmp_path}").problem(spelled("team")) is not None
    blocked = made(f"file:{tmp_path}/taken/news.log").problem(spelled("team"))
    assert blocked == (f"{tmp_path}/taken cannot be written.", "Name a file that you may write.")
    assert made(f"file:{tmp_path}/to/be/made/news.log").problem(spelled("team")) is None


@pytest.mark.requirement("I-34")
def test_the_terminal_gets_the_text_without_control_codes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    send(made("stdout:"), a_post("Tea\x1b[2J or\tcoffee\n🏁"))
    send(made("stderr:"), a_post("beside"))
    taken = capsys.readouterr()
    assert taken.out == "Tea␛[2J or\tcoffee\n🏁\n\n"
    assert taken.err == "beside\n\n"


@pytest.mark.requirement("I-34")
def test_a_dry_run_sends_nothing_and_shows_what_it_would_have(
    caplog: pytest.LogCaptureFixture,
) -> None:
    channel = DryRun()
    with caplog.at_level(logging.INFO, "roundtable.news"):
        assert send(channel, a_post(HOSTILE)) == "dry-run"
    assert [post.text for post in channel.posts] == [HOSTILE]
    assert "not sent" in caplog.text
    assert "touch" not in caplog.text


# A program


@pytest.mark.requirement("D-56")
def test_hostile_text_reaches_a_program_unchanged_and_no_shell_reads_it(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    channel = Command([sys.executable, "-c", KEEPER, str(kept)], {"HERMES_PROFILE": "ops"})
    send(channel, a_post(HOSTILE, place="hermes:-1001; rm"))
    assert kept.read_text("utf-8") == repr(["ops", "-1001; rm", HOSTILE])
    assert list(tmp_path.iterdir()) == [kept]


@pytest.mark.requirement("D-57")
@pytest.mark.parametrize(
    ("env", "profile"), [({}, "default"), ({"HERMES_PROFILE": "night shift"}, "night shift")]
)
def test_the_profile_comes_from_the_environment(
    tmp_path: Path, env: dict[str, str], profile: str
) -> None:
    kept = tmp_path / "kept"
    send(Command([sys.executable, "-c", KEEPER, str(kept)], env), a_post("Tea", place="hermes:7"))
    assert kept.read_text("utf-8") == repr([profile, "7", "Tea"])


def test_a_program_that_fails_says_why_without_its_secrets() -> None:
    said = "'token=abcdefghijkl123456 refused' + 'x' * 200_000"
    code = f"import sys; sys.stderr.write({said}); sys.exit(3)"
    error = refusal(Command([sys.executable, "-c", code], {}))
    assert "ended with code 3" in error.message
    assert "abcdefghijkl" not in error.message
    assert len(error.message) < 500


def test_a_program_that_is_no_longer_waited_for_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = (
        "import os, sys, time, pathlib; pathlib.Path(sys.argv[1]).write_text(str(os.getpid()));"
        "time.sleep(600)"
    )
    channel = make_channel(
        "slow",
        ChannelSettings(command=(sys.executable, "-c", code, str(pid))),
        {},
    )

    async def main() -> None:
        sending = asyncio.create_task(channel.post(a_post()))
        await asyncio.to_thread(wait_for, lambda: pid.exists() and bool(pid.read_text()))
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    asyncio.run(main())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_program_that_is_not_there_is_said_before_and_after() -> None:
    channel = made("command:/no/such/sender")
    told = channel.problem(spelled("team"))
    assert told is not None
    assert "/no/such/sender" in told[0]
    assert refusal(channel).permanent


# A function


@pytest.mark.requirement("D-54")
@pytest.mark.parametrize("kind", ["plain", "async", "gives an awaitable"])
def test_a_function_gets_platform_chat_and_message(kind: str) -> None:
    calls: list[tuple[str, str, str]] = []

    def plain(platform: str, chat_id: str, message: str) -> None:
        calls.append((platform, chat_id, message))

    async def later(platform: str, chat_id: str, message: str) -> None:
        plain(platform, chat_id, message)

    functions = {
        "plain": plain,
        "async": later,
        "gives an awaitable": lambda *words: later(*words),
    }
    channel = FunctionChannels(functions[kind]).find("anything")
    send(channel, a_post(HOSTILE, place="feishu:oc_1"))
    assert calls == [("feishu", "oc_1", HOSTILE)]


def test_a_function_that_says_no_has_not_sent() -> None:
    assert "not sent" in refusal(Function(lambda *_: False)).message
