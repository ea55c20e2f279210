"""Anthropic's Messages interface."""

from __future__ import annotations

from typing import Any

from ..ports import SpeakRequest
from .abilities import Abilities
from .answer import REFUSED, Answer, Json, ProviderError, Tokens, count, part

PATH = "/v1/messages"
_VERSION = "2026-10-21"
_BUDGETS = {"low": 2_048, "medium": 10_000, "high": 16_384}
"""Tokens for thoughts, for models that are told a number."""
_REASONS = {
    "compaction": "stop",
    "end_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": REFUSED,
    "stop_sequence": "stop",
    "tool_use": "tool_call",
}
_COUNTED = (
    "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens",
)  # fmt: skip


def headers(key: dict[str, str]) -> dict[str, str]:
    return {**key, "anthropic-version": _VERSION}


def body(name: str, request: SpeakRequest, can: Abilities, schema: Json | None) -> dict[str, Any]:
    """The request; `schema` is what the answer is held to."""
    sent: dict[str, Any] = {
        "model": name,
        "max_tokens": request.max_tokens,
        "messages": [{"role": "user", "content": _user(request)}],
        "stream": True,
    }
    if request.system:
        sent["system"] = [_block(request.system)]
    config: dict[str, Any] = {}
    if request.effort is not None and can.efforts:
        adapts = can.thinking == "adaptive"
        budget = {"type": "enabled", "budget_tokens": _BUDGETS[request.effort]}
        sent["thinking"] = {"type": "adaptive"} if adapts else budget
        if can.told_effort:
            config["effort"] = can.effort(request.effort)
    elif request.temperature is not None and can.temperature:
        sent["temperature"] = request.temperature
    if schema is not None:
        config["format"] = {"type": "json_schema", "schema": schema}
    if config:
        sent["output_config"] = config
    return sent


def _user(request: SpeakRequest) -> list[dict[str, Any]]:
    """The user's part. Where later calls begin alike, a mark says how far, for these servers
    remember only up to a mark."""
    words, repeated = request.user, request.repeated
    if not repeated:
        return [_block(words)]
    marked = {**_block(words[:repeated]), "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    return [marked, _block(words[repeated:])] if words[repeated:] else [marked]


def _block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


class MessagesAnswer(Answer):
    """The events of a message, block by block."""

    def __init__(self) -> None:
        super().__init__()
        self._counted = dict.fromkeys(_COUNTED, 0)

    @property
    def finish_reason(self) -> str:
        return _REASONS.get(self.reason, self.reason)

    def read(self, event: Json) -> None:
        match event.get("type"):
            case "content_block_delta":
                self._read_delta(event["delta"])
            case "content_block_start":
                self._read_block(event["content_block"])
            case "message_start" if message := event.get("message"):
                self.served_by = message.get("model") or self.served_by
                self._count(message)
            case "message_delta":
                self._read_end(event)
            case "message_stop":
                self.ended = True
            case "error":
                raise ProviderError(event)

    def read_whole(self, document: Json) -> None:
        if document.get("type") == "error" or "error" in document:
            raise ProviderError(document)
        self.read({"type": "message_start", "message": document})
        for block in document["content"]:
            self._read_block(block)
        self._read_end({"delta": document, "usage": document.get("usage")})

    def _read_delta(self, delta: Json) -> None:
        if words := delta.get("text"):
            self.say(words)
        elif thought := delta.get("thinking"):
            self.think(thought)
        elif "partial_json" in delta:
            self.step_aside()

    def _read_block(self, block: Json) -> None:
        kind = block.get("type")
        if kind == "text":
            if block.get("text"):
                self.say(block["text"])
        elif kind == "thinking":
            self.think(block.get("thinking") or "")
        else:
            self.step_aside()

    def _read_end(self, event: Json) -> None:
        self._count(event)
        delta = part(event, "delta")
        self.reason = delta.get("stop_reason") or self.reason
        if explanation := part(delta, "stop_details").get("explanation"):
            self.refusal = explanation

    def _count(self, holder: Json) -> None:
        """Counts stand for the whole so far: a newer one replaces the one before."""
        usage = part(holder, "usage")
        self._counted.update({k: count(usage[k]) for k in _COUNTED if usage.get(k) is not None})
        new, stored, cached, written = self._counted.values()
        self.tokens = Tokens(new + stored + cached, written, cached)
