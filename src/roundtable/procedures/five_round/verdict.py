"""The verdict: the host's summary, an extract where no host could write one, or the plan."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.events import SpeechGiven
from ...core.text import first_sentences
from ...core.values import Verdict
from ...views.five_round import forms
from ...views.five_round.references import references
from ...views.five_round.rounds import CRITIQUE, ROUNDS
from ...views.five_round.standing import consensus_points, disputes, statements
from .. import verdicts
from ..clerk import given_choices
from ..table import Table
from . import tasks
from .intent import read_intent


def written(table: Table, summary: SpeechGiven) -> Verdict:
    """The host's own words, held against what was said and counted."""
    verdict = verdicts.written(
        table,
        summary,
        answer=summary.text,
        among=tasks.last_plans(table),
    )
    marked = _marked(table, summary.text)
    # Here a statement is cited by its marker, [@NAME R1], as well as by its turn.
    flags = tuple(f for f in verdict.flags if not (marked and f == verdicts.UNCITED))
    cites = tuple(dict.fromkeys((*marked, *verdict.cites)))
    told = f"{verdict.agreement} {points_told(table)}".strip()
    return verdict.model_copy(update={"cites": cites, "flags": flags, "agreement": told})


def extracted(table: Table) -> Verdict:
    """A summary of what stands in the rounds, made without a model."""
    words = tasks.last_plans(table)
    counted = verdicts.extracted(table, words)
    question = table.standing.question
    lines = [
        "No model wrote this summary: it was extracted from the rounds, and nothing in it was "
        "weighed or decided.",
        "",
        *(
            [f"**The vote is for:** {question.answer} ({question.reason.rstrip('.')})", ""]
            if question is not None and question.delivered
            else []
        ),
        "**Where each expert stands**",
        "",
        *(f"- **{table.name(s.participant)}** ({s.turn_id}): {_gist(table, s)}" for s in words),
        *_consensus_lines(table),
        *_dispute_lines(table),
        *_finding_lines(table),
    ]
    told = f"{counted.agreement} {points_told(table)}".strip()
    return counted.model_copy(update={"answer": "\n".join(lines), "agreement": told})


def planned_verdict(table: Table) -> Verdict:
    """What a full discussion would do, for those who asked for the analysis only."""
    seats = table.seats
    intent = read_intent(table.state.start.topic)
    clerk = 0 if given_choices(table) else 1
    lines = [
        "No model was called for this: it is what can be said, and what would be asked, before "
        "anybody speaks.",
        "",
        f"**Intent:** {intent.fit}" + ("" if intent.fits else ", which five rounds do not suit"),
        f"**Words that carry it:** {', '.join(intent.terms) or 'none'}",
        "",
        "**Experts**",
        "",
        *(
            f"- **{p.name}** on {' → '.join(ref.model for ref in p.speakers)}"
            + _because(table, p.id)
            for p in seats
        ),
        f"- **{table.host.name}** on {' → '.join(ref.model for ref in table.host.speakers)}",
        "",
        "**Rounds**",
        "",
        *(f"- R{each.number} {each.title}: {each.length}" for each in ROUNDS.values()),
        "",
        f"**Calls:** at least {4 * len(seats) + 1 + clerk} for the full discussion"
        + (", one of them to list what can be voted on" if clerk else "")
        + ", and up to two more for each speech that misses a requirement.",
    ]
    return Verdict(answer="\n".join(lines), method="extractive")


def points_told(table: Table) -> str:
    """How the points stand, in figures; nothing where none was raised."""
    points = [point for point in table.record.points if not point.withdrawn]
    if not points:
        return ""
    disputed = sum(point.status == "disputed" for point in points)
    agreed = len(consensus_points(table.state))
    return f"{agreed} of {len(points)} points are agreed on, {disputed} disputed."


def _because(table: Table, participant: str) -> str:
    reasons = [tasks.told_of(table, participant, key) for key in ("reason", "routed")]
    told = "; ".join(reason for reason in reasons if reason)
    return f" ({told})" if told else ""


def _gist(table: Table, speech: SpeechGiven) -> str:
    """What a plan says in a line or two: its declared position, or its beginning."""
    if stated := table.record.position(speech.participant):
        return stated
    names = ("Revised Proposal", "Proposal")
    body = next((speech.sections[n] for n in names if speech.sections.get(n)), speech.text)
    prose = [line for line in body.splitlines() if not line.lstrip().startswith(("#", "|"))]
    return first_sentences("\n".join(prose))


def _consensus_lines(table: Table) -> Iterator[str]:
    if agreed := consensus_points(table.state):
        yield from ("", "**Points in consensus**", "")
        yield from (f"- {point.id}: {point.text}" for point in agreed)


def _dispute_lines(table: Table) -> Iterator[str]:
    if open_ := disputes(table.state):
        yield from ("", "**Disputes, none of them ruled on**", "")
        for each in open_:
            yield f"- {each.id} ({each.kind} {each.ref}): {' '.join(each.text.split())}"


def _finding_lines(table: Table) -> Iterator[str]:
    speeches = table.state.spoken_in(CRITIQUE, 3)
    if speeches:
        yield from ("", "**Risks and defects that were raised**", "")
    for speech in speeches:
        for finding in forms.findings(speech.text):
            text = " ".join(finding.text.split())
            yield f"- {table.name(speech.participant)}, {finding.kind} {finding.number}: {text}"


def _marked(table: Table, text: str) -> tuple[str, ...]:
    """The turns that the host's markers lead to."""
    known = statements(table.state, tasks.AFTER_ALL)
    named = {(known.who(r), r.round) for r in references(text) if known.resolves(r)}
    return tuple(
        speech.turn_id
        for speech in table.state.speeches
        if speech.round > 0
        and ((speech.participant, speech.round) in named or (speech.participant, None) in named)
    )
