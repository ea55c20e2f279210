"""Ballots of a panel: each panelist's position after a round and, in a vote, its choice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...core.events import BallotCast, SpeechGiven
from ...core.extraction.options import listed_options
from ...core.state import State
from ...core.text import clip, first_sentences
from ...views.adaptive_votes import tally_lines, winner_line
from .digests import POSITION, UPDATED, VOTE, digest
from .sitting import Sitting

MAX_CHOICE = 80
_LETTER = re.compile(r"(?:option|choice)?\s*\(?([A-Z])\)?[.:]?", re.IGNORECASE)
_REASON = r"(?:\s*[,;:(–—]|\s+-|\s+(?:because|since|for|as)\b)"
_MARKS = " \t*_`\"'“”‘’.:;!-–—•>[]()"
_PREFIX = re.compile(r"^(?:vote|i (?:choose|vote for|pick))\s*[:：]?\s*", re.IGNORECASE)


def ballots(sitting: Sitting, speeches: Sequence[SpeechGiven]) -> tuple[BallotCast, ...]:
    """One ballot for each speech of a round."""
    voting = sitting.terms.task_mode == "vote"
    earlier = [b.ranking[0][0] for b in sitting.state.ballots if b.ranking]
    choices = choose(sitting.state.start.topic, [_said(s) for s in speeches], earlier)
    found = []
    for speech, choice in zip(speeches, choices, strict=True):
        meaningful = is_meaningful(sitting.state, speech)
        chosen = choice if voting and meaningful else ""
        found.append(
            BallotCast(
                turn_id=speech.turn_id,
                participant=speech.participant,
                round=speech.round,
                position=chosen or position(speech),
                ranking=((chosen,),) if chosen else (),
                meaningful=meaningful,
            )
        )
    return tuple(found)


def position(speech: SpeechGiven) -> str:
    """What the speech stands for, in a sentence or two."""
    parts = (speech.sections.get(name) for name in (UPDATED, POSITION))
    return first_sentences(next((part for part in parts if part), "") or digest(speech))


def is_meaningful(state: State, speech: SpeechGiven) -> bool:
    """Words of a demonstration model are words, not judgements."""
    seated = state.participant(speech.participant)
    refs = seated.speakers if seated else ()
    return not any(ref.demonstration for ref in refs if ref.model == speech.model)


def choose(topic: str, said: Sequence[str], earlier: Sequence[str] = ()) -> list[str]:
    """The choices in one spelling each: a letter stands for the option it lists, and what follows
    an option as its reason is left out. Empty where nothing was chosen."""
    _, options = listed_options(topic)
    plain = [_by_letter(_plain(text), options) for text in said]
    known = list(
        dict.fromkeys([*options.values(), *earlier, *sorted(filter(None, plain), key=len)])
    )
    return [_spelled(text, known) for text in plain]


def _said(speech: SpeechGiven) -> str:
    return speech.sections.get(VOTE, "")


def _plain(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip(_MARKS)), "")
    return clip(_PREFIX.sub("", line.strip(_MARKS)).strip(_MARKS), MAX_CHOICE)


def _by_letter(text: str, options: dict[str, str]) -> str:
    match = _LETTER.fullmatch(text)
    return options.get(match[1].upper(), text) if match else text


def _spelled(text: str, known: Sequence[str]) -> str:
    if not text:
        return ""
    # "Tea, because …" is a vote for tea; "Tea ceremony" is one for something else.
    begun = (
        each for each in known if re.match(rf"{re.escape(each)}{_REASON}", text, re.IGNORECASE)
    )
    same = (each for each in known if each.casefold() == text.casefold())
    return next(begun, next(same, text))


def tally_text(state: State) -> str:
    """The count in words; empty without ballots."""
    return "\n".join([*filter(None, [winner_line(state)]), *tally_lines(state)])
