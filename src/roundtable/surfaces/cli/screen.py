"""A screen: how wide it is, what it can show, and text that is cut and broken to fit it.

Everything is measured in cells, because a Chinese letter takes two of them and an accent none.
Words of others pass `for_screen` here, so that no text can command whatever shows it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Literal

from rich.cells import cell_len, chop_cells, split_graphemes

from ...core.visible import shown
from .encoding import UTF8, is_utf8, readable_in
from .pasted import whole_words

Style = Literal["bold", "dim", "good", "warn", "bad", "busy", ""]

for_screen = shown
"""A text as a terminal gets it: models and files must not be able to command it."""

NARROWEST = 20
USUAL = 80
READABLE = 100
"""Cells past which a line of prose is no longer easy to read."""
_CODES: dict[Style, str] = {
    "bold": "1",
    "dim": "2",
    "good": "32",
    "warn": "33",
    "bad": "31",
    "busy": "36",
}
_NOT_FIRST = frozenset("、。，．：；！？）］｝」』】》〉〕”’…ー,.:;!?)]}")
"""What stays with the word before it where a script has no spaces."""
_NOT_LAST = frozenset("（［｛「『【《〈〔“‘([{")


@dataclass(frozen=True, slots=True)
class Screen:
    """Where text is shown."""

    width: int = USUAL
    height: int = 24
    styled: bool = False
    """Whether it takes control codes: a terminal that is no simple one, and nobody said no."""
    encoding: str = UTF8
    person: bool = False
    """Whether somebody looks at it, and no program takes what is written."""

    def words(self, text: str) -> str:
        """Words of others on one line, as they can be shown here."""
        return readable_in(self.encoding, " ".join(for_screen(text).split()))

    def sign(self, sign: str) -> str:
        """A sign of ours, or what stands for it where it cannot be shown."""
        return readable_in(self.encoding, sign)

    def paint(self, text: str, style: Style) -> str:
        """The text in a style. It is measured and cut before: codes have no width."""
        if not self.styled or not style or not text:
            return text
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m"


def screen_of(
    stream: IO[str] | None,
    env: Mapping[str, str],
    *,
    plain: bool = False,
    narrowest: int = NARROWEST,
) -> Screen:
    """The screen behind a stream; where it is none, lines of the usual width. Text for one below
    the `narrowest` is left to the terminal to break."""
    encoding = getattr(stream, "encoding", None) or UTF8
    person = is_terminal(stream)
    width, height = _size(stream, env) if person else (_number(env.get("COLUMNS")) or USUAL, 0)
    return Screen(
        width=max(narrowest, width),
        height=height or 24,
        styled=person and not plain and moves(env) and not env.get("NO_COLOR"),
        encoding=UTF8 if is_utf8(encoding) else encoding,
        person=person,
    )


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether a person sits at the other end. A stream may be missing: it was closed outside."""
    return stream is not None and not stream.closed and stream.isatty()


def moves(env: Mapping[str, str]) -> bool:
    """Whether a terminal takes control codes at all."""
    return env.get("TERM", "") not in ("dumb", "unknown")


def _size(stream: IO[str] | None, env: Mapping[str, str]) -> tuple[int, int]:
    """As it is now; what the environment says may be older."""
    try:
        size = os.get_terminal_size(stream.fileno() if stream is not None else 1)
    except (OSError, ValueError):
        size = os.terminal_size((0, 0))
    return (
        size.columns or _number(env.get("COLUMNS")) or USUAL,
        size.lines or _number(env.get("LINES")) or 24,
    )


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 5 else 0


# Measuring and cutting


def cells(text: str) -> int:
    return cell_len(text)


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """At most so many cells, between graphemes, and between words where that costs little."""
    if cell_len(text) <= width:
        return text
    room = max(0, width - cell_len(ellipsis))
    kept = _first(text, room)
    space = kept.rfind(" ")
    if space > len(kept) * 2 // 3:
        kept = kept[:space]
    return (kept.rstrip(" ,;:") + ellipsis) if room else _first(text, width)


def cut_front(text: str, width: int, ellipsis: str = "…") -> str:
    """The last words that fit: what is being said now stands at the end."""
    if cell_len(text) <= width:
        return text
    room, at = max(0, width - cell_len(ellipsis)), len(text)
    for start, _, size in reversed(split_graphemes(text)[0]):
        if size > room:
            break
        room, at = room - size, start
    space = text.find(" ", at, at + 12)
    return ellipsis + text[space + 1 if space >= 0 else at :]


def padded(text: str, width: int) -> str:
    return text + " " * max(0, width - cell_len(text))


def _first(text: str, width: int) -> str:
    if not text or width <= 0:
        return ""
    return next(iter(chop_cells(text, width)), "")


# Breaking into lines


def wrapped(text: str, width: int, *, chop: bool = True, fit: bool = False) -> list[str]:
    """Lines of at most so many cells: broken at spaces, in scripts without spaces between letters,
    and through a word only where it is longer than a line. Without `chop` such a word stays whole:
    an address is copied as one. A command is never broken, however long, unless all has to `fit`:
    it is pasted as it stands."""
    width = max(1, width)
    lines: list[str] = []
    line, used = "", 0
    for gap, piece, whole in _pieces(text, fit=fit):
        size, space = cell_len(piece), 1 if gap and line else 0
        if used + space + size <= width:
            line, used = f"{line}{' ' * space}{piece}", used + space + size
            continue
        if line:
            lines.append(line)
        *full, line = _chopped(piece, width) if chop and not whole else [piece]
        lines += full
        used = cell_len(line)
    return [*lines, line] if line else lines


def _chopped(word: str, width: int) -> list[str]:
    return [each for each in chop_cells(word, max(2, width)) if each] or [word]


def _pieces(text: str, *, fit: bool) -> Iterator[tuple[bool, str, bool]]:
    """What must not be broken, each with whether a space stands before it, and whether it stays
    whole even where it is longer than a line."""
    words = ((word, False) for word in text.split()) if fit else whole_words(text)
    for word, whole in words:
        if whole or word.isascii() or cell_len(word) == len(word):
            yield True, word, whole
            continue
        gap, piece, wide_before = True, "", False
        for start, end, size in split_graphemes(word)[0]:
            letter = word[start:end]
            wide = size > 1
            may_break = (wide or wide_before) and letter not in _NOT_FIRST
            if piece and may_break and piece[-1] not in _NOT_LAST:
                yield gap, piece, False
                gap, piece = False, ""
            piece, wide_before = piece + letter, wide
        yield gap, piece, False
