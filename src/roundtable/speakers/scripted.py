"""ScriptedSpeaker: speaks from a script instead of a model, for rehearsals and tests.

By name it is one of the characters of the library (`scripted/stubborn`, `scripted/echo` …), which
play any procedure from the command line without a key. From Python it takes any script::

    ScriptedSpeaker.saying("First answer.", SpeakerError("rate_limited", "Slow down."), "Third.")
    ScriptedSpeaker(lambda request: "Yes." if "agree" in request.user else "No.")

It is deterministic and costs nothing. Nothing chooses it but its name: it is never a substitute.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from ..core.errors import SpeakerError
from ..core.values import Usage
from ..ports import CHARACTERS_PER_TOKEN, OnWords, Reply, Speaker, SpeakRequest

_PIECES = re.compile(r"(?:\S+\s*){1,12}|\s+")
"""A dozen words at a time, as a quick provider sends them."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a script, with what goes wrong while it is spoken."""

    text: str = ""
    failure: SpeakerError | None = None
    """Raised after the text was spoken."""
    delay: float = 0.0
    """Seconds of silence before the first word."""
    hangs: bool = False
    """After the text, silence until the call's time is over."""


Script = Callable[[SpeakRequest], "str | SpeakerError | Line"]


class ScriptedSpeaker:
    """Performs a script: one line for each request, a dozen words at a time."""

    def __init__(
        self,
        script: Script | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Without a script, the character that the request's model id names speaks."""
        if script is None:
            from .characters import perform

            script = perform
        self._script = script
        self._sleep = sleep

    @classmethod
    def saying(cls, *lines: str | SpeakerError | Line) -> ScriptedSpeaker:
        """Says these lines in turn, one a request, and is absent when they are used up."""
        left = iter(lines)
        over = SpeakerError("absent", "The script has no line left.")
        return cls(lambda _: next(left, over))

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        line = self._script(request)
        if isinstance(line, str):
            line = Line(line)
        elif isinstance(line, SpeakerError):
            line = Line(failure=line)
        if line.delay:
            await self._sleep(min(line.delay, request.timeout))
            if line.delay >= request.timeout:
                raise _timeout(request)
        for piece in _PIECES.findall(line.text):
            on_words(piece)
            # Others get their turn in between, and a cancelled call stops here.
            await asyncio.sleep(0)
        if line.hangs:
            spoke = line.text and request.silence is not None
            await self._sleep(request.silence if spoke and request.silence else request.timeout)
            raise _timeout(request)
        if line.failure is not None:
            # A fresh one for each call: an exception remembers where it was raised.
            failed = line.failure
            raise SpeakerError(
                failed.cause, failed.message, failed.remedy, retry_after=failed.retry_after
            )
        return Reply(
            text=line.text,
            usage=Usage(
                calls=1,
                input_tokens=_tokens(request.system + request.user),
                output_tokens=_tokens(line.text),
            ),
            served_by=request.model,
            finish_reason="stop",
            unheeded=("effort",) if request.effort else (),
        )

    async def close(self) -> None:
        """There is nothing to close."""


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _timeout(request: SpeakRequest) -> SpeakerError:
    return SpeakerError("timeout", f"{request.model} did not finish within {request.timeout:g} s.")


class ScriptedCast:
    """Every scripted speaker behind one door: the caller's own by name, then the characters."""

    def __init__(self, own: Mapping[str, Speaker]) -> None:
        self._own = own
        self._characters = ScriptedSpeaker()

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        name = request.model.partition("/")[2]
        return await self._own.get(name, self._characters).speak(request, on_words)

    async def close(self) -> None:
        for speaker in self._own.values():
            await speaker.close()
