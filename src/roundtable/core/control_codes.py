"""What a terminal obeys and nobody reads: colours can be taken out of a text, and any other control
code is the sign of a file that is none."""

from __future__ import annotations

import re

ESCAPE = re.compile(
    r"""
      \x1b\[[0-?]*[\ -/]*[@-~]              # colours, cursor
    | \x1b\][^\x07\x1b]*(?:\x07|\x1b\\)      # titles, links
    | \x1b[PX^_][^\x1b]*\x1b\\
    | \x1b[\ -/]+[0-~]                      # character sets
    | \x1b[0-Z\\^-~]
    | \x9b[0-?]*[\ -/]*[@-~]
    """,
    re.VERBOSE,
)
_STRAY = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def without_escapes(text: str) -> str:
    """The text without the sequences that colour a terminal or move its cursor."""
    return ESCAPE.sub("", text) if "\x1b" in text or "\x9b" in text else text


def stray(text: str) -> str:
    """The first character that no text has, by its number, such as U+0007: a control code, or half
    of a broken one. Empty if there is none."""
    found = _STRAY.search(text)
    return f"U+{ord(found[0]):04X}" if found else ""
