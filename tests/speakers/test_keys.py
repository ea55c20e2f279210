"""A key that does not open the door is said to be what it is."""

from __future__ import annotations

import pytest

from roundtable.core.errors import SpeakerError
from roundtable.models.registry import Registry
from roundtable.ports import SpeakRequest
from roundtable.speakers.api import ApiSpeaker
from tests.servers import TEST_KEY, Answer, provider_server, raw, status

pytestmark = pytest.mark.anyio
REGISTRY = Registry.load()


def request(model: str = "openai/m") -> SpeakRequest:
    return SpeakRequest(
        model=model, system="", user="Tea?", max_tokens=9, timeout=9, idempotency_key="k"
    )


async def failure(reply: Answer) -> SpeakerError:
    with provider_server(lambda _: reply) as server:
        speaker = ApiSpeaker(REGISTRY.providers, REGISTRY.cost, server.env())
        try:
            with pytest.raises(SpeakerError) as raised:
                await speaker.speak(request(), lambda _: None)
        finally:
            await speaker.close()
    assert TEST_KEY not in str(raised.value)
    return raised.value


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("reply", "remedy"),
    [
        (status(401, "Incorrect API key provided."), "Check the value of OPENAI_API_KEY."),
        (status(401, "This API key has expired."), "The key of OPENAI_API_KEY has expired."),
        (status(402, "Pay first."), "has no credit left"),
        (status(429, "You exceeded your current quota, please check your plan."), "no credit left"),
        (status(429, "insufficient_quota"), "has no credit left"),
        (status(429, "Billing hard limit has been reached."), "has no credit left"),
        (raw("You exceeded your current quota", 429, "text/plain"), "has no credit left"),
        (raw('{"detail": "billing is not set up"}', 429, "application/json"), "no credit left"),
        (status(400, "API key not valid. Pass a valid API key."), "Check the value of OPENAI"),
    ],
)
async def test_wrong_expired_and_empty_are_told_apart(reply: Answer, remedy: str) -> None:
    error = await failure(reply)
    assert error.cause == "auth"
    assert remedy in error.remedy


@pytest.mark.requirement("Z-36")
async def test_an_account_without_credit_is_said_to_be_one() -> None:
    error = await failure(status(429, "You exceeded your current quota."))
    assert "finds no credit on the account (429): You exceeded your" in error.message
    error = await failure(status(403, "Insufficient balance."))
    assert "finds no credit on the account (403): Insufficient" in error.message


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    "reply",
    [
        status(429, "Slow down."),
        status(429, "You exceeded your current quota, see billing. Please retry in 23.5s."),
        status(429, "Quota exceeded for metric: requests per minute. See your billing details."),
        status(429, "You exceeded your current quota.", retry_after="2"),
    ],
)
async def test_a_quota_that_fills_up_again_by_itself_is_waited_for(reply: Answer) -> None:
    error = await failure(reply)
    assert error.cause == "rate_limited"
    assert "asks us to slow down (429)" in error.message


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    "reply",
    [
        raw("", 404, "text/plain"),
        raw("404 page not found", 404, "text/plain"),
        raw("<html><h1>Not Found</h1></html>", 404, "text/html"),
        raw('{"detail": "Not Found"}', 404, "application/json"),
    ],
)
async def test_a_404_that_names_no_model_may_be_a_wrong_address(reply: Answer) -> None:
    seen = Remembered()
    with provider_server(lambda _: reply) as server:
        speaker = ApiSpeaker(REGISTRY.providers, REGISTRY.cost, server.env(), seen)
        with pytest.raises(SpeakerError) as raised:
            await speaker.speak(request(), lambda _: None)
        await speaker.close()
        assert f"the address {server.openai_url} may be wrong" in raised.value.message
    assert "Check the address first (most end with /v1)" in raised.value.remedy
    assert raised.value.cause == "not_found", "another model may stand in"
    assert seen.names == [], "nobody said that the model is missing"


@pytest.mark.requirement("Z-36", "Z-39")
async def test_a_key_of_another_vendor_is_not_sent_to_this_one() -> None:
    env = {"OPENAI_API_KEY": "sk-ant-api03-abcdefghijkl"}
    speaker = ApiSpeaker(REGISTRY.providers, REGISTRY.cost, env)
    with pytest.raises(SpeakerError) as raised:
        await speaker.speak(request(), lambda _: None)
    await speaker.close()
    assert raised.value.cause == "auth"
    assert "OPENAI_API_KEY holds a key of Anthropic, not of OpenAI." in raised.value.message
    assert "abcdefghijkl" not in str(raised.value)


class Remembered:
    def __init__(self) -> None:
        self.names: list[tuple[str, str]] = []

    def is_missing(self, provider_id: str, name: str) -> bool:
        return (provider_id, name) in self.names

    def note_missing(self, provider_id: str, name: str) -> None:
        self.names.append((provider_id, name))


@pytest.mark.requirement("Z-36")
async def test_a_prompt_that_moderation_flagged_is_no_matter_of_the_key() -> None:
    body = '{"error": {"code": 403, "message": "Flagged.", "metadata": {"reasons": ["x"]}}}'
    error = await failure(raw(body, 403, "application/json"))
    assert (error.cause, error.remedy) == ("refused", "")


@pytest.mark.requirement("Z-36")
async def test_a_model_that_does_not_exist_is_asked_for_once() -> None:
    seen = Remembered()
    with provider_server(lambda _: status(404, "The model `m` does not exist.")) as server:
        speaker = ApiSpeaker(REGISTRY.providers, REGISTRY.cost, server.env(), seen)
        for _ in range(3):
            with pytest.raises(SpeakerError) as raised:
                await speaker.speak(request(), lambda _: None)
            assert raised.value.cause == "not_found"
        await speaker.close()
        assert len(server.requests) == 1
    assert seen.names == [("openai", "m")]
