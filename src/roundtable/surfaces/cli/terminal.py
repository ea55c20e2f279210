"""The terminal: reading text in, printing Markdown out, asking the person at the screen."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from ...core.errors import BadTopic, UsageError
from ...core.text import clip
from ...core.visible import visible
from ...procedures.opening import MAX_CONTEXT
from .encoding import is_utf8
from .pasted import commands_in
from .screen import cells, screen_of, wrapped
from .screen import for_screen as for_screen
from .screen import is_terminal as is_terminal

if TYPE_CHECKING:
    from rich.markdown import Markdown

MAX_BYTES = 4 * MAX_CONTEXT
"""No text that fits has more: what goes on after them is not read at all."""
YES = "Add --yes to go on without being asked."


# Click would take a stream in ASCII for a mistake and write UTF-8 to it: the stream is named.


def echo(text: str = "", *, nl: bool = True) -> None:
    """Text for whoever reads standard output."""
    click.echo(for_screen(text), nl=nl, file=sys.stdout)


def echo_document(text: str) -> None:
    """A document that was made ready to leave: where no terminal could obey it, as it is."""
    click.echo(for_screen(text) if is_terminal(sys.stdout) else text, nl=False, file=sys.stdout)


def echo_key(text: str, *, nl: bool = True, err: bool = False) -> None:
    """What somebody asked for who may have it as it is, although it may open something; `err`
    where it stands beside the answer."""
    click.echo(visible(text), nl=nl, file=sys.stderr if err else sys.stdout)


def echo_prose(text: str = "") -> None:
    """Sentences of ours on standard output. A terminal gets them broken between words."""
    click.echo(_broken(text, sys.stdout), file=sys.stdout)


def echo_fitted(text: str = "") -> None:
    """Lines of a list on standard output. A terminal gets none that is longer than it is wide."""
    click.echo(_broken(text, sys.stdout, chop=True), file=sys.stdout)


def echo_error(line: str) -> None:
    """A line for the person, beside the answer. A terminal gets it broken between words."""
    click.echo(_broken(line, sys.stderr), file=sys.stderr)


def _broken(text: str, stream: TextIO, *, chop: bool = False) -> str:
    text = for_screen(text)
    if not is_terminal(stream):
        return text
    width = screen_of(stream, os.environ).width
    return "\n".join(_fitted(each, width, chop) for each in text.split("\n"))


def _fitted(line: str, width: int, chop: bool) -> str:
    if cells(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip(" "))]
    lines = wrapped(line, width - len(indent), chop=chop)
    return "\n".join(f"{indent}{each}" for each in lines)


def on_one_line(text: str, most: int | None = None) -> str:
    """Words of others within a line of ours. Where no person reads it, it may be kept, and be shown
    elsewhere later."""
    line = " ".join(for_screen(text).split())
    line = line if most is None else clip(line, most)
    if is_terminal(sys.stdout) and is_terminal(sys.stderr):
        return line
    from ...views.outgoing import outgoing_words

    return outgoing_words(line)


def pipe_bytes(data: bytes) -> None:
    """Bytes as they are, into a pipe or a file: on a terminal control characters would act."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_json(document: Any) -> None:
    """A document for a program; what it shows of it can do no harm either."""
    from ...views.outgoing import outgoing_document

    # JSON can say every letter in ASCII: nothing is lost where the encoding has few.
    plain = sys.stdout is None or not is_utf8(getattr(sys.stdout, "encoding", None) or "utf-8")
    click.echo(
        json.dumps(outgoing_document(document), ensure_ascii=plain, indent=2), file=sys.stdout
    )


def print_lines(lines: Sequence[str]) -> None:
    """Lines that were set for this screen: what others wrote in them was made harmless there."""
    click.echo("\n".join(lines), file=sys.stdout, color=True)


def print_markdown(text: str) -> None:
    """Markdown, rendered where stdout is a terminal and as it is otherwise."""
    from ...views.outgoing import outgoing

    text = outgoing(text)
    if not is_terminal(sys.stdout):
        click.echo(text, file=sys.stdout)
        return
    from rich.console import Console

    # A line break in a delivery means one; Markdown would join the lines.
    text, commands = _without_commands(text.replace("\n**", "  \n**"))
    console = Console()
    with console.capture() as captured:
        console.print(rendered(text))
    text = _SIGNS.sub(lambda sign: commands[sign[0]], captured.get())
    click.echo(text, nl=False, file=sys.stdout, color=True)


_SIGNS = re.compile("[\U000f0000-\U000ffffd]")
"""Private ones, for commands while lines are broken: those are pasted, and stay in one line."""


