"""The Markdown report of a five-round discussion, and its delivery on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.events import SpeechGiven
from ...core.record import record_of
from ...core.state import State
from ...core.text import count_words
from ...core.values import Participant, Prompt
from ...core.visible import visible
from ..deliverables import with_works, works_of
from ..delivery import Delivery
from ..delivery_md import common, first_lines, last, says_more, written
from ..notes import notes
from ..outgoing import outgoing
from . import forms
from .rounds import ACTIONABLE, ARBITRATION, ROUNDS, held, round_name
from .skipped import FORCE_ARBITRATE, forced, skipped
from .standing import challenges, disputes, measures, positions, replies
from .statistics import Statistics, calls_line, statistics, summary_speech

Prompts = Sequence[tuple[str, Prompt]]
"""The label of a turn, and what would be asked in it."""


def delivery(state: State, version: str, prompts: Prompts = ()) -> str:
    """The host's plan as a person reads it; empty if there is no verdict."""
    verdict = state.verdict
    if verdict is None:
        return ""
    title = "🗺️ **Pre-analysis**" if prompts else "⚖️ **Host Summary**"
    marks = [
        mark
        for mark, shown in (
            ("(partial)", verdict.partial),
            ("(extracted, not written by a model)", verdict.method == "extractive" and not prompts),
        )
        if shown
    ]
    lines = [" ".join([title, *marks]), ""]
    if prompts:
        lines += [verdict.answer, ""]
    else:
        told = Delivery.of(state)
        lines += [*first_lines(told), "", *([told.written, ""] if says_more(told) else [])]
        lines += written([*common(told), *last(told)])
    if not prompts:
        found = statistics(state)
        lines += [f"**Actionable:** {actionable(found)}", f"**Calls:** {calls_line(found)}"]
        lines += [
            f"**{each.round} {each.title} skipped:** {each.reason}" for each in skipped(state)
        ]
    lines += ["", "---", footer(state, version)]
    return outgoing("\n".join(lines))


def report(state: State, prompts: Prompts = ()) -> str:
    """All five rounds, what they came to, and the figures."""
    lines = [
        f"# {' '.join(state.start.topic.split())}",
        "",
        f"five-round · {state.discussion_id} · {state.status}",
        "",
        *_decision(state, prompts),
        *_experts(state),
    ]
    if prompts:
        lines += ["", "## Plan", "", state.verdict.answer if state.verdict else ""]
        for label, prompt in prompts:
            lines += ["", f"### Prompt {label}", "", quoted(f"{prompt.system}\n\n{prompt.user}")]
    else:
        lines += [*_rounds(state), *_outcome(state), *_statistics(state)]
    if found := notes(state):
        lines += ["", "## Notes", ""]
        lines += [f"- {note.text}{' ' + note.remedy if note.remedy else ''}" for note in found]
    told = outgoing("\n".join(lines)) + "\n"
    if not works_of(state).standing or prompts:
        return told
    # A work is code in its fence, and what looks like a key may be part of it.
    return visible(with_works(f"{told}\n## Deliverables", state)) + "\n"


def _decision(state: State, prompts: Prompts) -> Iterator[str]:
    """The page for whoever decides and reads no further."""
    if prompts or state.verdict is None:
        return
    told = Delivery.of(state)
    yield from ("## Decision", "", *first_lines(told), "", *written(common(told)))
    if summary_speech(state) is None:
        return
    words = state.verdict.answer  # as the check left them
    if ruled := forms.rulings(words):
        yield from ("**Rulings of the host:**", "")
        yield from (f"- X{each.dispute}: {_line(each.text)}" for each in ruled)
        yield ""
    if risks := forms.top_risks(words):
        yield from ("**Top risks:**", "")
        yield from (f"- {_line(each.text)} → {_line(each.contingency)}" for each in risks)
        yield ""


def _experts(state: State) -> Iterator[str]:
    yield "## Experts"
    yield ""
    for seat in (*state.participants, state.start.host):
        looks_at = f" Looks at: {seat.looks_at}" if seat.looks_at else ""
        why = f" Why here: {seat.why}" if seat.why else ""
        who = f"{seat.emoji} **{seat.name}** ({_spoke_as(state, seat)})"
        yield f"- {who}: {seat.perspective}{looks_at}{why}"


