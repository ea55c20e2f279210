"""The closing ballot: what must still be asked of whom before a vote is counted.

After the last round each seat that leaves something open gets one short call for a declaration
alone. Nobody is asked for what the record holds already, so an ordinary discussion has no such
call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.avowal import DIFFERS
from ..core.declaration import ANY, OPEN, OPPOSE, OWN
from ..core.declaration_form import BALLOT
from ..core.effects import Effect, Record, TurnPlan, TurnPolicy, turn_id
from ..core.events import Event, NoteAdded, SpeechGiven, TurnFailed
from ..core.stages import closed_stage, run_stage
from ..core.standing import DecisionStanding, SeatStanding
from ..core.turns import NOTHING_DECLARED
from ..core.values import OUTSIDE
from . import endings
from .clerk import with_own_positions
from .table import ASKED_AT_ONCE, Table, unanswered

CLOSING, ONCE_MORE = "ballot", "ballot-again"
POLICY = TurnPolicy(timeout=90, deadline=100, retries=1)


def closing_ballot(
    table: Table, round_: int, *, unvoted: bool = False, patience: float | None = None
) -> tuple[Effect, ...]:
    """Put own positions of the last round to the vote, and ask once for what is open: the reason
    of a change, a vote that decides and was said only once, a demand that nobody answered, a vote
    whose seat cannot have known that its demand was refused. With
    `unvoted` whoever has declared and not voted is asked too: for when the options came last.
    Where the ballot was its first vote, a position of its own that it brings there is put to the
    others once more. `patience` is how long whoever speaks from outside is waited for; None: it is
    not asked."""
    state = table.state
    if table.record.question is None:
        return ()
    if closed_stage(state, CLOSING, round_) is not None:
        return _once_more(table, round_) if unvoted else ()
    if (CLOSING, round_) not in state.stages:
        if not endings.may_open(state, CLOSING, round_):
            return ()
        tabled = with_own_positions(table)
        if tabled is not None:
            return (Record((tabled,)),)
    plans = closing_plans(table, round_, unvoted=unvoted, patience=patience)
    if not plans:
        return ()

    def closing(_: Sequence[SpeechGiven], failures: Sequence[TurnFailed]) -> tuple[Event, ...]:
        return tuple(_unanswered(table, failure) for failure in failures)

    return run_stage(state, plans, closing=closing).effects


def _once_more(table: Table, round_: int) -> tuple[Effect, ...]:
    """What somebody calls its own in the ballot could not be chosen by anybody: it becomes an
    option, and the others are asked about that alone. Once, and only if there is such a vote."""
    state = table.state
    if closed_stage(state, ONCE_MORE, round_) is not None:
        return ()
    if (ONCE_MORE, round_) not in state.stages:
        # Whatever began after the ballot rests on its count.
        begun = next(reversed(state.stages)) != (CLOSING, round_)
        if begun or not endings.may_open(state, ONCE_MORE, round_):
            return ()
        if (tabled := with_own_positions(table)) is not None:
            return (Record((tabled,)),)
    brought = _brought_in(table, round_)
    opened = state.stages.get((ONCE_MORE, round_))
    plans = []
    for seat in table.seats:
        new = [option for option, holder in brought.items() if holder != seat.id]
        if opened is not None:
            wanted = turn_id(round_, ONCE_MORE, seat.id) in opened.opened.turns
        else:
            last = table.record.last(seat.id)
            there = last is not None and last.declaration.abstain is None
            wanted = bool(new) and there and seat.speaker.model != OUTSIDE
        if wanted:
            asks = [f"New on the table: {', '.join(new)}. Say how you stand to it."]
            form = table.form(seat, BALLOT, alone=True, only=())
            plans.append(table.ballot_turn(seat, ONCE_MORE, round_, form, POLICY, asks=asks))

    def closing(_: Sequence[SpeechGiven], failures: Sequence[TurnFailed]) -> tuple[Event, ...]:
        return tuple(_unanswered(table, failure) for failure in failures)

    return run_stage(state, plans, closing=closing).effects if plans else ()


def _brought_in(table: Table, round_: int) -> dict[str, str]:
    """Options that positions in the ballot became, with who holds each."""
    tabled = table.state.tabled
    known = {o for earlier in tabled[:-1] for d in earlier.decisions for o in d.option_ids}
    own = {
        speech.participant
        for speech in table.state.spoken_in(CLOSING, round_)
        if speech.declaration and any(vote.choice == OWN for vote in speech.declaration.votes)
    }
    return {
        option.id: option.holders[0]
        for decision in tabled[-1].decisions
        for option in decision.options
        if option.origin == "own" and option.id not in known and own.intersection(option.holders)
    }


def closing_plans(
    table: Table, round_: int, *, unvoted: bool = False, patience: float | None = None
) -> list[TurnPlan]:
    """The short calls that are due. Once the stage is open they are those that it opened with."""
    opened = table.state.stages.get((CLOSING, round_))
    plans = []
    for seat in table.seats:
        outside = seat.speaker.model == OUTSIDE
        if outside and (patience is None or not _is_there(table, seat.id, round_)):
            continue
        due = _still_open(table, seat.id, unvoted=unvoted, outside=outside)
        wanted = due is not None
        if opened is not None:
            wanted = turn_id(round_, CLOSING, seat.id) in opened.opened.turns
        if wanted:
            ids, asks = due or ((), ())
            form = table.form(seat, BALLOT, alone=True, only=ids)
            policy = replace(POLICY, patience=patience) if patience else POLICY
            plans.append(table.ballot_turn(seat, CLOSING, round_, form, policy, asks=asks))
    return plans


def _is_there(table: Table, seat: str, round_: int) -> bool:
    """Whether somebody spoke for a seat in the last round: nobody else is waited for once more."""
    return any(s.participant == seat and s.round == round_ for s in table.state.said.of_seats)


def _still_open(
    table: Table, seat: str, *, unvoted: bool = False, outside: bool = False
) -> tuple[list[str], list[str]] | None:
    """The demands that a seat must still answer, and what else it is asked; None if nothing has to
    be asked of it at all. To whoever speaks from outside its vote was read back at once; it costs
    nothing to ask it for the points that it passed over."""
    spoken = table.record.last(seat)
    question = table.standing.question
    held = question.seat(seat) if question else None
    if spoken is None or question is None or held is None:
        return None
    if spoken.declaration.abstain is not None:
        return None
    asks: list[str] = []
    new = [
        option.id
        for decision in table.record.decisions
        for option in decision.options
        if option.origin == "own"
        and seat not in option.holders
        and _newer(table, option.id, held.round)
    ]
    if unvoted and not held.final:
        asks.append("You have not voted yet on what is on the table.")
    if new:
        asks.append(f"New on the table: {', '.join(new)}. Say how you stand to it.")
    demands = _demands_to_answer(table, question, held)
    if demands:
        asks.append(f"Conditions on your side that you have not answered: {', '.join(demands)}.")
    refused = _refused(table, question, held)
    asks += refused.values()
    if held.unexplained:
        went = f"You went from {held.opening} to {held.cast} and named no argument of the others."
        if held.misstated:
            went = f"You say that you held {held.cast} before, but you had declared {held.opening}."
        asks.append(
            f"{went} Name what changed your mind under adopted with moved true, or leave adopted "
            "empty if there was no such argument."
        )
    elif not outside and not refused and _reads_otherwise(table, seat):
        asks.append(
            f"You are recorded as holding {held.cast}, and your words read otherwise. Confirm it, "
            "or correct it."
        )
    elif not outside and not refused and _decides_unsteadily(question, held):
        asks.append(f"You are recorded as holding {held.cast}. Confirm it, or correct it.")
    if outside and (passed := unanswered(table.record, seat)[:ASKED_AT_ONCE]):
        demands = [*demands, *(each for each in passed if each not in demands)]
        asks.append(f"Not answered by you: {', '.join(passed)}.")
    return ([*demands, *refused], asks) if asks else None


def _refused(table: Table, question: DecisionStanding, held: SeatStanding) -> dict[str, str]:
    """By id, the demands of a seat that its own side refused and it cannot have known of, with
    what it is asked: a vote counts as it was cast once its seat has heard that. Why they were
    refused stands with them in the form."""
    if not held.fell_back or not table.record.as_cast:
        return {}
    letters = {who: letter for letter, who in table.peers(held.participant).items()}
    found: dict[str, str] = {}
    for each in table.record.conditions:
        if each.id not in held.refused_demands:
            continue
        by = ", ".join(letters.get(who, who) for who in question.refused_by(each))
        otherwise = each.condition.otherwise
        found[each.id] = (
            f"You voted {held.cast}. Your {each.id} was refused by {by}. Without it you said you "
            f"{_OTHERWISE.get(otherwise, f'hold {otherwise}')}. Keep your vote, change it, or "
            f"amend or withdraw {each.id}."
        )
    return found


_OTHERWISE = {
    OWN: "hold a position of your own",
    OPPOSE: "are against it",
    OPEN: "would think again",
}


def _newer(table: Table, option: str, voted_in: int) -> bool:
    """Whether an option joined the table after a vote of this round was cast."""
    first = next(
        (
            tabled
            for tabled in table.state.tabled
            if any(option in decision.option_ids for decision in tabled.decisions)
        ),
        None,
    )
    return first is not None and voted_in <= first.after_round


def _demands_to_answer(table: Table, question: DecisionStanding, held: SeatStanding) -> list[str]:
    """Demands of those on the same side that this seat has neither granted nor refused."""
    if held.cast in ("", OWN, ANY):
        return []
    allies = {s.participant for s in question.seats if s.cast == held.cast}
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
    if held.steady or held.cast in ("", ANY) or held.round == 1:
        return False
    without = sum(seat.cast == held.cast for seat in question.seats) - 1
    return without * 2 <= question.seated or question.end == "consensus"


def _reads_otherwise(table: Table, seat: str) -> bool:
    """Whether the words of its last speech plainly say another option than its vote."""
    spoken = [s for s in table.state.said.in_rounds if s.participant == seat and s.declaration]
    return bool(spoken) and DIFFERS in spoken[-1].flags


def _unanswered(table: Table, failure: TurnFailed) -> NoteAdded:
    name, question = table.name(failure.participant), table.standing.question
    held = question.seat(failure.participant) if question else None
    if failure.message == NOTHING_DECLARED:
        told = f"{name} declared nothing that can be counted in the closing ballot"
    else:
        told = f"{name} did not answer the closing ballot ({failure.message.rstrip('.')})"
    left = "its last vote stands" if held and held.final else "it has no vote"
    return NoteAdded(code="closing_unanswered", text=f"{told}, so {left}.", remedy=failure.remedy)
