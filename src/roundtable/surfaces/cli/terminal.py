"""The terminal: reading text in, printing Markdown out, asking the person at the screen."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ...core.errors import BadTopic
from ...core.text import redact


def echo_error(line: str) -> None:
    """A line for the person, beside the answer."""
    click.echo(redact(line), err=True)


def print_markdown(text: str) -> None:
    """Markdown, rendered where stdout is a terminal and as it is otherwise."""
    if not sys.stdout.isatty():
        click.echo(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    # A line break in a delivery means one; Markdown would join the lines.
    Console().print(Markdown(text.replace("\n**", "  \n**")))


def read_text(name: str) -> str:
    """A text file, or standard input for `-`. BadTopic if it is not UTF-8 text."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise BadTopic(f"{name} cannot be read: {error.strerror}.", "Check the path.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = "Standard input" if name == "-" else name
        raise BadTopic(
            f"{what} is not UTF-8 text (byte {error.start}).", "Convert it to UTF-8 text first."
        ) from None


class TerminalAsker:
    """Asks on stderr and reads the answer from the keyboard."""

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        def prompt() -> str:
            answer = click.prompt(
                question, type=click.Choice(options, case_sensitive=False), err=True
            )
            return str(answer)

        return await asyncio.to_thread(prompt)
