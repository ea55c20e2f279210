"""Hearing: the bytes of an answer become what was said, as long as anybody would listen."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from ..core.errors import NetError
from ..ports import CHARACTERS_PER_TOKEN, LONGEST_CALL, SpeakRequest
from .answer import Answer
from .sse import LONGEST_EVENT, EventReader

_DONE = b"[DONE]"


class WebPage(ValueError):
    """What came is for people: whoever answers there is no model server."""


class Hearing:
    """Takes in what a provider sends, as a stream of events or as one document."""

    def __init__(self, answer: Answer, request: SpeakRequest) -> None:
        self._answer = answer
        # A token may be no more than the last character of what is said.
        self._most_tokens = request.payable_tokens - 1 / CHARACTERS_PER_TOKEN
        self._counts = request.set_aside is not None
        self._most_thoughts = request.longest_answer  # not every server counts them as words
        self._clock = asyncio.get_running_loop().time
        self._over = self._clock() + LONGEST_CALL
        self._events = EventReader()
        self._document: bytearray | None = None
        self._looked = self._understood = self._page = False
        self.hung_up = False
        """Whether nobody listens any more: it is longer than anybody reads or waits for."""

    @property
    def ended(self) -> bool:
        """Whether nothing more is wanted of it."""
        return self.hung_up or self._answer.ended

    def hear(self, block: bytes) -> list[str]:
        """What was said in these bytes. Whoever is silent is not our concern, so each event is a
        time to look at the clock. ValueError if it makes no sense, ProviderError if it reports a
        failure, NetError if it is too large."""
        if not self._looked:
            self._look(block)
        if self._document is not None:
            self._document += block
            if len(self._document) > LONGEST_EVENT:
                raise NetError("too_large", "The provider sent more than anybody could read.")
            return []
        for data in self._events.feed(block):
            if data.startswith(_DONE):
                self._answer.ended = self._understood = True
            elif data:
                self._read(data)
            if self.ended:
                break
        if self._answer.ended:
            self._answer.end()
        return self._answer.take()

    def close(self) -> list[str]:
        """Nothing more comes: what is said by it."""
        if self._document is not None:
            self._read(bytes(self._document), whole=True)
        if not self._understood:
            raise WebPage if self._page else ValueError("There is no answer in it")
        self._answer.end()
        return self._answer.take()

    def _look(self, block: bytes) -> None:
        """Some servers do not stream, whatever they are asked. No event begins like a document."""
        begins = block.lstrip()[:1]
        self._looked = bool(begins)
        self._page = begins == b"<"
        if begins in (b"{", b"["):
            self._document = bytearray()

    def _read(self, data: bytes, *, whole: bool = False) -> None:
        answer = self._answer
        try:
            event: Any = json.loads(data)
            if whole:
                answer.read_whole(event)
            else:
                answer.read(event)
        except (LookupError, TypeError, AttributeError, RecursionError):
            raise ValueError("It does not have the form that was agreed on") from None
        self._understood = True
        # Where every token counts against a limit, all that came is counted by its script and with
        # its thoughts, but nobody who keeps to what was granted is cut because we count more for a
        # script than the provider does. Elsewhere only what finds no end is cut.
        heard = answer.at_least if self._counts else answer.said / CHARACTERS_PER_TOKEN
        if heard > self._most_tokens:
            answer.shorten(heard - self._most_tokens)
            self.hung_up = True
        elif answer.thought > self._most_thoughts or self._clock() > self._over:
            self.hung_up = True
