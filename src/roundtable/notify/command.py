"""A program that sends: it is given the profile, the chat and the message as arguments."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ..core.errors import ChannelError
from ..core.text import clip, redact
from ..core.values import NewsChannel
from ..ports import Post
from ..programs import child, find_program
from .base import ChannelLimits, PlainChannel

PROFILE = "HERMES_PROFILE"
DEFAULT_PROFILE = "default"
LIMITS = ChannelLimits(limit=30_000)
"""Systems bound one argument at 128 KiB, and a character has up to four bytes."""
MOST_SAID = 4_000
"""Bytes of what the program says that are read."""


class Command(PlainChannel):
    """Runs `COMMAND… PROFILE CHAT MESSAGE` for each post. No shell reads any of it."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], limits: ChannelLimits = LIMITS
    ) -> None:
        super().__init__(limits)
        self._command = tuple(command)
        self._env = env

    def problem(self, place: NewsChannel) -> tuple[str, str] | None:
        del place
        if find_program(self._command[0], self._env) is None:
            return (
                f"the program {self._command[0]!r} is not there.",
                "Give its full path, or a name on PATH outside the current folder.",
            )
        return None

    async def post(self, post: Post) -> str:
        profile = self._env.get(PROFILE, "").strip() or DEFAULT_PROFILE
        # No system takes a NUL within an argument.
        words = [profile, post.place.chat_id, post.text.replace("\0", "\ufffd")]
        try:
            process = await child([*self._command, *words], self._env).start(
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise ChannelError(
                f"{self._command[0]} could not be run: {error.strerror}.",
                "Check the command of this channel.",
                permanent=True,
            ) from None
        try:
            assert process.stderr is not None
            said = await _beginning(process.stderr)
            code = await process.wait()
        finally:
            if process.returncode is None:
                _end(process)
                await process.wait()
        if code != 0:
            told = clip(" ".join(redact(said).split()), 200)
            raise ChannelError(f"{self._command[0]} ended with code {code}: {told or 'no word'}")
        return ""


async def _beginning(stream: asyncio.StreamReader) -> str:
    """What the program says at first; the rest is read and dropped, so that it is not held up."""
    said = b""
    while block := await stream.read(65_536):
        said += block[: max(0, MOST_SAID - len(said))]
    return said.decode("utf-8", "replace")


def _end(process: asyncio.subprocess.Process) -> None:
    """End the program with everything it started."""
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
