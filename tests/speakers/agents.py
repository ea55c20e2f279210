"""Small programs that play a command-line agent, in the forms that the real ones speak."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TEXT = "First, consider the cost.\n\n## Position\nWe should wait — 等一等."


def put_agent(folder: Path, name: str, body: str) -> Path:
    """A program of this name with this Python in it; `prompt` is what it got on stdin."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(
        f"#!{sys.executable} -SE\n"
        "import json, os, sys\n"
        "out = sys.stdout.buffer\n"
        "def say(text): out.write(text.encode()); out.flush()\n"
        "def events(*rows):\n"
        "    for row in rows: say(json.dumps(row) + '\\n')\n"
        "prompt = sys.stdin.read()\n"
        f"{body}\n",
        "utf-8",
    )
    path.chmod(0o755)
    return path


def on_path(folder: Path, **more: str) -> dict[str, str]:
    """An environment whose PATH begins with the agents' folder."""
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", **more}


def pieces(text: str, size: int = 9) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def claude_lines(text: str = TEXT, **result: Any) -> list[dict[str, Any]]:
    """`claude -p --output-format stream-json --include-partial-messages`."""

    def delta(words: str) -> dict[str, Any]:
        return {
            "type": "stream_event",
            "event": {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": words},
            },
            "session_id": "s",
        }

    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 40,
        "cache_read_input_tokens": 100,
        "output_tokens": 25,
    }
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return [
        {"type": "system", "subtype": "init", "model": "claude-opus-5-5", "tools": []},
        {"type": "stream_event", "event": {"type": "message_start", "message": {}}},
        *map(delta, pieces(text)),
        {"type": "assistant", "message": message, "session_id": "s"},
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": text,
            "total_cost_usd": 0.35,
            "usage": usage,
            **result,
        },
    ]


def codex_lines(text: str = TEXT) -> list[dict[str, Any]]:
    """`codex exec --json`."""
    return [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": "Hm."}},
        {"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": text}},
        {
            "type": "turn.completed",
            "usage": {"input_tokens": 120, "cached_input_tokens": 80, "output_tokens": 30},
        },
    ]


def gemini_lines(text: str = TEXT) -> list[dict[str, Any]]:
    """`gemini --output-format stream-json`."""
    return [
        {"type": "init", "session_id": "s", "model": "gemini-4-argon"},
        {"type": "message", "role": "user", "content": "the prompt"},
        *(
            {"type": "message", "role": "assistant", "content": words, "delta": True}
            for words in pieces(text)
        ),
        {
            "type": "result",
            "status": "success",
            "stats": {"total_tokens": 70, "input_tokens": 50, "output_tokens": 20, "cached": 5},
        },
    ]


def opencode_lines(text: str = TEXT) -> list[dict[str, Any]]:
    """`opencode run --format json`."""
    tokens = {"input": 60, "output": 15, "reasoning": 5, "cache": {"read": 10, "write": 2}}
    return [
        {"type": "step_start", "sessionID": "s", "part": {"type": "step-start"}},
        {"type": "text", "sessionID": "s", "part": {"type": "text", "text": text}},
        {
            "type": "step_finish",
            "part": {"type": "step-finish", "reason": "stop", "tokens": tokens},
        },
    ]


def speaks(lines: Sequence[dict[str, Any]]) -> str:
    """The body of an agent that prints these lines."""
    return f"events(*json.loads({json.dumps(json.dumps(list(lines)))}))"
