"""Text from the web as plain words: no markup, no scripts, nothing hidden, not too long."""

from __future__ import annotations

import html
import re
import unicodedata

from ..core.text import clip

MAX_RAW = 20_000
"""Characters of a field that are looked at; what comes after them is not missed."""
_LAYERS = 3
"""How many layers of `&amp;lt;` or of tags in tags are taken off. What is wrapped deeper is shown
as text, without the brackets that make a tag."""
_BLOCKS = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|noscript|iframe|svg)\b"
    r".*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-zA-Z!?/][^<>]*>|<[a-zA-Z][^<>=]*=[^<>]*\Z")
"""A tag, or one that was cut off at the end together with its page."""
_INLINE_TAG = re.compile(
    r"</?(?:a|b|code|em|i|mark|span|strong|sub|sup|u)(?:\s[^<>]*)?>", re.IGNORECASE
)
"""Tags that stand inside of sentences and words, as those around the words searched for."""
_TAG_OPENING = re.compile(r"(?<!<)<+(?=[a-zA-Z!?/])")
_PICTURE = re.compile(r"!+(?=\[)")
_JOINERS = "\u200c\u200d"
"""Parts of Persian words and of emoji, which look like hidden characters and are not."""


def clean(text: str, limit: int) -> str:
    """At most `limit` characters of plain text on one line."""
    text = text[:MAX_RAW]
    for _ in range(_LAYERS):
        unescaped = html.unescape(text)
        if unescaped == text:
            break
        text = unescaped
    # Hidden characters first: `<scr\u200bipt>` must not become a tag afterwards.
    text = _stripped(_shown(text))
    # Programs that show Markdown fetch its pictures, and an address can carry words away.
    return clip(_PICTURE.sub("", " ".join(text.split())), limit)


def _shown(text: str) -> str:
    """Without characters that nobody sees: controls, text directions, tags, private ones."""
    return "".join(
        " " if char.isspace() else char
        for char in text
        if char.isspace() or char in _JOINERS or not _is_hidden(char)
    )


def _is_hidden(char: str) -> bool:
    # Of the variation selectors, the later ones are known to carry hidden messages.
    return unicodedata.category(char).startswith("C") or "\U000e0100" <= char <= "\U000e01ef"


def _stripped(text: str) -> str:
    """Without markup, also where taking a tag away makes a new one of what was around it."""
    for _ in range(_LAYERS):
        text = _TAG.sub(" ", _BLOCKS.sub(" ", _INLINE_TAG.sub("", text)))
    return _TAG_OPENING.sub("", text)
