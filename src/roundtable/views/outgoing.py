"""Markdown that leaves: whoever shows it loads nothing, runs nothing, and is led where it says.

What a model wrote is nobody's word but the model's, and a gullible one writes what a document told
it to. So in every text that leaves, pictures and HTML are text, definitions of links are text, and
a link whose words show another address than it has is spelled out. Code stays as it is, to the
byte, and so does all other Markdown: only the one character is changed that begins a construct.

Where it leaves decides about a tag that runs, loads and hides nothing, such as the one in
`List<String>` or a `<dialog>` that is asked about: a reader of Markdown would swallow it, so there
it is spelled as text. Data is not read so and keeps it, also where a command is piped on: only what
would do something if somebody made a page or a comment of it is spelled out. A terminal reads
neither, and shows what was said.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..core.visible import shown
from .lying_links import is_suspect

REMEMBERED = 32_000
"""Characters of a text that is kept when it is cleaned; larger ones would fill the memory."""


def outgoing(text: str) -> str:
    """A text as it may leave where it may become Markdown. Cleaning it again changes nothing."""
    return _cleaned(text, words=False)


def outgoing_words(text: str) -> str:
    """A text as it may leave as data. Cleaning it again changes nothing."""
    return _cleaned(text, words=True)


def _cleaned(text: str, *, words: bool) -> str:
    text = shown(text)
    if not is_suspect(text):
        return text
    return _remembered(text, words) if len(text) <= REMEMBERED else _harmless(text, words)


class Verbatim(str):
    """A text that a document carries as data, byte for byte: whoever takes it out makes a file of
    it, and renders nothing."""


_WORD_LENGTH = 64
"""Of names, stages, stances: what a document has again and again."""


def outgoing_document(value: Any) -> Any:
    """A JSON document in which every text may leave as data; keys are ours."""
    known: dict[str, str] = {}

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            if isinstance(value, Verbatim):
                return value
            if len(value) > _WORD_LENGTH:
                return outgoing_words(value)
            if value not in known:
                known[value] = outgoing_words(value)
            return known[value]
        if isinstance(value, dict):
            return {key: clean(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [clean(each) for each in value]
        return value

    return clean(value)


def _harmless(text: str, words: bool) -> str:
    from .harmless import harmless  # with it comes a parser, which few texts need

    return harmless(text, words=words)


_remembered = lru_cache(maxsize=256)(_harmless)
