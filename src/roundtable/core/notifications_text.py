"""The words of news: what each kind of message says about a discussion as it stands.

Everything is redacted before it is cut, so that no half of a secret is left, and cannot call
anybody: whoever speaks at the table must not be able to ring a whole team's telephones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .closing_block import prose
from .convergence import Score
from .doubts import doubtful_votes
from .events import SpeechGiven
from .headline import headline
from .naming import with_names
from .record import Point, record_of, records_by_round
from .scores import consensus
from .standing import convergence
from .state import State
from .text import clip, first_sentences, redact
from .values import OUTSIDE, Finding, Participant
from .verdict_findings import findings_of

MAX_TOPIC_WORDS = 8
MAX_NAME = 100
"""Characters of a thread's name; no platform that has threads takes more."""
MAX_TOPIC = 300
MAX_CONCLUSION = 8_000
MAX_LINES = 8
"""Points of one kind that a message lists."""
MAX_LINE = 160
MAX_FINDINGS = 3
"""What the check of the verdict found: a message shows so many."""

_HEADING = re.compile(r"(?m)^[ \t]{0,3}#{1,6}[ \t]*(.+?)[ \t#]*(?:\n+|$)")
_CALLS = re.compile(r"@(?=everyone|here|channel|all\b)|<(?=[!@#]|at\b)", re.IGNORECASE)
_BREAKS = re.compile(r"\n+|[.!?](?=\s)|[。！？]")
_BLANK_LINES = re.compile(r"\n\s*\n+")


def thread_name(state: State) -> str:
    """`🎯 topic of at most eight words [MODE]`."""
    mode = f" [{mode_of(state)}]"
    words = _plain(state.start.topic).split()
    short = " ".join(words[:MAX_TOPIC_WORDS])
    return f"🎯 {clip(short, MAX_NAME - len(mode) - 2)}{mode}"


def mode_of(state: State) -> str:
    """The task mode where the procedure has one, else the procedure's name; in capitals."""
    mode = state.start.options.get("task_mode")
    return (mode if isinstance(mode, str) else state.start.procedure).upper()


def started(state: State) -> str:
    seats = state.participants
    models = dict.fromkeys(seat.speaker.model for seat in seats if seat.speaker.model != OUTSIDE)
    panel = [] if seats and not models else [f"Panel: {', '.join(models) or 'to be chosen'}"]
    rounds = rounds_planned(state)
    lines = [
        f"🔔 Roundtable {state.discussion_id} started",
        _topic(state),
        f"Participants: {', '.join(_called(seat) for seat in seats) or 'to be chosen'}",
        *panel,
        f"Mode: {mode_of(state)} · Rounds: {rounds or 'as many as it takes'}",
        "⏳ In progress …",
    ]
    return _calm("\n".join(lines))


def round_start(state: State, round_: int) -> str:
    """The round's number, and what the one before it came to."""
    before = round_ - 1
    lines = [f"🔔 Round {round_} begins"]
    if before < 1:
        lines.append(_topic(state))
    else:
        lines.append(f"Round {before}: {_summary(state, before)}")
    return _calm("\n".join(lines))


def speech(state: State, given: SpeechGiven, limit: int) -> str:
    """Who spoke where, and the beginning of what was said: at most `limit` characters of it."""
    seat = state.participant(given.participant)
    role, name = (seat.role, seat.name) if seat else (given.participant, given.participant)
    round_ = given.round or given.after_round
    return f"💬 Round {round_} | {_calm(role)} ({_calm(name)})\n{clip(_said(given), limit)}"


def round_end(state: State, round_: int) -> str:
    """The key points of a round and its convergence score."""
    lines = [
        f"✅ Round {round_} complete",
        *_key_points(state, round_),
        _convergence(state, round_),
    ]
    return _calm("\n".join(lines))


def _findings(state: State) -> tuple[Finding, ...]:
    return (*findings_of(state), *doubtful_votes(state))


def concluded(state: State) -> str:
    """The conclusion, with what the table agreed on and what it did not."""
    closed = state.closed
    ending = "stopped" if closed is not None and closed.status == "stopped" else "concluded"
    verdict = state.verdict
    answer = _plain(verdict.answer) if verdict else (closed.detail if closed else "")
    lines = [
        f"🏁 Roundtable {state.discussion_id} {ending}",
        _topic(state),
        "",
        headline(state),
        *(f"⚠ {f.message}" for f in _findings(state)[:MAX_FINDINGS]),
        clip(with_names(state, redact(answer)), MAX_CONCLUSION) or "No conclusion was written.",
    ]
    if verdict is not None and verdict.confidence:
        lines.append(f"Confidence: {verdict.confidence}")
    lines += ["", "Consensus:", *_listed(_agreed(state))]
    lines += ["Disagreement:", *_listed(_disputed(state))]
    return _calm("\n".join(lines))


def failed(state: State) -> str:
    closed = state.closed
    told = closed.detail if closed else "It is not closed yet."
    remedy = closed.remedy if closed else ""
    lines = [f"❌ Roundtable {state.discussion_id} failed", _topic(state), redact(told)]
    return _calm("\n".join([*lines, redact(remedy)] if remedy else lines))


def degraded(state: State, what: str) -> str:
    text = clip(redact(" ".join(what.split())), 500)
    return _calm(f"⚠️ Roundtable {state.discussion_id} goes on with less\n{text}")


