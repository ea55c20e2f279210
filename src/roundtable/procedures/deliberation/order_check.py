"""The check of order: whether a ballot says more about where an answer stood than about the answer.

Whoever has reviewed the others does so once more, with the same answers and options from the last
to the first. The ballot of the first reading counts. One that the other order turns is marked.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.effects import Effect
from ...core.events import Event, NoteAdded, SpeechGiven, TurnFailed
from ...core.stages import closed_stage, run_stage
from ...core.text import clip
from .. import endings
from . import tasks
from .sitting import CRITIQUE, LAST_ROUND, OTHER_ORDER, Sitting

ORDER_CHECK = "order_check"
LONGEST = 80
"""Characters of an option within the note."""


def check_order(sitting: Sitting) -> tuple[Effect, ...]:
    """The second reading, after the critique has closed, where it was asked for."""
    state = sitting.state
    reviewed = closed_stage(state, CRITIQUE, LAST_ROUND)
    if not state.start.options.get("dual_order") or reviewed is None or not reviewed.speeches:
        return ()
    if closed_stage(state, OTHER_ORDER, LAST_ROUND) is not None:
        return ()
    if not endings.may_open(state, OTHER_ORDER, LAST_ROUND):
        return ()
    here = {speech.participant for speech in reviewed.speeches}
    plans = [
        tasks.critique(sitting, participant, reverse=True)
        for participant in state.participants
        if participant.id in here
    ]

    def closing(
        speeches: Sequence[SpeechGiven], _failures: Sequence[TurnFailed]
    ) -> tuple[Event, ...]:
        return (_note(sitting, reviewed.speeches, speeches),)

    return run_stage(state, plans, closing=closing).effects


def _note(
    sitting: Sitting, first: Sequence[SpeechGiven], second: Sequence[SpeechGiven]
) -> NoteAdded:
    """How many ballots follow the order, and whose."""
    before = {speech.participant: _ranked(sitting, speech) for speech in first}
    after = {speech.participant: _ranked(sitting, speech) for speech in second}
    both = [who for who in before if before[who] and after.get(who)]
    turned = [who for who in both if before[who][0] != after[who][0]]
    ranked_anew = [who for who in both if who not in turned and before[who] != after[who]]
    lines = [
        f"{sitting.name(who)} votes for {_named(sitting, before[who][0])} in one order and for "
        f"{_named(sitting, after[who][0])} in the other"
        for who in turned
    ]
    if ranked_anew:
        names = ", ".join(sitting.name(who) for who in ranked_anew)
        lines.append(f"below the first place the ranking changed for {names}")
    if unread := [who for who in before if who not in both]:
        names = ", ".join(sitting.name(who) for who in unread)
        lines.append(f"not checked, for want of two ballots: {names}")
    found = f"{len(turned)} of {len(both)} ballots changed with the order of the answers"
    return NoteAdded(
        code=ORDER_CHECK,
        text=f"{found}{': ' if lines else ''}{'; '.join(lines)}. The first reading counts.",
        remedy="Take these ballots with care, or give the seats stronger models." if turned else "",
    )


def _ranked(sitting: Sitting, speech: SpeechGiven) -> tuple[str, ...]:
    return sitting.written(speech).ranking


def _named(sitting: Sitting, option: str) -> str:
    return f"“{clip(sitting.options.get(option, option).rstrip(' .。'), LONGEST)}”"
