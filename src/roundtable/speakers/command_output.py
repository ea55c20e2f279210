"""What a command-line agent says, read in the form in which it says it.

::

    text        everything on standard output is the answer
    json        one document; the answer is at a path in it
    jsonl       one document a line; the pieces of the answer are at a path in them
    claude      --output-format stream-json
    codex       exec --json
    gemini      --output-format stream-json
    opencode    run --format json
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.agents import CommandAgent, OutputForm
from ..ports import OnWords
from .command_words import PlainWords, plain

_WORDS = re.compile(r"\s*\S+\s*")


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the agent says that it read and wrote."""

    read: int = 0
    written: int = 0
    cached: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.read + other.read, self.written + other.written, self.cached + other.cached
        )


@dataclass(slots=True)
class Heard:
    """What has come of an answer so far."""

    text: str = ""
    tokens: Tokens | None = None
    served_by: str = ""
    failure: str = ""
    """The agent's own word that it could not answer."""
    complaint: str = ""
    """Something it said went wrong, which need not have been the end."""
    understood: bool = True
    """Whether what it wrote was in the form that was expected of it."""


class Listener(Protocol):
    heard: Heard

    def take(self, data: bytes) -> None: ...

    def finish(self) -> Heard:
        """Nothing more comes."""
        ...


def listener(agent: CommandAgent, on_words: OnWords) -> Listener:
    """The one for the agent's form."""
    match agent.output:
        case "text":
            return _Text(on_words)
        case "json":
            return _Document(agent.path, on_words)
        case "jsonl":
            return _Lines(lambda event: Line(piece=_text_at(event, agent.path) or ""), on_words)
        case form:
            return _Lines(_READERS[form], on_words)


class _Text:
    def __init__(self, on_words: OnWords) -> None:
        self.heard = Heard()
        self._words = PlainWords()
        self._on_words = on_words

    def take(self, data: bytes) -> None:
        self._say(self._words.take(data))

    def finish(self) -> Heard:
        self._say(self._words.finish())
        return self.heard

    def _say(self, words: str) -> None:
        if words:
            self.heard.text += words
            _aloud(words, self._on_words)


class _Document:
    def __init__(self, path: str, on_words: OnWords) -> None:
        self.heard = Heard()
        self._path = path
        self._on_words = on_words
        self._data = bytearray()

    def take(self, data: bytes) -> None:
        self._data += data

    def finish(self) -> Heard:
        try:
            document = json.loads(self._data)
        except ValueError:
            self.heard.understood = not self._data.strip()
            return self.heard
        words = _text_at(document, self._path)
        self.heard.understood = words is not None
        self.heard.text = plain(words or "").strip()
        if self.heard.text:
            _aloud(self.heard.text, self._on_words)
        return self.heard


@dataclass(frozen=True, slots=True)
class Line:
    """What one line of an agent's output means."""

    piece: str = ""
    """More of the answer."""
    whole: str | None = None
    """The answer as the agent gives it in the end, whatever its pieces were."""
    tokens: Tokens | None = None
    served_by: str = ""
    failure: str = ""
    complaint: str = ""


class _Lines:
    def __init__(self, read: Callable[[Mapping[str, Any]], Line], on_words: OnWords) -> None:
        self.heard = Heard()
        self._read = read
        self._on_words = on_words
        self._rest = b""
        self._pieces: list[str] = []
        self._whole: str | None = None
        self._lines = self._strange = 0

    def take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take_line(line)

    def finish(self) -> Heard:
        self._take_line(self._rest)
        self._rest = b""
        heard = self.heard
        heard.text = ("".join(self._pieces) if self._whole is None else self._whole).strip()
        heard.understood = not self._strange or self._lines > 0
        if heard.text and not self._pieces:
            _aloud(heard.text, self._on_words)
        return heard

    def _take_line(self, data: bytes) -> None:
        if not data.strip():
            return
        event = None
        if data.lstrip().startswith(b"{"):
            with suppress(ValueError):
                event = json.loads(data)
        if not isinstance(event, Mapping):
            # Warnings of a program stand between its events now and then.
            self._strange += 1
            return
        self._lines += 1
        line = self._read(event)
        heard = self.heard
        if piece := plain(line.piece):
            self._pieces.append(piece)
            self._on_words(piece)
        if line.whole is not None:
            self._whole = plain(line.whole)
        if line.tokens is not None:
            heard.tokens = (heard.tokens or Tokens()) + line.tokens
        heard.served_by = line.served_by or heard.served_by
        heard.failure = line.failure or heard.failure
        heard.complaint = line.complaint or heard.complaint


