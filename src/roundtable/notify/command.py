"""A program that sends: it is given the profile, the chat and the message as arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.errors import ChannelError
from ..core.text import clip, redact
from ..core.values import NewsChannel
from ..ports import Post
from ..program_runner import run_program
from ..programs import child, find_program
from .base import ChannelLimits, PlainChannel

PROFILE = "HERMES_PROFILE"
DEFAULT_PROFILE = "default"
LIMITS = ChannelLimits(limit=30_000)
"""Systems bound one argument at 128 KiB, and a character has up to four bytes."""


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
        name = self._command[0]
        try:
            ended = await run_program(
                child([*self._command, *words], self._env), timeout=self.timeout
            )
        except TimeoutError:
            raise ChannelError(f"{name} did not end within {self.timeout:g} s.") from None
        except OSError as error:
            raise ChannelError(
                f"{name} could not be run: {error.strerror}.",
                "Check the command of this channel.",
                permanent=True,
            ) from None
        if ended.code != 0:
            told = clip(" ".join(redact(ended.complaints.decode("utf-8", "replace")).split()), 200)
            raise ChannelError(f"{name} ended with code {ended.code}: {told or 'no word'}")
        return ""
