"""News as a person sets them up and sees them: flags, settings, `roundtable notify`, Python."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from roundtable.bootstrap import start
from roundtable.core.errors import BadSetting, UnknownName, UsageError
from roundtable.core.events import AttemptStarted
from roundtable.core.notifications import CHAT_ROOM, outbox_of
from roundtable.core.notifications_plan import CONFIDENTIAL, spelled
from roundtable.core.values import NewsPlan
from roundtable.procedures.opening import OpenRequest
from roundtable.settings import read_settings
from roundtable.surfaces.python import Roundtable
from tests.notify.wire import HANG, Answer, Got, platform
from tests.trusted import trust_project

from .desk import QUICK, Desk, wait_for

Sent = list[tuple[str, str, str]]
ECHO: dict[str, Any] = {"all": "scripted/echo", "quick": True, "procedure": "council"}


@pytest.fixture
def told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A channel `team` that is a file."""
    path = desk.workspace / "team.jsonl"
    monkeypatch.setenv("ROUNDTABLE_CHANNEL_TEAM", f"file:{path}")
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def kinds(path: Path) -> list[str]:
    return [row["kind"] for row in rows(path)]


def toml(desk: Desk, text: str) -> None:
    desk.home.mkdir(exist_ok=True)
    (desk.home / "config.toml").write_text(text, "utf-8")


# Flags and settings


def test_a_flag_says_who_is_told(desk: Desk, told: Path) -> None:
    outcome = desk.ask("--notify", "team")
    assert outcome.code == 0
    assert "News: to team; it shows the topic, the roles and excerpts" in outcome.err
    assert kinds(told)[0] == "started"
    assert kinds(told)[-1] == "concluded"


@pytest.mark.requirement("D-71", "X-41")
def test_silence_is_said_and_a_plan_for_the_team_is_set_once(desk: Desk, told: Path) -> None:
    silent = desk.ask("-v")
    assert "News: off, nobody is told" in silent.err
    assert desk("show", desk.last_id(), "--json").document["news"].startswith("News: off")
    assert not told.exists()
    toml(desk, '[news]\nchannels = ["team"]\nevents = ["concluded"]\n')
    assert "News: to team" in desk.ask().err
    assert kinds(told) == ["concluded"]


@pytest.mark.requirement("B-63")
def test_confidential_turns_all_of_it_off_and_says_so(desk: Desk, told: Path) -> None:
    toml(desk, '[news]\nchannels = ["team"]\nenable_chat_room = true\n')
    outcome = desk.ask("--confidential")
    assert "News are off for this discussion" in outcome.err
    assert not told.exists()
    both = desk.ask("--confidential", "--notify", "team")
    assert both.code == 2
    assert "told to nobody" in both.err


@pytest.mark.requirement("D-70", "X-41")
def test_a_channel_that_nobody_set_up_is_a_warning_in_result_status_and_at_the_end(
    desk: Desk,
) -> None:
    desk.home.mkdir()
    (desk.home / "config.toml").write_text('[news]\nchannels = ["nowhere"]\n')
    outcome = desk.ask("--json")
    assert outcome.code == 0
    (note,) = [each for each in outcome.document["notes"] if each["code"] == "news"]
    assert "ROUNDTABLE_CHANNEL_NOWHERE" in note["remedy"]
    assert outcome.document["news"].startswith("News: to nowhere")
    assert "not delivered yet" in outcome.err
    assert "roundtable notify pump" in outcome.err
    status = desk("notify", "status", desk.last_id())
    assert "no channel 'nowhere' is set up" in status.err
    assert "waiting" in status.out


@pytest.mark.requirement("A-15")
def test_the_output_of_panels_json_and_of_the_environment_are_destinations(desk: Desk) -> None:
    desk.home.mkdir()
    env = {"ROUNDTABLE_HOME": str(desk.home)}
    output = {"channel": "discord", "target": "123", "useThreads": True}
    assert read_settings(env, desk.workspace).notifications_for("adaptive") is None
    (desk.home / "panels.json").write_text(json.dumps({"output": output}), "utf-8")
    by_file = read_settings(env, desk.workspace)
    assert by_file.notifications_for("adaptive") == NewsPlan(
        channels=(spelled("discord:123+threads"),)
    )
    assert by_file.notifications_for("council") is None
    by_env = read_settings({**env, "ROUNDTABLE_OUTPUT_CHANNEL": "team:9"}, desk.workspace)
    assert by_env.notifications_for("adaptive") == NewsPlan(channels=(spelled("team:9+threads"),))
    assert by_env.notifications_for("council") == NewsPlan(channels=(spelled("team:9"),))


