"""Stance from cue words: does a sentence speak for a claim or against it?

The claim has a side of its own: to ban boxing is against boxing. A sentence about the claim's
subject that speaks well of it is then against the claim. Three gates come first, because most
sentences are not that simple: the sentence must be about the claim's subject, must begin with it
or give two signs, and must not say two things at once. What fails a gate is left unread.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

from .lexicon import Lexicon, is_chinese, lexicon, stem, stems, words
from .reading import Reading, side, unread

REACH = 4
"""How many words on a negation or a reversing verb still turns a word round."""
ABOUT_IT = 0.4
"""The share of the claim's subject that a sentence must name."""
ABOUT_IT_ZH = 0.3
LONG_ZH = 30
"""Characters; longer sentences say more than rules can follow."""
NEAR_THE_START = 2
DEMAND_REACH = 5
OPENING = 40
"""Within so many characters a phrase of assent or dissent answers what went before."""


@dataclass(frozen=True, slots=True)
class _Sign:
    """A word that speaks well (1) or ill (-1) of its subject, and where it stands."""

    value: int
    place: int


def stance_toward(claim: str, text: str) -> Reading:
    """Whether the text speaks for or against the claim, or None and why that cannot be told."""
    if is_chinese(claim) or is_chinese(text):
        return _chinese_stance(claim, text)
    return _english_stance(claim, text)


def reply_stance(quoted: str, reply: str) -> Reading:
    """Whether a reply sides with what it answers, by its opening words."""
    if is_chinese(reply):
        lists = lexicon("zh")
        head = reply.strip()
        for phrases, sign in ((lists.dissent, -1), (lists.assent, 1)):
            if head.startswith(tuple(phrases)):
                return side(sign, "opening")
        return unread("no opening")
    lists = lexicon("en")
    spoken = words(reply)
    if not spoken:
        return unread("empty")
    opening = stem(spoken[0])
    head = f" {' '.join(spoken)} "[:OPENING]
    signs: set[int] = set()
    for phrases, sign in ((lists.dissent, -1), (lists.assent, 1)):
        for phrase in phrases:
            if f" {phrase} " in head:
                signs.add(sign)
                # "Not agree with" must not be found again as "agree with".
                head = head.replace(f" {phrase} ", "  ") if sign < 0 else head
    # "Yes" to a question answers it; it does not side with whoever asked.
    if not signs and not quoted.rstrip().endswith("?"):
        if opening in lists.assent_opening:
            signs = {1}
        elif opening in lists.dissent_opening:
            signs = {-1}
    if len(signs) != 1:
        return unread("both" if signs else "no opening")
    if signs == {1} and any(stem(word) in lists.hedging for word in spoken):
        return unread("assent with a but")
    return side(signs.pop(), "opening")


def _english_stance(claim: str, text: str) -> Reading:
    lists = lexicon("en")
    demand, said = stems(claim), stems(text)
    restated = _restates(demand, said, lists)
    if restated:
        return side(restated, "restates the claim")
    own = _side_of_claim(demand, lists)
    if own == 0:
        return unread("the claim's side is unclear")
    subject = _subject(demand, lists)
    named = subject & set(said)
    if not subject or len(named) / len(subject) < ABOUT_IT:
        return unread("not about the claim's subject")
    if "?" in text or lists.hedging.intersection(said):
        return unread("says two things")
    signs = [sign for sign in _signs(said, lists) if said[sign.place] not in demand]
    total = sum(sign.value for sign in signs)
    if not signs or abs(total) < len(signs):
        return unread("no clear sign")
    if any(w in lists.against and w not in lists.reversing and w not in lists.bad for w in said):
        return unread("speaks of a policy against something")
    first = min(place for place, word in enumerate(said) if word in named)
    negated = bool(lists.negation.intersection(said))
    begins_with_it = first <= max(NEAR_THE_START, signs[0].place)
    if len(signs) < 2 and (negated or not begins_with_it):
        return unread("one sign, and not plain")
    if negated and first > signs[0].place:
        return unread("negated, and not plain")
    return side(total * own, "cue words")


