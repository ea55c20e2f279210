"""The clerk's list: which positions the independent answers take, and who takes which.

The host writes it where the question itself names no options. What it says of somebody counts
only with a quotation that stands in that one's answer, word for word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.events import SpeechGiven
from ...core.points import wording
from ...core.quotes import find_quote
from ...core.text import clip
from .ballots import read_ballot

_OPTION = re.compile(
    r"^[\s\-*•]*\**OPTION\**\s*\d*\s*[:：]\s*(?P<text>.+?)\s*\**\s*$", re.IGNORECASE
)
_MEMBER = re.compile(
    r"^[\s\-*•]*\**ANSWER\s+(?P<label>[A-Z])\**\s*[:：]\s*[\"“”'«「]?(?P<quote>.+?)[\"“”'»」]?\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Options by id, and the option of each participant whose position is certain."""

    options: dict[str, str]
    chosen: dict[str, str]
    by_clerk: bool


def labels(answers: Sequence[SpeechGiven]) -> dict[str, SpeechGiven]:
    """The answers under letters, as the clerk sees them."""
    return {chr(ord("A") + n): speech for n, speech in enumerate(answers)}


def read_clerk(text: str, answers: Sequence[SpeechGiven]) -> Reading:
    """The clerk's list with verified quotations, or, without a usable one, the positions that the
    ballots state, merged only where their words are the same."""
    options: dict[str, str] = {}
    chosen: dict[str, str] = {}
    known = labels(answers)
    current = ""
    for line in text.splitlines():
        if option := _OPTION.match(line):
            current = f"o{len(options) + 1}"
            options[current] = clip(option["text"], 200)
        elif current and (member := _MEMBER.match(line)):
            speech = known.get(member["label"].upper())
            if speech and find_quote(member["quote"], {speech.turn_id: speech.text}):
                # Whoever is listed twice with good quotations has no certain position.
                double = speech.participant in chosen and chosen[speech.participant] != current
                chosen[speech.participant] = "" if double else current
    chosen = {participant: option for participant, option in chosen.items() if option}
    if options and chosen:
        return Reading(options, chosen, by_clerk=True)
    return _as_stated(answers)


def _as_stated(answers: Sequence[SpeechGiven]) -> Reading:
    options: dict[str, str] = {}
    chosen: dict[str, str] = {}
    seen: dict[object, str] = {}
    for speech in answers:
        stated = read_ballot(speech.sections.get("Ballot", ""), {}).position
        if not stated:
            continue
        option = seen.setdefault(wording(stated), f"o{len(options) + 1}")
        options.setdefault(option, stated)
        chosen[speech.participant] = option
    return Reading(options, chosen, by_clerk=False)
