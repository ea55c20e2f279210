"""The clerk's list: which positions the independent answers take, and who takes which.

The host writes it where the question itself names no options. What it says of somebody counts
only with a quotation that stands in that one's answer, word for word; an option that nobody is
shown to hold is left out, and a position that it passed over joins the list in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...core.events import SpeechGiven
from ...core.points import wording
from ...core.quotes import find_quote
from ...core.text import clip, count_words
from .ballots import read_ballot
from .contracts import BALLOT

_START = r"^[\s>*_`#•+\-]*(?:\d{1,2}[.)]\s*)?"
_OPTION = re.compile(_START + r"OPTION\s*\w{0,2}[\s*_]*[:：](?P<text>.+)$", re.IGNORECASE)
_MEMBER = re.compile(
    _START + r"ANSWER\s+(?P<label>[A-Z])[\s*_]*[:：–—-](?P<quote>.+)$", re.IGNORECASE
)
_MARKS = '"“”„«»「」'
SHORTEST_QUOTATION = 3
"""Words. Fewer stand in every answer and show nothing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Options by id, and the option of each participant whose position is certain."""

    options: dict[str, str]
    chosen: dict[str, str]
    by_clerk: bool


def read_clerk(text: str, answers: Mapping[str, SpeechGiven]) -> Reading:
    """The positions that the clerk found in the answers, which it saw under these letters.

    Without a usable list, the positions that the ballots state, merged only where their words are
    the same.
    """
    groups = _separated(_groups(text, answers))
    options: dict[str, str] = {}
    chosen: dict[str, str] = {}
    known: dict[object, str] = {}
    for words, members in groups:
        if members:
            option = f"o{len(options) + 1}"
            options[option] = words
            known.setdefault(wording(words), option)
            chosen.update({speech.participant: option for speech in members})
    by_clerk = bool(options)
    for speech in answers.values():
        stated = stated_position(speech)
        if speech.participant not in chosen and stated:
            option = known.setdefault(wording(stated), f"o{len(options) + 1}")
            options.setdefault(option, clip(stated, 200))
            chosen[speech.participant] = option
    return Reading(options, chosen, by_clerk)


def stated_position(speech: SpeechGiven) -> str:
    """Its answer in one sentence, as its own ballot says it."""
    return read_ballot(speech.sections.get(BALLOT, ""), {}).position


def _groups(
    text: str, answers: Mapping[str, SpeechGiven]
) -> list[tuple[str, tuple[SpeechGiven, ...]]]:
    """Each option of the list with the answers that a quotation puts there."""
    groups: list[tuple[str, list[SpeechGiven]]] = []
    for line in text.splitlines():
        if option := _OPTION.match(line):
            groups.append((clip(option["text"].strip(" *_`"), 200), []))
        elif groups and (member := _MEMBER.match(line)):
            speech = answers.get(member["label"].upper())
            if speech and _shows(member["quote"], speech) and speech not in groups[-1][1]:
                groups[-1][1].append(speech)
    return [(words, tuple(members)) for words, members in groups]


def _shows(quoted: str, speech: SpeechGiven) -> bool:
    pieces = [quoted, *re.split(f"[{_MARKS}]", quoted)]
    return any(
        count_words(piece) >= SHORTEST_QUOTATION and find_quote(piece, {"answer": speech.text})
        for piece in pieces
    )


def _separated(
    groups: list[tuple[str, tuple[SpeechGiven, ...]]],
) -> Iterable[tuple[str, tuple[SpeechGiven, ...]]]:
    """The groups without answers that stand in two of them, and without those that deny another
    one of their group: neither has a certain place."""
    places = [speech.participant for _, members in groups for speech in members]
    for words, members in groups:
        stated = {speech.participant: wording(stated_position(speech)) for speech in members}
        kept = tuple(
            speech
            for speech in members
            if places.count(speech.participant) == 1
            and not any(_opposite(stated[speech.participant], other) for other in stated.values())
        )
        yield words, kept


def _opposite(one: tuple[tuple[str, ...], bool], two: tuple[tuple[str, ...], bool]) -> bool:
    return bool(one[0]) and one[0] == two[0] and one[1] != two[1]
