"""A server that does not know something of a request is asked without it, once and for all."""

from __future__ import annotations

from typing import Any

import pytest

from roundtable.core.errors import SpeakerError
from tests.servers import Answer, provider_server, raw, status
from tests.speakers.test_api import CHAT, MESSAGES, request, speaker
from tests.wire import Asked

pytestmark = pytest.mark.requirement("Z-35", "Z-36")

NEW_NAME = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
FORBIDDEN = (
    '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body",'
    '"stream_options"],"msg":"Extra inputs are not permitted","input":"temperature"}]}}'
)


async def bodies(
    model: str, reply: Any, *, calls: int = 2, temperature: float | None = None
) -> list[dict[str, Any]]:
    """What was sent until each of some calls was answered."""
    with provider_server(reply) as server:
        async with speaker(server.env()) as speaking:
            for _ in range(calls):
                said = await speaking.speak(request(model, temperature=temperature), lambda _: None)
                assert said.text == "Because."
        keys = [each.idempotency_key for each in server.requests]
        assert len(set(keys[:2])) == 2, "else the refusal may be replayed"
        return [each.body for each in server.requests]


def without(name: str, fault: Answer) -> Any:
    """A server that refuses a request with this in it."""

    def reply(asked: Asked) -> Answer:
        return fault if name in asked.body else "Because."

    return reply


@pytest.mark.parametrize(
    "fault",
    [
        status(400, "Unrecognized request argument supplied: stream_options"),
        raw(FORBIDDEN, 422, "application/json"),
    ],
)
async def test_a_server_that_cannot_count_in_a_stream_is_not_asked_to_again(fault: Answer) -> None:
    sent = await bodies(CHAT, without("stream_options", fault), temperature=0.5)
    assert ["stream_options" in each for each in sent] == [True, False, False]
    assert all(each["temperature"] == 0.5 for each in sent), "what was not refused stays"


async def test_the_limit_goes_by_the_name_that_the_server_knows() -> None:
    sent = await bodies(CHAT, without("max_tokens", status(400, NEW_NAME)))
    assert [each.get("max_tokens") for each in sent] == [200, None, None]
    assert [each.get("max_completion_tokens") for each in sent] == [None, 200, 200]


async def test_the_new_name_of_the_limit_is_given_up_for_the_old_one_too() -> None:
    fault = status(400, "Unknown field: max_completion_tokens")
    sent = await bodies("openai/gpt-5-mini", without("max_completion_tokens", fault))
    assert [each.get("max_tokens") for each in sent] == [None, 200, 200]


@pytest.mark.parametrize("model", [CHAT, MESSAGES])
async def test_a_temperature_that_is_not_taken_is_left_out(model: str) -> None:
    fault = status(400, "`temperature` is deprecated for this model.")
    sent = await bodies(model, without("temperature", fault), temperature=0.5)
    assert [each.get("temperature") for each in sent] == [0.5, None, None]


async def test_several_refusals_are_learned_one_after_the_other() -> None:
    def reply(asked: Asked) -> Answer:
        if "stream_options" in asked.body:
            return status(400, "stream_options: Extra inputs are not permitted")
        return status(400, NEW_NAME) if "max_tokens" in asked.body else "Because."

    assert len(await bodies(CHAT, reply, calls=3)) == 5


async def test_a_limit_that_is_too_large_keeps_its_name() -> None:
    fault = status(400, "max_tokens must be at most 100.")
    with provider_server(lambda _: fault) as server:
        async with speaker(server.env()) as speaking:
            with pytest.raises(SpeakerError, match="at most 100"):
                await speaking.speak(request(CHAT), lambda _: None)
        assert len(server.requests) == 1


async def test_what_was_refused_by_one_model_is_still_sent_to_another() -> None:
    def reply(asked: Asked) -> Answer:
        refuses = asked.model == "some-model" and "stream_options" in asked.body
        return status(400, "Unknown: stream_options") if refuses else "Because."

    with provider_server(reply) as server:
        async with speaker(server.env()) as speaking:
            for model in (CHAT, "openai/other"):
                await speaking.speak(request(model), lambda _: None)
        assert "stream_options" in server.requests[-1].body