def _without_commands(text: str) -> tuple[str, dict[str, str]]:
    """A text with a sign in the place of each command, and which stands for which."""
    text = _SIGNS.sub("\ufffd", text)
    parts, commands, done = [], dict[str, str](), 0
    for sign, (begins, ends) in zip(range(0xF0000, 0xFFFFE), commands_in(text), strict=False):
        commands[chr(sign)] = text[begins:ends]
        parts += [text[done:begins], chr(sign)]
        done = ends
    return "".join([*parts, text[done:]]), commands


def rendered(text: str) -> Markdown:
    """Markdown for a screen. Where a link leads is written beside it: a terminal would hide it."""
    from rich.markdown import Markdown

    from ...views.outgoing import outgoing

    return Markdown(outgoing(text), hyperlinks=False)


def read_text(name: str) -> str:
    """A text file, or standard input for `-`. BadTopic if it is not UTF-8 text."""
    what = "Standard input" if name == "-" else name
    try:
        data = _read_bytes(name)
    except OSError as error:
        raise BadTopic(f"{what} cannot be read: {error.strerror}.", "Check the path.") from None
    if len(data) > MAX_BYTES:
        raise BadTopic(
            f"{what} is too large: more than {MAX_BYTES // 1_000_000} MB.", "Give an excerpt of it."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTopic(
            f"{what} is not UTF-8 text (byte {error.start}).", "Convert it to UTF-8 text first."
        ) from None


def _read_bytes(name: str) -> bytes:
    if name == "-":
        return b"" if sys.stdin is None else sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(MAX_BYTES + 1)


async def ask_line(prompt: str) -> str | None:
    """Ask on stderr and read a line from standard input; None at its end.

    Ctrl-C must end the wait at once, so a thread of its own does the reading: it holds up neither
    the event loop nor, unlike one of the executor's, the end of the program. It reads past Python's
    buffer, whose lock it would take along into that end.
    """
    if sys.stdin is None:
        return None
    click.echo(f"{for_screen(prompt)} ", nl=False, file=sys.stderr)
    fd = sys.stdin.fileno()
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str | None] = loop.create_future()

    def answered(line: str | None) -> None:
        if not typed.done():
            typed.set_result(line)

    def read() -> None:
        data = b""
        with suppress(OSError):
            while not data.endswith(b"\n") and (more := os.read(fd, 4096)):
                data += more
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            line = data.decode("utf-8", "replace").strip() if data else None
            loop.call_soon_threadsafe(answered, line)

    threading.Thread(target=read, daemon=True, name="keyboard").start()
    return await typed


async def confirmed(question: str, otherwise: str = YES, *, person: bool = False) -> bool:
    """Whether somebody says yes; an empty line is none. UsageError with what to do `otherwise`
    where nobody can be asked: the input ended, or is no terminal where it has to be a `person`."""
    answer = None
    if not person or is_terminal(sys.stdin):
        answer = await ask_line(f"{question} [y/N]")
        if answer is None:
            echo_error("")
    if answer is None:
        raise UsageError("This needs your confirmation, and nobody can be asked here.", otherwise)
    return answer.lower() in ("y", "yes")


class TerminalAsker:
    """Puts a procedure's questions to the person at the keyboard."""

    def __init__(self, pause: Callable[[], None], go_on: Callable[[], None]) -> None:
        """`pause` and `go_on` stop a moving display while the person types."""
        self._pause = pause
        self._go_on = go_on

    async def words(self, prompt: str) -> str | None:
        """Several lines, up to an empty one; None if there was none."""
        self._pause()
        try:
            lines: list[str] = []
            while line := await ask_line(prompt if not lines else "…"):
                lines.append(line)
            return "\n".join(lines) or None
        finally:
            self._go_on()

    async def line(self, prompt: str) -> str | None:
        """One line; None if it is empty."""
        self._pause()
        try:
            return (await ask_line(prompt) or "").strip() or None
        finally:
            self._go_on()

    async def ask_or_assume(self, question: str, assumed: str) -> str | None:
        return await self.line(f"{question} [Enter: I assume: {assumed}]")

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        if not options:
            return await self.line(f"{question} [Enter: skip]")
        self._pause()
        try:
            while (answer := await ask_line(f"{question} [{'/'.join(options)}]")) is not None:
                for option in options:
                    if answer and option.startswith(answer.lower()):
                        return option
                echo_error(f"Please answer with {' or '.join(options)}.")
            return None
        finally:
            self._go_on()
