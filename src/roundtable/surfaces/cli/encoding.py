"""Text for streams that are not UTF-8: what cannot be written is replaced by something readable.

A terminal or a file that asked for Latin-1 gets Latin-1, with `"` for a typographic quotation mark
and `e` for a letter whose accent it has not; what has no likeness is a question mark.
"""

from __future__ import annotations

import codecs
import os
import sys
import unicodedata

UTF8 = "utf-8"
READABLE = "roundtable-readable"
"""The name under which Python's streams know the replacement."""
_LIKE = {
    **dict.fromkeys("“”„«»″", '"'),
    **dict.fromkeys("‘’‚‹›′", "'"),
    **dict.fromkeys("–—−‐‑─━", "-"),
    **dict.fromkeys("•●▶◐·▸", "*"),
    "○": "o",
    "✓": "+",
    "✗": "x",
    "…": "...",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "×": "x",
    "€": "EUR",
    "│": "|",
    "\u00a0": " ",
    "\u202f": " ",
    "\u2009": " ",
}


def is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == UTF8
    except LookupError:
        return False


def readable_in(encoding: str, text: str) -> str:
    """The text with all that this encoding lacks replaced. UTF-8 lacks nothing."""
    if encoding == UTF8 or text.isascii():
        return text
    return "".join(char if _has(encoding, char) else _instead(encoding, char) for char in text)


def _has(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _instead(encoding: str, char: str) -> str:
    if like := _LIKE.get(char):
        return like
    parts = unicodedata.normalize("NFKD", char)
    bare = "".join(part for part in parts if part.isascii() or _has(encoding, part))
    if bare and bare != char:
        return bare
    # What only joins or changes others says nothing alone.
    return "" if unicodedata.category(char) in ("Mn", "Me", "Cf", "Sk") else "?"


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_instead(error.encoding, char) for char in lacking), error.end


codecs.register_error(READABLE, _replaced)


def never_fail() -> None:
    """Let standard output and standard error replace what their encoding lacks. An encoding that
    somebody chose is kept; what Windows takes for a pipe because nobody chose is not."""
    chosen = sys.platform != "win32" or "PYTHONIOENCODING" in os.environ
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if chosen or is_utf8(stream.encoding or ""):
            reconfigure(errors=READABLE)
        else:
            reconfigure(encoding=UTF8, errors=READABLE)