def test_a_projects_file_cannot_say_where_news_go(desk: Desk) -> None:
    (desk.workspace / "panels.json").write_text('{"output": {"channel": "x"}}', "utf-8")
    trust_project(desk.home, desk.workspace)
    with pytest.raises(BadSetting, match="output"):
        read_settings({"ROUNDTABLE_HOME": str(desk.home)}, desk.workspace)
    (desk.workspace / "panels.json").unlink()
    (desk.workspace / "roundtable.toml").write_text('[news]\nchannels = ["x"]\n', "utf-8")
    trust_project(desk.home, desk.workspace)
    with pytest.raises(BadSetting, match="news"):
        read_settings({"ROUNDTABLE_HOME": str(desk.home)}, desk.workspace)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[news]\nchannels = ["slack://a/b"]\n', "ROUNDTABLE_CHANNEL_NAME"),
        ('[news]\nevents = ["everything"]\n', "news.events"),
        ("[news]\nchanels = []\n", "chanels"),
        ('[channels.x]\nurl = "file:x"\nlimit = 1\n', "channels.x.limit"),
    ],
)
def test_a_wrong_setting_names_its_key(desk: Desk, text: str, says: str) -> None:
    toml(desk, text)
    outcome = desk.ask()
    assert outcome.code == 2
    assert says in outcome.err


def test_a_setting_never_shows_a_channels_address() -> None:
    env = {"ROUNDTABLE_HOME": "/nowhere"}
    settings = read_settings(env, Path("/nowhere"))
    address = {"team": {"url": "slack://hidden/away/here", "token": "hidden"}}
    choices = settings.choices.model_validate({"channels": address})
    assert "hidden" not in repr(settings.model_copy(update={"choices": choices}))


def test_json_and_news_do_not_share_standard_output(desk: Desk) -> None:
    outcome = desk.ask("--json", "--notify", "stdout")
    assert outcome.code == 2
    assert "--notify stderr" in outcome.err


def test_a_question_that_is_declined_is_no_news(desk: Desk, told: Path) -> None:
    assert desk.ask("--notify", "team", "--confirm", stdin=b"n\n").code == 1
    assert not told.exists()


# The command


@pytest.mark.requirement("D-18", "D-73")
def test_news_are_fired_by_hand_listed_and_sent_again(desk: Desk, told: Path) -> None:
    toml(desk, '[news]\nchannels = ["team"]\nevents = ["failed"]\n')
    desk.ask()
    id_ = desk.last_id()
    fired = desk("notify", id_, "concluded")
    assert fired.code == 0
    assert "delivered" in fired.out
    assert kinds(told) == ["concluded"]
    status = desk("notify", "status", id_, "--json").document
    (message,) = status["messages"]
    assert (status["notifications"], message["status"], message["attempts"]) == (
        "on",
        "delivered",
        1,
    )
    again = desk("notify", "resend", id_, message["id"])
    assert (again.code, kinds(told)) == (0, ["concluded", "concluded"])
    assert "Nothing was given up" in desk("notify", "resend", id_).err


@pytest.mark.requirement("D-73")
def test_what_a_dead_sender_left_is_pumped_when_it_is_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = desk.workspace / "later"
    place.write_text("a file where a folder should be", "utf-8")
    monkeypatch.setenv("ROUNDTABLE_CHANNEL_TEAM", f"file:{place}/news.jsonl")
    toml(desk, '[news]\nchannels = ["team"]\nevents = ["concluded"]\n')
    assert desk.ask().code == 0
    id_ = desk.last_id()
    (before,) = desk("notify", "status", id_, "--json").document["messages"]
    assert before["status"] == "failed"
    assert "cannot be written" in before["detail"]
    place.unlink()
    pumped = desk("notify", "pump", "--trace")
    assert pumped.code == 0, pumped.err
    assert "platform=team chat=- kind=concluded" in pumped.err
    assert kinds(place / "news.jsonl") == ["concluded"]
    assert "Done with no messages, 0 left." in desk("notify", "pump").err


