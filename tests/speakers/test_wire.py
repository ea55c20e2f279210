"""What servers make of the three wire formats, and how packets cut them: the answer is the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest

from roundtable.core.errors import SpeakerError
from roundtable.models.registry import Registry
from roundtable.ports import Reply, SpeakRequest
from roundtable.speakers.api import ApiSpeaker
from tests.hostile import Asked, Behave, Line, chunk, hostile
from tests.servers import TEST_KEY
from tests.wire import FRAMES, Dialect
from tests.wire import Asked as Prompted

pytestmark = pytest.mark.requirement("I-01")

REGISTRY = Registry.load()
PROVIDERS = {
    **REGISTRY.providers,
    "vendor": REGISTRY.providers["openai"].model_copy(
        update={"id": "vendor", "vendor_hosts": ("127.0.0.1",)}
    ),
}
MODELS: dict[Dialect, str] = {
    "chat": "openai/some-model",
    "responses": "vendor/gpt-6.1-sol",
    "messages": "anthropic/claude-opus-4-6",
}
DIALECTS = pytest.mark.parametrize("dialect", list(MODELS))
TEXT = "Yes: Tee — 茶 🫖, and\r\nmore.\n\nThen the rest."
Json = dict[str, Any]


def stream(dialect: Dialect, text: str = TEXT) -> bytes:
    asked = Prompted(dialect, "m", "", "Why?", {}, {}, 1)
    return "".join(FRAMES[dialect](asked, text, finish=True)).encode()


def sending(
    blocks: Iterable[bytes], *, kind: str = "text/event-stream", ends: bool = True
) -> Behave:
    """Each of these blocks is written, and on its way, before the next one."""
    packets = list(blocks)

    async def behave(_: Asked, line: Line) -> None:
        await line.head(content_type=kind, transfer_encoding="chunked")
        for packet in packets:
            await line.send(chunk(packet))
        if ends:
            await line.send(b"0\r\n\r\n")
        else:
            await asyncio.Event().wait()  # until the test has ended

    return behave


async def heard(behave: Behave, dialect: Dialect = "chat") -> tuple[Reply, list[str]]:
    pieces: list[str] = []
    async with hostile(behave) as server:
        env = {
            "OPENAI_API_KEY": TEST_KEY,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "ANTHROPIC_API_KEY": TEST_KEY,
            "ANTHROPIC_BASE_URL": server.url,
        }
        speaking = ApiSpeaker(PROVIDERS, lambda *_: 0.0, env)
        try:
            request = SpeakRequest(MODELS[dialect], "Be brief.", "Why?", 4_000, 60.0, "k")
            return await speaking.speak(request, pieces.append), pieces
        finally:
            await speaking.close()


async def failed(behave: Behave, dialect: Dialect = "chat") -> SpeakerError:
    with pytest.raises(SpeakerError) as caught:
        await heard(behave, dialect)
    return caught.value


def event(*choices: Json, **more: Any) -> bytes:
    whole = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}
    return b"data: " + json.dumps({**whole, "choices": list(choices)}).encode() + b"\n\n"


def said(content: object, **more: Any) -> Json:
    return {"index": 0, "delta": {"content": content, **more}, "finish_reason": None}


STOP: Json = {"index": 0, "delta": {}, "finish_reason": "stop"}
DONE = b"data: [DONE]\n\n"


# ------------------------------------------------------------------- how the network cuts it


@DIALECTS
async def test_one_byte_at_a_time(dialect: Dialect) -> None:
    whole = stream(dialect)
    reply, pieces = await heard(sending(whole[at : at + 1] for at in range(len(whole))), dialect)
    assert (reply.text, reply.finish_reason) == (TEXT, "stop")
    assert "".join(pieces) == TEXT
    assert reply.usage.output_tokens > 1


@DIALECTS
async def test_two_hundred_pieces_in_one_packet_are_two_hundred_pieces(dialect: Dialect) -> None:
    text = "word " * 200
    reply, pieces = await heard(sending([stream(dialect, text)]), dialect)
    assert reply.text == text
    assert len(pieces) == 200


@DIALECTS
async def test_ends_of_lines_of_two_bytes_may_be_cut_in_two(dialect: Dialect) -> None:
    whole = stream(dialect).replace(b"\n", b"\r\n")
    blocks = [part + b"\r" for part in whole.split(b"\r")]
    blocks[-1] = blocks[-1].removesuffix(b"\r")
    reply, _ = await heard(sending(filter(None, blocks)), dialect)
    assert (reply.text, reply.finish_reason) == (TEXT, "stop")


@DIALECTS
async def test_no_blank_after_the_colon_and_signs_of_life_between_events(dialect: Dialect) -> None:
    whole = stream(dialect).replace(b"data: ", b"data:").replace(b"\n\n", b"\n\n: hm\n\n:\n\n")
    reply, _ = await heard(sending([b": OPENROUTER PROCESSING\n\n", whole]), dialect)
    assert (reply.text, reply.finish_reason) == (TEXT, "stop")


@DIALECTS
async def test_characters_may_come_escaped_and_in_two_halves(dialect: Dialect) -> None:
    whole = stream(dialect, "A 🫖 b")
    halves = whole.replace(rb"\ud83e\uded6", b"\xf0\x9f\xab\x96")
    assert (await heard(sending([halves]), dialect))[0].text == "A 🫖 b"
    reply, pieces = await heard(
        sending([event(said("A \ud83e")), event(said("\uded6 b\udc00")), event(STOP), DONE])
    )
    assert reply.text == "".join(pieces) == "A 🫖 b\ufffd"
    assert reply.text.encode()


@DIALECTS
async def test_an_answer_that_has_ended_is_not_waited_for(dialect: Dialect) -> None:
    """The server keeps the connection open, and says nothing more."""
    reply, _ = await heard(sending([stream(dialect)], ends=False), dialect)
    assert (reply.text, reply.finish_reason) == (TEXT, "stop")


# ------------------------------------------------------------------------ what servers send


async def test_the_last_word_may_be_missing_where_a_reason_to_finish_was_given() -> None:
    reply, _ = await heard(sending([event(said("Yes.")), event(STOP)]))
    assert (reply.text, reply.finish_reason) == ("Yes.", "stop")


async def test_usage_may_come_alone_at_the_end_or_grow_with_every_chunk() -> None:
    usage = [{"prompt_tokens": 9, "completion_tokens": n, "total_tokens": 9 + n} for n in (1, 2)]
    alone = sending([event(said("Yes.")), event(STOP), event(usage=usage[1]), DONE])
    grows = sending([event(said("Yes."), usage=usage[0]), event(STOP, usage=usage[1]), DONE])
    for behave in (alone, grows):
        used = (await heard(behave))[0].usage
        assert (used.input_tokens, used.output_tokens) == (9, 2)


async def test_thoughts_that_are_counted_apart_are_paid_for() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "total_tokens": 111,
        "completion_tokens_details": {"reasoning_tokens": 100},
    }
    reply, _ = await heard(sending([event(said("Yes.")), event(STOP, usage=usage), DONE]))
    assert reply.usage.output_tokens == 102


async def test_chunks_that_say_nothing_are_nothing() -> None:
    nothing = [
        event(),
        event(said(None)),
        event(said("")),
        event({"index": 0, "delta": None, "finish_reason": None}),
        event({"index": 0, "finish_reason": None}),
        b"data: \n\n",
        b'data: {"choices": null}\n\n',
    ]
    reply, pieces = await heard(sending([*nothing, event(said("Yes.")), *nothing, event(STOP)]))
    assert reply.text == "Yes."
    assert pieces == ["Yes."]


async def test_of_several_choices_the_first_is_the_answer() -> None:
    other = {"index": 1, "delta": {"content": "No."}, "finish_reason": None}
    reply, _ = await heard(sending([event(said("Yes."), other), event(STOP, other), DONE]))
    assert reply.text == "Yes."


async def test_a_call_for_a_tool_is_no_word_and_begins_a_new_paragraph() -> None:
    call = [{"index": 0, "id": "t", "function": {"name": "look", "arguments": "{}"}}]
    calls = event(said(None, tool_calls=call))
    reply, pieces = await heard(
        sending([event(said("One.")), calls, event(said("Two.")), event(STOP)])
    )
    assert reply.text == "One.\n\nTwo."
    assert pieces == ["One.", "\n\n", "Two."]
    ended = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    assert (await failed(sending([calls, event(ended), DONE]))).cause == "empty"


async def test_thoughts_are_signs_of_life_and_no_words() -> None:
    thought = event(said(None, reasoning_content="Hm, "))
    tagged = [event(said(each)) for each in ("<think>", "So ", "it is", "</think>")]
    reply, pieces = await heard(sending([thought, *tagged, event(said("Yes.")), event(STOP), DONE]))
    assert reply.text == "Yes."
    assert pieces.count("") >= 3


HARMONY = (
    "<|channel|>analysis<|message|>Hm, hm.<|end|><|start|>assistant<|channel|>final<|message|>"
)
CODE = "The server sends this:\n```\nHm.\n</think>\nYes.\n```\nStrip it."


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("size", [1, 5, 1_000])
@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("<think>Hm,\nhm.\n</think>\n\nYes.", "Yes."),
        ("\n<thinking>Hm.</thinking>Yes.", "Yes."),
        ("<thought>Hm.</thought>Yes.", "Yes."),
        ("<think></think>\n\n<think>Hm.</think>Yes.", "Yes."),
        ("Hm, hm.\n</think>\n\nYes.", "Yes."),
        ("Hm, hm.</think>\n\nYes.", "Yes."),
        ("Hm, hm. </think>Yes.", "Yes."),
        (f"{HARMONY}Yes.<|return|>", "Yes."),
        ("<|channel|>final<|message|>Yes.", "Yes."),
        ("<|start|>assistant<|channel|>commentary json<|message|>Hm.<|end|>Yes.", "Yes."),
        # What only speaks of them.
        ("`<think>` opens a thought,\nand `</think>` ends it.", ...),
        ("It writes <think>, and then\n</think>\non a line of its own.", ...),
        ("“</think>” is a tag.", ...),
        ("A thought ends with </think>.", ...),
        ("It sends `So.</think>` and goes on.", ...),
        ("<think is no tag.", ...),
        ("<|channel|> is a mark.", ...),
        ("  <", ...),
        (CODE, ...),
    ],
)
async def test_thoughts_that_come_as_words_are_none(
    sent: str, text: object, size: int, whole: bool
) -> None:
    if whole:
        document = {"choices": [{"message": {"content": sent}, "finish_reason": "stop"}]}
        blocks = [json.dumps(document).encode()]
    else:
        pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        blocks = [*(event(said(each)) for each in pieces), event(STOP), DONE]
    reply, heard_live = await heard(sending(blocks))
    assert reply.text == (sent if text is ... else text)
    if not sent.startswith("Hm"):
        assert "Hm" not in "".join(heard_live) or sent == CODE


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("reason", ["length", "stop"])
@pytest.mark.parametrize(
    "sent", ["<think>Hm, hm", "\n<thought>Hm.\n\nYes.", "<|channel|>analysis<|message|>Hm"]
)
async def test_an_answer_whose_thought_nobody_closed_has_no_word(
    sent: str, reason: str, whole: bool
) -> None:
    if whole:
        document = {"choices": [{"message": {"content": sent}, "finish_reason": reason}]}
        blocks = [json.dumps(document).encode()]
    else:
        ended = {"index": 0, "delta": {}, "finish_reason": reason}
        blocks = [event(said(sent)), event(ended), DONE]
    error = await failed(sending(blocks))
    assert (error.cause, error.used_up) == ("empty", reason == "length")


async def test_text_may_come_as_a_list_of_parts() -> None:
    parts = [{"type": "text", "text": "Ye"}, {"type": "reference", "ids": [1]}, "s."]
    assert (await heard(sending([event(said(parts)), event(STOP)])))[0].text == "Yes."


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b'data: {"error": {"message": "Upstream died", "code": 502}}\n\n', "unavailable"),
        (
            b'data: {"error": {"message": "Slow down", "type": "rate_limit_error"}}\n\n',
            "rate_limited",
        ),
        (b'data: {"error": {"message": "Out", "code": "insufficient_quota"}}\n\n', "auth"),
        (b'data: {"error": "something broke"}\n\n', "cut"),
        (event({"index": 0, "delta": {}, "finish_reason": "error"}), "cut"),
        (event({"index": 0, "delta": {}, "finish_reason": "content_filter"}), "refused"),
        (b"data: {not json\n\n", "garbled"),
        (b'data: {"choices": 7}\n\n', "garbled"),
        (b'data: {"choices": [7]}\n\n', "garbled"),
        (b"data: 7\n\n", "garbled"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "garbled"),
        (b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n', "garbled"),
    ],
)
async def test_an_error_in_the_middle_is_an_error_after_the_words_that_came(
    body: bytes, cause: str
) -> None:
    error = await failed(sending([event(said("Half ")), body, DONE]))
    assert error.cause == cause
    assert (await failed(sending([event(said("Half ")) + body]))).cause == cause


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("overloaded_error", "unavailable"),
        ("rate_limit_error", "rate_limited"),
        ("invalid_request_error", "bad_request"),
        ("authentication_error", "auth"),
        ("billing_error", "auth"),
        ("something_new", "cut"),
    ],
)
async def test_an_error_event_of_anthropic_is_told_by_its_kind(kind: str, cause: str) -> None:
    data = json.dumps({"type": "error", "error": {"type": kind, "message": "No."}}).encode()
    start = stream("messages").partition(b"event: content_block_stop")[0]
    sent = sending([start, b"event: error\ndata: " + data + b"\n\n"])
    assert (await failed(sent, "messages")).cause == cause


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (
            {"type": "response.failed", "response": {"error": {"code": "server_error"}}},
            "unavailable",
        ),
        ({"type": "response.failed", "response": {"status": "failed"}}, "cut"),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "Slow down"}, "rate_limited"),
        ({"type": "response.incomplete", "response": {"status": "incomplete"}}, "cut"),
        (
            {
                "type": "response.incomplete",
                "response": {"incomplete_details": {"reason": "content_filter"}},
            },
            "refused",
        ),
    ],
)
async def test_a_response_that_failed_is_told_by_its_error(body: Json, cause: str) -> None:
    start = stream("responses").partition(b"event: response.output_item.done")[0]
    sent = sending([start, b"data: " + json.dumps(body).encode() + b"\n\n"])
    assert (await failed(sent, "responses")).cause == cause


# ------------------------------------------------------------ servers that do not stream

WHOLE: dict[Dialect, Json] = {
    "chat": {
        "model": "m",
        "choices": [
            {"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"},
            {"message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"},
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21},
    },
    "responses": {
        "model": "m",
        "status": "completed",
        "error": None,
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "content": [{"type": "output_text", "text": TEXT}]},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 12},
    },
    "messages": {
        "type": "message",
        "model": "m",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": TEXT}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 12},
    },
}


@DIALECTS
async def test_an_answer_in_one_document_is_an_answer(dialect: Dialect) -> None:
    body = b"\n \n" + json.dumps(WHOLE[dialect]).encode()
    for kind in ("application/json", "text/event-stream"):
        blocks = [body[at : at + 7] for at in range(0, len(body), 7)]
        reply, _ = await heard(sending(blocks, kind=kind), dialect)
        assert (reply.text, reply.finish_reason, reply.served_by) == (TEXT, "stop", "m")
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (9, 12)


async def test_thoughts_at_the_head_of_a_document_are_no_words() -> None:
    message = {"content": "<think>\nHm.\n</think>\n\nYes."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    assert (await heard(sending([json.dumps(body).encode()])))[0].text == "Yes."


@DIALECTS
@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b'{"error": {"message": "No such model", "code": "model_not_found"}}', "not_found"),
        (b"{", "garbled"),
        (b"{}", ("garbled", "cut")),
        (b"[]", ("garbled", "cut")),
        (b"   ", "garbled"),
        (b"<html>Sign in</html>", "garbled"),
    ],
)
async def test_a_document_that_is_no_answer_is_none(
    dialect: Dialect, body: bytes, cause: str | tuple[str, ...]
) -> None:
    error = await failed(sending([body], kind="application/json"), dialect)
    assert error.cause in cause
