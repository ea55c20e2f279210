"""What the host wrote when it cast: the seats that can be used, and what is missing.

A block of JSON in a model's words. What is wrong with it is said so that its writer can act on it;
what is right stands, whatever else is wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from ..core.declaration_block import BrokenJson, parse_json, split_blocks
from ..core.json_schema import list_of, object_of, text_of
from ..core.pattern import pattern
from ..core.text import clip, slug
from ..core.values import HOST_WIRE_NAME
from ..ports import ChosenExpert
from .casting_terms import CASTING, Offered

MOST_QUESTIONS = 3
FEWEST_SEATS = 2
LONGEST_NAME, LONGEST_VIEW, LONGEST_WHY, LONGEST_QUESTION = 60, 240, 200, 200
MOST_WORDS = 6
"""Words of a written seat's name, by which everybody at the table knows it: a name, no sentence."""
_RESERVED = ("host", HOST_WIRE_NAME)
_MARKS = pattern(r"[`{}]|\[/?\s*fence\b[^\]]*\]?|<!--|-->|-{3,}", re.IGNORECASE)
"""Marks of a block, a template or a fence. Every other sign stays: without it "± 2 °C" or "≤ 60 %"
says something else."""
_JOINERS = "\u200c\u200d"
_SIGNS = "-'’&/().,·"
"""What may stand in a name beside letters, digits and blanks."""
_OUR_ID = pattern(r"\b[acdops]\d+\b", re.IGNORECASE)
_SENTENCE = pattern(r"[.:;!?。：；！？؟…](?:\s|$)")


@dataclass(frozen=True, slots=True)
class Question:
    """A premise that is missing, and what is assumed where nobody supplies it."""

    key: str
    ask: str
    assume: str


@dataclass(frozen=True, slots=True)
class CastSeat:
    """Somebody whom the host proposes: of the library by its id, or a written persona."""

    persona: ChosenExpert
    why: str
    looks_at: str = ""
    """Of a written one alone."""


@dataclass(frozen=True, slots=True)
class CastSeats:
    """The seats that can be used, in the host's order."""

    seats: tuple[CastSeat, ...] = ()
    refused: tuple[str, ...] = ()
    """Why others cannot."""
    lacking: tuple[str, ...] = ()
    """What is missing in those that can."""
    unread: tuple[str, ...] = ()
    """Why nothing could be read: for the host, who is asked again, and nobody else."""

    @property
    def problems(self) -> tuple[str, ...]:
        return (*self.unread, *self.refused, *self.lacking)


def read_block(text: str) -> tuple[Mapping[str, Any], list[str]]:
    """The block in the host's answer, or why there is none."""
    _, blocks = split_blocks(text, CASTING)
    block = blocks[-1] if blocks else text.strip()
    if not blocks and not block.startswith("{"):
        return {}, [f"The block labelled `{CASTING}` is missing."]
    try:
        found, _ = parse_json(block)
    except BrokenJson as broken:
        return {}, [f"The block is no JSON: {broken}"]
    return found, []


def block_schema(most: int) -> dict[str, Any]:
    """The schema of the block, for a host whose provider can be held to it; without seats where
    none are to be named."""
    question = object_of(ask=text_of(LONGEST_QUESTION), assume=text_of(LONGEST_QUESTION))
    questions = list_of(question, MOST_QUESTIONS)
    if not most:
        return object_of(questions=questions)
    why = text_of(LONGEST_WHY)
    known = object_of(expert=text_of(LONGEST_NAME), why=why)
    written = object_of(
        name=text_of(LONGEST_NAME),
        perspective=text_of(LONGEST_VIEW),
        looks_at=text_of(LONGEST_VIEW),
        why=why,
    )
    return object_of(questions=questions, seats=list_of({"anyOf": [known, written]}, most))


def questions_in(found: Mapping[str, Any]) -> list[Question]:
    asked: list[Question] = []
    for each in _rows(found.get("questions")):
        ask = _line(each.get("ask"), LONGEST_QUESTION)
        if ask and len(asked) < MOST_QUESTIONS:
            assume = _line(each.get("assume"), LONGEST_QUESTION)
            asked.append(Question(f"clarify/{len(asked) + 1}", ask, assume))
    return asked


def seats_in(text: str, whom: Offered, most: int) -> CastSeats:
    """The seats that an answer names, up to `most` of them."""
    found, problems = read_block(text)
    if problems:
        return CastSeats(unread=tuple(problems))
    rows = _rows(found.get("seats"))
    fewest = min(FEWEST_SEATS, most)
    seats: list[CastSeat] = []
    refused: list[str] = []
    if not fewest <= len(rows) <= most:
        refused.append(f"seats names {len(rows)}; name {fewest} to {most}.")
    for row in rows:
        seat = _seat(row, whom)
        if isinstance(seat, str):
            refused.append(seat)
        elif any(_same(seat.persona, other.persona) for other in seats):
            refused.append(f"{seat.persona.name} is seated twice.")
        else:
            seats.append(seat)
    kept = seats[:most]
    lacking = [f"why is missing for {seat.persona.name}." for seat in kept if not seat.why]
    return CastSeats(tuple(kept), tuple(refused), tuple(lacking))


def _seat(row: Mapping[str, Any], whom: Offered) -> CastSeat | str:
    """A seat, or why it cannot be used."""
    why = _line(row.get("why"), LONGEST_WHY)
    expert = _line(row.get("expert"), LONGEST_NAME)
    known = whom.find(expert) if expert else None
    if known is not None:
        return CastSeat(known, why)
    name = _plain(row.get("name"), LONGEST_NAME)
    view = _plain(row.get("perspective"), LONGEST_VIEW)
    looks_at = _plain(row.get("looks_at"), LONGEST_VIEW)
    if expert and not (name and view and looks_at):
        return f"{expert} is not in the library: take an id of it, or write a seat."
    if not name or not view or not looks_at:
        return "A written seat needs name, perspective and looks_at."
    if len(name.split()) > MOST_WORDS or _SENTENCE.search(name) or not _is_plain_name(name):
        return f"“{name}” is no name for a seat: up to {MOST_WORDS} words that say a profession."
    own = slug(name, default="expert")
    if own in _RESERVED:
        return f"{name} is taken; give the seat another name."
    return CastSeat(ChosenExpert(id=own, name=name, perspective=view), why, looks_at)


def _is_plain_name(name: str) -> bool:
    """Names stand beside our own words in prompts, where seats and the count are told: so they are
    made of words, and none of them is an id by which options, points and decisions are known."""
    kinds = (unicodedata.category(char)[0] for char in name if char not in _SIGNS + _JOINERS)
    return all(kind in "LMNZ" for kind in kinds) and _OUR_ID.search(name) is None


def _same(one: ChosenExpert, other: ChosenExpert) -> bool:
    return one.id == other.id or one.name.casefold() == other.name.casefold()


def _rows(value: JsonValue) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _line(value: Any, limit: int) -> str:
    """A text on one line; the placeholder of the example is none."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return clip(text, limit) if text.strip("…. ") else ""


def _plain(value: Any, limit: int) -> str:
    """The same without what no persona needs: characters that control, and marks of ours."""
    if not isinstance(value, str):
        return ""
    shown = "".join(" " if _controls(char) else char for char in value)
    return _line(_MARKS.sub(" ", shown), limit)


def _controls(char: str) -> bool:
    """Characters that steer a screen or the direction of writing; joiners are part of words."""
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _JOINERS
