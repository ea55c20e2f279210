"""Validation: what the panel says about the draft of the synthesis, and what follows from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...core.contracts import Contract
from ...core.text import first_sentences

Judgement = Literal["ACCURATE", "PARTIALLY", "INACCURATE"]
Validated = Literal["yes", "no", "partial"]
VALIDATION_CONTRACT = Contract(sections=("Verdict", "Correction"))
REWRITE_AT = 2
"""So many INACCURATE, and the synthesis is written anew."""

_TOKEN = re.compile(r"\b(INACCURATE|NOT\s+ACCURATE|PARTIALLY|PARTIAL|ACCURATE)\b", re.IGNORECASE)
_NOTHING = re.compile(r"^\W*(?:none|nothing|no corrections?|n/a)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Judged:
    """One validator's judgement; None if its words hold none."""

    participant: str
    judgement: Judgement | None
    correction: str = ""


def judge(participant: str, text: str, sections: Mapping[str, str]) -> Judged:
    """The first of the three words, under its heading or in the whole text."""
    match = _TOKEN.search(sections.get("Verdict") or text)
    if match is None:
        return Judged(participant, None)
    word = match[1].upper()
    judgement: Judgement = "INACCURATE"
    if word.startswith("PARTIAL"):
        judgement = "PARTIALLY"
    elif word == "ACCURATE":
        judgement = "ACCURATE"
    correction = sections.get("Correction", "")
    if _NOTHING.match(correction):
        correction = ""
    return Judged(participant, judgement, first_sentences(correction, 3, 500))


def outcome(judged: Sequence[Judged]) -> Validated:
    """Nothing judged: no; all accurate: yes; anything else: partial."""
    known = [each.judgement for each in judged if each.judgement is not None]
    if not known:
        return "no"
    all_heard = len(known) == len(judged)
    return "yes" if all_heard and set(known) == {"ACCURATE"} else "partial"


def inaccurate(judged: Sequence[Judged]) -> list[Judged]:
    return [each for each in judged if each.judgement == "INACCURATE"]


def must_rewrite(judged: Sequence[Judged]) -> bool:
    return len(inaccurate(judged)) >= REWRITE_AT
