"""ApiSpeaker against a local provider: what it sends, what it makes of answers and of failures."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from email.utils import formatdate
from time import time

import pytest
from dirty_equals import IsApprox

from roundtable.core.errors import FailureCause, SpeakerError
from roundtable.core.values import Usage
from roundtable.models.registry import Registry
from roundtable.ports import Reply, SpeakRequest
from roundtable.speakers import api_client
from roundtable.speakers.abilities import Dialect, abilities
from roundtable.speakers.api import ApiSpeaker, Endpoint
from tests.servers import (
    TEST_KEY,
    Answer,
    Fault,
    ProviderServer,
    cut,
    delay,
    garbage,
    hang,
    provider_server,
    raw,
    refusal,
    status,
)
from tests.wire import FRAMES, Asked, read_request

REGISTRY = Registry.load()
# The same provider once more, as if loopback were the vendor: that is where OpenAI's own
# interface is spoken.
PROVIDERS = {
    **REGISTRY.providers,
    "vendor": REGISTRY.providers["openai"].model_copy(
        update={"id": "vendor", "vendor_hosts": ("127.0.0.1",)}
    ),
}
CHAT, RESPONSES, MESSAGES = "openai/some-model", "vendor/gpt-6.1-sol", "anthropic/claude-opus-4-6"
EVERY_DIALECT = pytest.mark.parametrize("model", [CHAT, RESPONSES, MESSAGES])


def request(model: str, user: str = "Why?", *, timeout: float = 30, **more: object) -> SpeakRequest:
    fields: dict[str, object] = {
        "system": "Be brief.",
        "max_tokens": 200,
        "idempotency_key": "rt_12345678/1/opening/scholar/1",
        **more,
    }
    return SpeakRequest(model=model, user=user, timeout=timeout, **fields)  # type: ignore[arg-type]


def price(model_id: str, read: int, written: int, cached: int) -> float | None:
    return REGISTRY.cost(model_id.replace("vendor/", "openai/"), read, written, cached)


@asynccontextmanager
async def speaker(env: Mapping[str, str]) -> AsyncIterator[ApiSpeaker]:
    speaking = ApiSpeaker(PROVIDERS, price, env)
    try:
        yield speaking
    finally:
        await speaking.close()


async def ask(server: ProviderServer, asked: SpeakRequest) -> Reply:
    async with speaker(server.env()) as speaking:
        return await speaking.speak(asked, lambda _: None)


async def fail(answer: Answer, asked: SpeakRequest, *, at_least: int = 1) -> SpeakerError:
    with provider_server(lambda _: answer) as server:
        with pytest.raises(SpeakerError) as caught:
            await ask(server, asked)
        assert at_least <= len(server.requests) <= 1, "one call, never a retry"
    return caught.value


@pytest.fixture(scope="module")
def echo_server() -> Iterator[ProviderServer]:
    with provider_server() as server:
        yield server


# ------------------------------------------------------------------------------ what is sent


@pytest.mark.requirement("I-01", "Z-01")
@pytest.mark.parametrize(
    ("model", "path"),
    [
        (CHAT, "/v1/chat/completions"),
        (RESPONSES, "/v1/responses"),
        (MESSAGES, "/v1/messages"),
        ("blockrun/grok-4", "/v1/chat/completions"),
        ("ollama/llama3.2", "/v1/chat/completions"),
    ],
)
async def test_a_call_carries_the_prompt_the_key_and_the_idempotency_key(
    model: str, path: str
) -> None:
    seen: list[Asked] = []

    def reply(asked: Asked) -> str:
        seen.append(asked)
        return "Because."

    with provider_server(reply) as server:
        await ask(server, request(model, "Why?"))
        (received,) = server.requests
    assert (seen[0].system, seen[0].user) == ("Be brief.", "Why?")
    assert (received.path, received.state) == (path, "finished")
    assert received.body["model"] == model.partition("/")[2]
    assert received.idempotency_key == "rt_12345678/1/opening/scholar/1"
    keyless = model.startswith(("blockrun", "ollama"))
    if model == MESSAGES:
        assert received.headers["x-api-key"] == TEST_KEY
    else:
        assert received.headers["authorization"] == f"Bearer {'none' if keyless else TEST_KEY}"


@pytest.mark.parametrize(
    ("model", "field"),
    [
        (CHAT, "max_tokens"),
        ("openai/gpt-5-mini", "max_completion_tokens"),
        (RESPONSES, "max_output_tokens"),
        (MESSAGES, "max_tokens"),
        ("blockrun/grok-4", "max_tokens"),
    ],
)
async def test_the_limit_of_tokens_goes_by_the_name_the_server_knows(
    echo_server: ProviderServer, model: str, field: str
) -> None:
    await ask(echo_server, request(model, max_tokens=321))
    assert echo_server.requests[-1].body[field] == 321


async def test_what_later_calls_begin_with_is_marked_for_the_vendor_that_needs_a_mark(
    echo_server: ProviderServer,
) -> None:
    await ask(echo_server, request(MESSAGES, "All that was said. And your turn.", repeated=19))
    (message,) = echo_server.requests[-1].body["messages"]
    begins, rest = message["content"]
    assert (begins["text"], rest["text"]) == ("All that was said. ", "And your turn.")
    assert begins["cache_control"]["type"] == "ephemeral"
    assert "cache_control" not in rest
    for model in (CHAT, RESPONSES):
        await ask(echo_server, request(model, "All that was said. And your turn.", repeated=19))
        assert "cache_control" not in json.dumps(echo_server.requests[-1].body)


async def test_a_header_stays_ascii_whatever_the_ids_are(echo_server: ProviderServer) -> None:
    await ask(echo_server, request(CHAT, idempotency_key="rt_1/1/opening/学者"))
    assert echo_server.requests[-1].idempotency_key == "rt_1/1/opening/%E5%AD%A6%E8%80%85"


@pytest.mark.parametrize("model", [m for m in REGISTRY.models if m.startswith(("openai/", "anth"))])
async def test_temperature_is_sent_only_to_models_that_take_it(
    echo_server: ProviderServer, model: str
) -> None:
    for each in (model, model.replace("openai/", "vendor/")):
        await ask(echo_server, request(each, temperature=0.5))
        provider, _, name = each.partition("/")
        dialect: Dialect = (
            "messages"
            if provider == "anthropic"
            else "responses"
            if provider == "vendor"
            else "chat"
        )
        sent = echo_server.requests[-1].body
        assert ("temperature" in sent) is abilities(dialect, provider, name).temperature


async def test_models_that_do_not_reason_get_their_temperature(echo_server: ProviderServer) -> None:
    for model in (CHAT, MESSAGES):
        await ask(echo_server, request(model, temperature=0.5))
        assert echo_server.requests[-1].body["temperature"] == 0.5


@pytest.mark.parametrize(
    ("variable", "value", "header", "shown"),
    [
        ("ANTHROPIC_API_KEY", TEST_KEY, "x-api-key", TEST_KEY),
        ("ANTHROPIC_AUTH_TOKEN", "tok-abc", "authorization", "Bearer tok-abc"),
    ],
)
async def test_anthropic_is_shown_a_key_as_a_key_and_a_token_as_a_bearer_s(
    echo_server: ProviderServer, variable: str, value: str, header: str, shown: str
) -> None:
    env = {variable: value, "ANTHROPIC_BASE_URL": echo_server.base_url}
    async with speaker(env) as speaking:
        await speaking.speak(request(MESSAGES), lambda _: None)
    sent = echo_server.requests[-1].headers
    assert {k: v for k, v in sent.items() if k in ("x-api-key", "authorization")} == {header: shown}


@pytest.mark.requirement("X-24")
async def test_credentials_are_read_at_call_time(echo_server: ProviderServer) -> None:
    env = echo_server.env(key="")
    async with speaker(env) as speaking:
        with pytest.raises(SpeakerError):
            await speaking.speak(request(MESSAGES), lambda _: None)
        for key in ("first-key-of-the-day", "second-key-of-the-day"):
            env["ANTHROPIC_API_KEY"] = key
            await speaking.speak(request(MESSAGES), lambda _: None)
            assert echo_server.requests[-1].headers["x-api-key"] == key


async def test_the_process_environment_is_the_default(
    echo_server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in echo_server.env().items():
        monkeypatch.setenv(name, value)
    speaking = ApiSpeaker(PROVIDERS, price)
    assert (await speaking.speak(request(MESSAGES), lambda _: None)).text == "You said: Why?"
    await speaking.close()


async def test_connections_are_kept_between_calls() -> None:
    with provider_server() as server:
        async with speaker(server.env()) as speaking:
            for _ in range(3):
                await speaking.speak(request(CHAT), lambda _: None)
                await speaking.speak(request(MESSAGES), lambda _: None)
        assert server.connections == 1


# -------------------------------------------------------------------------- what is answered


@EVERY_DIALECT
async def test_an_answer_comes_with_its_usage_and_who_gave_it(
    echo_server: ProviderServer, model: str
) -> None:
    reply = await ask(echo_server, request(model, "x" * 391))
    cost = price(model, 100, 100, 0)
    assert reply == Reply(
        text=f"You said: {'x' * 391}",
        usage=Usage(
            calls=1,
            input_tokens=100,
            output_tokens=100,
            priced_usd=cost or 0.0,
            unpriced_calls=1 if cost is None else 0,
        ),
        served_by=model.partition("/")[2],
        finish_reason="stop",
    )


async def test_cached_tokens_are_counted_and_cheaper() -> None:
    chunk = (
        '{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,'
        '"delta":{"content":"Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,'
        '"completion_tokens":10,"total_tokens":1010,"prompt_tokens_details":{"cached_tokens":900}}}'
    )
    with provider_server(lambda _: raw(f"data: {chunk}\n\ndata: [DONE]\n\n")) as server:
        reply = await ask(server, request("openai/gpt-5.3-codex"))
    assert (reply.usage.input_tokens, reply.usage.cached_tokens) == (1000, 900)
    assert reply.usage.priced_usd == pytest.approx((100 * 1.75 + 900 * 0.175 + 10 * 14) / 1e6)


async def test_a_server_that_does_not_count_is_estimated_and_never_priced() -> None:
    chunk = (
        '{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,'
        '"delta":{"content":"Twelve words"},"finish_reason":"stop"}]}'
    )
    with provider_server(lambda _: raw(f"data: {chunk}\n\n")) as server:
        dear = await ask(server, request("openai/gpt-5.3-codex"))
        free = await ask(server, request("ollama/llama3.2"))
    counted = Usage(calls=1, input_tokens=4, output_tokens=4, counted_calls=1)
    unpriced = {"unpriced_calls": 1, "counted_usd": pytest.approx(4 * (1.75 + 14) / 1e6)}
    assert dear.usage == counted.model_copy(update=unpriced)
    assert free.usage == counted


async def test_few_tokens_of_a_wide_table_are_believed() -> None:
    rows = "".join(f"{'tea':<60}|{'4.50':>60}|\n" for _ in range(200)) + "-" * 4_000
    usage = {"prompt_tokens": 1_650, "completion_tokens": 12}
    choice = {"index": 0, "delta": {"content": "The tea."}, "finish_reason": "stop"}
    chunk = json.dumps({"id": "1", "model": "m", "choices": [choice], "usage": usage})
    with provider_server(lambda _: raw(f"data: {chunk}\n\ndata: [DONE]\n\n")) as server:
        reply = await ask(server, request("openai/gpt-5.3-codex", rows))
    assert len(rows) / 1_650 > 16
    assert (reply.usage.input_tokens, reply.usage.counted_calls, reply.unbelieved) == (1_650, 0, "")


@pytest.mark.parametrize(
    ("told", "counts", "odd"),
    [
        ({"completion_tokens": 390}, (10_003, 390, 0), False),
        ({"prompt_tokens": 9_800}, (9_800, 501, 0), False),
        ({"prompt_tokens": 1, "completion_tokens": 390}, (10_003, 390, 0), True),
        ({"prompt_tokens": 9_800, "completion_tokens": 1}, (9_800, 501, 0), True),
        ({"prompt_tokens": 3_000, "completion_tokens": 200}, (3_000, 200, 0), None),
        (
            # What it had seen before is not told twice: nine tokens were new.
            {
                "prompt_tokens": 9,
                "completion_tokens": 390,
                "prompt_tokens_details": {"cached_tokens": 9_791},
            },
            (9_800, 390, 9_791),
            None,
        ),
    ],
)
async def test_a_half_of_a_usage_that_was_not_told_or_cannot_be_is_counted_by_us(
    told: dict[str, object], counts: tuple[int, int, int], odd: bool | None
) -> None:
    """`odd` is whether it is said that something cannot be; None where all is believed."""
    choice = {"index": 0, "delta": {"content": "Yes. " * 400}, "finish_reason": "stop"}
    chunk = json.dumps({"id": "1", "model": "m", "choices": [choice], "usage": told})
    with provider_server(lambda _: raw(f"data: {chunk}\n\ndata: [DONE]\n\n")) as server:
        reply = await ask(server, request("openai/gpt-5.3-codex", "word " * 7_999 + "word?"))
    used = reply.usage
    assert (used.input_tokens, used.output_tokens, used.cached_tokens) == counts
    assert used.counted_calls == used.unpriced_calls == (0 if odd is None else 1)
    assert bool(reply.unbelieved) is bool(odd)
    spent = used.counted_usd if used.counted_calls else used.priced_usd
    read, written, cached = counts
    cost = ((read - cached) * 1.75 + cached * 0.175 + written * 14) / 1e6
    assert spent == pytest.approx(cost)


async def test_what_is_not_counted_is_estimated_by_its_script() -> None:
    """Four Chinese characters are about four tokens, not one."""
    choice = {"index": 0, "delta": {"content": "茶" * 300}, "finish_reason": "stop"}
    chunk = json.dumps({"id": "1", "object": "chat.completion.chunk", "choices": [choice]})
    with provider_server(lambda _: raw(f"data: {chunk}\n\n")) as server:
        reply = await ask(server, request("openai/gpt-5.3-codex", "水" * 500))
    assert reply.usage.input_tokens == pytest.approx(500, rel=0.02)
    assert reply.usage.output_tokens == pytest.approx(300, rel=0.02)


@EVERY_DIALECT
async def test_words_stream_as_they_come(model: str) -> None:
    with provider_server(lambda _: "One two three.\n\nFour — five 六.") as server:
        heard: list[str] = []
        async with speaker(server.env()) as speaking:
            reply = await speaking.speak(request(model), heard.append)
    assert "".join(heard) == reply.text == "One two three.\n\nFour — five 六."
    assert len(heard) >= 6


async def test_calls_run_side_by_side(echo_server: ProviderServer) -> None:
    async with speaker(echo_server.env()) as speaking:
        asked = [request((CHAT, RESPONSES, MESSAGES)[n % 3], f"Number {n}?") for n in range(24)]
        replies = await asyncio.gather(*(speaking.speak(each, lambda _: None) for each in asked))
    assert [reply.text for reply in replies] == [f"You said: {each.user}" for each in asked]


# ------------------------------------------------------------------------------ how it fails


@pytest.mark.requirement("I-01", "I-12")
@EVERY_DIALECT
@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (status(400), "bad_request"),
        (status(401), "auth"),
        (status(402), "auth"),
        (status(403), "auth"),
        (status(404), "not_found"),
        (status(408), "timeout"),
        (status(413), "bad_request"),
        (status(422), "bad_request"),
        (status(429), "rate_limited"),
        (status(500), "unavailable"),
        (status(502), "unavailable"),
        (status(503), "unavailable"),
        (status(529), "unavailable"),
        (status(400, "This model's maximum context length is 8192 tokens."), "too_long"),
        (status(400, "prompt is too long: 300000 tokens > 200000 maximum"), "too_long"),
        (status(400, "The request exceeds the available context size."), "too_long"),
        (status(400, "API key not valid. Please pass a valid API key."), "auth"),
        (status(400, "The prompt was flagged by our content policy."), "refused"),
        (cut("Half an answer that"), "cut"),
        (cut("Half an answer that", clean=True), "cut"),
        (cut(""), "unavailable"),
        (garbage(), "garbled"),
        (raw("<html>Welcome to the hotel network</html>", 200, "text/html"), "garbled"),
        (raw("", 200), "garbled"),
        (raw('data: {"choices": 7}\n\n'), "garbled"),
        (refusal(), "refused"),
    ],
)
async def test_every_failure_has_its_cause(model: str, fault: Fault, cause: FailureCause) -> None:
    error = await fail(fault, request(model))
    if model != CHAT and fault.kind == "raw" and "choices" in fault.text:
        assert error.cause in ("garbled", "cut")
    else:
        assert error.cause == cause
    assert error.message.endswith((".", "…", "?", "!"))


@EVERY_DIALECT
async def test_an_answer_without_a_word_is_empty(model: str) -> None:
    assert (await fail("", request(model))).cause == "empty"
    assert (await fail(" \n", request(model))).cause == "empty"


@EVERY_DIALECT
@pytest.mark.requirement("Z-09")
async def test_what_was_counted_of_an_empty_answer_is_told_with_the_failure(model: str) -> None:
    error = await fail(" \n", request(model, "x" * 391))
    assert error.usage is not None
    assert (error.usage.calls, error.usage.output_tokens) == (1, 1)
    assert error.usage.input_tokens == 100
    assert error.usage.priced_usd == pytest.approx(price(model, 100, 1, 0) or 0.0)
    assert (await fail(cut("Half an answer"), request(model))).usage is None, "it may be more"


@pytest.mark.requirement("Z-09")
@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("streams", [True, False])
async def test_thoughts_that_used_up_all_tokens_are_counted(apart: bool, streams: bool) -> None:
    usage: dict[str, int] = {"prompt_tokens": 900, "completion_tokens": 800, "total_tokens": 1700}
    said = "delta" if streams else "message"
    end = {"choices": [{"index": 0, said: {"content": ""}, "finish_reason": "length"}]}
    chunks = [end, {"choices": [], "usage": usage}] if apart else [{**end, "usage": usage}]
    if streams:
        body = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"
        fault = raw(body)
    else:
        fault = raw(json.dumps({**end, "usage": usage}), 200, "application/json")
    error = await fail(fault, request("openai/gpt-5.3-codex"))
    assert (error.cause, error.used_up) == ("empty", True)
    assert error.usage is not None
    assert (error.usage.tokens, error.usage.unpriced_calls) == (1700, 0)
    assert error.usage.priced_usd == pytest.approx((900 * 1.75 + 800 * 14) / 1e6)


@EVERY_DIALECT
@pytest.mark.parametrize("fault", [hang(), hang("Half an"), delay(60, "Too late.")])
async def test_time_is_limited_from_the_first_byte_to_the_last(model: str, fault: Answer) -> None:
    # On a busy machine the time may be over before the call has come to the server.
    error = await fail(fault, request(model, timeout=0.2), at_least=0)
    assert error.cause == "timeout"


async def test_nobody_there_is_unavailable_and_says_where() -> None:
    with provider_server() as server:
        env = server.env()
    async with speaker(env) as speaking:
        for model in (CHAT, MESSAGES):
            with pytest.raises(SpeakerError) as caught:
                await speaking.speak(request(model), lambda _: None)
            assert caught.value.cause == "unavailable"
            assert server.base_url in caught.value.remedy


@pytest.mark.requirement("I-12")
@EVERY_DIALECT
async def test_retry_after_is_understood_in_every_form(model: str) -> None:
    in_an_hour = formatdate(time() + 3600, usegmt=True)
    for headers, seconds in (
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.25"}, 0.25),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after": in_an_hour}, IsApprox(3600, delta=120)),
        ({"retry_after": "soon"}, None),
        ({}, None),
    ):
        error = await fail(status(429, "Slow down.", **headers), request(model))
        assert (error.cause, error.retry_after) == ("rate_limited", seconds)
    overloaded = await fail(status(529, "Overloaded.", retry_after="3"), request(model))
    assert (overloaded.cause, overloaded.retry_after) == ("unavailable", 3.0)


async def test_an_error_in_the_middle_of_a_stream_is_told_by_its_kind() -> None:
    start = (
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message",'
        '"role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,'
        '"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
    )
    overloaded = (
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error",'
        '"message":"Overloaded"}}\n\n'
    )
    assert (await fail(raw(start + overloaded), request(MESSAGES))).cause == "unavailable"
    chat = 'data: {"error":{"message":"Upstream died","code":502}}\n\n'
    assert (await fail(raw(chat), request(CHAT))).cause == "unavailable"


@pytest.mark.requirement("I-20", "X-24")
@EVERY_DIALECT
async def test_no_error_tells_the_key(model: str) -> None:
    for message in (f"Incorrect key {TEST_KEY}", f"Authorization: Bearer {TEST_KEY} was refused"):
        error = await fail(status(401, message), request(model))
        told = "".join(traceback.format_exception(error)) + repr(error) + error.remedy
        assert TEST_KEY not in told
        assert "_API_KEY" in error.remedy


@pytest.mark.requirement("I-20")
async def test_a_key_of_no_known_form_is_hidden_too() -> None:
    with provider_server(lambda _: status(401, "No such key: plain-old-password")) as server:
        async with speaker(server.env(key="plain-old-password")) as speaking:
            with pytest.raises(SpeakerError) as caught:
                await speaking.speak(request(CHAT), lambda _: None)
    assert "plain-old-password" not in str(caught.value)
    endpoint = Endpoint(REGISTRY.providers["openai"], {"OPENAI_API_KEY": "plain-old-password"})
    assert "plain-old-password" not in repr(endpoint)


@pytest.mark.requirement("A-17")
@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("anthropic/claude-opus-4-6", "ANTHROPIC_API_KEY"),
        ("openai/gpt-5-mini", "OPENAI_API_KEY"),
        ("google/gemini-3.8-flash", "GEMINI_API_KEY"),
        ("xai/grok-4", "XAI_API_KEY"),
        ("deepseek/deepseek-v4-pro", "DEEPSEEK_API_KEY"),
        ("openrouter/x/y", "OPENROUTER_API_KEY"),
    ],
)
async def test_without_a_key_no_call_is_made_and_the_variable_is_named(
    model: str, variable: str
) -> None:
    async with speaker({}) as speaking:
        with pytest.raises(SpeakerError) as caught:
            await speaking.speak(request(model), lambda _: None)
    assert caught.value.cause == "auth"
    assert variable in str(caught.value)


async def test_a_cancelled_call_lets_go_of_its_connection() -> None:
    with provider_server(lambda _: hang("Half an")) as server:
        async with speaker(server.env()) as speaking:
            heard = asyncio.Event()
            call = asyncio.create_task(
                speaking.speak(request(CHAT, timeout=60), lambda _: heard.set())
            )
            async with asyncio.timeout(30):
                await heard.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            server.wait(lambda log: log[0].state == "broken")


async def test_a_listener_that_fails_is_not_taken_for_a_failing_model(
    echo_server: ProviderServer,
) -> None:
    def broken(_: str) -> None:
        raise LookupError("the listener's own fault")

    async with speaker(echo_server.env()) as speaking:
        with pytest.raises(LookupError):
            await speaking.speak(request(CHAT), broken)


def test_one_speaker_serves_one_event_loop_after_another(echo_server: ProviderServer) -> None:
    speaking = ApiSpeaker(PROVIDERS, price, echo_server.env())

    async def once() -> str:
        reply = await speaking.speak(request(CHAT), lambda _: None)
        await speaking.close()
        return reply.text

    assert [asyncio.run(once()) for _ in range(2)] == ["You said: Why?"] * 2


async def test_over_an_open_line_no_certificates_are_read(
    echo_server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("net", "speakers.api"):
        monkeypatch.setattr(f"roundtable.{module}.trusted_roots", lambda: pytest.fail("read"))
    speaking = ApiSpeaker(PROVIDERS, price, echo_server.env())

    reply = await speaking.speak(request(CHAT), lambda _: None)
    await speaking.close()

    assert reply.text == "You said: Why?"


def test_first_calls_that_come_all_at_once_find_everything_loaded(
    echo_server: ProviderServer,
) -> None:
    code = (
        "import asyncio;"
        "from roundtable.models.registry import Registry;"
        "from roundtable.ports import SpeakRequest;"
        "from roundtable.speakers.api import ApiSpeaker;"
        "r = Registry.load(); s = ApiSpeaker(r.providers, r.cost);"
        "ask = lambda m: s.speak(SpeakRequest(m, '', 'Why?', 9, 60.0, 'k'), lambda _: None);"
        "models = ['openai/a', 'anthropic/claude-opus-4-6', 'blockrun/b'] * 4\n"
        "async def main():\n"
        "    print(len(await asyncio.gather(*map(ask, models))))\n"
        "    await s.close()\n"
        "asyncio.run(main())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **echo_server.env()},
    )
    assert (done.stdout.strip(), done.returncode) == ("12", 0), done.stderr


def test_importing_the_speaker_is_cheap() -> None:
    code = (
        "import sys; from roundtable.speakers import api, hub, scripted;"
        "print(sorted({'httpx2', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        (RESPONSES, {"reasoning": {"effort": "high"}}),
        (MESSAGES, {"output_config": {"effort": "high"}, "thinking": {"type": "adaptive"}}),
        (CHAT, {}),
        ("vendor/gpt-4o", {}),
    ],
)
async def test_effort_is_sent_where_a_model_takes_it_and_else_said_to_be_unheeded(
    model: str, sent: dict[str, object]
) -> None:
    with provider_server(lambda _: "Tea.") as server:
        reply = await ask(server, request(model, effort="high"))
        body = server.requests[-1].body
    assert reply.unheeded == (() if sent else ("effort",))
    thinking = {key: body[key] for key in ("reasoning", "output_config", "thinking") if key in body}
    assert thinking == sent


async def test_a_provider_that_refuses_the_effort_is_asked_without_and_then_always() -> None:
    def answer(asked: Asked) -> Answer:
        return status(400) if "output_config" in asked.body else "Tea."

    with provider_server(answer) as server:
        async with speaker(server.env()) as speaking:
            for key in ("a", "b"):
                asked = request(MESSAGES, effort="low", idempotency_key=key)
                reply = await speaking.speak(asked, lambda _: None)
                assert (reply.text, reply.unheeded) == ("Tea.", ("effort",))
        assert len(server.requests) == 3


async def test_a_slow_answer_is_no_late_one_but_silence_ends_it() -> None:
    with provider_server(lambda _: delay(0.3, "Tea.")) as server:
        late = request(CHAT, timeout=0.1)
        async with speaker(server.env()) as speaking:
            with pytest.raises(SpeakerError, match=r"said nothing within 0\.1 s"):
                await speaking.speak(late, lambda _: None)
    with provider_server(lambda _: hang("First, ")) as server:
        async with speaker(server.env()) as speaking:
            with pytest.raises(SpeakerError, match=r"fell silent for 0\.2 s in the middle"):
                await speaking.speak(request(CHAT, silence=0.2), lambda _: None)


async def test_an_answer_that_is_here_waits_for_nothing_that_follows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server may keep the line open after its last word: here for ever."""
    monkeypatch.setattr(api_client, "_LAST_BYTES", 3600.0)
    asked = read_request("chat", {"messages": []}, {}, 1)
    said = "".join(FRAMES["chat"](asked, "Yes.", finish=True)).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + said)
        await reader.read()  # until the other side is gone
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        env = {"OPENAI_API_KEY": TEST_KEY, "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
        async with speaker(env) as speaking:
            reply = await speaking.speak(request(CHAT), lambda _: None)
    assert reply.text == "Yes."


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [
        ("2", "Wait a little, or let fewer calls run at once."),
        ("600", "Come back in 10 min, or use a model of another provider."),
        ("4000", "Come back in an hour or more, or use a model of another provider."),
    ],
)
async def test_who_asks_for_a_long_pause_is_told_of_with_when_to_come_back(
    asked: str, remedy: str
) -> None:
    slow = status(429, "Rate limit reached", **{"retry-after": asked})
    with provider_server(lambda _: slow) as server, pytest.raises(SpeakerError) as caught:
        await ask(server, request(CHAT))
    assert (caught.value.cause, caught.value.remedy) == ("rate_limited", remedy)


