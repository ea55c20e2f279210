"""What a meeting leaves behind: the delivery, and the conclusion document in its two forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from ..core.contracts import says_nothing
from ..core.declarations import ActionItem, action_items, declarations, prose
from ..core.effects import DELIVERED, turn_id
from ..core.events import SpeechGiven
from ..core.state import State
from ..core.text import clip, first_sentences, redact, slug
from ..core.values import OUTSIDE
from .estimate import Estimate, estimate_calls
from .meeting_status import (
    CONCLUSION,
    DISCUSSION,
    MINUTES,
    Issue,
    RoundReport,
    called,
    current_round,
    max_rounds,
    round_report,
    rounds_held,
    speaks_from_outside,
)
from .output_file import OutputFile

DOCS = "docs"
"""The folder of the workspace for conclusion documents, unless a path was given."""
DECISION_SECTIONS = (
    "MVP Scope",
    "Tech Architecture",
    "Acceptance Criteria",
    "Risk Assessment",
    "Design Deliverables",
)
CONCLUSION_SECTIONS = ("Conclusion", "Consensus Points", "Disagreement Points", "Action Items")
UNASSIGNED = "unassigned"
TOKENS_IN, TOKENS_OUT = (1_000, 7_000), (350, 900)
"""The usual range of one call: each reads what was said before it."""
_LIST_MARK = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)])\s+")


# The conclusion, as the host wrote it or as it can be extracted


def closing_speech(state: State) -> SpeechGiven | None:
    """The host's conclusion, if there is one."""
    return state.speech(turn_id(0, CONCLUSION, state.start.host.id))


def written_section(state: State, heading: str) -> str:
    speech = closing_speech(state)
    return speech.sections.get(heading, "") if speech else ""


def short_conclusion(state: State) -> str:
    """One or two sentences: the host's, or, without them, what the points say."""
    speech = closing_speech(state)
    if speech is not None:
        if speech.model == OUTSIDE:
            return speech.text  # given by hand: it is the conclusion, word for word
        return first_sentences(speech.sections.get("Conclusion") or prose(speech.text), 2, 600)
    report = final_report(state)
    told = []
    if report.consensus:
        texts = "; ".join(_claim(issue) for issue in report.consensus)
        told.append(f"The meeting agreed on {_count(report.consensus)}: {texts}.")
    if report.disagreement:
        texts = "; ".join(issue.text.rstrip(".") for issue in report.disagreement)
        told.append(f"It disagrees on {_count(report.disagreement)}: {texts}.")
    return " ".join(told) or "No point was agreed or disputed in declared positions."


def final_report(state: State) -> RoundReport:
    """The points as they stand at the end, with the final convergence score."""
    return round_report(state, max(1, current_round(state)))


def consensus_points(state: State) -> list[str]:
    """The host's lines, and every agreed point that they do not cite."""
    lines = _lines(written_section(state, "Consensus Points"))
    return _completed(lines, [(i, _agreed(state, i)) for i in final_report(state).consensus])


def disagreement_points(state: State) -> list[str]:
    """The host's lines, and every disputed point that they do not cite: no dissent is lost."""
    lines = _lines(written_section(state, "Disagreement Points"))
    return _completed(lines, [(i, _disputed(state, i)) for i in final_report(state).disagreement])


def actions(state: State) -> tuple[ActionItem, ...]:
    """The host's action items, or those that participants declared."""
    items = action_items(written_section(state, "Action Items"))
    if not items:
        speeches = (s for s in state.speeches if s.stage == DISCUSSION)
        items = tuple(item for s in speeches for item in declarations(s.text).actions)
    # The same action named twice is one; whoever was named last has it.
    return tuple({item.text.casefold(): item for item in items}.values())


# The document


def document(state: State, at: datetime) -> str:
    """The conclusion document. Its headings are fixed; `at` is local and carries its zone."""
    start = state.start
    held = rounds_held(state)
    seats = ", ".join(called(p) for p in state.participants)
    lines = [
        f"# Roundtable Conclusion: {' '.join(start.topic.split())}",
        "",
        "## Summary",
        "",
        f"- **Participants**: {seats}",
        f"- **Rounds**: {held} of {max_rounds(state)}",
        f"- **Date**: {at.strftime('%Y-%m-%d')}",
        f"- **Convergence**: {_score(final_report(state))}",
        "",
        _body(short_conclusion(state)),
    ]
    if closing_speech(state) is None:
        lines += ["", "No model wrote this: it is an extract of what the participants declared."]
    if start.options.get("format") == "decision":
        for heading in DECISION_SECTIONS:
            text = written_section(state, heading)
            lines += ["", f"## {heading}", "", _body(text) or "Not written: nobody stated it."]
    lines += ["", "## Consensus Points", "", *_listed(consensus_points(state))]
    lines += ["", "## Disagreement Points", "", *_listed(disagreement_points(state))]
    lines += ["", "## Action Items", "", *_numbered(actions(state))]
    lines += ["", "## Detailed Transcript", *_transcript(state)]
    return redact("\n".join(lines)) + "\n"


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


def delivery(state: State, version: str) -> str:
    """The conclusion as a person reads it; empty if there is no verdict."""
    verdict = state.verdict
    if verdict is None:
        return ""
    report = final_report(state)
    lines = [
        "🏁 **Conclusion**" + (" (partial)" if verdict.partial else ""),
        "",
        verdict.answer,
        "",
        f"**Convergence:** {_score(report)} after {rounds_held(state)} of "
        f"{max_rounds(state)} rounds",
        "",
        "**Consensus Points**",
        "",
        *_listed(consensus_points(state)),
        "",
        "**Disagreement Points**",
        "",
        *_listed(disagreement_points(state)),
        "",
        "**Action Items**",
        "",
        *_numbered(actions(state)),
        "",
    ]
    if state.end_votes:
        votes = sum(state.end_votes.values())
        lines += [f"**Votes to end:** {votes} of {len(state.participants)}", ""]
    lines += ["---", _footer(state, version)]
    return redact("\n".join(lines))


