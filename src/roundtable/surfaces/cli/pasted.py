"""The commands in a text: what somebody pastes is one line, however narrow the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator

_QUOTED = r"\"[^\"\n]*\"|'[^'\n]*'"
_VALUE = rf"(?:{_QUOTED}|[^\s\"'`-][^\s`]*(?<![.,;:)]))"
_OPTION = rf"--?[A-Za-z][\w-]*(?:[ =]{_VALUE})?"
_NAMED = r"[^\s\"'`]*[A-Z0-9_…:/|<>=@\[][^\s`]*(?<![.,;:)])"
_SUB = r"[a-z][a-z-]*(?![^\s.,;:)])"
_COMMAND = re.compile(
    # Between marks of code, or where a sentence gives one: at its beginning, or after a colon.
    r"(?<=`)(?:roundtable|pip) [^`\n]+(?=`)"
    r"|(?:(?<![^\n])|(?<=  )|(?<=[:;] )|(?<=\())(?:"
    rf"roundtable(?: {_SUB}){{0,3}}(?: (?:{_OPTION}|{_QUOTED}|{_NAMED}|last\b))*"
    rf"|pip install(?: (?:{_OPTION}|{_QUOTED}|{_NAMED}|[a-z][a-z-]*-[a-z]+))+"
    r")"
)


def commands_in(text: str) -> Iterator[tuple[int, int]]:
    """Where each command to be pasted begins and ends in a text."""
    if "roundtable " in text or "pip install" in text:
        yield from (found.span() for found in _COMMAND.finditer(text) if " " in found[0])


def whole_words(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a text, each with whether it is a command with what stands at its sides: that
    is one word, with the spaces in it."""
    done = 0
    for begins, ends in commands_in(text):
        if begins < done:
            continue
        while begins > done and not text[begins - 1].isspace():
            begins -= 1
        while ends < len(text) and not text[ends].isspace():
            ends += 1
        yield from ((word, False) for word in text[done:begins].split())
        yield text[begins:ends], True
        done = ends
    yield from ((word, False) for word in text[done:].split())
