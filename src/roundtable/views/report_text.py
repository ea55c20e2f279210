"""Others' words in the HTML report: escaped, with the way they run and the language they are in."""

from __future__ import annotations

import re
import unicodedata
from html import escape

from ..core.visible import visible

_LANGUAGES = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
)
_TAG = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")


def escaped(text: str) -> str:
    """Plain text as HTML, nothing in it hidden."""
    return escape(visible(text))


def direction(text: str) -> str:
    """Which way the text as a whole runs: as its first letter does."""
    for char in text:
        match unicodedata.bidirectional(char):
            case "L":
                return "ltr"
            case "R" | "AL":
                return "rtl"
            case _:
                pass
    return "ltr"


def lang(text: str, declared: str) -> str:
    """The language as an attribute, so that fonts and voices suit it. The writing itself is the
    better witness; a declared one counts where the letters say nothing."""
    sample = text[:2_000]
    for name, letters in () if sample.isascii() else _LANGUAGES:
        found = len(letters.findall(sample))
        if found and found * 5 > sum(c.isalpha() for c in sample):
            return f' lang="{name}"'
    if _TAG.fullmatch(declared) and declared != "en":
        return f' lang="{declared}"'
    return ""
