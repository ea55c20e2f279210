"""How options and conditions stand, in rows: who chose, could live with or rejects what, and who
grants what, wholly, partly or not."""

from __future__ import annotations

from ...core.declaration import OPEN
from ...core.record import ConditionOnTable, record_of
from ...core.standing import standing_of
from ...core.state import State
from ...core.text import clip, redact
from ...views.delivery import Delivery
from .results import ConditionRow, OptionRow

REASON = 80


def option_rows(state: State, limit: int = 300) -> list[OptionRow]:
    """Every answer to the question, with the seats by their profiles."""
    question, standing = Delivery.of(state).question, standing_of(state).question
    if question is None or standing is None:
        return []
    profiles = {seat.name: seat.participant for seat in question.seats}
    return [
        OptionRow(
            id=each.id,
            text=redact(clip(each.text, limit)),
            chosen_by=list(each.participants),
            acceptable_to=[profiles.get(name, name) for name in each.acceptable],
            rejected_by=[profiles.get(name, name) for name in each.rejected],
        )
        for each in question.options
    ]


def condition_rows(state: State, limit: int = 300, *, reason: int = REASON) -> list[ConditionRow]:
    """Every condition that stands, with each answer to it."""
    return [_row(each, limit, reason) for each in record_of(state).conditions]


def common_ground(state: State) -> str:
    question = Delivery.of(state).question
    return redact(question.common_ground) if question else ""


def _row(held: ConditionOnTable, limit: int, reason: int) -> ConditionRow:
    def said(word: str) -> dict[str, str]:
        return {
            seat: redact(clip(each.text, reason)) if reason else ""
            for seat, each in held.answers.items()
            if each.stance == word
        }

    otherwise = held.condition.otherwise
    return ConditionRow(
        id=held.id,
        text=redact(clip(held.text, limit)),
        by=held.owner,
        kind=held.condition.kind,
        granted_by=list(said("agree")),
        partly=said("partly"),
        refused_by=said("disagree"),
        otherwise="" if otherwise == OPEN else otherwise,
    )