def rounds_planned(state: State) -> int | None:
    """How many rounds the discussion was opened with, where its options tell."""
    options = state.start.options
    for value in (options.get("max_rounds"), options.get("rounds")):
        if isinstance(value, int) and not isinstance(value, bool):
            return value + state.extra_rounds
        if isinstance(value, list):
            return len(value) + 1  # and the host's arbitration
    for name in ("round2", "critique"):
        if isinstance(options.get(name), bool):
            return 2 if options[name] else 1
    design = options.get("default")
    rounds = design.get("rounds") if isinstance(design, dict) else None
    if state.workflow is not None:
        rounds = state.workflow.rounds
    return rounds + state.extra_rounds if isinstance(rounds, int) else None


def parted(text: str, limit: int) -> list[str]:
    """The text in parts of at most `limit` characters, parted between lines or sentences where
    there are any, else between words, and never within a grapheme."""
    parts: list[str] = []
    rest = text.strip()
    while len(rest) > limit:
        window = clip(rest, limit, "")
        ends = [match.end() for match in _BREAKS.finditer(window)]
        late = [end for end in ends if end >= limit // 3]
        cut = late[-1] if late else window.rfind(" ") if " " in window else len(window)
        parts.append(rest[: cut or len(window) or limit].rstrip())
        rest = rest[cut or len(window) or limit :].lstrip()
    return [*parts, rest] if rest or not parts else parts


def _topic(state: State) -> str:
    return clip(_plain(state.start.topic), MAX_TOPIC)


def _called(seat: Participant) -> str:
    return seat.name if seat.role in ("", seat.name) else f"{seat.role} ({seat.name})"


def _said(given: SpeechGiven) -> str:
    """A speech for a chat: without its closing block, headings at the head of their lines."""
    text = prose(given.text) or given.text
    bare = _HEADING.sub(lambda match: f"{match[1].rstrip(':')}: ", redact(text))
    return _calm(_BLANK_LINES.sub("\n", bare).strip())


def _summary(state: State, round_: int) -> str:
    """The host's own summary of a round, else its points, else how many spoke."""
    host = state.start.host.id
    own = [s for s in state.speeches if s.participant == host and s.after_round == round_]
    if summaries := [s for s in own if s.stage.startswith("summary")]:
        return first_sentences(_said(summaries[-1]), 2, 400)
    found = _points(state, round_)
    if any(found.values()):
        return (
            f"{len(found['agreed'])} agreed, {len(found['disputed'])} disputed, "
            f"{len(found['new'])} new point(s). {_convergence(state, round_)}"
        )
    spoke = [s for s in state.speeches if s.round == round_]
    return f"{len(spoke)} spoke. {_convergence(state, round_)}"


def _key_points(state: State, round_: int) -> list[str]:
    """The points as the round left them; without any, how each speech begins."""
    told: dict[str, str] = {}
    for kind, points in _points(state, round_).items():
        for point in points:
            told.setdefault(point.id, f"{kind}: {point.text}")
    if told:
        return _listed(list(told.values()))
    spoke = [s for s in state.speeches if s.round == round_]
    lines = [
        f"{state.name_of(s.participant)}: {first_sentences(_said(s), 1, MAX_LINE)}" for s in spoke
    ]
    return _listed(lines) if lines else ["- Nobody spoke."]


def _points(state: State, round_: int) -> dict[str, list[Point]]:
    """The points as a round left them: agreed, disputed, and first raised in it."""
    points = _points_after(state, round_)
    return {
        "agreed": [point for point in points if point.status == "agreed"],
        "disputed": [point for point in points if point.status == "disputed"],
        "new": [point for point in points if point.round == round_],
    }


def _points_after(state: State, round_: int) -> tuple[Point, ...]:
    before = [each for number, each in records_by_round(state).items() if number <= round_]
    return before[-1].points if before else ()


def _convergence(state: State, round_: int) -> str:
    score = convergence(_points_after(state, round_))
    percent = consensus(row for row in state.scores if row.round == round_)
    if score.value is None and percent.value is not None:
        return f"Convergence: {percent.value:.0f} % agreement in scores"
    return f"Convergence: {_number(score)}"


def _number(score: Score) -> str:
    return f"{score.value:.2f}" if score.value is not None else f"not measured ({score.reason})"


def _agreed(state: State) -> list[str]:
    texts = [point.text for point in record_of(state).points if point.status == "agreed"]
    if texts or state.verdict is None:
        return texts
    return [state.verdict.agreement] if state.verdict.agreement else []


def _disputed(state: State) -> list[str]:
    texts = [
        f"{point.text} (against it: {', '.join(map(state.name_of, point.opponents))})"
        for point in record_of(state).points
        if point.status == "disputed"
    ]
    dissent = state.verdict.dissent if state.verdict else ()
    return texts + [
        f"{state.name_of(d.participant)}: {d.position}{f', because {d.reason}' if d.reason else ''}"
        for d in dissent
    ]


def _listed(lines: Sequence[str]) -> list[str]:
    if not lines:
        return ["- none"]
    shown = [f"- {clip(redact(' '.join(line.split())), MAX_LINE)}" for line in lines[:MAX_LINES]]
    return shown + ([f"- and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else [])


def _plain(text: str) -> str:
    return redact(text) if "\n" not in text else redact(_BLANK_LINES.sub("\n", text))


def _calm(text: str) -> str:
    """The text with a gap in whatever a chat would take for a call to its members."""
    return _CALLS.sub(lambda match: f"{match[0]}\u200b", text)
