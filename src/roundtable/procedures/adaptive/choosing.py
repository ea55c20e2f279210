"""From the meta-panel's words to the workflow, the seats and the synthesiser."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.events import Event, NoteAdded, ParticipantsSeated, SpeechGiven, WorkflowChosen
from ...core.values import Participant
from . import notes as say
from .design import Design, decide, participant_for
from .recommendation import Recommendation, read_recommendation
from .roles import SYNTHESISER_ID
from .seating import writer_participant
from .sitting import Sitting


def by_default(sitting: Sitting) -> tuple[Event, ...]:
    """No meta-panel: the panel of the opening stays, and its workflow is written down."""
    return (_chosen(sitting.terms.default),)


def by_meta_panel(sitting: Sitting, speeches: Sequence[SpeechGiven]) -> tuple[Event, ...]:
    """The workflow that the recommendations come to; the default where there are none."""
    terms, host = sitting.terms, sitting.host
    found = [r for s in speeches if (r := read_recommendation(s.participant, s.text)) is not None]
    decision = None
    if found:
        decision = decide(
            found,
            terms.bench,
            orchestrator=host.speaker.model,
            forced=terms.forced,
            max_panel=terms.max_panel,
            rounds=terms.default.rounds,
            roles=[seat.role for seat in terms.default.seats],
            synthesis=terms.synthesis,
        )
    if decision is None:
        notes: tuple[NoteAdded, ...] = (
            say.meta_failed(_silent(sitting, found)),
            *terms.default_notes,
        )
        reason = "The meta-panel gave no recommendation: the default panel of the mode."
        return (_chosen(terms.default), _seated(sitting.state.start.participants, reason), *notes)
    bench = {each.name: each for each in terms.bench}
    seats = decision.design.seats
    panel = [participant_for(plan, bench[decision.speakers[plan.id]]) for plan in seats]
    writer = writer_participant(bench[decision.speakers[SYNTHESISER_ID]].speakers)
    first = [who for plan, who in zip(seats, panel, strict=True) if plan.stage == 1]
    notes = (*decision.notes, *say.bias(first, host, writer.speaker.model))
    if len(found) < len(terms.analysts):
        notes = (say.meta_partly(_silent(sitting, found), len(found)), *notes)
    reason = f"Designed by the meta-panel: {decision.design.workflow}."
    return (_chosen(decision.design), _seated((*panel, writer), reason), *notes)


def _chosen(design: Design) -> WorkflowChosen:
    return WorkflowChosen(
        workflow=design.workflow, rounds=design.rounds, design=design.model_dump(mode="json")
    )


def _seated(participants: Sequence[Participant], reason: str) -> ParticipantsSeated:
    return ParticipantsSeated(participants=tuple(participants), reason=reason)


def _silent(sitting: Sitting, found: Sequence[Recommendation]) -> str:
    """Who gave no recommendation, and why."""
    heard = {each.analyst for each in found}
    failed = {f.participant: f for f in sitting.state.failures if f.stage == "meta-panel"}
    told = []
    for analyst in sitting.terms.analysts:
        if analyst.id in heard:
            continue
        failure = failed.get(analyst.id)
        if failure is None:
            why = "no workflow in its answer"
        else:
            mark = f"{say.TIMEOUT} " if failure.cause == "timeout" else ""
            why = f"{mark}{failure.message}"
        told.append(f"{analyst.name}: {why}")
    return "; ".join(told) or "nobody on the bench may be seated"