def meeting_estimate(state: State) -> Estimate:
    """P × R calls to participants, and the host's opening, summaries and conclusion."""
    rounds = max_rounds(state)
    host = state.start.host
    writes = not host.speaker.demonstration and not speaks_from_outside(host)
    summaries = rounds - 1 if state.start.options.get("summaries") else 0
    seats = [p for p in state.start.participants if not speaks_from_outside(p)]
    calls = len(seats) * rounds
    return estimate_calls(
        seats * rounds,
        [host] * (2 + summaries if writes else 0),
        f"up to ~{calls * 2}x",
        maybe=[host] * (rounds if writes and state.start.options.get(MINUTES) else 0),
        tokens_in=TOKENS_IN,
        tokens_out=TOKENS_OUT,
    )


def _transcript(state: State) -> Iterable[str]:
    """Everything in the order in which it was said; a host's speech stands where it was made."""
    section = -1
    seats = {p.id: called(p) for p in (*state.participants, state.start.host)}
    missing = _absences(state)
    for speech in state.speeches:
        if speech.stage == CONCLUSION or speech.stage.startswith(MINUTES):
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
    text = prose(speech.text) or speech.text
    flags = f"{' '.join(speech.flags)} " if speech.flags else ""
    return flags + "\n".join(f"    {line}" if line else "" for line in text.splitlines()).lstrip()


def _body(text: str) -> str:
    """A host's section, whose own headings must not become the document's."""
    lines = (re.sub(r"^\s{0,3}#+\s*(.*?)\s*#*$", r"**\1**", line) for line in text.splitlines())
    return "\n".join(lines).strip()


def _lines(section: str) -> list[str]:
    bare = (_LIST_MARK.sub("", line).strip() for line in _body(section).splitlines())
    return [line for line in bare if not says_nothing(line)]


def _completed(lines: list[str], recorded: Sequence[tuple[Issue, str]]) -> list[str]:
    text = "\n".join(lines)
    return [
        *lines,
        *(line for issue, line in recorded if not re.search(rf"\b{issue.id}\b", text)),
    ]


def _agreed(state: State, issue: Issue) -> str:
    if issue.rejected_by:
        told = f"rejected by {_names(state, issue.rejected_by)}"
    else:
        told = f"held by {_names(state, issue.held_by)}"
    return f"[{issue.id}] {issue.text} ({told}{_rough(issue)})"


def _disputed(state: State, issue: Issue) -> str:
    sides = [
        f"{side}: {'; '.join(_with_reason(state, issue, who) for who in names)}"
        for side, names in (("for", issue.held_by), ("against", issue.rejected_by))
    ]
    return f"[{issue.id}] {issue.text} ({'. '.join(sides)}{_rough(issue)})"


def _with_reason(state: State, issue: Issue, who: str) -> str:
    reason = issue.reasons.get(who)
    return _names(state, (who,)) + (f", because {reason.rstrip('.')}" if reason else "")


def _names(state: State, ids: Iterable[str]) -> str:
    return ", ".join(called(p) for p in state.participants if p.id in set(ids))


def _rough(issue: Issue) -> str:
    return "; rough, read from prose" if issue.rough else ""


def _claim(issue: Issue) -> str:
    text = issue.text.rstrip(".")
    return f"not: {text}" if issue.rejected_by else text


def _count(found: Sequence[Issue]) -> str:
    return "one point" if len(found) == 1 else f"{len(found)} points"


def _score(report: RoundReport) -> str:
    score = report.convergence_score
    if score.value is None:
        return f"undefined: {score.reason}"
    return (
        f"{score.value:.2f} ({len(report.consensus)} consensus, "
        f"{len(report.disagreement)} disagreement)"
    )


def _listed(lines: Sequence[str]) -> list[str]:
    return [f"- {line}" for line in lines] or ["- None."]


def _numbered(items: Sequence[ActionItem]) -> list[str]:
    return [
        f"{number}. [ ] {' '.join(item.text.split())} - Owner: {item.owner or UNASSIGNED}"
        for number, item in enumerate(items, 1)
    ] or ["None."]


def _footer(state: State, version: str) -> str:
    seats = []
    for seat in (*state.participants, state.start.host):
        models = [
            s.model for s in state.speeches if s.participant == seat.id and s.stage != "remark"
        ]
        seats.append(f"{called(seat)}: {models[-1] if models else '—'}")
    return " · ".join([*seats, f"roundtable v{version}"])


def _spoken(state: State) -> bool:
    return any(speech.stage == DISCUSSION for speech in state.speeches)


def last_words(state: State) -> list[SpeechGiven]:
    """Each participant's newest speech."""
    newest = {s.participant: s for s in state.speeches if s.stage == DISCUSSION}
    return [newest[p.id] for p in state.participants if p.id in newest]


def first_words(speech: SpeechGiven) -> str:
    """A speech in one sentence of its own."""
    body = clip(prose(speech.text) or speech.text, 1_000)
    lines = [line for line in body.splitlines() if not line.lstrip().startswith("#")]
    return first_sentences("\n".join(lines), 1, 300)
