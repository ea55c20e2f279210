"""Discord's bot API: threads first, posts in them, and what its refusals mean."""

from __future__ import annotations

import asyncio

import pytest

from roundtable.core.errors import ChannelError
from roundtable.core.notifications_plan import spelled
from roundtable.notify.base import ChannelLimits
from roundtable.notify.discord import DiscordBot

from .posts import a_post, refusal, send
from .wire import HANG, Answer, Got, platform

SECRET = "MTIz.test-bot-token.456"


def bot(url: str, *, timeout: float = 20.0) -> DiscordBot:
    limits = ChannelLimits(limit=2000, timeout=timeout)
    return DiscordBot("", {"DISCORD_BOT_TOKEN": SECRET, "DISCORD_BASE_URL": url}, "", limits)


def discord(got: Got) -> Answer:
    if got.path.endswith("/threads"):
        return Answer(201, {"id": "777", "name": got.body["name"], "type": 11})
    return Answer(200, {"id": "9001", "content": got.body["content"]})


@pytest.mark.requirement("A-33")
def test_a_post_with_a_thread_goes_into_the_thread_and_not_into_the_channel() -> None:
    with platform(discord) as there:
        channel = bot(there.url)
        thread = asyncio.run(channel.open_thread(spelled("discord:123"), "🎯 Tea? [DEBATE]"))
        receipt = send(channel, a_post(place="discord:123", thread_id=thread))
    assert (thread, receipt) == ("777", "9001")
    assert there.paths() == ["POST /channels/123/threads", "POST /channels/777/messages"]
    made, posted = there.got
    assert made.body == {"name": "🎯 Tea? [DEBATE]", "type": 11, "auto_archive_duration": 1440}
    assert posted.body["content"] == a_post().text
    assert posted.body["allowed_mentions"] == {"parse": []}
    assert posted.body["flags"] & 4, "no preview fetches what an address names"
    assert {each.headers["authorization"] for each in there.got} == {f"Bot {SECRET}"}


def test_the_same_message_sent_twice_carries_the_same_nonce_and_another_one_a_different() -> None:
    with platform(discord) as there:
        send(bot(there.url), a_post(place="discord:1"))
        send(bot(there.url), a_post(place="discord:1"))
        send(bot(there.url), a_post(place="discord:1", key="another"))
    nonces = [got.body["nonce"] for got in there.got]
    assert nonces[0] == nonces[1] != nonces[2]
    assert all(len(nonce) <= 25 for nonce in nonces)
    assert all(got.body["enforce_nonce"] is True for got in there.got)


@pytest.mark.parametrize(
    ("answer", "permanent", "retry_after"),
    [
        (Answer(429, {"message": "slow down", "retry_after": 1.5}), False, 1.5),
        (Answer(429, None, {"retry-after": "7"}), False, 7.0),
        (Answer(500, {"message": "oops"}), False, None),
        (Answer(401, {"message": "401: Unauthorized"}), True, None),
        (Answer(404, {"message": "Unknown Channel"}), True, None),
    ],
)
def test_a_refusal_says_whether_trying_again_can_help(
    answer: Answer, permanent: bool, retry_after: float | None
) -> None:
    with platform(lambda _: answer) as there:
        error = refusal(bot(there.url), a_post(place="discord:1"))
    assert (error.permanent, error.retry_after) == (permanent, retry_after)
    assert SECRET not in str(error)
    assert not permanent or error.remedy


def test_a_platform_that_never_answers_is_given_up_in_the_channels_time() -> None:
    too_late = pytest.raises(ChannelError, match=r"did not answer within 0\.2 s")
    with platform(lambda _: HANG) as there, too_late:
        asyncio.run(bot(there.url, timeout=0.2).post(a_post(place="discord:1")))


def test_a_platform_that_is_not_there_is_a_failure_that_can_be_tried_again() -> None:
    with platform() as there:
        gone = there.url
    error = refusal(bot(gone), a_post(place="discord:1"))
    assert "cannot be reached" in error.message
    assert not error.permanent


def test_a_chat_that_is_no_id_is_refused_before_anything_is_sent() -> None:
    with platform(discord) as there:
        error = refusal(bot(there.url), a_post(place="discord:../users/@me"))
    assert error.permanent
    assert there.got == []


def test_a_missing_token_or_channel_is_seen_without_sending() -> None:
    lacking = DiscordBot("", {}, "", ChannelLimits())
    assert lacking.problem(spelled("discord:1")) == (
        "Discord needs a bot's token.",
        "Set DISCORD_BOT_TOKEN.",
    )
    told = bot("http://127.0.0.1:1").problem(spelled("discord"))
    assert told is not None
    assert "discord:CHANNEL_ID" in told[1]


def test_an_answer_without_a_thread_is_a_failure() -> None:
    def odd(_: Got) -> Answer:
        return Answer(200, ["what"])

    with platform(odd) as there, pytest.raises(ChannelError, match="which thread"):
        asyncio.run(bot(there.url).open_thread(spelled("discord:1"), "name"))
