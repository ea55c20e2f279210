"""The extractor's word lists, and the one form to which they and a text's words are brought."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal

Language = Literal["en", "zh"]

_CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_ENDINGS = (
    ("ations", ""), ("ation", ""), ("ingly", ""), ("edly", ""), ("iveness", "ive"),
    ("fulness", "ful"), ("ements", ""), ("ement", ""), ("ments", ""), ("ment", ""), ("ings", ""),
    ("ing", ""), ("ies", "i"), ("ied", "i"), ("ers", ""), ("ed", ""), ("es", ""), ("ly", ""),
    ("s", ""), ("y", "i"), ("e", ""),
)  # fmt: skip
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One language's lists: single words as stems (Chinese: as they are), phrases as words joined
    by single spaces."""

    common: frozenset[str] = frozenset()
    negation: frozenset[str] = frozenset()
    reversing: frozenset[str] = frozenset()
    good: frozenset[str] = frozenset()
    bad: frozenset[str] = frozenset()
    against: frozenset[str] = frozenset()
    towards: frozenset[str] = frozenset()
    assent_opening: frozenset[str] = frozenset()
    dissent_opening: frozenset[str] = frozenset()
    assent: frozenset[str] = frozenset()
    dissent: frozenset[str] = frozenset()
    preferring: frozenset[str] = frozenset()
    denying: frozenset[str] = frozenset()
    hedging: frozenset[str] = frozenset()
    demanding: frozenset[str] = frozenset()
    conceding: frozenset[str] = frozenset()
    comparing: frozenset[str] = frozenset()
    concluding: frozenset[str] = frozenset()
    agreeing_that: frozenset[str] = frozenset()
    disagreeing_that: frozenset[str] = frozenset()
    unsure_that: frozenset[str] = frozenset()


@cache
def lexicon(language: Language) -> Lexicon:
    """The lists of a language: package data, the same at every call."""
    text = files(__package__).joinpath(f"words_{language}.toml").read_text("utf-8")
    raw = tomllib.loads(text)
    known = {each.name for each in fields(Lexicon)}
    if unknown := set(raw) - known:
        raise ValueError(f"words_{language}.toml has lists that nobody reads: {sorted(unknown)}")
    return Lexicon(**{name: _entries(value, language) for name, value in raw.items()})


def _entries(value: str | list[str], language: Language) -> frozenset[str]:
    if language == "zh":
        return frozenset(value.split() if isinstance(value, str) else value)
    if isinstance(value, list):
        return frozenset(" ".join(words(each)) for each in value)
    return frozenset(stem(word) for word in value.split())


def is_chinese(text: str) -> bool:
    """Whether the text is to be read with the Chinese lists."""
    return len(_CJK.findall(text)) * 3 > len(text)


def words(text: str) -> list[str]:
    """The words in small letters, with contracted negations spelled out."""
    plain = text.replace("’", "'").casefold().replace("can't", "cannot").replace("n't", " not")
    return _WORD.findall(plain)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its commonest endings: rough, but the same for list and text."""
    bare = word.casefold().removesuffix("'s")
    for ending, instead in _ENDINGS:
        if bare.endswith(ending) and len(bare) - len(ending) >= _SHORTEST_STEM:
            return bare[: len(bare) - len(ending)] + instead
    return bare


def stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]
