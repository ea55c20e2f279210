"""The check of order: whether a vote says more about where an answer stood than about the answer.

Whoever has reviewed the others does so once more, with the same answers from the last to the first.
The vote of the first reading counts. One that the other order turns is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.effects import Effect, TurnPlan
from ...core.events import Event, NoteAdded, SpeechGiven, TurnFailed
from ...core.record import IN_REVERSE
from ...core.stages import closed_stage, run_stage
from ...core.text import clip
from ...core.values import Participant
from .. import endings
from ..table import Table

ORDER_CHECK = "order_check"
CRITIQUE = "critique"
OTHER_ORDER = f"{CRITIQUE}{IN_REVERSE}"
LAST_ROUND = 2
LONGEST = 80
"""Characters of an option within the note."""


def check_order(table: Table, again: Callable[[Participant], TurnPlan]) -> tuple[Effect, ...]:
    """The second reading, after the critique has closed, where it was asked for. `again` plans a
    seat's critique in the other order."""
    state = table.state
    reviewed = closed_stage(state, CRITIQUE, LAST_ROUND)
    if not table.option("dual_order") or reviewed is None or not reviewed.speeches:
        return ()
    if closed_stage(state, OTHER_ORDER, LAST_ROUND) is not None:
        return ()
    if not endings.may_open(state, OTHER_ORDER, LAST_ROUND):
        return ()
    here = {speech.participant for speech in reviewed.speeches}
    plans = [again(seat) for seat in table.seats if seat.id in here]

    def closing(
        speeches: Sequence[SpeechGiven], _failures: Sequence[TurnFailed]
    ) -> tuple[Event, ...]:
        return (_note(table, reviewed.speeches, speeches),)

    return run_stage(state, plans, closing=closing).effects


def _note(table: Table, first: Sequence[SpeechGiven], second: Sequence[SpeechGiven]) -> NoteAdded:
    """How many votes follow the order, and whose."""
    before = {speech.participant: _ranked(table, speech) for speech in first}
    after = {speech.participant: _ranked(table, speech) for speech in second}
    both = [who for who in before if before[who] and after.get(who)]
    turned = [who for who in both if before[who][0] != after[who][0]]
    ranked_anew = [who for who in both if who not in turned and before[who] != after[who]]
    lines = [
        f"{table.name(who)} votes for {_named(table, before[who][0])} in one order and for "
        f"{_named(table, after[who][0])} in the other"
        for who in turned
    ]
    if ranked_anew:
        names = ", ".join(table.name(who) for who in ranked_anew)
        lines.append(f"below the first place the ranking changed for {names}")
    if unread := [who for who in before if who not in both]:
        names = ", ".join(table.name(who) for who in unread)
        lines.append(f"not checked, for want of two votes: {names}")
    found = f"{len(turned)} of {len(both)} votes changed with the order of the answers"
    return NoteAdded(
        code=ORDER_CHECK,
        text=f"{found}{': ' if lines else ''}{'; '.join(lines)}. The first reading counts.",
        remedy="Take these votes with care, or give the seats stronger models." if turned else "",
    )


def _ranked(table: Table, speech: SpeechGiven) -> tuple[str, ...]:
    question = table.record.question
    declared = speech.declaration
    vote = declared.vote(question.id) if declared and question else None
    return vote.ranking if vote else ()


def _named(table: Table, option: str) -> str:
    question = table.record.question
    text = question.text_of(option) if question else option
    return f"“{clip(text.rstrip(' .。'), LONGEST)}”"
