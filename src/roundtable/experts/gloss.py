"""Saying a topic in English, as far as choosing experts needs it.

The embedder reads English only. A small dictionary of words that point to a field turns a German,
Spanish or Chinese topic into a string of English words: no sentence, but enough to say what it is
about. Where a model is at hand its translation is better, and is used in place of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources

from .words import CHINESE, content_words, language_of, parts, stem

_LONGEST_PHRASE = 4
_LONGEST_CHINESE = 6


def in_english(topic: str) -> str:
    """The topic itself if it is English; else what is known of its words, in their order. Words
    that nobody knows are kept: names and technical terms are the same everywhere."""
    language = language_of(topic)
    if language == "en":
        return topic
    words = [*_chinese(topic), *_words(topic, language)]
    return " ".join(dict.fromkeys(words))


def _chinese(topic: str) -> Iterator[str]:
    """The longest known word at each place, from left to right."""
    known = _dictionary()["zh"]
    for run in CHINESE.findall(topic):
        at = 0
        while at < len(run):
            for length in range(min(_LONGEST_CHINESE, len(run) - at), 1, -1):
                if english := known.get(run[at : at + length]):
                    yield english
                    at += length
                    break
            else:
                at += 1


def _words(topic: str, language: str) -> Iterator[str]:
    known = _dictionary()[language]
    words = content_words(topic, language)
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - at), 0, -1):
            if english := known.get(_phrase(words[at : at + length])):
                yield english
                at += length
                break
        else:
            inside = [known[part] for part in parts(words[at]) if part in known]
            yield from inside or [words[at]]
            at += 1


def _phrase(words: list[str]) -> str:
    return " ".join(stem(word) for word in words)


@cache
def _dictionary() -> dict[str, dict[str, str]]:
    """By language: English for each word and phrase, in the form in which topics are compared."""
    text = resources.files(__package__).joinpath("concepts.txt").read_text("utf-8")
    known: dict[str, dict[str, str]] = {"de": {}, "es": {}, "zh": {}}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        english, german, spanish, chinese = line.split("|")
        for language, row in (("de", german), ("es", spanish)):
            for entry in row.split(","):
                if key := _phrase(content_words(entry, language)):
                    known[language].setdefault(key, english.strip())
        for entry in chinese.split(","):
            if entry.strip():
                known["zh"].setdefault(entry.strip(), english.strip())
    return known
