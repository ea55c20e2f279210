"""The track record of the models at a table: learned once, when it is opened, and kept with it.

It lies in the options of the discussion, so that counting again always comes to the same. It holds
models, not participants: an expert is a hat, and its model may be another one tomorrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.state import State
from ..core.track_record import NO_RECORD, TrackRecord, learn
from ..core.values import Options, Participant

RECORD = "record"


def recorded(past: Sequence[Mapping[str, str]], seated: Sequence[Participant]) -> Options:
    """The option that keeps what the past tells of the seated models; none if it tells nothing."""
    models = {participant.speaker.model for participant in seated}
    found = learn(past, models)
    if not found.learned:
        return {}
    weights = {model: round(weight, 3) for model, weight in found.weights.items()}
    return {RECORD: {"weights": dict(weights), "questions": found.questions}}


def past_record_of(state: State) -> TrackRecord:
    """The record by participant. Whose model is not in it, such as a substitute, is average."""
    kept = state.start.options.get(RECORD)
    weights = kept.get("weights") if isinstance(kept, dict) else None
    questions = kept.get("questions") if isinstance(kept, dict) else None
    if not isinstance(weights, dict) or not isinstance(questions, int):
        return NO_RECORD
    spoke = {p.id: p.speaker.model for p in state.participants}
    spoke.update({s.participant: s.model for s in state.said.in_rounds})
    known = {
        who: float(weight)
        for who, model in spoke.items()
        if isinstance(weight := weights.get(model), int | float)
    }
    return TrackRecord(known, questions, f"learned from {questions} past questions")
