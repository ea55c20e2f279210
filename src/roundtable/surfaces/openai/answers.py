"""The verdict as an answer, and the way to it as reasoning: as a chat completion, or in the form of
the newer Responses API, whole or as a stream of events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ...core.state import State
from ...views.cost import Cost
from .prompt import delivered

CHAT_ID = "chatcmpl-"
_WORDS_PER_CHUNK = 6


class Chat:
    """One answer's form. The id, the model's name and the metadata are the same in all of it."""

    def __init__(self, state: State, model: str, metadata: dict[str, str]) -> None:
        at = state.opened_at
        self._base: dict[str, Any] = {
            "id": CHAT_ID + state.discussion_id,
            "created": int(at.timestamp()) if at else 0,
            "model": model,
            "metadata": metadata,
            "system_fingerprint": f"roundtable-{state.start.program_version}",
        }

    def completion(self, state: State, text: str, reasoning: str) -> dict[str, Any]:
        """The whole answer of a closed discussion."""
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if reasoning:
            message["reasoning_content"] = reasoning
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finish_reason(state),
        }
        return {
            **self._base,
            "object": "chat.completion",
            "choices": [choice],
            "usage": usage(state),
        }

    def chunk(self, finish: str | None = None, **delta: str) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._base, "object": "chat.completion.chunk", "choices": [choice]}

    def usage_chunk(self, state: State) -> dict[str, Any]:
        """The last chunk, for clients that asked for it: no choice, only what it took."""
        return {
            **self._base,
            "object": "chat.completion.chunk",
            "choices": [],
            "usage": usage(state),
        }


def answer(state: State, told: str = "") -> str:
    """The verdict, after what was `told` of the way to it."""
    return f"{told}\n\n{delivered(state)}" if told else delivered(state)


def pieces(text: str) -> Iterator[str]:
    """The text in pieces of a few words, which together are the text."""
    words = re.findall(r"\s*\S+|\s+$", text)
    for start in range(0, len(words), _WORDS_PER_CHUNK):
        yield "".join(words[start : start + _WORDS_PER_CHUNK])


def finish_reason(state: State) -> str:
    """`length` if the budget was used up before the table was done."""
    return "length" if state.closed and state.closed.stop_reason == "budget" else "stop"


def usage(state: State) -> dict[str, Any]:
    spent = Cost.of(state)
    return {
        "prompt_tokens": spent.input_tokens,
        "completion_tokens": spent.output_tokens,
        "total_tokens": spent.input_tokens + spent.output_tokens,
        "prompt_tokens_details": {"cached_tokens": spent.cached_tokens},
        "cost_usd": spent.usd,
        **spent.document,
        "calls": state.usage.calls,
    }


RESPONSE_ID = "resp_"
Status = Literal["in_progress", "completed", "incomplete", "failed", "cancelled"]


class Response:
    """One response's form, and the numbering of its events."""

    def __init__(
        self,
        state: State,
        model: str,
        metadata: dict[str, str],
        *,
        background: bool = False,
        previous: str | None = None,
    ) -> None:
        self._id = state.discussion_id
        at = state.opened_at
        self._base: dict[str, Any] = {
            "id": RESPONSE_ID + self._id,
            "object": "response",
            "created_at": int(at.timestamp()) if at else 0,
            "model": model,
            "metadata": metadata,
            "background": background,
            "previous_response_id": previous,
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "temperature": None,
            "top_p": None,
            "instructions": None,
            "incomplete_details": None,
            "store": True,
            "text": {"format": {"type": "text"}},
        }
        self._number = -1

    def whole(
        self,
        status: Status,
        *,
        reasoning: Sequence[str] = (),
        text: str | None = None,
        state: State | None = None,
        error: str = "",
    ) -> dict[str, Any]:
        """The response as it stands."""
        output: list[dict[str, Any]] = []
        if reasoning:
            output.append(self._reasoning("\n".join(reasoning)))
        if text is not None:
            output.append(self._message(text))
        found = {
            **self._base,
            "status": status,
            "output": output,
            "error": {"code": "server_error", "message": error} if error else None,
            "usage": _usage(state) if state else None,
        }
        if status == "incomplete":
            found["incomplete_details"] = {"reason": "max_output_tokens"}
        return found

    def ended(self, state: State, reasoning: Sequence[str], text: str) -> dict[str, Any]:
        """The response of a closed discussion with a verdict."""
        status: Status = "incomplete" if finish_reason(state) == "length" else "completed"
        return self.whole(status, reasoning=reasoning, text=text, state=state)

    # --- the stream ----------------------------------------------------------------------------

    def event(self, kind: str, **fields: Any) -> dict[str, Any]:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **fields}

    def begun(self) -> Iterator[dict[str, Any]]:
        response = self.whole("in_progress")
        yield self.event("response.created", response=response)
        yield self.event("response.in_progress", response=response)

    def thinking_begins(self) -> Iterator[dict[str, Any]]:
        item = {"id": f"rs_{self._id}", "type": "reasoning", "summary": []}
        yield self.event("response.output_item.added", output_index=0, item=item)
        part = {"type": "summary_text", "text": ""}
        yield self._thought("response.reasoning_summary_part.added", part=part)

    def thinks(self, words: str) -> dict[str, Any]:
        return self._thought("response.reasoning_summary_text.delta", delta=words)

    def thinking_ends(self, text: str) -> Iterator[dict[str, Any]]:
        yield self._thought("response.reasoning_summary_text.done", text=text)
        part = {"type": "summary_text", "text": text}
        yield self._thought("response.reasoning_summary_part.done", part=part)
        item = self._reasoning(text)
        yield self.event("response.output_item.done", output_index=0, item=item)

    def speaking_begins(self, index: int) -> Iterator[dict[str, Any]]:
        item = {**self._message(""), "status": "in_progress", "content": []}
        yield self.event("response.output_item.added", output_index=index, item=item)
        yield self._said("response.content_part.added", index, part=_part(""))

    def speaks(self, index: int, text: str) -> Iterator[dict[str, Any]]:
        for words in pieces(text):
            yield self._said("response.output_text.delta", index, delta=words, logprobs=[])

    def speaking_ends(self, index: int, text: str) -> Iterator[dict[str, Any]]:
        yield self._said("response.output_text.done", index, text=text, logprobs=[])
        yield self._said("response.content_part.done", index, part=_part(text))
        item = self._message(text)
        yield self.event("response.output_item.done", output_index=index, item=item)

    def _thought(self, kind: str, **fields: Any) -> dict[str, Any]:
        return self.event(kind, item_id=f"rs_{self._id}", output_index=0, summary_index=0, **fields)

    def _said(self, kind: str, index: int, **fields: Any) -> dict[str, Any]:
        place = {"item_id": f"msg_{self._id}", "output_index": index, "content_index": 0}
        return self.event(kind, **place, **fields)

    def _reasoning(self, text: str) -> dict[str, Any]:
        summary = [{"type": "summary_text", "text": text}]
        return {"id": f"rs_{self._id}", "type": "reasoning", "summary": summary}

    def _message(self, text: str) -> dict[str, Any]:
        return {
            "id": f"msg_{self._id}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [_part(text)],
        }


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(state: State) -> dict[str, Any]:
    spent = Cost.of(state)
    return {
        "input_tokens": spent.input_tokens,
        "input_tokens_details": {"cached_tokens": spent.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": spent.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": spent.input_tokens + spent.output_tokens,
        "cost_usd": spent.usd,
        **spent.document,
        "calls": state.usage.calls,
    }