def test_a_message_that_was_under_way_when_its_process_was_killed_is_sent_by_the_next(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with platform(lambda _: HANG) as there:
        monkeypatch.setenv("ROUNDTABLE_CHANNEL_TEAM", f"webhook+{there.url}")
        with desk.start("Tea or coffee?", *QUICK, "--notify", "team") as killed:
            wait_for(lambda: bool(there.got))
            killed.process.kill()
            killed.end()
        there.script = lambda _: Answer()
        before = len(there.got)
        pumped = desk("notify", "pump")
        assert pumped.code == 0, pumped.err
        sent = [got.body["kind"] for got in there.got[before:]]
    assert sent[0] == "started"
    document = desk("notify", "status", desk.last_id(), "--json").document
    assert [each["kind"] for each in document["messages"]] == sent
    assert {each["status"] for each in document["messages"]} == {"delivered"}
    assert document["messages"][0]["attempts"] == 2


def test_a_channel_can_be_tried(desk: Desk, told: Path) -> None:
    assert desk("notify", "test", "team").code == 0
    assert [row["text"] for row in rows(told)] == ["🔔 Roundtable: this is a test."]
    unknown = desk("notify", "test", "taem")
    assert unknown.code == 2
    assert "Did you mean team" in unknown.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["rt_00000000", "concluded"], "no discussion"),
        (["ID", "everything"], "Unknown kind of news"),
        (["ID", "concluded"], "Nobody is told"),
        (["resend", "ID", "1/x/y"], "no message"),
        (["status"], "It takes"),
        ([], "It takes"),
    ],
)
def test_bad_words_get_an_answer_that_helps(desk: Desk, words: list[str], says: str) -> None:
    desk.ask()
    id_ = desk.last_id()
    outcome = desk("notify", *(id_ if word == "ID" else word for word in words))
    assert outcome.code == 2
    assert says in outcome.err


