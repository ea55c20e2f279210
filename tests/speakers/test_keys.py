"""A key that does not open the door is said to be what it is."""

from __future__ import annotations

import json

import pytest

from roundtable.core.errors import SpeakerError
from roundtable.core.model_trouble import VERBS, ModelTrouble
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
    assert seen.names == {}, "nobody said that the model is missing"


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
        self.names: dict[tuple[str, str], ModelTrouble] = {}

    def why_unusable(self, provider_id: str, name: str) -> ModelTrouble | None:
        return self.names.get((provider_id, name))

    def note_unusable(self, provider_id: str, name: str, trouble: ModelTrouble) -> None:
        self.names[provider_id, name] = trouble


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
    assert seen.names == {("openai", "m"): "unknown"}


def said(number: int, message: str, **more: str) -> Answer:
    body = json.dumps({"error": {"message": message, **more}})
    return raw(body, number, "application/json")


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("reply", "trouble"),
    [
        (said(404, 'model "m" not found, try pulling it first'), "unknown"),
        (said(404, "The model `m` does not exist or you do not have access to it."), "unknown"),
        (said(400, "Invalid model name passed in model=m. Call `/v1/models`."), "unknown"),
        (said(404, "No endpoints found for m."), "unknown"),
        (
            said(404, "The API deployment for this resource does not exist.",
                 code="DeploymentNotFound"),
            "unknown",
        ),
        (
            said(403, "Project `x` does not have access to model `m`", code="model_not_found"),
            "no access",
        ),
        (
            said(401, "team not allowed to access model. This team can only access models=['n']",
                 type="team_model_access_denied"),
            "no access",
        ),
        (said(410, "The model m has been deprecated and decommissioned"), "retired"),
        (said(404, "The model `m` is no longer supported."), "retired"),
        (said(404, "No models loaded. Use `lms load`.", code="model_not_found"), "not loaded"),
        (said(404, "This is not a chat model, use v1/completions."), "not for chat"),
        (said(404, "This model is only supported in v1/responses."), "not for chat"),
        (said(400, '"m" does not support chat'), "not for chat"),
        (
            said(500, "model requires more system memory (40.0 GiB) than is available (11.0 GiB)"),
            "too large",
        ),
    ],
)  # fmt: skip
async def test_what_is_wrong_with_a_model_alone_is_told_apart(
    reply: Answer, trouble: ModelTrouble
) -> None:
    error = await failure(reply)
    assert (error.cause, error.trouble) == ("not_found", trouble)
    assert VERBS[trouble] in error.message
    assert "OPENAI_API_KEY" not in error.remedy, "the key is not the reason"
    assert "Check the name" not in error.remedy, "the server may have supplied it"


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (said(401, "Incorrect API key provided."), "auth"),
        (said(403, "Your organization does not have access to this region"), "auth"),
        (said(400, "'temperature' is not allowed for this model."), "bad_request"),
        (said(400, "`max_tokens` is deprecated and not accepted by this one."), "bad_request"),
        (said(429, "The model is not available to you any more: slow down."), "rate_limited"),
        (said(503, "Loading model"), "unavailable"),
        (said(500, "Internal error of the model server"), "unavailable"),
    ],
)
async def test_what_is_wrong_with_everything_is_not_laid_on_the_model(
    reply: Answer, cause: str
) -> None:
    error = await failure(reply)
    assert (error.cause, error.trouble) == (cause, None)


@pytest.mark.requirement("Z-36")
async def test_what_a_key_may_not_do_is_not_said_to_be_a_wrong_key() -> None:
    error = await failure(status(403, "Your organization does not have access to this region"))
    assert "Check the value" not in error.remedy
    assert "what this key may do" in error.remedy
