"""OpenAI's Responses interface."""

from __future__ import annotations

from typing import Any

from ..core.declaration_block import LABEL
from ..ports import SpeakRequest
from .abilities import Abilities
from .answer import BROKEN, REFUSED, Answer, Json, ProviderError, count, counts, part

PATH = "/responses"
_REASONS = {
    "max_output_tokens": "length",
    "completed": "stop",
    "cancelled": BROKEN,
    "failed": BROKEN,
}


def headers(key: dict[str, str]) -> dict[str, str]:
    return key


def body(name: str, request: SpeakRequest, can: Abilities, schema: Json | None) -> dict[str, Any]:
    """The request; `schema` is what the answer is held to."""
    sent: dict[str, Any] = {
        "model": name,
        "input": [{"role": "user", "content": request.user}],
        "max_output_tokens": request.max_tokens,
        "stream": True,
        # What is said at the table is kept in our ledger, not at the vendor's.
        "store": False,
    }
    if request.system:
        sent["instructions"] = request.system
    if request.effort is not None and can.efforts:
        sent["reasoning"] = {"effort": can.effort(request.effort)}
    elif request.temperature is not None and can.temperature:
        sent["temperature"] = request.temperature
    if schema is not None:
        held = {"type": "json_schema", "name": LABEL, "schema": schema, "strict": True}
        sent["text"] = {"format": held}
    return sent


class ResponsesAnswer(Answer):
    """The events of a response."""

    def __init__(self) -> None:
        super().__init__()
        self._refuses = False

    @property
    def finish_reason(self) -> str:
        return REFUSED if self._refuses else _REASONS.get(self.reason, self.reason)

    def read(self, event: Json) -> None:
        if event.get("error"):
            raise ProviderError(event["error"])
        match event.get("type"):
            case "response.output_text.delta":
                if words := event.get("delta"):
                    self.say(words)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self.think(event.get("delta") or "")
            case "response.output_item.added":
                if part(event, "item").get("type") != "message":
                    self.step_aside()
            case "response.refusal.delta":
                self._refuse(self.refusal + event["delta"])
            case "response.refusal.done":
                self._refuse(event["refusal"])
            case "response.completed" | "response.incomplete" | "response.failed":
                self._end(event["response"])
            case "error":
                raise ProviderError(event)

    def read_whole(self, document: Json) -> None:
        if document.get("error"):
            raise ProviderError(document["error"])
        for item in document["output"]:
            if item.get("type") != "message":
                self.step_aside()
                continue
            for each in item["content"]:
                if each.get("type") == "refusal":
                    self._refuse(each["refusal"])
                elif each.get("text"):
                    self.say(each["text"])
        self._end(document)

    def _refuse(self, said: str) -> None:
        self._refuses, self.refusal = True, said

    def _end(self, response: Json) -> None:
        self.ended = True
        usage = part(response, "usage")
        cached = count(part(usage, "input_tokens_details").get("cached_tokens"))
        read, written = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
        self.tokens = counts(read, written, cached)
        if error := response.get("error"):
            raise ProviderError(error)
        self.served_by = response.get("model") or self.served_by
        reason = part(response, "incomplete_details").get("reason")
        status = response.get("status") or ""
        self.reason = reason or ("" if status == "incomplete" else status)
        if self.reason == REFUSED:
            self._refuses = True
