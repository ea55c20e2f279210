"""Chat completions: the verdict as an answer, and the way to it as reasoning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...core.state import State
from .prompt import delivered

ID = "chatcmpl-"
_WORDS_PER_CHUNK = 6


class Chat:
    """One answer's form. The id, the model's name and the metadata are the same in all of it."""

    def __init__(self, state: State, model: str, metadata: dict[str, str]) -> None:
        at = state.opened_at
        self._base: dict[str, Any] = {
            "id": ID + state.discussion_id,
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
    spent = state.usage
    return {
        "prompt_tokens": spent.input_tokens,
        "completion_tokens": spent.output_tokens,
        "total_tokens": spent.tokens,
        "prompt_tokens_details": {"cached_tokens": spent.cached_tokens},
        "cost_usd": spent.cost_usd,
        "calls": spent.calls,
    }
