"""What a written text says against the count, whoever wrote it: another answer, an agreement that
was not counted, other votes, other holders, another confidence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from .contradiction import agreement_claimed, contradiction
from .pattern import pattern
from .text import first_sentences
from .values import Finding
from .verdict_check import undeceiving
from .vote_claims import claims_against
from .vote_told import VoteTold

OPENING = 4
"""Sentences of an answer in which it says how much of the table it speaks for."""
_STATED = pattern(
    r"\b(?:is|are|was|were|has|have|had|voted|chose|backed|favou?red|supported|preferred|agreed|went"
    r"|dissented|objected|ist|sind|war|waren|stimmten|wählten|es|son|fue|fueron|votaron|eligieron)\b"
    r"|[了都]|\d\s?[–:-]\s?\d",
    re.IGNORECASE,
)
"""What says that something is so, where words may as well say what somebody wishes for."""


def answer_against(text: str, told: VoteTold) -> list[Finding]:
    """All that an answer says against the count, the weightiest first."""
    return list(_remembered_answer(text, told))


@lru_cache(maxsize=32)  # an answer is looked at when it comes, mended, accepted and delivered
def _remembered_answer(text: str, told: VoteTold) -> tuple[Finding, ...]:
    text = undeceiving(text)
    found = [_another_answer(text, told)]
    beginning = first_sentences(text, OPENING, 2_000)
    found.append(found[0] or _false_agreement(beginning, told, loosely=not told.delivered))
    return tuple(_once([each for each in found if each], claims_against(text, told)))


def claim_against(text: str, told: VoteTold, *, loosely: bool = True) -> list[Finding]:
    """What a part beside the answer claims of the table that was not counted. `loosely`: it tells
    how the table stands, so a consensus in it is one of the table."""
    return list(_remembered_claims(text, told, loosely))


@lru_cache(maxsize=128)
def _remembered_claims(text: str, told: VoteTold, loosely: bool) -> tuple[Finding, ...]:
    text = undeceiving(text)
    found = _false_agreement(text, told, loosely=loosely)
    return tuple(_once([found] if found else [], claims_against(text, told)))


def claims_beside(
    told: VoteTold, *, says: Iterable[str] = (), wants: Iterable[str] = ()
) -> list[Finding]:
    """What the parts beside the answer claim of the table that was not counted: those in which the
    writer says what is so, and those in which it says what would have to be, or is to be done.
    There an agreement or a vote may be one to come."""
    found = [f for each in says for f in claim_against(each, told, loosely=False)]
    wanted = [f for each in wants for f in claim_against(each, told, loosely=False)]
    found += [each for each in wanted if _STATED.search(each.excerpt)]
    return list(dict.fromkeys(found))


def _once(first: list[Finding], more: list[Finding]) -> list[Finding]:
    """What is found wrong in a sentence once, however many ways there are to say so."""
    told = {each.excerpt for each in first if each.code != "contradiction"}
    return [*dict.fromkeys((*first, *(each for each in more if each.excerpt not in told)))]


def _another_answer(text: str, told: VoteTold) -> Finding | None:
    """That words of the writer answer otherwise than the table did."""
    if not told.delivered:
        return None
    others = [each.text for each in told.options if each.id != told.delivered]
    found = contradiction(text, told.answer, others, told.question)
    if found is None:
        return None
    return Finding(
        code="contradiction",
        message=f"The table chose “{told.answer}” ({told.reason.rstrip('.')}), but the written "
        "answer seems to say something else.",
        excerpt=found.excerpt,
    )


def _false_agreement(text: str, told: VoteTold, *, loosely: bool) -> Finding | None:
    """That the writer claims an agreement, or one of all, that was not counted."""
    if told.all_agree:
        return None
    options = [each.text for each in told.options]
    claim = agreement_claimed(text, options, told.question, loosely=loosely)
    if not claim:
        return None
    if not told.delivered:
        message = "The writer claims an agreement although the table did not settle it"
        return Finding(code="contradiction", message=f"{message}: {told.reason}", excerpt=claim)
    return Finding(
        code="false_agreement",
        message=f"The writer claims that all agree, but the count is: {told.reason}",
        excerpt=claim,
    )
