"""Listening: how long whoever speaks may keep silent before its call is given up.

A limit on the whole answer would end every model that thinks before it speaks, and every long
answer. So two silences are limited: the one before the first word, and the one between two words.
"""

from __future__ import annotations

import asyncio
from types import TracebackType

from .ports import OnWords, SpeakRequest


class Listening:
    """`async with` it around a call, and give the call `heard` in place of `on_words`. TimeoutError
    when it was silent for too long; `told` then says so. A sign of life without words, which is an
    empty piece, begins the time anew."""

    def __init__(self, first_word: float, silence: float | None, on_words: OnWords) -> None:
        self._first_word = first_word
        self._silence = first_word if silence is None else silence
        self._on_words = on_words
        self._spoke = False
        self._limit = asyncio.timeout(None)
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def to(cls, request: SpeakRequest, on_words: OnWords) -> Listening:
        """The limits of a request."""
        return cls(request.timeout, request.silence, on_words)

    @property
    def seconds(self) -> float:
        """The limit that holds now."""
        return self._silence if self._spoke else self._first_word

    @property
    def told(self) -> str:
        """What was waited for in vain."""
        if self._spoke:
            return f"fell silent for {self.seconds:g} s in the middle of its answer"
        return f"said nothing within {self.seconds:g} s"

    @property
    def expired(self) -> bool:
        """Whether it was this limit that ran out."""
        return self._limit.expired()

    def heard(self, piece: str) -> None:
        """A piece of the answer came."""
        self._spoke = self._spoke or bool(piece)
        self._until = asyncio.get_running_loop().time() + self.seconds
        # Only the first word can bring the end nearer, where the silence after it is shorter.
        if self._timer is not None and self._until < self._timer.when():
            self._look_again()
        self._on_words(piece)

    def _look(self) -> None:
        """Is the time over, now that it would be if no further piece had come? An answer has
        thousands of them: a timer set anew by each would cost more than anything else done to it.
        """
        if asyncio.get_running_loop().time() < self._until:
            self._look_again()
        else:
            self._limit.reschedule(self._until)

    def _look_again(self) -> None:
        self._stop_looking()
        self._timer = asyncio.get_running_loop().call_at(self._until, self._look)

    def _stop_looking(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def __aenter__(self) -> Listening:
        await self._limit.__aenter__()
        self._until = asyncio.get_running_loop().time() + self.seconds
        self._look_again()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop_looking()
        await self._limit.__aexit__(kind, error, traceback)
