"""Which of several options a speech chooses: by their letters, by yes and no, or by their words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ..text import sentences
from .lexicon import lexicon, stem, stems, words

ENOUGH = 0.5
"""The share of an option's own words that must speak for it, and the lead over every other."""
_LISTED = re.compile(r"\(([A-Z])\)\s*")
_LETTER = re.compile(
    r"\b(?:option|choice|answer)s?\s*(?:is\s*)?\(?(?-i:([A-Z]))\b\)?|(?-i:\(([A-Z])\)|\b([A-Z])\))",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[;,:]|\b(?:but|whereas|however|which)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """The option that a speech chooses, by its key; None and why if that cannot be told."""

    option: str | None
    why: str


def listed_options(question: str) -> tuple[str, dict[str, str]]:
    """A question's own words, and the options "(A) … (B) …" that it lists."""
    marks = list(_LISTED.finditer(question))
    if len(marks) < 2:
        return question, {}
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    options = {
        m[1]: question[m.end() : end].strip(" .\n") for m, end in zip(marks, ends, strict=True)
    }
    head = re.sub(r"(?i)\s*(?:choices|options)?\s*:?\s*$", "", question[: marks[0].start()])
    return head, options


def chosen_option(question: str, options: Mapping[str, str], text: str) -> Choice:
    """The option for which the text speaks. Each way of telling abstains when it is not plain."""
    if len(options) < 2:
        return Choice(None, "no options")
    own, aside = _own_and_aside(text)
    by_letter = _by_letter(own, options)
    if by_letter is not None:
        return by_letter
    plain = {key: " ".join(words(value)) for key, value in options.items()}
    if set(plain.values()) == {"yes", "no"}:
        return _yes_or_no(question, {value: key for key, value in plain.items()}, text)
    return _by_words(options, own, aside)


def _own_and_aside(text: str) -> tuple[list[str], list[str]]:
    """The sentences without what they only concede or compare with, and those parts."""
    own: list[str] = []
    aside: list[str] = []
    for sentence in sentences(text):
        for pattern in _aside_patterns():
            aside += (match[0] for match in pattern.finditer(sentence))
            sentence = pattern.sub(" ", sentence)
        own.append(sentence)
    return own, aside


@cache
def _aside_patterns() -> tuple[re.Pattern[str], ...]:
    lists = lexicon("en")
    concede, compare = (
        "|".join(map(re.escape, sorted(each, key=lambda w: (-len(w), w))))
        for each in (lists.conceding, lists.comparing)
    )
    return (
        re.compile(rf"\b(?:{compare})\b[^,;.]*", re.IGNORECASE),
        re.compile(rf"\b(?:{concede})\b[^,]*(?:,|$)", re.IGNORECASE),
    )


def _by_letter(own: list[str], options: Mapping[str, str]) -> Choice | None:
    """By "Option (A) is more likely" and "(B) is not": None if no letter says anything."""
    lists = lexicon("en")
    scores: Counter[str] = Counter()
    for sentence in own:
        found = {next(filter(None, match.groups())) for match in _LETTER.finditer(sentence)}
        named = found & set(options)
        if len(named) != 1:
            continue
        said = stems(sentence)
        letter = named.pop()
        if lists.denying.intersection(said):
            scores[letter] -= 2
        else:
            scores[letter] += 2 if lists.preferring.intersection(said) else 0
    if not scores:
        return None
    best, most = scores.most_common(1)[0]
    others = max(scores[key] for key in options if key != best)
    if most > 0:
        return Choice(best, "letter") if others <= 0 else Choice(None, "several letters")
    worst = [key for key in options if scores[key] < 0]
    if len(options) == 2 and len(worst) == 1:
        return Choice(next(key for key in options if key not in worst), "the other is turned down")
    return None


def _yes_or_no(question: str, keys: Mapping[str, str], text: str) -> Choice:
    """By a first word, or by a conclusion that repeats the question, with or without a "not"."""
    lists = lexicon("en")
    first = words(text)[:1]
    if first and first[0] in keys:
        return Choice(keys[first[0]], "first word")
    asked = {word for word in stems(question) if word not in lists.common}
    drawn = [s for s in sentences(text) if f"{' '.join(words(s))} ".startswith(_conclusions())]
    if not drawn or not asked:
        return Choice(None, "no conclusion")
    own, _ = _own_and_aside(drawn[-1])
    said = stems(" ".join(own))
    if len(asked.intersection(said)) / len(asked) < ENOUGH:
        return Choice(None, "the conclusion is about something else")
    denied = bool(lists.denying.intersection(said)) != bool(
        lists.denying.intersection(stems(question))
    )
    return Choice(keys["no" if denied else "yes"], "conclusion")


@cache
def _conclusions() -> tuple[str, ...]:
    return tuple(f"{phrase} " for phrase in sorted(lexicon("en").concluding))


def _by_words(options: Mapping[str, str], own: list[str], aside: list[str]) -> Choice:
    """By the words that only one option has: those that stand in a clause which denies nothing."""
    lists = lexicon("en")
    content = {
        key: {word for word in stems(value) if word not in lists.common}
        for key, value in options.items()
    }
    counted = Counter(word for each in content.values() for word in each)
    unique = {key: {w for w in each if counted[w] == 1} for key, each in content.items()}
    held: set[str] = set()
    denied = {word for part in aside for word in stems(part)}
    for sentence in own:
        for clause in _CLAUSE.split(sentence):
            said = {stem(word) for word in words(clause)}
            (denied if lists.denying & said else held).update(said)
    denied -= held
    scores = {
        key: (len(each & held) - len(each & denied)) / len(each) if each else 0.0
        for key, each in unique.items()
    }
    (best, most), (_, next_) = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:2]
    if most >= ENOUGH and most - next_ >= ENOUGH:
        return Choice(best, "words")
    return Choice(None, "no option's words prevail")
