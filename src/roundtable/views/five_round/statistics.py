"""The figures of a five-round discussion, all counted from its ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...core.events import SpeechGiven
from ...core.state import Attempt, State
from ...core.text import count_words
from . import forms
from .rounds import ARBITRATION, CRITIQUE, REVISION, held

BESIDE = ("clerk", "casting", "ballot", "ballot-again")
"""The stages of calls beside the five rounds."""
NOT_SPOKEN = ("remark", "clerk", "casting")
"""The stages whose words belong to no expert and to no summary."""


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
        if finding.named
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
        _purpose(attempt) for turn in state.called_turns for attempt in turn.attempts
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
        words=sum(count_words(s.text) for s in state.speeches if s.stage not in NOT_SPOKEN),
        actionability_pct=forms.actionability(tasks),
    )


def _purpose(attempt: Attempt) -> str:
    """What a call was made for: what the rounds themselves do not ask for is told apart."""
    started = attempt.started
    first = started.purpose == "answer"
    return started.stage if first and started.stage in BESIDE else started.purpose


def calls_line(found: Statistics) -> str:
    """The true number of calls, and what made it up."""
    names = {
        "answer": "first asked",
        "clerk": "to list what can be voted on",
        "casting": "to cast the table",
        "ballot": "for votes that were still open",
        "ballot-again": "for positions that came up in the ballot",
        "repair": "asked again for a missed requirement",
        "declare": "asked again for a declaration",
        "retry": "tried again after a failure",
        "fallback": "taken over by another model",
    }
    parts = [f"{count} {names[purpose]}" for purpose, count in found.calls_by_purpose.items()]
    return f"{found.calls} calls" + (f": {', '.join(parts)}" if parts else "")