def _rounds(state: State) -> Iterator[str]:
    missing = {each.round: each for each in skipped(state)}
    numbers = held(state)
    for round_ in ROUNDS.values():
        yield ""
        yield f"## Round {round_.number}: {round_.title}"
        if why := missing.get(f"R{round_.number}"):
            yield ""
            yield f"*Skipped: {why.reason}*"
        if round_.stage == ARBITRATION:
            summary = summary_speech(state)
            if summary is not None:
                yield from _speech(state, summary)
            elif state.verdict is not None:
                yield from ("", "*Extracted from the rounds, not written by a model.*", "")
                yield state.verdict.answer
            continue
        for number, stage in numbers:
            if stage != round_.stage:
                continue
            if number != round_.number:
                yield from ("", f"*{round_name(number, stage)}*")
            for speech in state.spoken_in(stage, number):
                yield from _speech(state, speech)
            for failure in state.failures:
                if (failure.stage, failure.round) == (stage, number):
                    yield ""
                    yield f"*{state.name_of(failure.participant)} did not speak: {failure.message}*"


def _speech(state: State, speech: SpeechGiven) -> Iterator[str]:
    seat = state.participant(speech.participant)
    flags = f" · {' '.join(speech.flags)}" if speech.flags else ""
    yield ""
    yield f"### {seat.emoji if seat else ''} {state.name_of(speech.participant)}"
    yield ""
    facts = f"turn {speech.turn_id} · {speech.model} · {count_words(speech.text)} words{flags}"
    yield f"*{facts}*"
    yield ""
    yield quoted(speech.text)


def _outcome(state: State) -> Iterator[str]:
    if listed := record_of(state).points:
        yield from ("", "## Points and stances", "")
        seats = state.participants
        yield f"| point | {' | '.join(_cell(p.name) for p in seats)} |"
        yield f"|---|{'---|' * len(seats)}"
        for point in listed:
            held_by = positions(point)
            cells = " | ".join(held_by.get(p.id, "—") for p in seats)
            yield f"| {point.id}: {_cell(point.text)} | {cells} |"
    if raised := challenges(state):
        answered = replies(state)
        yield from ("", "## Challenges", "")
        for each in raised:
            reply = answered.get(each.number)
            said = reply.reply if reply and reply.reply else "unanswered"
            yield (
                f"- {each.id} {state.name_of(each.author)} → {state.name_of(each.target)} "
                f"({each.finding.kind}): {_line(each.finding.text)} — **{said}**"
            )
    if open_ := disputes(state):
        yield from ("", "## Disputes", "")
        for dispute in open_:
            yield (
                f"- {dispute.id} ({dispute.kind} {dispute.ref}): {_line(dispute.text)} — "
                f"{dispute.told(state.name_of)}"
            )
    if numbers := held(state):
        yield from ("", "## Convergence", "")
        for number, stage in numbers:
            yield f"- {round_name(number, stage)}: {convergence_line(state, number, stage)}"
        if forced(state):
            yield f"- {FORCE_ARBITRATE}: the rounds were used up, so the host had to rule."


def convergence_line(state: State, number: int, stage: str) -> str:
    """The metrics of a round side by side; they are never blended."""
    found = measures(state, number, stage)
    overlap, score = found.overlap.value, found.convergence_score.value
    return ", ".join(
        (
            f"overlap {'n/a' if overlap is None else f'{overlap:.0%}'}",
            f"{found.consensus_points} consensus points",
            f"divergence {'n/a' if found.divergence is None else f'{found.divergence:.2f}'}",
            f"convergence score {'n/a' if score is None else f'{score:.2f}'}",
        )
    )


def _statistics(state: State) -> Iterator[str]:
    found = statistics(state)
    yield from ("", "## Statistics", "", "| | |", "|---|---|")
    yield f"| Experts | {found.experts} |"
    yield f"| Sub-agent calls | {calls_line(found)} |"
    yield f"| Risks | {found.risks} |"
    yield f"| Defects | {found.defects} |"
    yield f"| Modification suggestions | {found.suggestions} |"
    yield f"| Rulings with rationale | {found.rulings} |"
    yield f"| Weeks | {found.weeks} |"
    yield f"| Total words | {found.words:,} |"
    yield f"| Actionable tasks | {actionable(found)} |"


def actionable(found: Statistics) -> str:
    share = found.actionability_pct
    if share is None:
        return "no plan"
    below = "" if share >= ACTIONABLE else f", below the goal of {ACTIONABLE} %"
    return f"{share:.0f} % of the tasks have an owner, a deliverable and a date{below}"


def footer(state: State, version: str) -> str:
    seats = (*state.participants, state.start.host)
    return " · ".join(
        [*(f"{s.emoji} {s.name}: {_spoke_as(state, s)}" for s in seats), f"roundtable v{version}"]
    )


def _spoke_as(state: State, seat: Participant) -> str:
    """The model that really spoke, or the one that will."""
    return state.said.last_model(seat.id) or seat.speaker.model


def _dissent(state: State, participant: str, position: str) -> str:
    return f"{state.name_of(participant)}: {_line(position)}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def quoted(text: str) -> str:
    """A speech keeps its own headings without mixing them into the document's."""
    return "\n".join(f"> {line}" if line else ">" for line in text.splitlines())
