"""A place where people write to the table, and what it brings."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody wrote."""

    chat_id: str
    text: str
    sender: str = ""
    message_id: str = ""
    """The place's own id: a message that is brought twice is one message."""


class Place(Protocol):
    """A chat. What it says is plain text; each message is cut to what the place takes."""

    @property
    def platform(self) -> str:
        """Its name, as news plans and `created_by` have it."""
        ...

    @property
    def interval(self) -> float:
        """Seconds from one message to the next that the place puts up with."""
        ...

    @property
    def limit(self) -> int:
        """Characters of one message."""
        ...

    def messages(self) -> AsyncGenerator[Message, None]:
        """What people write, as it comes. Ends when the place does."""
        ...

    async def say(self, chat_id: str, text: str, *, buttons: Sequence[str] = ()) -> str:
        """Post a message and return what the place calls it; `buttons` are answers that one tap
        gives, where the place has such. ChannelError if it cannot be sent."""
        ...

    async def close(self) -> None: ...
