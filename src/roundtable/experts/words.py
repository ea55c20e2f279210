"""Words of a text in English, German, Spanish or Chinese, brought to one form that can be compared.

Rough on purpose: it must find a tag in a question, not parse a sentence.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources

CHINESE = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_SUFFIXES = ("ungen", "ciones", "iones", "cion", "ment", "ung", "ing", "ion", "ies")
_ENDINGS = ("ern", "en", "er", "em", "n", "e", "o", "a", "y")
_LEAST = 4
"""Letters that a stem keeps at least."""


def language_of(text: str) -> str:
    """The most likely of the four languages; English where nothing speaks for another one."""
    return languages_of(text)[0]


def languages_of(text: str) -> tuple[str, ...]:
    """The languages that a text may be in, English first: one as a rule, several where its small
    words speak for none of them more than for another."""
    letters = len(re.findall(r"[^\W\d_]", text))
    if 3 * sum(len(run) for run in CHINESE.findall(text)) > letters:
        return ("zh",)
    words = _WORD.findall(fold(text))
    counts = {
        language: sum(word in common for word in words) for language, common in _common().items()
    }
    most = max(counts.values())
    return tuple(language for language, count in counts.items() if count == most)


def terms(text: str, language: str) -> Iterator[str]:
    """What a text is compared by: stems of its words, and pairs of Chinese characters."""
    for run in () if text.isascii() else CHINESE.findall(text):
        yield from (run[at : at + 2] for at in range(len(run) - 1))
    yield from (stem(word) for word in content_words(text, language))


def content_words(text: str, language: str) -> list[str]:
    """The words that are not written in Chinese and say something, folded, in order."""
    # Only of its own language: "war" says nothing in German, and much in English.
    common = _common().get(language, frozenset())
    words = [word for word in _WORD.findall(fold(text)) if word not in common]
    return words if text.isascii() else [word for word in words if not CHINESE.match(word)]


def parts(word: str) -> Iterator[str]:
    """Stems that a compound may be made of: German writes in one word what others write in two."""
    for cut in range(_LEAST, len(word) - _LEAST + 1):
        head, tail = word[:cut], word[cut:]
        yield stem(head)
        yield stem(tail)
        if head.endswith("s"):  # Handwerk-s-Betrieb
            yield stem(head[:-1])


def fold(text: str) -> str:
    """Lower case without accents: people leave them out."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A rough stem: enough to match singular and plural, and a noun with its verb at times."""
    shorter = _without(word, _SUFFIXES)
    return shorter if shorter != word else _without(_without(word, ("s",)), _ENDINGS)


def _without(word: str, endings: tuple[str, ...]) -> str:
    if not word.endswith(endings):
        return word
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST:
            return word[: -len(ending)]
    return word


@cache
def _common() -> dict[str, frozenset[str]]:
    """The words that say nothing about a subject, by language."""
    text = resources.files(__package__).joinpath("common_words.toml").read_text("utf-8")
    lists = tomllib.loads(text)
    return {language: frozenset(words.split()) for language, words in lists.items()}
