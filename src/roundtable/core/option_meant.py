"""Which option somebody means who names one: by its id, in its own words, or in a sloppy form of
its id.

The id and the words of an option come first, whatever else they could be. What could mean two
things is nobody's vote: its speaker is asked which of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .declaration import ANY, NONE, OWN, SILENT, Decision
from .pattern import pattern
from .text import clip, same_words, worded

FIXED_WORDS: dict[str, str] = {
    OWN: "a position of one's own",
    ANY: "no preference",
    SILENT: "no earlier statement",
    NONE: "no answer",
}
"""Words that stand for something else than an option, with what that is."""
_SLOPPY = pattern(
    r"^[\s\"'“”`(\[]*(?:(?:option|opción|选项)\s*o?|o)\s*(?P<number>\d{1,3})[\s\"'“”`)\].]*$",
    re.IGNORECASE,
)
"""A bare number is none of these: it may as well be what an option says."""
_LIKE_AN_ID = pattern(r"(?:option|opción|选项)\s*o?\d|\bo\d{1,3}\b", re.IGNORECASE)
_DIGITS = pattern(r"\d+")
_NUMBER = pattern(r"[-+]?\d{1,15}(?:\.\d{1,10})?")


_YES_NO = {
    "yes": "yes ja oui sí si sì sim да так tak ano igen evet ναι نعم כן हाँ हां kyllä da có ya "
    "是 是的 はい 예 네",
    "no": "no nein nee nej non não нет ні nie ne nem hayır όχι لا לא नहीं ei nu không tidak "
    "否 不 不是 いいえ 아니요 아니오",
}
_MEANS = {word: meaning for meaning, words in _YES_NO.items() for word in words.split()}
"""Yes and no in the languages of discussions: the program itself puts them in English."""


@dataclass(frozen=True, slots=True)
class Meant:
    """An option, one of the fixed words, or neither."""

    id: str | None = None
    mended: str = ""
    """How it was read, where it was not written as it should be."""
    doubt: str = ""
    """What two things it could mean; then it means none."""


NOTHING = Meant()


def option_meant(decision: Decision, given: Any, fixed: Sequence[str]) -> Meant:
    """What is meant, if only one thing can be; `fixed` are the fixed words that may stand here."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return NOTHING
    told = str(given).strip()
    if told in decision.option_ids:
        return Meant(told)
    named = _by_words(decision, told)
    word = told.casefold() if told.casefold() in fixed else ""
    if named and word:
        doubt = f"“{word}” is the text of {named[0]} and also stands for {FIXED_WORDS[word]}"
        return Meant(doubt=f"{doubt}; give {named[0]} if you mean that option")
    if named:
        return Meant(named[0]) if len(named) == 1 else NOTHING
    if word:
        return Meant(word)
    return _yes_or_no(decision, told) or _by_number(decision, told)


def _yes_or_no(decision: Decision, told: str) -> Meant | None:
    """A plain yes or no of another language, where one option is yes and another one no."""
    by_meaning = {
        meaning: [each.id for each in decision.options if _meaning(each.text) == meaning]
        for meaning in _YES_NO
    }
    named = by_meaning.get(_meaning(told), [])
    if len(named) != 1 or not all(by_meaning.values()):
        return None
    return Meant(named[0], mended=f"“{clip(told, 20)}” was read as {named[0]}")


def _meaning(text: str) -> str:
    return _MEANS.get(worded(text), "")


def _by_words(decision: Decision, told: str) -> list[str]:
    """The options that say this, to the letter before in about the same letters; numbers by what
    they come to."""
    exact = [each.id for each in decision.options if each.text.strip() == told]
    same = exact or [each.id for each in decision.options if same_words(each.text, told)]
    return same or [each.id for each in decision.options if _same_number(each.text, told)]


def _same_number(one: str, two: str) -> bool:
    both = [each.strip() for each in (one, two)]
    return all(_NUMBER.fullmatch(each) for each in both) and float(one) == float(two)


def _by_number(decision: Decision, told: str) -> Meant:
    """`O1` or `Option 1`, where the words of no option could be meant by that: “Option 2” may be
    the first of them, or the one for two servers."""
    match = _SLOPPY.match(told)
    option = f"o{int(match['number'])}" if match else ""
    if match is None or option not in decision.option_ids:
        return NOTHING
    number = str(int(match["number"]))
    texts = {each.id: each.text for each in decision.options}
    others = [text for own, text in texts.items() if own != option]
    if any(map(_LIKE_AN_ID.search, texts.values())):
        return NOTHING
    if any(number in _DIGITS.findall(text) for text in others):
        return NOTHING
    return Meant(option, mended=f"“{clip(told, 20)}” was read as {option}")
