"""Words of a text in English, German, Spanish or Chinese, brought to one form that can be compared.

Rough on purpose: it must find a tag in a question, not parse a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

Language = Literal["en", "de", "es", "zh"]

CHINESE = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_SUFFIXES = ("ungen", "ciones", "iones", "cion", "ment", "ung", "ing", "ion", "ies")
_ENDINGS = ("ern", "en", "er", "em", "n", "e", "o", "a", "y")
_LEAST = 4
"""Letters that a stem keeps at least."""

COMMON: dict[Language, frozenset[str]] = {
    "en": frozenset(
        """a about after all also an and any anyone are as at be been before being best better
        between both but by can could did do does down each every few first for from get give go
        had has have he her how i if in into is it its just keep let like make many may me more
        most much must my need never new no not now of off on one only or other our out over own
        people put really see several shall she should so some still such take than that the their
        them then there these they thing this those through to too up us use used very want was we
        were what when where whether which while who whom why will with without worth would year
        yes you your ask change choose come compare decide find happen know look lose say start stop
        tell think try work""".split()
    ),
    "de": frozenset(
        """ab aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da
        damit dann darf das dass dem den denn der des die dies diese diesem diesen dieser dieses
        doch durch ein eine einem einen einer eines er es euch euer etwas fur gegen gibt gute guten
        haben hat hier ihm ihn ihr ihre ihrem ihren ihrer im immer in ins ist ja jede jedem jeden
        jeder jedes kann kein keine konnen man mehr mein meine mit muss mussen nach nicht noch nun
        nur ob oder ohne sehr sein seine seiner selbst sich sie sind so soll sollen sollte sollten
        statt uber um und uns unser unsere unserem unseren unserer unter viel vom von vor wann war
        was weil welche welchem welcher welches wem wen wenn wer werden wie wieder wir wird wirklich
        wo wurde zu zum zur zwischen andern braucht brauchen finden geht gehen kommen kommt liegt
        lohnt machen macht nehmen wissen""".split()
    ),
    "es": frozenset(
        """a al algo alguien antes aqui asi aun aunque cada como con conviene cual cuando cuanto de
        debe deben deberia deberiamos del desde despues donde dos el ella ellos en entre era es esa
        ese eso esta estan estas este esto estos fue ha hacer han hasta hay la las le les lo los mas
        me mejor mi mis muy nada ni no nos nosotros nuestra nuestras nuestro nuestros o otra otro
        para pero podemos por porque primero puede que quien quiere se sea ser si sin sobre son
        su sus tal tambien tan tanto te tener tiene tienen toda todas todo todos tu un una unas uno
        unos vale y ya yo cambiar encontrar evitar hacemos merece pena poner saber sabemos""".split()
    ),
    "zh": frozenset(),
}
"""Words that say nothing about a subject, without accents; they also give a language away."""

_COMMON_ANYWHERE = frozenset(word for words in COMMON.values() for word in words)


def language_of(text: str) -> Language:
    """The most likely of the four languages; English where nothing speaks for another one."""
    letters = len(re.findall(r"[^\W\d_]", text))
    if 3 * sum(len(run) for run in CHINESE.findall(text)) > letters:
        return "zh"
    words = _WORD.findall(fold(text))
    counts = {
        language: sum(word in COMMON[language] for word in words) for language in ("en", "de", "es")
    }
    best = max(counts.values(), default=0)
    return next(
        (language for language in ("en", "de", "es") if counts[language] == best), "en"
    )


def terms(text: str) -> Iterator[str]:
    """What a text is compared by: stems of its words, and pairs of Chinese characters."""
    for run in CHINESE.findall(text):
        yield from (run[at : at + 2] for at in range(len(run) - 1))
    yield from (stem(word) for word in content_words(text))


def content_words(text: str) -> list[str]:
    """The words that are not written in Chinese and say something, folded, in order."""
    return [
        word
        for word in _WORD.findall(fold(text))
        if word not in _COMMON_ANYWHERE and not CHINESE.match(word)
    ]


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
    for endings in (_SUFFIXES, ("s",), _ENDINGS):
        for ending in endings:
            if word.endswith(ending) and len(word) - len(ending) >= _LEAST:
                word = word[: -len(ending)]
                break
    return word