def _restates(demand: Sequence[str], said: Sequence[str], lists: Lexicon) -> int:
    """1 if the text repeats the claim's demand ("we should ban"), -1 if it denies it, else 0."""
    verbs = {word for word in demand if word in lists.against or word in lists.towards}
    for place, word in enumerate(said):
        if word not in lists.demanding:
            continue
        following = said[place + 1 : place + 1 + DEMAND_REACH]
        for distance, verb in enumerate(following):
            if verb in verbs:
                denied = _odd(following[:distance], lists.negation)
                return 1 if denied == _odd(demand, lists.negation) else -1
    return 0


def _side_of_claim(demand: Sequence[str], lists: Lexicon) -> int:
    """1: the claim is for its subject; -1: against it; 0: rules cannot tell."""
    denied = _odd(demand, lists.negation)
    if lists.against.intersection(demand):
        return 1 if denied else -1
    if lists.towards.intersection(demand):
        return -1 if denied else 1
    mood = sum(sign.value for sign in _signs(demand, lists))
    if mood:
        return (1 if mood > 0 else -1) if (mood < 0) == denied else 0
    return -1 if denied else 1


def _subject(demand: Sequence[str], lists: Lexicon) -> set[str]:
    """The words that tell what a claim is about."""
    neither = (
        lists.common | lists.good | lists.bad | lists.against | lists.towards | lists.negation
        | lists.demanding
    )  # fmt: skip
    return {word for word in demand if word not in neither and not word.isdigit()}


def _signs(said: Sequence[str], lists: Lexicon) -> list[_Sign]:
    signs: list[_Sign] = []
    negated = reversed_at = -REACH - 1
    for place, word in enumerate(said):
        good, bad = word in lists.good, word in lists.bad
        by_negation, by_reversal = place - negated <= REACH, place - reversed_at <= REACH
        if good != bad:
            value = 1 if good else -1
            signs.append(_Sign(-value if by_negation != by_reversal else value, place))
            negated = reversed_at = -REACH - 1
        if word in lists.negation:
            negated = -REACH - 1 if by_negation else place
        if word in lists.reversing:
            reversed_at = place
    return signs


def _odd(said: Sequence[str], negation: Collection[str]) -> bool:
    return sum(word in negation for word in said) % 2 == 1


def _chinese_stance(claim: str, text: str) -> Reading:
    """Chinese lists are short, and blame in Chinese is too often laid on what a claim would cure:
    two words of praise, none negated, for the subject with which the sentence begins."""
    lists = lexicon("zh")
    policies = _found(claim, "policy")
    denied = any(word in lists.negation for _, word in policies)
    theirs = {word for _, word in _found(claim, "mood")}
    against = any(word in lists.against for _, word in policies) or bool(theirs & lists.bad)
    own = -1 if against != denied else 1
    subject = _pairs(_pattern("frame").sub(" ", claim))
    named = subject & _pairs(text)
    if not subject or len(named) / len(subject) < ABOUT_IT_ZH:
        return unread("not about the claim's subject")
    if any(mark in text for mark in lists.hedging):
        return unread("says two things")
    moods = [word for _, word in _found(text, "mood") if word not in theirs]
    plain = len(set(moods)) > 1 and all(word in lists.good for word in moods)
    if not plain or len(text) > LONG_ZH or min(text.find(pair) for pair in named) > NEAR_THE_START:
        return unread("no clear sign")
    return side(own, "cue words")


def _pairs(text: str) -> set[str]:
    """Neighbouring characters: the nearest thing to words without a dictionary."""
    return {text[i : i + 2] for i in range(len(text) - 1) if " " not in text[i : i + 2]}


def _found(text: str, kind: str) -> list[tuple[int, str]]:
    return [(match.start(), match[0]) for match in _pattern(kind).finditer(text)]


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    """A pattern of Chinese words, longest first so that 不公平 is not read as 公平."""
    lists = lexicon("zh")
    chosen = {
        "policy": lists.against | lists.towards | lists.negation,
        "frame": lists.common | lists.against | lists.towards,
        "mood": lists.good | lists.bad | lists.negation | lists.reversing | lists.against,
    }[kind]
    return re.compile("|".join(map(re.escape, sorted(chosen, key=lambda w: (-len(w), w)))))
