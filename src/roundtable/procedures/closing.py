"""The closing ballot: what must still be asked of whom before a vote is counted.

After the last round each seat that leaves something open gets one short call for a declaration
alone. Nobody is asked for what the record holds already, so an ordinary discussion has no such
call.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.declaration import ANY, OWN
from ..core.declaration_form import BALLOT
from ..core.effects import Effect, Record, TurnPlan, TurnPolicy
from ..core.events import Event, NoteAdded, SpeechGiven, TurnFailed
from ..core.stages import closed_stage, run_stage
from ..core.standing import DecisionStanding, SeatStanding
from ..core.values import OUTSIDE
from . import endings
from .clerk import with_own_positions
from .table import Table

CLOSING = "ballot"
POLICY = TurnPolicy(timeout=90, deadline=100, retries=1)


def closing_ballot(table: Table, round_: int, *, unvoted: bool = False) -> tuple[Effect, ...]:
    """Put own positions of the last round to the vote, and ask once for what is open: the reason
    of a change, a vote that decides and was said only once, a demand that nobody answered. With
    `unvoted` whoever has declared and not voted is asked too: for when the options came last."""
    state = table.state
    if closed_stage(state, CLOSING, round_) is not None or table.record.question is None:
        return ()
    if (CLOSING, round_) not in state.stages:
        if not endings.may_open(state, CLOSING, round_):
            return ()
        tabled = with_own_positions(table)
        if tabled is not None:
            return (Record((tabled,)),)
    plans = closing_plans(table, round_, unvoted=unvoted)
    if not plans:
        return ()

    def closing(_: Sequence[SpeechGiven], failures: Sequence[TurnFailed]) -> tuple[Event, ...]:
        return tuple(_unanswered(table, failure) for failure in failures)

    return run_stage(state, plans, closing=closing).effects


def closing_plans(table: Table, round_: int, *, unvoted: bool = False) -> list[TurnPlan]:
    """The short calls that are due. Once the stage is open they are those that it opened with."""
    opened = table.state.stages.get((CLOSING, round_))
    plans = []
    for seat in table.seats:
        if seat.speaker.model == OUTSIDE:
            continue  # what is recorded of whoever speaks through a form is read back at once
        ids = _open_ids(table, seat.id, unvoted=unvoted)
        due = ids is not None
        if opened is not None:
            due = any(turn.endswith(f"/{seat.id}") for turn in opened.opened.turns)
        if due:
            form = table.form(seat, BALLOT, alone=True, only=ids or ())
            plans.append(table.ballot_turn(seat, CLOSING, round_, form, POLICY))
    return plans


def _open_ids(table: Table, seat: str, *, unvoted: bool = False) -> list[str] | None:
    """What a seat must still answer; None if nothing has to be asked of it at all. An empty list
    asks for its vote alone."""
    spoken = table.record.last(seat)
    question = table.standing.question
    if spoken is None or question is None or spoken.declaration.abstain is not None:
        return None
    held = question.seat(seat)
    if held is None:
        return None
    demands = _demands_to_answer(table, question, held)
    new = any(
        option.origin == "own" and seat not in option.holders and _newer(table, option.id)
        for decision in table.record.decisions
        for option in decision.options
    )
    late = unvoted and not held.final
    if demands or new or late or held.gave_in or _decides_unsteadily(question, held):
        return demands
    return None


def _newer(table: Table, option: str) -> bool:
    """Whether an option joined the table last: nobody but its author has voted on it."""
    tabled = table.state.tabled
    return len(tabled) > 1 and not any(
        option in decision.option_ids for each in tabled[:-1] for decision in each.decisions
    )


def _demands_to_answer(table: Table, question: DecisionStanding, held: SeatStanding) -> list[str]:
    """Demands of those on the same side that this seat has neither granted nor refused."""
    if held.final in ("", OWN, ANY):
        return []
    allies = {s.participant for s in question.seats if s.final == held.final}
    return [
        each.id
        for each in table.record.conditions
        if each.demand
        and each.owner in allies
        and each.owner != held.participant
        and held.participant not in each.answers
    ]


def _decides_unsteadily(question: DecisionStanding, held: SeatStanding) -> bool:
    """Whether a vote decides and stands on a single declaration: it is read back, which is the only
    remedy for one that was filled in the wrong way round."""
    if held.steady or held.final in ("", ANY) or held.round == 1:
        return False
    without = question.counts.get(held.final, 0) - 1
    return without * 2 <= question.seated or question.end == "consensus"


def _unanswered(table: Table, failure: TurnFailed) -> NoteAdded:
    return NoteAdded(
        code="closing_unanswered",
        text=f"{table.name(failure.participant)} did not answer the closing ballot "
        f"({failure.message.rstrip('.')}), so its last declaration stands.",
        remedy=failure.remedy,
    )
