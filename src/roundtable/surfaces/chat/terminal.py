"""The terminal as a place: a small chat loop for one person."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

import click

from ..cli.terminal import ask_line, for_screen
from .place import Message

CHAT = "terminal"


class TerminalPlace:
    """Reads lines until the end of input, `exit` or `quit`."""

    platform = "terminal"
    limit = 100_000
    interval = 0.0

    async def messages(self) -> AsyncGenerator[Message, None]:
        while (typed := await ask_line(">")) is not None:
            for line in typed.splitlines():  # a pipe brings several at once
                if line.strip().lower() in ("exit", "quit"):
                    return
                if line.strip():
                    yield Message(CHAT, line, sender="you")

    async def say(self, chat_id: str, text: str, *, buttons: Sequence[str] = ()) -> str:
        assert chat_id == CHAT
        shown = f"{text}\n[{' / '.join(buttons)}]" if buttons else text
        click.echo(for_screen(shown))
        return ""

    async def close(self) -> None:
        pass
