"""The rules: four rounds of the experts, side by side, and the host's summary as the fifth.

Convergence may end the debate after R2, R3 or R4; R1 and R5 are always held. With three experts
that is thirteen calls when every speech keeps to its requirements at once.
"""

from __future__ import annotations

from ...core.effects import Effect
from ...core.events import NoteAdded
from ...core.stages import run_stage
from ...core.state import State
from ...core.stopping import Stop, budget_exhausted, stop_requested
from ...views.five_round.rounds import ARBITRATION, PROPOSAL, held, planned
from .. import endings
from . import tasks
from .closing import Closing
from .contracts import UNMET
from .sitting import MINIMUM, Sitting
from .verdict import extracted, planned_verdict, written


class FiveRound:
    """Proposal, cross-reference, critique, revision, arbitration."""

    name = "five-round"

    def advance(self, state: State) -> tuple[Effect, ...]:
        sitting = Sitting(state)
        if stop := stop_requested(state):
            return self._end_early(sitting, stop)
        if sitting.only_plan:
            return self._plan(sitting)
        for number, stage in planned(state):
            if not self._is_held(sitting, number, stage):
                break
            effects = self._round(sitting, number, stage)
            if effects:
                return effects
        if len(sitting.proposals) < MINIMUM:
            return self._too_few(sitting)
        return self._conclude(sitting)

    def _is_held(self, sitting: Sitting, number: int, stage: str) -> bool:
        """What is open comes to its end; nothing new opens after a rule has ended the debate,
        without a budget, for a single expert, or after a round in which nobody spoke."""
        state = sitting.state
        if (stage, number) in state.stages:
            return True
        if budget_exhausted(state) or sitting.debate_is_over:
            return False
        before = held(state)
        if not before:
            return stage == PROPOSAL
        spoke = state.spoken_in(before[-1][1], before[-1][0])
        return len(sitting.present) > 1 and len(spoke) > 0

    def _round(self, sitting: Sitting, number: int, stage: str) -> tuple[Effect, ...]:
        opened = sitting.state.stages.get((stage, number))
        if opened is not None and opened.closed is not None:
            return ()
        seated = sitting.state.participants if stage == PROPOSAL else sitting.present
        plans = [tasks.round_turn(sitting, number, stage, p) for p in seated]
        return run_stage(sitting.state, plans, closing=Closing(sitting, number, stage)).effects

    def _conclude(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        verdict = None
        notes: list[NoteAdded] = []
        if sitting.host_writes:
            plan = tasks.host_turn(sitting)
            stage = run_stage(state, [plan])
            if not stage.over:
                return stage.effects
            if stage.speeches:
                verdict = written(sitting, stage.speeches[0])
                if UNMET in stage.speeches[0].flags:
                    broken = plan.task.contract.check(stage.speeches[0].text)
                    notes.append(
                        NoteAdded(
                            code=f"requirements/{plan.turn_id}",
                            text="The host's summary was used although it misses requirements: "
                            + " ".join(each.message for each in broken),
                        )
                    )
        if verdict is None:
            verdict = extracted(sitting)
            if sitting.host_writes:
                notes.append(EXTRACTED_NOTE)
        return endings.with_verdict(state, verdict, *notes, finish="the five rounds")

    def _plan(self, sitting: Sitting) -> tuple[Effect, ...]:
        """The analysis only: nobody is called."""
        return endings.with_verdict(sitting.state, planned_verdict(sitting), finish="the plan")

    def _end_early(self, sitting: Sitting, stop: Stop) -> tuple[Effect, ...]:
        """End now, with what exists and without another call."""
        return endings.with_what_exists(extracted(sitting) if sitting.last_words else None, stop)

    def _too_few(self, sitting: Sitting) -> tuple[Effect, ...]:
        return endings.without_verdict(
            sitting.state,
            detail="No expert could make a proposal, so there is nothing to discuss.",
            remedy="Try again, or choose other models: `roundtable models` shows what works now.",
            before="it before anybody had made a proposal",
        )


EXTRACTED_NOTE = NoteAdded(
    code="extracted_verdict",
    text=f"The host could not write R5 ({ARBITRATION}), so its summary was extracted from the "
    "rounds without a model, and nothing was ruled on.",
    remedy="Ask again to get a written one.",
)
