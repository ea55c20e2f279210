"""The conclusion document of a meeting, in its two forms: its headings are fixed, and under its
summary stands what every delivery says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from ..core.effects import DELIVERED
from ..core.events import SpeechGiven
from ..core.state import State
from ..core.text import slug
from ..core.verdict_findings import warning
from .delivery import Delivery, findings_told
from .delivery_md import Part, common, last, written
from .meeting import (
    DECISION_SECTIONS,
    actions,
    also_declared,
    chairs_parts,
    changes_of_mind,
    checked_words,
    conclusion_told,
    consensus_points,
    disagreement_points,
    held_points,
    is_heard,
    last_positions,
    points_told,
    recorded_apart,
    rejected_points,
    spoken_words,
    unsettled_points,
    vote_told,
    withdrawn_points,
    written_conclusion,
    written_section,
)
from .meeting_actions import ActionTold, told_actions
from .meeting_status import CONCLUSION, DISCUSSION, called, max_rounds, rounds_held
from .outgoing import outgoing
from .output_file import OutputFile

DOCS = "docs"
"""The folder of the workspace for conclusion documents, unless a path was given."""
UNASSIGNED = "unassigned"
ELSEWHERE = ("Vote", "Next steps", "Points", "What talk changed")
"""Parts of a delivery that stand under the document's own headings."""


def document(state: State, at: datetime) -> str:
    """The conclusion document. Its headings are fixed; `at` is local and carries its zone."""
    start = state.start
    seats = ", ".join(called(p) for p in state.participants)
    lines = [
        f"# Roundtable Conclusion: {' '.join(start.topic.split())}",
        "",
        "## Summary",
        "",
        f"- **Participants**: {seats}",
        f"- **Rounds**: {rounds_held(state)} of {max_rounds(state)}",
        f"- **Date**: {at.strftime('%Y-%m-%d')}",
        f"- **Points**: {points_told(state)}",
    ]
    if vote := vote_told(state):
        lines.append(f"- **Vote**: {vote}")
    lines += ["", *_conclusion(state)]
    if written_conclusion(state) is None:
        lines += ["", "No model wrote this: it is an extract of what the participants declared."]
    if parts := [*chairs_parts(state), *_parts(state)]:
        lines += ["", *written([(title, _body(body, listed=True)) for title, body in parts])]
    for title, listed in (
        ("Changes of mind", changes_of_mind(state)),
        ("Last positions", last_positions(state)),
        ("For the record", recorded_apart(state)),
    ):
        if listed:
            lines += ["", f"**{title}**", "", *_listed(listed)]
    if start.options.get("format") == "decision":
        for heading in DECISION_SECTIONS:
            text = checked_words(state, written_section(state, heading))
            lines += ["", f"## {heading}", "", _body(text) or "Not written: nobody stated it."]
    lines += ["", "## Consensus Points", "", *_listed(consensus_points(state))]
    if some := held_points(state):
        lines += ["", "**Held by some, opposed by nobody**", "", *_listed(some)]
    lines += ["", "## Disagreement Points", "", *_listed(disagreement_points(state))]
    if rejected := rejected_points(state):
        lines += ["", "**Rejected by all**", "", *_listed(rejected)]
    for title, listed in (
        ("Open: neither agreed nor rejected", unsettled_points(state)),
        ("Withdrawn", withdrawn_points(state)),
    ):
        if listed:
            lines += ["", f"**{title}**", "", *_listed(listed)]
    kept, _ = told_actions(state, actions(state))
    lines += ["", "## Action Items", "", *_numbered(kept)]
    if left_out := also_declared(state):
        lines += ["", "**Also declared**", "", *_listed(left_out)]
    lines += ["", "## Detailed Transcript", *_transcript(state)]
    return outgoing("\n".join(lines)) + "\n"


def _conclusion(state: State) -> Iterator[str]:
    """The conclusion as the check leaves it, and before it what the check found."""
    told = Delivery.of(state) if state.verdict is not None else None
    if told is not None and told.findings:
        against = warning(state)
        said = f"{against} {findings_told(told.findings)}".strip()
        yield from (f"⚠ **{said}**", "")
    written = told.written if told is not None and not told.extract else conclusion_told(state)
    yield _body(written)


def outputs(state: State, at: datetime) -> tuple[OutputFile, ...]:
    """The conclusion document; nothing if it was written before the discussion was closed, or if
    nobody said anything."""
    if any(note.code == DELIVERED for note in state.notes) or not _spoken(state):
        return ()
    wanted = state.start.options.get("output_path")
    path = (
        wanted
        if isinstance(wanted, str)
        else f"{DOCS}/{at.strftime('%Y-%m-%d')}-{slug(state.start.topic)}.md"
    )
    return (OutputFile(path, document(state, at)),)


def _transcript(state: State) -> Iterable[str]:
    """Everything in the order in which it was said; a host's speech stands where it was made."""
    section = -1
    seats = {p.id: called(p) for p in (*state.participants, state.start.host)}
    missing = _absences(state)
    for speech in state.speeches:
        if speech.stage == CONCLUSION or not is_heard(speech):
            continue
        round_ = speech.round or speech.after_round
        if round_ != section:
            yield from missing.pop(section, [])
            section = round_
            yield from ("", f"### Round {round_}", "")
        yield f"- **{seats.get(speech.participant, speech.participant)}**: {_indented(speech)}"
    for round_, lines in missing.items():
        if round_ != section:
            yield from ("", f"### Round {round_}", "")
        yield from lines


def _absences(state: State) -> dict[int, list[str]]:
    seats = {p.id: called(p) for p in state.participants}
    return {
        round_: [f"- **{seats.get(who, who)}**: absent" for who in stage.closed.missing]
        for (name, round_), stage in state.stages.items()
        if name == DISCUSSION and stage.closed is not None and stage.closed.missing
        # A round that had just begun when the meeting was ended: nobody stayed away from it.
        if any(turn in state.turns and state.turns[turn].over for turn in stage.opened.turns)
    }


def _indented(speech: SpeechGiven) -> str:
    """A speech in a list item: what looks like a heading in it must not become one of ours."""
    text = spoken_words(speech)
    flags = f"{' '.join(speech.flags)} " if speech.flags else ""
    return flags + "\n".join(f"    {line}" if line else "" for line in text.splitlines()).lstrip()


def _body(text: str, *, listed: bool = False) -> str:
    """A host's section, whose own headings must not become the document's. What is `listed` begins
    on a line of its own."""
    lines = (re.sub(r"^\s{0,3}#+\s*(.*?)\s*#*$", r"**\1**", line) for line in text.splitlines())
    body = "\n".join(lines).strip()
    return f"\n{body}" if listed and text.startswith("\n") else body


def _parts(state: State) -> list[Part]:
    """What every delivery says, but for what the document has a place of its own for."""
    if state.verdict is None:
        return []
    told = Delivery.of(state)
    return [(title, body) for title, body in (*common(told), *last(told)) if title not in ELSEWHERE]


def _listed(lines: Sequence[str]) -> list[str]:
    return [f"- {line}" for line in lines] or ["- None."]


def _numbered(items: Sequence[ActionTold]) -> list[str]:
    return [
        f"{number}. [ ] {' '.join(item.text.split())}{f' (due {item.due})' if item.due else ''}"
        f" - Owner: {item.owner or UNASSIGNED}{f' ({told})' if told else ''}"
        for number, (item, told) in enumerate(
            ((each.item, "; ".join(each.said)) for each in items), 1
        )
    ] or ["None."]


def _spoken(state: State) -> bool:
    return bool(state.said.of(DISCUSSION))
