"""The rules: four rounds of the experts, side by side, and the host's summary as the fifth.

Convergence may end the debate after R3 or R4, rounds that repeat each other after R2 too; R1 and R5
are always held. With three experts
that is thirteen calls when every speech keeps to its requirements at once, and one more where the
question names no options: then the host lists, while R2 is being held, what can be voted on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...core.convergence_rules import (
    Rule,
    any_of,
    divergence_below,
    enough_consensus_points,
    from_round,
    overlap_above,
)
from ...core.effects import Effect, Record
from ...core.events import Event, NoteAdded, SpeechGiven, TurnFailed
from ...core.stages import closed_stage, run_stage
from ...core.state import State
from ...core.stopping import Stop, budget_exhausted, stop_requested
from ...views.five_round.rounds import (
    ARBITRATION,
    CRITIQUE,
    PROPOSAL,
    REVISION,
    ROUNDS,
    held,
    planned,
    round_name,
)
from ...views.five_round.skipped import EARLY_STOP, FORCE_ARBITRATE, LONE_EXPERT, SILENT_ROUND
from ...views.five_round.standing import measures
from .. import endings, verdicts
from ..clerk import (
    given_choices,
    given_options,
    listed_options,
    with_own_positions,
)
from ..closing import closing_ballot
from . import tasks
from .contracts import UNMET
from .options import DIVERGENCE
from .tasks import FiveRoundTable
from .verdict import extracted, planned_verdict, written


class FiveRound:
    """Proposal, cross-reference, critique, revision, arbitration."""

    name = "five-round"

    def advance(self, state: State) -> tuple[Effect, ...]:
        table = FiveRoundTable(state, self.name)
        if stop := stop_requested(state):
            return _end_early(table, stop)
        if effects := given_options(table):
            return effects
        if table.option("depth") == "pre-ac":
            return endings.with_verdict(state, planned_verdict(table), finish="the plan")
        for number, stage in planned(state):
            if not _is_held(table, number, stage):
                break
            if effects := (*_round(table, number, stage), *_clerk(table, number)):
                return effects
        if not tasks.proposals(table):
            return _too_few(table)
        return _votes(table) or _conclude(table)


# --- stages ------------------------------------------------------------------------------------


def _is_held(table: FiveRoundTable, number: int, stage: str) -> bool:
    """What is open comes to its end; nothing new opens after a rule has ended the debate, without
    a budget, for a single expert, or after a round in which nobody spoke."""
    state = table.state
    if (stage, number) in state.stages:
        return True
    if budget_exhausted(state) or any(note.code == EARLY_STOP for note in state.notes):
        return False
    before = held(state)
    if not before:
        return stage == PROPOSAL
    spoke = state.spoken_in(before[-1][1], before[-1][0])
    return len(tasks.present(table)) > 1 and len(spoke) > 0


def _round(table: FiveRoundTable, number: int, stage: str) -> tuple[Effect, ...]:
    state = table.state
    if closed_stage(state, stage, number):
        return ()
    if stage == REVISION and (stage, number) not in state.stages:
        tabled = with_own_positions(table)
        if tabled is not None:
            return (Record((tabled,)),)
    seated = table.seats if stage == PROPOSAL else tasks.present(table)
    plans = [tasks.round_turn(table, number, stage, p) for p in seated]
    return run_stage(state, plans, closing=_closing(table, number, stage)).effects


def _clerk(table: FiveRoundTable, number: int) -> tuple[Effect, ...]:
    """While the second round is held, the host lists what the proposals share and where they
    differ: nobody waits for it."""
    state = table.state
    beside = planned(state)[1][0] if len(planned(state)) > 1 else 0
    if number != beside or given_choices(table):
        return ()
    return listed_options(table, tasks.cut_proposals(table))


def _votes(table: FiveRoundTable) -> tuple[Effect, ...]:
    rounds = held(table.state)
    if len(rounds) < 2:
        return ()
    return closing_ballot(table, rounds[-1][0], unvoted=True)


def _conclude(table: FiveRoundTable) -> tuple[Effect, ...]:
    state = table.state
    finish = "the five rounds"
    if not table.host_writes:
        return endings.with_verdict(state, extracted(table), finish=finish)
    plan = tasks.host_turn(table)
    stage = run_stage(state, [plan])
    if not stage.over:
        return stage.effects
    summary = next(iter(stage.speeches), None)
    why = verdicts.unusable(summary, plan.task.contract.sections, tasks.last_plans(table))
    if summary is None or why:
        note = verdicts.extracted_because(why, EXTRACTED_NOTE)
        return endings.with_verdict(state, extracted(table), note, finish=finish)
    notes = []
    if UNMET in summary.flags:
        broken = " ".join(each.message for each in plan.task.contract.check(summary.text))
        told = "The host's summary was used although it misses requirements"
        notes.append(
            NoteAdded(
                code=f"requirements/{plan.turn_id}",
                text=f"{told}: {broken}" if broken else f"{told}.",
            )
        )
    return endings.with_verdict(state, written(table, summary), *notes, finish=finish)


def _end_early(table: FiveRoundTable, stop: Stop) -> tuple[Effect, ...]:
    """End now, with what exists and without another call."""
    return endings.with_what_exists(extracted(table) if tasks.last_plans(table) else None, stop)


def _too_few(table: FiveRoundTable) -> tuple[Effect, ...]:
    return endings.without_verdict(
        table.state,
        needs=1,
        detail="No expert could make a proposal, so there is nothing to discuss."
        + endings.reasons(table.state),
        remedy="Try again, or choose other models: `roundtable models` shows what works now.",
        before="it before anybody had made a proposal",
    )


# --- when a round closes -----------------------------------------------------------------------


def _closing(
    table: FiveRoundTable, number: int, stage: str
) -> Callable[[Sequence[SpeechGiven], Sequence[TurnFailed]], tuple[Event, ...]]:
    """What a round leaves beside its speeches: what was missed, and whether the debate goes on."""

    def closing(
        speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
    ) -> tuple[Event, ...]:
        notes = [
            *(note for speech in speeches for note in _missed(table, speech)),
            *(_missing(table, failure) for failure in failures),
            *_survivors(stage, number, speeches, failures),
        ]
        if len(speeches) > 1:
            notes.extend(_convergence(table, number, stage))
        return tuple(notes)

    return closing


def _missed(table: FiveRoundTable, speech: SpeechGiven) -> Iterator[NoteAdded]:
    """The requirements that an accepted speech does not keep to."""
    seated = table.state.participant(speech.participant)
    if seated is None or UNMET not in speech.flags:
        return
    contract = tasks.contract_of(table, speech.round, speech.stage, seated)
    if broken := contract.check(speech.text):
        yield NoteAdded(
            code=f"requirements/{speech.turn_id}",
            text=f"{seated.name}, {round_name(speech.round, speech.stage)}, was used although it "
            f"misses requirements: {' '.join(each.message for each in broken)}",
        )


def _missing(table: FiveRoundTable, failure: TurnFailed) -> NoteAdded:
    stands = (
        "It takes no further part."
        if failure.stage == PROPOSAL
        else "What it said before stands, and it is asked again in the next round."
    )
    return NoteAdded(
        code="timed_out" if failure.cause == "timeout" else "missing",
        text=f"{table.name(failure.participant)} did not speak in "
        f"{round_name(failure.round, failure.stage)}: {failure.message} {stands}",
        remedy=failure.remedy,
    )


def _survivors(
    stage: str, number: int, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> Iterator[NoteAdded]:
    if any(failure.cause == "budget" for failure in failures):
        return
    if stage == PROPOSAL and len(speeches) == 1 and failures:
        yield NoteAdded(
            code=LONE_EXPERT,
            text="Only one expert is left, so there is nobody to discuss with.",
            remedy="Treat the result as one opinion, or ask again with other models.",
        )
    elif stage != PROPOSAL and not speeches:
        yield NoteAdded(
            code=SILENT_ROUND,
            text=f"Nobody spoke in {round_name(number, stage)}, so the debate ended there.",
            remedy="Ask again, or choose other models.",
        )


def _convergence(table: FiveRoundTable, number: int, stage: str) -> Iterator[NoteAdded]:
    left = [each for each in planned(table.state) if each[0] > number]
    found = measures(table.state, number, stage)
    fired = None if table.option("strict_rounds") else _rule(table, stage)(found)
    if left and fired is not None:
        names = " and ".join(round_name(*each) for each in left)
        yield NoteAdded(
            code=EARLY_STOP,
            text=f"{names} skipped: {fired.detail}.",
            remedy="--strict-rounds holds every round.",
        )
    elif not left and table.host_writes and enough_consensus_points()(found) is None:
        yield NoteAdded(
            code=FORCE_ARBITRATE,
            text="FORCE_ARBITRATE: the rounds are used up with fewer than three consensus "
            "points, so the host must rule.",
        )


def _rule(table: FiveRoundTable, stage: str) -> Rule:
    """R1 cannot end a debate. Rounds that repeat each other end it at once. Agreement does so only
    after the critique, which is worth most where all agree; enough consensus points after R4, and
    before that only where it was asked for."""
    critique = 2 if table.option("accelerate") else ROUNDS[CRITIQUE].number
    rules = [
        overlap_above(),
        from_round(critique, divergence_below(tasks.number(table, "divergence", DIVERGENCE))),
    ]
    if stage == REVISION or table.option("accelerate"):
        rules.append(enough_consensus_points())
    return from_round(2, any_of(*rules))


EXTRACTED_NOTE = NoteAdded(
    code="extracted_verdict",
    text=f"The host could not write R5 ({ARBITRATION}), so its summary was extracted from the "
    "rounds without a model, and nothing was ruled on.",
    remedy="Ask again to get a written one.",
)
