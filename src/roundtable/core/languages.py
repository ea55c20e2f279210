"""Which language a text is in, as far as its script and its commonest words tell."""

from __future__ import annotations

import re
from collections import Counter

from .pattern import pattern

_SAMPLE = 4000
"""Characters that are looked at."""
_SCRIPTS = {
    "ja": pattern(r"[\u3040-\u30ff]"),
    "zh": pattern(r"[\u3400-\u4dbf\u4e00-\u9fff]"),
    "ko": pattern(r"[\uac00-\ud7af]"),
    "ru": pattern(r"[\u0400-\u04ff]"),
    "ar": pattern(r"[\u0600-\u06ff]"),
    "el": pattern(r"[\u0370-\u03ff]"),
    "he": pattern(r"[\u0590-\u05ff]"),
}
_COMMON = {
    "en": "the and of to is that not we should it be are for with this have has will must they was",
    "de": "der die das und ist nicht wir sollte sollten ein eine zu den mit auf es sind wird muss",
    "es": "el los las que y es en un una por se debe deben con del para lo al como está su debemos",
    "fr": "le les des et est ne pas nous une pour dans qui sur ce il faut du au cette sont",
}
_WORDS = {word: name for name, words in _COMMON.items() for word in words.split()}


def language(text: str) -> str | None:
    """A code such as `de`; None where a text does not tell."""
    sample = text[:_SAMPLE]
    letters = sum(1 for char in sample if char.isalpha())
    for name, script in _SCRIPTS.items():
        if len(script.findall(sample)) * 4 > letters:
            return name
    words = re.findall(r"[^\W\d_]+", sample.casefold())
    counts = Counter(_WORDS[word] for word in words if word in _WORDS).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]
