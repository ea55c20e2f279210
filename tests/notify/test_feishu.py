"""Feishu's and Lark's app API: a token, messages, refusals in successes, and the delivery check."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from roundtable.core.notifications_plan import spelled
from roundtable.notify.base import ChannelLimits
from roundtable.notify.feishu import FeishuApp

from .posts import a_post, refusal, send
from .wire import Answer, Got, Script, platform

SECRET = "not-a-real-secret"
POST = a_post(place="feishu:oc_team")


def app(url: str, brand: str = "feishu") -> FeishuApp:
    name = brand.upper()
    env = {f"{name}_APP_ID": "cli_1", f"{name}_APP_SECRET": SECRET, f"{name}_BASE_URL": url}
    return FeishuApp(brand, env, "", ChannelLimits())


def feishu(messages: Answer) -> Script:
    def script(got: Got) -> Answer:
        if got.path.endswith("/tenant_access_token/internal"):
            return Answer(body={"code": 0, "tenant_access_token": "t-1", "expire": 7200})
        return messages

    return script


def message(text: str, number: int) -> dict[str, Any]:
    return {"message_id": f"om_{number}", "body": {"content": json.dumps({"text": text})}}


SENT = Answer(body={"code": 0, "msg": "success", "data": {"message_id": "om_9"}})


@pytest.mark.parametrize("brand", ["feishu", "lark"])
def test_a_message_goes_to_the_chat_with_a_token_that_is_fetched_once(brand: str) -> None:
    with platform(feishu(SENT)) as there:
        channel = app(there.url, brand)
        receipts = [send(channel, POST), send(channel, POST)]
    assert receipts == ["om_9", "om_9"]
    token, *posts = there.got
    assert token.body == {"app_id": "cli_1", "app_secret": SECRET}
    assert len(posts) == 2
    assert posts[0].path == "/open-apis/im/v1/messages"
    assert posts[0].query == {"receive_id_type": "chat_id"}
    assert posts[0].headers["authorization"] == "Bearer t-1"
    assert posts[0].body["receive_id"] == "oc_team"
    assert json.loads(posts[0].body["content"]) == {"text": POST.text}
    assert posts[0].body["uuid"] == posts[1].body["uuid"]


@pytest.mark.requirement("D-74")
def test_the_delivery_check_asks_for_the_newest_first_and_is_not_misled_by_old_messages() -> None:
    old = [message(f"old {n}", n) for n in range(30)]

    def script(got: Got) -> Answer:
        if "sort_type" not in got.query:  # the platform's own order: the oldest first
            return feishu(Answer(body={"code": 0, "data": {"items": old}}))(got)
        newest = [message(POST.text, 99), *reversed(old)][:20]
        return Answer(body={"code": 0, "data": {"items": newest}})

    with platform(script) as there:
        channel = app(there.url)
        assert asyncio.run(channel.arrived(POST)) == "om_99"
        other = a_post("Never sent", place="feishu:oc_team")
        assert asyncio.run(channel.arrived(other)) is None
    looked = there.got[-1]
    assert looked.query == {
        "container_id_type": "chat",
        "container_id": "oc_team",
        "sort_type": "ByCreateTimeDesc",
        "page_size": "20",
    }


@pytest.mark.parametrize(
    ("code", "permanent"), [(230002, True), (230020, False), (99991663, False)]
)
def test_a_refusal_inside_a_success_is_a_failure(code: int, permanent: bool) -> None:
    with platform(feishu(Answer(200, {"code": code, "msg": "no"}))) as there:
        error = refusal(app(there.url), POST)
    assert error.permanent is permanent
    assert str(code) in error.message
    assert SECRET not in str(error)


def test_a_token_that_ran_out_is_fetched_anew_by_the_next_attempt() -> None:
    answers = [Answer(200, {"code": 99991663}), SENT]
    with platform(lambda got: feishu(answers[0])(got)) as there:
        channel = app(there.url)
        refusal(channel, POST)
        answers.pop(0)
        assert send(channel, POST) == "om_9"
    assert sum("tenant_access_token" in path for path in there.paths()) == 2


def test_what_is_missing_is_seen_without_sending() -> None:
    told = FeishuApp("lark", {}, "", ChannelLimits()).problem(spelled("lark:oc_1"))
    assert told == ("Lark needs an app.", "Set LARK_APP_ID and LARK_APP_SECRET.")
    assert app("http://127.0.0.1:1").problem(spelled("feishu")) is not None
    assert app("http://127.0.0.1:1").problem(spelled("feishu:oc_1")) is None
