"""Providers that say too much: the answer is cut, the memory stays what it was."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

import pytest

from roundtable.core.errors import SpeakerError
from roundtable.core.text import SYLLABLES, fewest_tokens
from roundtable.core.values import Reservation, Usage
from roundtable.models.registry import Registry
from roundtable.ports import Reply, SpeakRequest
from roundtable.speakers.api import ApiSpeaker
from tests.hostile import Asked, Behave, Hostile, Line, bomb, chunk, hostile
from tests.servers import TEST_KEY

pytestmark = pytest.mark.requirement("Z-39")

REGISTRY = Registry.load()
PROVIDERS = {
    **REGISTRY.providers,
    "vendor": REGISTRY.providers["openai"].model_copy(
        update={"id": "vendor", "vendor_hosts": ("127.0.0.1",)}
    ),
}
CHAT, RESPONSES, MESSAGES = "openai/some-model", "vendor/gpt-6.1-sol", "anthropic/claude-opus-4-6"
PRICE = 0.25
GRANTED = 1_000
PACKET = 200
"""Tokens of which a piece has fewer."""
EVERY_DIALECT = pytest.mark.parametrize("model", [CHAT, RESPONSES, MESSAGES])


@contextmanager
def little_memory(allowed: int = 64_000_000) -> Iterator[None]:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield
        assert tracemalloc.get_traced_memory()[1] - before < allowed
    finally:
        tracemalloc.stop()


async def ask(
    server: Hostile,
    model: str = CHAT,
    *,
    seconds: float = 60,
    set_aside: Reservation | None = None,
) -> Reply:
    env = {
        "OPENAI_API_KEY": TEST_KEY,
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "ANTHROPIC_API_KEY": TEST_KEY,
        "ANTHROPIC_BASE_URL": server.url,
    }
    speaking = ApiSpeaker(PROVIDERS, lambda *_: PRICE, env)
    try:
        request = SpeakRequest(
            model,
            "Be brief.",
            "Why?",
            GRANTED,
            seconds,
            "rt_1/1/opening/a/1",
            set_aside=set_aside,
        )
        return await speaking.speak(request, lambda _: None)
    finally:
        await speaking.close()


async def failure(behave: Behave, model: str) -> SpeakerError:
    async with hostile(behave) as server:
        with pytest.raises(SpeakerError) as caught:
            await ask(server, model)
    assert TEST_KEY not in f"{caught.value!r} {caught.value}"
    return caught.value


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """The packages are loaded before memory is measured."""
    import_module("roundtable.speakers.api_client")


async def test_an_ordinary_answer_is_what_it_is() -> None:
    async with hostile(streaming(delta("Yes."), finish=True)) as server:
        reply = await ask(server)
    assert (reply.text, reply.finish_reason) == ("Yes.", "stop")
    assert server.asked[0].headers["accept-encoding"] == "identity"


def delta(words: str) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", "content": words}, "finish_reason": None}
    return event({"choices": [choice]})


def thought(words: str) -> bytes:
    choice = {"index": 0, "delta": {"reasoning_content": words}, "finish_reason": None}
    return event({"choices": [choice]})


def event(fields: dict[str, object]) -> bytes:
    whole = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", **fields}
    return b"data: " + json.dumps(whole).encode() + b"\n\n"


def streaming(*pieces: bytes, endless: bytes = b"", finish: bool = False) -> Behave:
    async def behave(_: Asked, line: Line) -> None:
        await line.head(content_type="text/event-stream", transfer_encoding="chunked")
        for piece in pieces:
            await line.send(chunk(piece))
        while endless:
            await line.send(chunk(endless))
        if finish:
            choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
            await line.send(chunk(event({"choices": [choice]})))
            await line.send(chunk(b"data: [DONE]\n\n"))
            await line.send(b"0\r\n\r\n")

    return behave


def assert_counted_by_us(usage: Usage) -> None:
    """What was told of the cost is nothing, and what came is counted."""
    assert (usage.priced_usd, usage.unpriced_calls) == (0.0, 1)
    assert (usage.counted_usd, usage.counted_calls) == (PRICE, 1)


@pytest.mark.requirement("Z-39")
async def test_an_answer_without_end_is_cut_where_its_grant_ends_and_says_so() -> None:
    async with hostile(streaming(endless=delta("word " * 100))) as server:
        reply = await ask(server)
    assert reply.finish_reason == "length"
    assert 6 * GRANTED - 4 <= len(reply.text) <= 6 * GRANTED
    assert 1.5 * GRANTED <= reply.usage.output_tokens <= 1.5 * GRANTED + PACKET
    assert_counted_by_us(reply.usage)


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("spare", [0, 200])
@pytest.mark.parametrize("pieces", [delta, thought], ids=["words", "thoughts"])
@pytest.mark.parametrize("word", ["word ", "茶", "чай "], ids=["Latin", "Chinese", "Cyrillic"])
async def test_an_answer_without_end_is_cut_by_its_script_where_a_limit_has_no_more_for_it(
    word: str, pieces: Callable[[str], bytes], spare: int
) -> None:
    held = Reservation(input_tokens=3, output_tokens=GRANTED, cost_usd=0.1, spare_tokens=spare)
    endless = pieces(word * (PACKET // 2))
    async with hostile(streaming(delta("Yes."), endless=endless)) as server:
        reply = await ask(server, set_aside=held)
    assert reply.finish_reason == "length"
    most = (GRANTED + spare) / (SYLLABLES if word == "чай " else 1)
    assert fewest_tokens(reply.text) <= GRANTED + spare
    assert GRANTED + spare <= reply.usage.output_tokens <= most + 2 * PACKET
    assert reply.usage.input_tokens <= 3
    assert_counted_by_us(reply.usage)


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize(
    ("words", "a_token"),
    [("Начать стоит с монолита. ", 3.5), ("यह सस्ता है। ", 2.6), ("先从单体开始。", 1.5)],
    ids=["Russian", "Hindi", "Chinese"],
)
async def test_whoever_keeps_to_its_grant_is_heard_out_though_we_count_more_for_its_script(
    words: str, a_token: float
) -> None:
    """As many characters a token as the tokenizers have that make the fewest of a script."""
    whole = (words * GRANTED)[: int(GRANTED * a_token)]
    held = Reservation(
        input_tokens=3, output_tokens=GRANTED, cost_usd=0.1, spare_tokens=GRANTED // 2
    )
    async with hostile(streaming(delta(whole), finish=True)) as server:
        reply = await ask(server, set_aside=held)
    assert (reply.finish_reason, reply.text) == ("stop", whole)


@pytest.mark.requirement("Z-35", "Z-09")
async def test_what_came_beyond_a_limit_in_one_piece_is_left_out_and_still_counted() -> None:
    held = Reservation(input_tokens=3, output_tokens=GRANTED, cost_usd=0.1)
    async with hostile(streaming(delta("茶" * 50_000), finish=True)) as server:
        reply = await ask(server, set_aside=held)
    assert (len(reply.text), reply.finish_reason) == (GRANTED - 1, "length")
    assert reply.usage.output_tokens == 50_001
    assert_counted_by_us(reply.usage)


async def test_without_a_limit_no_script_is_cut_sooner_than_another() -> None:
    async with hostile(streaming(delta("茶" * 5 * GRANTED), finish=True)) as server:
        reply = await ask(server)
    assert (len(reply.text), reply.finish_reason) == (5 * GRANTED, "stop")


@pytest.mark.requirement("Z-35")
async def test_thoughts_that_a_limit_cut_are_counted_though_no_word_came() -> None:
    held = Reservation(input_tokens=3, output_tokens=GRANTED, cost_usd=0.1)
    async with hostile(streaming(endless=thought("hm " * 100))) as server:
        with pytest.raises(SpeakerError) as caught:
            await ask(server, set_aside=held)
    assert caught.value.cause == "empty"
    assert caught.value.usage is not None
    assert caught.value.usage.output_tokens >= GRANTED
    assert_counted_by_us(caught.value.usage)


def counting(**told: int) -> Behave:
    return streaming(delta("Yes."), event({"choices": [], "usage": told}), finish=True)


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize(
    ("read", "written", "believed"),
    [
        (4, 2, True),
        (60_000, 90_000, True),  # unseen words before the prompt, and unseen thoughts
        (10**15, 3, False),
        (5, 10**15, False),
    ],
)
async def test_a_usage_that_no_call_can_have_had_is_none(
    read: int, written: int, believed: bool
) -> None:
    async with hostile(counting(prompt_tokens=read, completion_tokens=written)) as server:
        reply = await ask(server)
    assert (reply.unbelieved == "") is believed
    if believed:
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (read, written)
        assert reply.usage.priced_usd == PRICE
    else:
        assert f"{10**15:,}" in reply.unbelieved
        ours = (4, written) if read == 10**15 else (read, 2)
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == ours
        assert_counted_by_us(reply.usage)


async def test_ten_megabytes_in_one_piece_are_an_answer_that_is_cut() -> None:
    size = 10_000_000
    with little_memory(12 * size):
        async with hostile(streaming(delta("x" * size), finish=True)) as server:
            reply = await ask(server)
    assert reply.finish_reason == "length"
    assert reply.text.startswith("xxx")


async def test_an_answer_that_trickles_for_ever_ends_with_the_longest_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("roundtable.speakers.hearing.LONGEST_CALL", 0.0)
    async with hostile(streaming(endless=delta("a"))) as server:
        reply = await ask(server)
    assert reply.finish_reason == "length"
    assert reply.text in ("a", "aa")
    assert_counted_by_us(reply.usage)


async def test_thoughts_without_end_and_without_a_word_are_a_failure() -> None:
    with little_memory():
        error = await failure(streaming(endless=thought("hm " * 20_000)), CHAT)
    assert error.cause == "empty"
    assert "before the first word" in error.message


async def test_thoughts_without_end_after_some_words_leave_the_words() -> None:
    endless = thought("hm " * 20_000)
    async with hostile(streaming(delta("Yes."), endless=endless)) as server:
        reply = await ask(server)
    assert (reply.text, reply.finish_reason) == ("Yes.", "length")


async def test_signs_of_life_without_a_word_are_silence() -> None:
    async def behave(_: Asked, line: Line) -> None:
        await line.head(content_type="text/event-stream", transfer_encoding="chunked")
        while True:
            await line.send(chunk(b": still here\n\n"))
            await asyncio.sleep(0)

    async with hostile(behave) as server:
        with pytest.raises(SpeakerError) as caught:
            await ask(server, seconds=0.2)
    assert caught.value.cause == "timeout"


@pytest.mark.parametrize("endless", [b"data: " + b"x" * 100_000, b": \n" * 100, b"\r" + b"x" * 99])
async def test_a_piece_without_end_is_cut_where_it_becomes_too_large(endless: bytes) -> None:
    with little_memory():
        async with hostile(streaming(delta("A beginning."), endless=endless)) as server:
            reply = await ask(server)
    assert (reply.text, reply.finish_reason) == ("A beginning.", "length")


@EVERY_DIALECT
async def test_an_answer_without_a_word_that_never_ends_is_a_failure(model: str) -> None:
    with little_memory():
        error = await failure(streaming(endless=b"x" * 100_000), model)
    assert (error.cause, error.message) == (
        "garbled",
        "The provider sent more than anybody could read.",
    )


@EVERY_DIALECT
@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "500 Failed"])
async def test_a_bomb_is_let_go_of(model: str, status: str) -> None:
    async def behave(_: Asked, line: Line) -> None:
        await line.head(
            status,
            content_type="text/event-stream" if status == "200 OK" else "application/json",
            content_encoding="gzip",
            transfer_encoding="chunked",
        )
        for piece in bomb("gzip", 1_500_000_000, b"x" * (1 << 20)):
            await line.send(chunk(piece))

    with little_memory():
        assert (await failure(behave, model)).cause == "garbled"


@EVERY_DIALECT
async def test_a_redirect_takes_neither_the_key_nor_the_prompt_elsewhere(model: str) -> None:
    async def elsewhere(_: Asked, line: Line) -> None:
        await line.head(content_length="0")

    async with hostile(elsewhere) as other:

        async def behave(_: Asked, line: Line) -> None:
            await line.head("307 Temporary", location=f"{other.url}/v1", content_length="0")

        error = await failure(behave, model)
    assert other.asked == []
    assert error.cause == "bad_request", "it would redirect again, so no turn tries again"
    assert "redirects to another place" in error.message
    assert error.remedy
