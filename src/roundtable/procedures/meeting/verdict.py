"""The meeting's verdict: the host's short conclusion, or an extract made without a model."""

from __future__ import annotations

import re

from ...core.state import State
from ...core.values import Dissent, Verdict
from ...views.meeting import (
    closing_speech,
    consensus_points,
    final_report,
    first_words,
    last_words,
    short_conclusion,
)
from ...views.meeting_status import DISCUSSION, Issue, called


def reached(state: State) -> Verdict:
    """What the meeting came to, as the host wrote it, and with every dissent of the minutes."""
    speech = closing_speech(state)
    return Verdict(
        answer=short_conclusion(state) if speech else _extract(state),
        agreement="; ".join(consensus_points(state)),
        dissent=tuple(d for issue in final_report(state).disagreement for d in _dissent(issue)),
        method="written" if speech else "extractive",
        author=speech.model if speech else "",
        cites=_cites(state, speech.text if speech else ""),
        meaningful=_meaningful(state),
        flags=speech.flags if speech else (),
    )


def _extract(state: State) -> str:
    """What the points say; the last words of everybody where there are none."""
    report = final_report(state)
    told = f"No model wrote this conclusion. {short_conclusion(state)}"
    if report.consensus or report.disagreement:
        return told
    seats = {p.id: called(p) for p in state.participants}
    lines = [
        f"- **{seats[s.participant]}** ({s.turn_id}): {first_words(s)}" for s in last_words(state)
    ]
    return "\n".join([told, "", *lines])


def _dissent(issue: Issue) -> list[Dissent]:
    """The smaller side of a disputed point; where both are alike, those who reject it."""
    against = len(issue.rejected_by) <= len(issue.held_by)
    names, verb = (issue.rejected_by, "disagrees") if against else (issue.held_by, "agrees")
    return [
        Dissent(
            participant=who,
            position=f"{verb} with {issue.id}: {issue.text}",
            reason=issue.reasons.get(who, ""),
        )
        for who in names
    ]


def _cites(state: State, text: str) -> tuple[str, ...]:
    """The turns whose points the conclusion names; an extract rests on everybody's last words."""
    if not text:
        return tuple(speech.turn_id for speech in last_words(state))
    named = (p for p in state.points.values() if re.search(rf"\b{p.point_id}\b", text))
    return tuple(dict.fromkeys(point.turn_id for point in named))


def _meaningful(state: State) -> bool:
    """A table at which a demonstration model speaks decides nothing."""
    for speech in state.speeches:
        seated = state.participant(speech.participant)
        if speech.stage == DISCUSSION and seated is not None:
            refs = [ref for ref in seated.speakers if ref.model == speech.model]
            if any(ref.demonstration for ref in refs):
                return False
    return True