def _claude(event: Mapping[str, Any]) -> Line:
    match event:
        case {"type": "system", "model": str(model)}:
            return Line(served_by=model)
        case {
            "type": "stream_event",
            "event": {"delta": {"type": "text_delta", "text": str(text)}},
        }:
            return Line(piece=text)
        case {"type": "result"}:
            told = event.get("result")
            words = told if isinstance(told, str) else ""
            if event.get("is_error") or event.get("subtype", "success") != "success":
                return Line(failure=words or str(event.get("subtype", "error")))
            usage = _table(event.get("usage"))
            cached = _count(usage, "cache_read_input_tokens")
            fresh = _count(usage, "input_tokens") + _count(usage, "cache_creation_input_tokens")
            written = _count(usage, "output_tokens")
            return Line(whole=words, tokens=Tokens(fresh + cached, written, cached))
        case _:
            return Line()


def _codex(event: Mapping[str, Any]) -> Line:
    match event:
        case {"type": "item.completed", "item": {"type": "agent_message", "text": str(text)}}:
            # What it says on the way is a message too: the last one is the answer.
            return Line(piece=text, whole=text)
        case {"type": "turn.completed", "usage": {**usage}}:
            return Line(
                tokens=Tokens(
                    _count(usage, "input_tokens"),
                    _count(usage, "output_tokens"),
                    _count(usage, "cached_input_tokens"),
                )
            )
        case {"type": "turn.failed", "error": {"message": str(message)}}:
            return Line(failure=message)
        case {"type": "error", "message": str(message)}:
            return Line(complaint=message)  # it may yet connect again
        case _:
            return Line()


def _gemini(event: Mapping[str, Any]) -> Line:
    match event:
        case {"type": "init", "model": str(model)}:
            return Line(served_by=model)
        case {"type": "message", "role": "assistant", "content": str(text)}:
            return Line(piece=text)
        case {"type": "error", "message": str(message)}:
            return Line(complaint=message)
        case {"type": "result"}:
            if event.get("status", "success") != "success":
                error = _table(event.get("error"))
                return Line(failure=str(error.get("message") or event["status"]))
            stats = _table(event.get("stats"))
            return Line(
                tokens=Tokens(
                    _count(stats, "input_tokens"),
                    _count(stats, "output_tokens"),
                    _count(stats, "cached"),
                )
            )
        case _:
            return Line()


def _opencode(event: Mapping[str, Any]) -> Line:
    match event:
        case {"type": "text", "part": {"text": str(text)}}:
            return Line(piece=text)
        case {"type": "step_finish", "part": {"tokens": {**tokens}}}:
            cache = _table(tokens.get("cache"))
            cached = _count(cache, "read")
            return Line(
                tokens=Tokens(
                    _count(tokens, "input") + cached + _count(cache, "write"),
                    _count(tokens, "output") + _count(tokens, "reasoning"),
                    cached,
                )
            )
        case {"type": "error", "error": {"data": {"message": str(message)}}}:
            return Line(failure=message)
        case {"type": "error"}:
            return Line(failure=json.dumps(event.get("error", "error")))
        case _:
            return Line()


_READERS: dict[OutputForm, Callable[[Mapping[str, Any]], Line]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}


def _aloud(text: str, on_words: OnWords) -> None:
    """Word by word: a pipe hands over in one piece what was written in many."""
    for word in _WORDS.findall(text):
        on_words(word)


def _text_at(document: object, path: str) -> str | None:
    """The text at a dotted path; numbers choose from lists."""
    for step in path.split("."):
        if isinstance(document, Mapping):
            document = document.get(step)
        elif isinstance(document, list) and step.lstrip("-").isdecimal():
            place = int(step)
            document = document[place] if -len(document) <= place < len(document) else None
        else:
            return None
    return document if isinstance(document, str) else None


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(table: Mapping[Any, Any], key: str) -> int:
    value = table.get(key)
    return max(0, int(value)) if isinstance(value, int | float) else 0