async def test_a_web_page_in_place_of_an_answer_names_the_address() -> None:
    page = raw("<html>Welcome</html>", 200, "text/html")
    with provider_server(lambda _: page) as server, pytest.raises(SpeakerError) as caught:
        await ask(server, request(CHAT))
    assert caught.value.cause == "garbled"
    assert f"there is no model server at {server.openai_url}" in caught.value.message


async def test_a_call_that_is_redirected_elsewhere_names_the_server_and_is_not_made_again() -> None:
    away = status(307, "Elsewhere.", location="http://127.0.0.1:9/v1")
    with provider_server(lambda _: away) as server, pytest.raises(SpeakerError) as caught:
        await ask(server, request(CHAT))
    assert caught.value.cause == "bad_request", "which no turn tries again"
    assert caught.value.message.startswith("The server at 127.0.0.1:")


async def test_a_reason_that_is_none_of_the_key_is_told() -> None:
    shut = status(403, "Country, region, or territory not supported")
    with provider_server(lambda _: shut) as server, pytest.raises(SpeakerError) as caught:
        await ask(server, request(CHAT))
    assert "territory not supported" in caught.value.message
    assert "Ask whoever runs it what this key may do, and from where" in caught.value.remedy


@pytest.mark.parametrize("quote", ["'", '"', "`"])
def test_a_key_in_quotation_marks_is_not_sent(quote: str) -> None:
    env = {"OPENAI_API_KEY": f"{quote}house{quote}", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    with pytest.raises(SpeakerError, match="cannot be a key"):
        Endpoint(PROVIDERS["openai"], env)
