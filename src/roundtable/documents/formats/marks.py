"""What a text says by its form alone: raised, lowered, struck out. Without a mark 10 to the sixth
is 106, and a price that was struck out runs into the one that holds."""

from __future__ import annotations

import re

RAISED, LOWERED, STRUCK, END = "\x0e", "\x0f", "\x10", "\x11"
"""Put around such a text while a document is read. No text has these characters."""
_INNERMOST = re.compile(
    "|".join(f"(?:{sign}[^{RAISED}-{END}]*{END})+" for sign in (RAISED, LOWERED, STRUCK))
)
"""One such text, or several in a row that one program wrote as one."""
_DEEPEST = 4
_SIGNS = str.maketrans("", "", RAISED + LOWERED + STRUCK + END)
_ONE = re.compile(r"[+\-−–]?[^\s+\-−–*/=^_()]+")
"""What needs no brackets to be one exponent or one index."""
_ORDINAL = re.compile(r"st|nd|rd|th|er|re|ème|TM|SM|[®™©ªº°'’″*†‡§]+", re.IGNORECASE)
"""Raised by custom: 1st, and not 1 to the power of st."""
_LONGEST = 40
"""Characters of an exponent or an index; what is longer is a remark."""


def marked(text: str) -> str:
    """The text with its marks as one writes them by hand: 10^6, H_2O, ~~100 euros~~."""
    for _ in range(_DEEPEST):
        if END not in text:
            break
        text = _INNERMOST.sub(_by_hand, text)
    return text.translate(_SIGNS)


def _by_hand(found: re.Match[str]) -> str:
    sign, text = found[0][0], found[0].translate(_SIGNS)
    words = text.strip()
    if not words or (sign == RAISED and _ORDINAL.fullmatch(words)):
        return text
    follows = found.string[found.end() : found.end() + 1]
    if sign == STRUCK:
        lines = "\n".join(_around(line, "~~") for line in text.split("\n"))
        return lines + (" " if follows.isdigit() else "")
    text = text.lstrip()  # it hangs on what stands before it
    if len(words) > _LONGEST or "\n" in words:
        return f" {text} "
    apart = " " if text[-1].isdigit() and follows.isdigit() else ""
    whole = words if _ONE.fullmatch(words) else f"({words})"
    return text.replace(words, f"{'^' if sign == RAISED else '_'}{whole}") + apart


def _around(line: str, mark: str) -> str:
    words = line.strip()
    return line.replace(words, f"{mark}{words}{mark}") if words else line