@pytest.mark.requirement("A-30", "A-31", "A-32", "A-33", "A-35", "X-46")
def test_an_adaptive_discussion_has_its_own_discord_thread(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def discord(got: Got) -> Answer:
        return Answer(body={"id": "777" if got.path.endswith("/threads") else "1"})

    desk.home.mkdir()
    output = {"channel": "discord", "target": "123", "useThreads": True}
    (desk.home / "panels.json").write_text(json.dumps({"output": output}), "utf-8")
    toml(desk, '[channels.discord]\nurl = "discord-bot:"\nper_minute = 60000\n')
    monkeypatch.setenv("DISCORD_BOT_TOKEN", "x")
    panel = ("--panel", "scripted/echo,scripted/echo", "--model", "scripted/echo")
    with platform(discord) as there:
        monkeypatch.setenv("DISCORD_BASE_URL", there.url)
        outcome = desk("Tea or coffee, what is better?", "--debate", *panel, "--no-log")
    assert outcome.code == 0, outcome.err
    first, *others = there.paths()
    assert first == "POST /channels/123/threads"
    assert there.got[0].body["name"] == "🎯 Tea or coffee, what is better? [DEBATE]"
    assert set(others) == {"POST /channels/777/messages"}
    texts = [got.body["content"] for got in there.got[1:]]
    assert "Mode: DEBATE" in texts[0]
    assert "⏳" in texts[0]
    assert any(text.startswith("✅ Round 1 complete") for text in texts)
    assert any(text.startswith("🏁") for text in texts[-3:])

    async def synthesis() -> list[str]:
        async with Roundtable(home=desk.home, env={}) as table:
            records = [record async for record in table.events(desk_id)]
        started = [r.event for r in records if isinstance(r.event, AttemptStarted)]
        return [e.prompt.user for e in started if e.stage == "synthesis"]

    desk_id = desk.last_id()
    (prompt,) = asyncio.run(synthesis())
    assert "THREAD_ID: 777" in prompt


# Python


def table(sent: Sent, home: Path, *, slow: bool = False) -> Roundtable:
    def plain(platform: str, chat_id: str, message: str) -> None:
        sent.append((platform, chat_id, message))

    async def later(platform: str, chat_id: str, message: str) -> None:
        plain(platform, chat_id, message)

    return Roundtable(home=home, env={}, model="scripted/echo", send_fn=later if slow else plain)


@pytest.mark.requirement("D-47", "D-54")
@pytest.mark.parametrize("slow", [False, True])
def test_a_python_sender_gets_platform_chat_and_message(tmp_path: Path, slow: bool) -> None:
    sent: Sent = []
    news = {
        "enabled": True,
        "channels": [{"platform": "feishu", "chat_id": "oc_1"}, {"platform": "hermes"}],
        "events": ["concluded"],
    }

    async def main() -> None:
        async with table(sent, tmp_path, slow=slow) as one:
            await one.ask("Tea?", news=news, **ECHO)

    asyncio.run(main())
    assert sorted((platform, chat) for platform, chat, _ in sent) == [
        ("feishu", "oc_1"),
        ("hermes", ""),
    ]
    assert all(message.startswith("🏁") for _, _, message in sent)


@pytest.mark.requirement("D-72")
def test_a_table_by_its_constructor_and_by_the_bootstrap_are_both_wired(tmp_path: Path) -> None:
    sent: Sent = []
    plan = NewsPlan(channels=(spelled("x:1"),), events=("concluded",))

    async def by_constructor() -> None:
        async with table(sent, tmp_path / "a") as one:
            await one.ask("Tea?", news=plan, **ECHO)

    async def by_bootstrap() -> None:
        settings = read_settings({"ROUNDTABLE_HOME": str(tmp_path / "b")}, tmp_path)
        send = lambda *words: sent.append(words)  # noqa: E731
        async with start(settings, env={}, send_fn=send) as app:
            options = {"all": "scripted/echo", "quick": True}
            opened = await app.service.open(OpenRequest(topic="Tea?", options=options, news=plan))
            await app.service.run(opened.discussion_id)

    asyncio.run(by_constructor())
    assert len(sent) == 1
    asyncio.run(by_bootstrap())
    assert len(sent) == 2


@pytest.mark.requirement("D-18")
def test_python_fires_news_by_hand(tmp_path: Path) -> None:
    sent: Sent = []

    async def main() -> None:
        async with table(sent, tmp_path) as one:
            state = await one.open("Tea?", news={"channels": ["x"], "events": []}, **ECHO)
            (id_,) = await one.notify(state.discussion_id, "started")
            assert id_.endswith("/started/x")

    asyncio.run(main())
    assert [message.partition("\n")[0][:12] for _, _, message in sent] == ["🔔 Roundtable"]


@pytest.mark.requirement("B-57")
@pytest.mark.parametrize("on", [True, False])
def test_five_rounds_send_five_notices_of_progress_or_none(tmp_path: Path, on: bool) -> None:
    sent: Sent = []
    news = {"channels": ["feishu:oc_1"], "events": ["round_end", "concluded"]} if on else None

    async def main() -> None:
        async with table(sent, tmp_path) as one:
            state = await one.open(
                "Should we build a shop?",
                procedure="five-round",
                news=news,
                strict_rounds=True,
                models=["scripted/echo"],
            )
            state = await one.run(state.discussion_id)
            assert state.status == "concluded"

    asyncio.run(main())
    assert len(sent) == (5 if on else 0)


@pytest.mark.requirement("B-58", "B-63")
def test_a_chat_room_is_asked_for_and_confidential_forbids_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with table([], tmp_path) as one:
            silent = await one.open("Tea?", **ECHO)
            assert silent.notification_plan is None
            room = await one.open("Tea?", enable_chat_room=True, **ECHO)
            assert room.notification_plan is not None
            assert [each.platform for each in room.notification_plan.channels] == [CHAT_ROOM]
            closed = await one.open("Tea?", confidential=True, **ECHO)
            assert closed.notification_plan == CONFIDENTIAL
            with pytest.raises(UsageError):
                await one.open("Tea?", confidential=True, enable_chat_room=True, **ECHO)
            with pytest.raises(UnknownName, match="chanels"):
                await one.open("Tea?", news={"chanels": []}, **ECHO)

    asyncio.run(main())


def test_messages_are_kept_with_their_standing_in_the_ledger(tmp_path: Path) -> None:
    sent: Sent = []

    async def main() -> None:
        async with table(sent, tmp_path) as one:
            state = await one.open("Tea?", news=["x:1"], **ECHO)
            await one.run(state.discussion_id)
        async with table([], tmp_path) as again:
            whole = await again._joined.service.records(state.discussion_id)
            entries = outbox_of(whole).entries.values()
            assert [entry.message.text for entry in entries] == [text for _, _, text in sent]
            assert {entry.where for entry in entries} == {"delivered"}

    asyncio.run(main())
