"""What a round leaves in the ledger when it closes: points, stances, what was missed, whether the
debate goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.convergence_rules import (
    Rule,
    any_of,
    divergence_below,
    enough_consensus_points,
    from_round,
    overlap_above,
)
from ...core.events import Event, NoteAdded, PointRaised, SpeechGiven, StanceTaken, TurnFailed
from ...core.text import clip
from ...views.five_round import forms
from ...views.five_round.rounds import POINTS, PROPOSAL, REVISION, planned, round_name
from ...views.five_round.skipped import EARLY_STOP, FORCE_ARBITRATE, LONE_EXPERT, SILENT_ROUND
from ...views.five_round.standing import measures
from .contracts import UNMET
from .options import DIVERGENCE
from .sitting import Sitting
from .tasks import contract_of

LONGEST_POINT = 400
"""Characters of a point on the list."""


class Closing:
    """Made for one round of one sitting."""

    def __init__(self, sitting: Sitting, number: int, stage: str) -> None:
        self.sitting = sitting
        self.number = number
        self.stage = stage

    def __call__(
        self, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
    ) -> tuple[Event, ...]:
        facts: list[Event] = []
        if self.stage == PROPOSAL:
            facts.extend(self._points(speeches))
        facts.extend(self._stances(speeches))
        notes: list[Event] = [
            *(note for speech in speeches for note in self._missed(speech)),
            *(self._missing(failure) for failure in failures),
            *self._survivors(speeches, failures),
        ]
        if len(speeches) > 1:
            notes.extend(self._convergence(facts))
        return (*facts, *notes)

    def _points(self, speeches: Sequence[SpeechGiven]) -> Iterator[Event]:
        number = 0
        for speech in speeches:
            for text in forms.points(speech.text)[:POINTS]:
                number += 1
                point = f"p{number}"
                yield PointRaised(
                    point_id=point,
                    text=clip(text, LONGEST_POINT),
                    turn_id=speech.turn_id,
                    round=self.number,
                )
                yield StanceTaken(
                    participant=speech.participant,
                    point_id=point,
                    position="agree",
                    turn_id=speech.turn_id,
                    round=self.number,
                    meaningful=self._counts(speech),
                )

    def _stances(self, speeches: Sequence[SpeechGiven]) -> Iterator[Event]:
        known = {point.id for point in self.sitting.points.points}
        for speech in speeches:
            for stance in forms.stances(speech.text):
                if stance.point in known:
                    yield StanceTaken(
                        participant=speech.participant,
                        point_id=stance.point,
                        position=stance.position,
                        turn_id=speech.turn_id,
                        round=self.number,
                        quote=clip(stance.reason, LONGEST_POINT),
                        meaningful=self._counts(speech),
                    )

    def _counts(self, speech: SpeechGiven) -> bool:
        seated = self.sitting.state.participant(speech.participant)
        refs = seated.speakers if seated else ()
        return not any(ref.demonstration for ref in refs if ref.model == speech.model)

    def _missed(self, speech: SpeechGiven) -> Iterator[NoteAdded]:
        """The requirements that an accepted speech does not keep to."""
        seated = self.sitting.state.participant(speech.participant)
        if seated is None or UNMET not in speech.flags:
            return
        contract = contract_of(self.sitting, self.number, self.stage, seated)
        broken = contract.check(speech.text)
        if broken:
            yield NoteAdded(
                code=f"requirements/{speech.turn_id}",
                text=f"{seated.name}, {round_name(self.number, self.stage)}, was used although it "
                f"misses requirements: {' '.join(each.message for each in broken)}",
            )

    def _missing(self, failure: TurnFailed) -> NoteAdded:
        first = self.stage == PROPOSAL
        stands = (
            "It takes no further part."
            if first
            else "What it said before stands, and it is asked again in the next round."
        )
        name = self.sitting.name(failure.participant)
        return NoteAdded(
            code="timed_out" if failure.cause == "timeout" else "missing",
            text=f"{name} did not speak in {round_name(self.number, self.stage)}: "
            f"{failure.message} {stands}",
            remedy=failure.remedy,
        )

    def _survivors(
        self, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
    ) -> Iterator[NoteAdded]:
        if any(failure.cause == "budget" for failure in failures):
            return
        if self.stage == PROPOSAL and len(speeches) == 1 and failures:
            yield NoteAdded(
                code=LONE_EXPERT,
                text="Only one expert is left, so there is nobody to discuss with.",
                remedy="Take the result for one opinion, or ask again with other models.",
            )
        elif self.stage != PROPOSAL and not speeches:
            yield NoteAdded(
                code=SILENT_ROUND,
                text=f"Nobody spoke in {round_name(self.number, self.stage)}, so the debate ended "
                "there.",
                remedy="Ask again, or choose other models.",
            )

    def _convergence(self, facts: Sequence[Event]) -> Iterator[NoteAdded]:
        sitting = self.sitting
        left = [each for each in planned(sitting.state) if each[0] > self.number]
        found = measures(sitting.state, self.number, self.stage, facts)
        fired = None if sitting.flag("strict_rounds") else self._rule()(found)
        if left and fired is not None:
            names = " and ".join(round_name(*each) for each in left)
            yield NoteAdded(
                code=EARLY_STOP,
                text=f"{names} skipped: {fired.detail}.",
                remedy="--strict-rounds holds every round.",
            )
        elif not left and sitting.host_writes and enough_consensus_points()(found) is None:
            yield NoteAdded(
                code=FORCE_ARBITRATE,
                text="FORCE_ARBITRATE: the rounds are used up with fewer than three consensus "
                "points, so the host must rule.",
            )

    def _rule(self) -> Rule:
        """R1 cannot end a debate. Enough consensus points end it after R4, and before that only
        where it was asked for."""
        sitting = self.sitting
        rules = [
            overlap_above(),
            divergence_below(sitting.number("divergence", DIVERGENCE)),
        ]
        if self.stage == REVISION or sitting.flag("accelerate"):
            rules.append(enough_consensus_points())
        return from_round(2, any_of(*rules))
