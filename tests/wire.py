"""The three wire formats of the test server: what a request says, and how an answer streams."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]
Dialect = Literal["chat", "responses", "messages"]


@dataclass(frozen=True)
class Asked:
    """One request as a reply function sees it."""

    dialect: Dialect
    model: str
    system: str
    user: str
    body: Json
    headers: Mapping[str, str]
    number: int
    """1 for the first request of this server."""


def dialect_of(path: str) -> Dialect:
    if path.endswith("/chat/completions"):
        return "chat"
    return "responses" if path.endswith("/responses") else "messages"


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return ""


def read_request(dialect: Dialect, body: Json, headers: Mapping[str, str], number: int) -> Asked:
    messages = body.get("messages") or body.get("input") or []
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    system = _text(body.get("system") or body.get("instructions") or "")
    turns: dict[str, list[str]] = {}
    for message in messages:
        turns.setdefault(message["role"], []).append(_text(message["content"]))
    system = system or "\n\n".join(turns.get("system", []) + turns.get("developer", []))
    user = "\n\n".join(turns.get("user", []))
    return Asked(dialect, str(body.get("model", "")), system, user, body, headers, number)


class ByLine(str):
    """An answer that streams line by line, as from a server that sends several words at once."""


def pieces(text: str) -> list[str]:
    """A text as a model streams it: words with the space that follows them."""
    if isinstance(text, ByLine):
        return text.splitlines(keepends=True)
    return re.findall(r"\S+\s*|\s+", text)


def tokens(text: str) -> int:
    return max(1, len(text) // 4)


def _data(body: Json) -> str:
    return f"data: {json.dumps(body)}\n\n"


def _event(body: Json) -> str:
    return f"event: {body['type']}\n{_data(body)}"


def _chat_chunk(asked: Asked, choices: list[Json], usage: Json | None = None) -> str:
    return _data(
        {
            "id": f"chatcmpl-{asked.number}",
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": asked.model,
            "choices": choices,
            "usage": usage,
        }
    )


def _chat(asked: Asked, text: str, *, finish: bool) -> Iterator[str]:
    for number, piece in enumerate(pieces(text)):
        role = {"role": "assistant"} if number == 0 else {}
        yield _chat_chunk(asked, [{"index": 0, "delta": {**role, "content": piece}}])
    if finish:
        yield _chat_chunk(asked, [{"index": 0, "delta": {}, "finish_reason": "stop"}])
        read, written = tokens(asked.system + asked.user), tokens(text)
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": 0},
        }
        yield _chat_chunk(asked, [], usage)
        yield "data: [DONE]\n\n"


def _chat_refusal(asked: Asked, text: str) -> Iterator[str]:
    delta = {"role": "assistant", "refusal": text}
    yield _chat_chunk(asked, [{"index": 0, "delta": delta}])
    yield _chat_chunk(asked, [{"index": 0, "delta": {}, "finish_reason": "stop"}])
    yield "data: [DONE]\n\n"


def _response(asked: Asked, state: str, **more: object) -> Json:
    return {
        "id": f"resp_{asked.number}",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": state,
        "model": asked.model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }


def _responses(asked: Asked, text: str, *, finish: bool) -> Iterator[str]:
    at = {"item_id": f"msg_{asked.number}", "output_index": 0, "content_index": 0}
    message: Json = {"id": at["item_id"], "type": "message", "role": "assistant"}
    yield _event(
        {
            "type": "response.created",
            "sequence_number": 0,
            "response": _response(asked, "in_progress"),
        }
    )
    yield _event(
        {
            "type": "response.output_item.added",
            "sequence_number": 1,
            "output_index": 0,
            "item": {**message, "status": "in_progress", "content": []},
        }
    )
    sequence = 2
    for piece in pieces(text):
        delta = {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
        yield _event({**delta, "sequence_number": sequence})
        sequence += 1
    if finish:
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {**message, "status": "completed", "content": [part]}
        yield _event(
            {
                "type": "response.output_item.done",
                "sequence_number": sequence,
                "output_index": 0,
                "item": item,
            }
        )
        read, written = tokens(asked.system + asked.user), tokens(text)
        usage = {
            "input_tokens": read,
            "output_tokens": written,
            "total_tokens": read + written,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        completed = _response(asked, "completed", output=[item], usage=usage)
        yield _event(
            {
                "type": "response.completed",
                "sequence_number": sequence + 1,
                "response": completed,
            }
        )


def _responses_refusal(asked: Asked, text: str) -> Iterator[str]:
    at = {"item_id": f"msg_{asked.number}", "output_index": 0, "content_index": 0}
    events: list[Json] = [
        {"type": "response.created", "response": _response(asked, "in_progress")},
        {"type": "response.refusal.delta", **at, "delta": text},
        {"type": "response.refusal.done", **at, "refusal": text},
        {"type": "response.completed", "response": _response(asked, "completed")},
    ]
    for number, event in enumerate(events):
        yield _event({**event, "sequence_number": number})


def _messages_start(asked: Asked) -> str:
    message: Json = {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens(asked.system + asked.user), "output_tokens": 1},
    }
    return _event({"type": "message_start", "message": message})


def _messages_end(reason: str, written: int) -> Iterator[str]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": written}})
    yield _event({"type": "message_stop"})


def _messages(asked: Asked, text: str, *, finish: bool) -> Iterator[str]:
    yield _messages_start(asked)
    block = {"type": "text", "text": ""}
    yield _event({"type": "content_block_start", "index": 0, "content_block": block})
    for piece in pieces(text):
        delta = {"type": "text_delta", "text": piece}
        yield _event({"type": "content_block_delta", "index": 0, "delta": delta})
    if finish:
        yield _event({"type": "content_block_stop", "index": 0})
        yield from _messages_end("end_turn", tokens(text))


def _messages_refusal(asked: Asked, text: str) -> Iterator[str]:
    yield _messages_start(asked)
    yield from _messages_end("refusal", tokens(text))


def error_body(dialect: Dialect, status: int, message: str) -> Json:
    if dialect == "messages":
        kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
        kind = kinds.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"message": message, "type": "error", "param": None, "code": None}}


FRAMES: dict[Dialect, Callable[..., Iterator[str]]] = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
}
REFUSALS: dict[Dialect, Callable[[Asked, str], Iterator[str]]] = {
    "chat": _chat_refusal,
    "responses": _responses_refusal,
    "messages": _messages_refusal,
}
