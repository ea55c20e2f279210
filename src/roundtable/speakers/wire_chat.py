"""Chat completions: what every provider but OpenAI and Anthropic understands, and most servers."""

from __future__ import annotations

from typing import Any

from ..core.declaration_block import LABEL
from ..ports import SpeakRequest
from .abilities import Abilities
from .answer import REFUSED, Answer, Json, ProviderError, Tokens, count, counts, part

PATH = "/chat/completions"
_NO_KEY = {"authorization": "Bearer none"}
"""Sent to servers that ask for no key: some refuse a request without one all the same."""
_REASONS = {"tool_calls": "tool_call", "function_call": "tool_call"}
_THOUGHTS = ("reasoning", "reasoning_content")


def headers(key: dict[str, str]) -> dict[str, str]:
    return key or _NO_KEY


def body(name: str, request: SpeakRequest, can: Abilities, schema: Json | None) -> dict[str, Any]:
    """The request; `schema` is what the answer is held to."""
    messages = [{"role": "user", "content": request.user}]
    if request.system:
        messages.insert(0, {"role": "system", "content": request.system})
    # OpenAI's reasoning models take only the new name of the limit; most other servers know only
    # the old one.
    limit = "max_completion_tokens" if can.new_limit else "max_tokens"
    sent: dict[str, Any] = {
        "model": name,
        "messages": messages,
        limit: request.max_tokens,
        "stream": True,
    }
    if can.counts:
        sent["stream_options"] = {"include_usage": True}
    if request.effort is not None and can.efforts:
        sent["reasoning_effort"] = can.effort(request.effort)
    elif request.temperature is not None and can.temperature:
        sent["temperature"] = request.temperature
    if schema is not None:
        held = {"name": LABEL, "schema": schema, "strict": True}
        sent["response_format"] = {"type": "json_schema", "json_schema": held}
    return sent


class ChatAnswer(Answer):
    """The chunks of a chat completion. Of several choices the first is the answer."""

    def __init__(self) -> None:
        super().__init__()
        self._refuses = False

    @property
    def finish_reason(self) -> str:
        return REFUSED if self._refuses else _REASONS.get(self.reason, self.reason)

    def read(self, event: Json) -> None:
        if error := event.get("error"):
            raise ProviderError(error)
        if usage := event.get("usage"):
            self.tokens = _tokens(usage)
        if model := event.get("model"):
            self.served_by = model
        choices = event.get("choices")
        if not choices:
            return
        choice = choices[0]
        if reason := choice.get("finish_reason"):
            self.reason = reason
        if delta := choice.get("delta"):
            self._read_delta(delta)

    def read_whole(self, document: Json) -> None:
        for choice in document["choices"][:1] if document.get("choices") else ():
            self.read({**document, "choices": [{**choice, "delta": choice.get("message")}]})
            return
        self.read(document)

    def _read_delta(self, delta: Json) -> None:
        content = delta.get("content")
        if type(content) is not str and content:
            content = _text(content)
        if refusal := delta.get("refusal"):
            self._refuses = True
            self.refusal += refusal
            return
        for name in _THOUGHTS:
            thought = delta.get(name)
            if thought and type(thought) is str:
                self.think(thought)
                break
        if content:
            self.say(content)
        if delta.get("tool_calls"):
            self.step_aside()


def _text(content: object) -> str:
    """The text of a message: some servers send it as a list of parts."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    texts = (
        each if isinstance(each, str) else each.get("text") if each.get("type") == "text" else ""
        for each in content
    )
    return "".join(text for text in texts if isinstance(text, str))


def _tokens(usage: Json) -> Tokens:
    read, written = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    thought = count(part(usage, "completion_tokens_details").get("reasoning_tokens"))
    if thought and usage.get("total_tokens") == read + written + thought:
        written += thought  # xAI counts thoughts apart; they are paid for like words
    return counts(read, written, count(part(usage, "prompt_tokens_details").get("cached_tokens")))
