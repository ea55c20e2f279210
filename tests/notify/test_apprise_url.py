"""Channels by Apprise address: the library's own parsers read ours, and its wires carry them."""

from __future__ import annotations

import asyncio
import builtins
from typing import Any

import apprise
import pytest
from apprise.plugins.feishu import NotifyFeishu
from apprise.plugins.slack import NotifySlack

from roundtable.core.notifications_plan import ChannelSettings, spelled
from roundtable.notify.apprise_url import AppriseUrl, limits_of
from roundtable.notify.channels import make_channel, make_channels
from roundtable.ports import Channel

from .posts import a_post, refusal, send
from .wire import Answer, platform

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
"""One of the library's own senders still imports it."""
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"


def by(url: str) -> Channel:
    return make_channel("team", ChannelSettings(url=url), {})


@pytest.mark.parametrize(
    ("url", "place", "plugin"),
    [
        (SLACK, "team", "NotifySlack"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/{chat_id}", "team:general", None),
        ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazk", "team", None),
        ("feishu://abcdefghijkl", "team", "NotifyFeishu"),
        ("https://open.feishu.cn/open-apis/bot/v2/hook/abcdefghijk", "team", "NotifyFeishu"),
        ("lark://abcdefghijkl", "team", "NotifyLark"),
        ("tgram://123456789:abcdefg_hijklmnop/{chat_id}/", "team:12315544", "NotifyTelegram"),
        ("discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", "team", "NotifyDiscord"),
        ("mailto://user:pass@example.com", "team", "NotifyEmail"),
    ],
)
def test_the_librarys_own_parser_reads_every_address_that_the_page_promises(
    url: str, place: str, plugin: str | None
) -> None:
    channel = by(url)
    assert isinstance(channel, AppriseUrl)
    assert channel.problem(spelled(place)) is None
    parsed = apprise.Apprise.instantiate(channel._filled(spelled(place)))
    assert parsed is not None
    assert plugin in (None, type(parsed).__name__)
    assert channel.limit <= parsed.body_maxlen


def test_a_telegram_token_alone_makes_a_channel() -> None:
    found = make_channels({}, {"TELEGRAM_BOT_TOKEN": "123456789:abcdefg_hijklmnop"})
    channel = found.find("telegram")
    assert channel is not None
    assert channel.problem(spelled("telegram:12315544")) is None
    assert channel.problem(spelled("telegram")) is not None


def test_a_slack_webhook_gets_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    with platform(lambda _: Answer(200, raw="ok")) as there:
        monkeypatch.setattr(NotifySlack, "webhook_url", f"{there.url}/services")
        send(AppriseUrl(SLACK, limits_of(SLACK)))
    (got,) = there.got
    assert got.path == "/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
    assert "Round 1 | Scholar (Ann)" in str(got.body)


def test_a_feishu_webhook_gets_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NotifyFeishu, "request_rate_per_sec", 0)
    with platform(lambda _: Answer(200, {"code": 0})) as there:
        monkeypatch.setattr(NotifyFeishu, "notify_url", f"{there.url}/hook/{{token}}/")
        send(by("feishu://abcdefghijkl"))
    (got,) = there.got
    assert got.path == "/hook/abcdefghijkl/"
    assert got.body == {"msg_type": "text", "content": {"text": a_post().text}}


@pytest.mark.parametrize(("status", "permanent"), [(500, False), (429, False), (403, True)])
def test_what_the_library_only_logs_becomes_the_reason_of_the_failure(
    status: int, permanent: bool
) -> None:
    with platform(lambda _: Answer(status)) as there:
        error = refusal(by(there.url.replace("http://", "json://")))
    assert f"error={status}" in error.message
    assert error.permanent is permanent


def test_an_address_that_the_library_cannot_read_is_said_before_and_after() -> None:
    channel = by("nonsense://what")
    told = channel.problem(spelled("team"))
    assert told is not None
    assert "Apprise" in told[0]
    assert refusal(channel).permanent


def test_a_chat_needs_its_room_in_the_address() -> None:
    told = by(SLACK).problem(spelled("team:general"))
    assert told is not None
    assert "{chat_id}" in told[1]


def test_a_chat_cannot_leave_its_place_in_the_address() -> None:
    channel = AppriseUrl("json://localhost/{chat_id}", limits_of("json://x"))
    assert (
        channel._filled(spelled("team:a/../b?x=1#y")) == "json://localhost/a%2F..%2Fb%3Fx%3D1%23y"
    )


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "apprise":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    told = by(SLACK).problem(spelled("team"))
    assert told == ("It needs the package apprise.", "pip install 'roundtable-council[notify]'")


def test_calls_that_hang_are_bounded_in_number() -> None:
    from threading import Event

    from roundtable.core.errors import ChannelError
    from roundtable.notify.base import Aside

    release = Event()

    async def main() -> None:
        aside = Aside(most=2)
        stuck = [asyncio.create_task(aside.run(release.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(ChannelError, match="2 earlier messages"):
            await aside.run(release.wait)
        release.set()
        assert await asyncio.gather(*stuck) == [True, True]
        assert await aside.run(lambda: "free again") == "free again"

    asyncio.run(main())
