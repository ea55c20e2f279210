"""The figures of a five-round discussion, all counted from its ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...core.events import SpeechGiven
from ...core.state import State
from ...core.text import count_words
from . import forms
from .rounds import ARBITRATION, CRITIQUE, REVISION, held


@dataclass(frozen=True, slots=True)
class Statistics:
    """What was done and what came of it."""

    experts: int
    calls: int
    """Every call that was made, repeated ones included."""
    calls_by_purpose: dict[str, int]
    risks: int
    defects: int
    suggestions: int
    """Rows of the experts' tables of changes."""
    rulings: int
    """Those with a rationale."""
    weeks: int
    words: int
    actionability_pct: float | None


def summary_speech(state: State) -> SpeechGiven | None:
    """The host's last word, if it was written."""
    return next(iter(state.spoken_in(ARBITRATION, 0)), None)


def statistics(state: State) -> Statistics:
    found = [
        finding
        for speech in state.spoken_in(CRITIQUE, 3)
        for finding in forms.findings(speech.text)
    ]
    kinds = Counter(finding.kind for finding in found)
    changes = [
        revision
        for number, stage in held(state)
        if stage == REVISION
        for speech in state.spoken_in(stage, number)
        for revision in forms.revisions(speech.text)
        if revision.real
    ]
    summary = summary_speech(state)
    text = summary.text if summary else ""
    tasks = forms.plan(text)
    purposes = Counter(
        attempt.started.purpose for turn in state.turns.values() for attempt in turn.attempts
    )
    return Statistics(
        experts=len({speech.participant for speech in state.speeches if speech.round > 0}),
        calls=state.usage.calls,
        calls_by_purpose=dict(sorted(purposes.items())),
        risks=kinds["risk"],
        defects=kinds["defect"],
        suggestions=len(changes),
        rulings=sum(ruling.complete for ruling in forms.rulings(text)),
        weeks=len(forms.weeks(tasks)),
        words=sum(count_words(s.text) for s in state.speeches if s.stage != "remark"),
        actionability_pct=forms.actionability(tasks),
    )


def calls_line(found: Statistics) -> str:
    """The true number of calls, and what made it up."""
    names = {
        "answer": "first asked",
        "repair": "asked again for a missed requirement",
        "retry": "tried again after a failure",
        "fallback": "taken over by another model",
    }
    parts = [f"{count} {names[purpose]}" for purpose, count in found.calls_by_purpose.items()]
    return f"{found.calls} calls" + (f": {', '.join(parts)}" if parts else "")
