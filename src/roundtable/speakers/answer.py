"""What an answer has said so far, whichever wire format it comes in."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.text import fewest_tokens, likely_tokens
from ..core.thoughts import ThoughtsFirst

Json = Mapping[str, Any]

REFUSED = "content_filter"
"""The reason to finish of an answer that the provider itself stopped."""
BROKEN = "error"
"""The reason to finish of an answer that is none."""
_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider counted."""

    read: int = 0
    """All that went in, whether it was new or not."""
    written: int = 0
    cached: int = 0
    """Of what went in, what the provider had seen before."""

    def __bool__(self) -> bool:
        return bool(self.read or self.written or self.cached)


class ProviderError(Exception):
    """A provider says that it failed: by its status, or in the middle of a stream."""

    def __init__(
        self,
        body: object,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__("the provider reports an error")
        self.body = body
        self.status = status
        """None in a stream: that had begun well."""
        self.headers = headers or {}


class Answer(ABC):
    """Reads the events of one answer. One class for each wire format; what is not in order raises
    whatever it comes to, for nothing but the hot path's speed depends on the shape of an event."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        """What was said since somebody last took it; an empty one is a thought."""
        self.said = 0
        """Characters."""
        self.came = 0.0
        """Tokens of all that came, thoughts too, by our own count: what is charged for, whatever
        became of it."""
        self.at_least = 0.0
        """The same if its tokenizer is one that makes few of this script."""
        self.thought = 0
        """Characters of thoughts, as far as they are told."""
        self.begun = False
        """Whether there was a word."""
        self.ended = False
        """Whether nothing can follow."""
        self.tokens = Tokens()
        self.served_by = ""
        self.reason = ""
        """Why it finished, in the vendor's word; empty: it did not."""
        self.refusal = ""
        """What the provider says where it refused."""
        self._aside = False
        self._half = ""
        self._first: ThoughtsFirst | None = ThoughtsFirst()
        """Until the answer itself begins."""

    @property
    @abstractmethod
    def finish_reason(self) -> str:
        """Why it finished, in our words where we have one."""

    @abstractmethod
    def read(self, event: Json) -> None:
        """Take one event of the stream in. ProviderError if it says that the call failed."""

    @abstractmethod
    def read_whole(self, document: Json) -> None:
        """Take an answer in that came as one document, from a server that does not stream."""

    def say(self, words: str) -> None:
        """These words came. Thoughts that a server sends as words are none."""
        if not words.isascii() or self._half:
            words = self._mended(words)
        self._take_count_of(words)
        if self._first is not None and words:
            before = self._first.thought
            words = self._first.hear(words)
            if (thought := self._first.thought - before) > 0:
                self._think(thought)
            if self._first.over:
                self._first = None
        self._say(words)

    def end(self) -> None:
        """Nothing more comes."""
        first, self._first = self._first, None
        if first is not None:
            self._say(first.end())

    def _say(self, words: str) -> None:
        if not words:
            return
        if self._aside:
            if self.begun:
                self.pieces.append("\n\n")
                self.said += 2
            self._aside = False
        self.begun = True
        self.said += len(words)
        self.pieces.append(words)

    def think(self, thought: str) -> None:
        """Its thoughts are not our business, only that it has some."""
        self._take_count_of(thought)
        self._think(len(thought))

    def _take_count_of(self, words: str) -> None:
        self.came += likely_tokens(words)
        self.at_least += fewest_tokens(words)

    def _think(self, length: int) -> None:
        self.thought += length
        self.pieces.append("")
        self._aside = True

    def shorten(self, tokens: float) -> None:
        """Leave out so many tokens at the end of what was said, of what nobody took yet. They came,
        and stay counted."""
        while tokens > 0 and self.pieces:
            last = self.pieces.pop()
            kept = _beginning(last, fewest_tokens(last) - tokens)
            tokens -= fewest_tokens(last[len(kept) :])
            if kept:
                self.pieces.append(kept)

    def step_aside(self) -> None:
        """Something came that is neither: what follows is a new paragraph."""
        self._aside = True

    def take(self) -> list[str]:
        """What was said since the last time."""
        pieces, self.pieces = self.pieces, []
        return pieces

    def _mended(self, words: str) -> str:
        """Some servers cut a character in two, and send each half in an event of its own."""
        words, self._half = self._half + words, ""
        if words and "\ud800" <= words[-1] <= "\udbff":
            words, self._half = words[:-1], words[-1]
        if _HALVES.search(words):
            words = words.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return words


def _beginning(words: str, tokens: float) -> str:
    """The longest beginning of words that comes to no more than so many tokens."""
    most = min(len(words), max(0, int(4 * tokens)))  # no character is less than a quarter of one
    ends = range(1, most + 1)
    return words[: bisect_right(ends, tokens, key=lambda end: fewest_tokens(words[:end]))]


def count(number: object) -> int:
    """A number of tokens, whatever was sent for one."""
    return number if type(number) is int and number > 0 else 0


def counts(read: int, written: int, cached: int) -> Tokens:
    """The counts of a provider. Some of them count what they had seen before apart from what is
    new: more than all that was read cannot be a part of it."""
    return Tokens(read + cached if cached > read else read, written, cached)


def part(document: Json | None, name: str) -> Json:
    """A part of a document that may be missing, or null."""
    found = document.get(name) if document else None
    return found if isinstance(found, Mapping) else {}
