"""What the meeting came to: the host's conclusion, checked, or an extract made without a model."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from ...core.declaration import NONE
from ...core.events import SpeechGiven
from ...core.state import State
from ...core.values import OUTSIDE, Verdict
from ...views.meeting import (
    actions,
    chairs_dissent_told,
    conclusion_told,
    first_words,
    last_words,
    spoken_words,
    written_conclusion,
)
from ...views.meeting_document import outputs as document_outputs
from ...views.output_file import OutputFile
from .. import verdicts
from .meeting_table import MeetingTable


def reached(table: MeetingTable) -> Verdict:
    """The verdict. What was counted comes from the record, whatever the host writes."""
    speech = written_conclusion(table.state)
    if speech is None:
        return _extracted(table)
    if speech.model == OUTSIDE:
        return _by_the_chair(table, speech)
    verdict = verdicts.written(
        table,
        speech,
        answer=conclusion_told(table.state),
        agreement=speech.sections.get("Agreement", ""),
        gaps=speech.sections.get("Gaps and Risks", ""),
        actions=actions(table.state),
        among=last_words(table.state),
    )
    cited = _points_cited(table, spoken_words(speech))
    flags = tuple(flag for flag in verdict.flags if not cited or flag != verdicts.UNCITED)
    cites = tuple(dict.fromkeys((*verdict.cites, *cited)))
    return verdict.model_copy(update={"cites": cites, "flags": flags})


def outputs(state: State, at: datetime) -> tuple[OutputFile, ...]:
    """The conclusion document, which is written before the discussion is closed: with the verdict
    that will close it."""
    if state.verdict is None and last_words(state):
        verdict = reached(MeetingTable(state, "meeting", open_names=True))
        state = replace(state, verdict=verdict, _derived={})
    return document_outputs(state, at)


def _by_the_chair(table: MeetingTable, speech: SpeechGiven) -> Verdict:
    """The chair's words are checked as a host's are; what was counted stands beside them."""
    dissent = "; ".join(e.rstrip(".") for e in chairs_dissent_told(table.state))
    beside = "\n".join(speech.sections.values())
    verdict = verdicts.written(
        table,
        speech,
        answer=speech.text,
        on_dissent=dissent,
        beside=beside,
        actions=actions(table.state),
    )
    cited = _points_cited(table, speech.text)
    # Whoever concludes by hand is asked for no citations.
    flags = tuple(flag for flag in verdict.flags if flag != verdicts.UNCITED)
    return verdict.model_copy(
        update={
            "author": OUTSIDE,
            "cites": tuple(dict.fromkeys((*verdict.cites, *cited))),
            "flags": flags,
        }
    )


def _extracted(table: MeetingTable) -> Verdict:
    """What the vote and the points say; the last words of everybody where there is neither."""
    state = table.state
    question = table.standing.question
    lines = [f"No model wrote this conclusion. {conclusion_told(state)}"]
    if question is None or question.end is None:
        lines.append("")
        lines += [
            f"- **{table.called(s.participant)}** ({s.turn_id}): {first_words(s)}"
            for s in last_words(state)
        ]
    return verdicts.counted(table).model_copy(
        update={
            "answer": "\n".join(lines),
            "brief": conclusion_told(state),
            "delivers": (question.delivered or NONE) if question else "",
            "next_steps": actions(state),
            "method": "extractive",
            "cites": tuple(speech.turn_id for speech in last_words(state)),
        }
    )


def _points_cited(table: MeetingTable, text: str) -> list[str]:
    """The turns whose points a conclusion names."""
    return [p.turn_id for p in table.record.points if re.search(rf"\b{p.id}\b", text)]
