"""The verdict: the host's summary, an extract where no host could write one, or the plan."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.events import SpeechGiven
from ...core.text import first_sentences
from ...core.values import Dissent, Verdict
from ...views.five_round import forms
from ...views.five_round.references import references
from ...views.five_round.rounds import CRITIQUE, ROUNDS, held
from ...views.five_round.standing import disputes, statements
from .intent import read_intent
from .sitting import Sitting
from .tasks import AFTER_ALL


def written(sitting: Sitting, summary: SpeechGiven) -> Verdict:
    """The host's own words, with every dissent that the stances show."""
    return Verdict(
        answer=summary.text,
        agreement=agreement(sitting),
        dissent=dissent(sitting),
        method="written",
        author=summary.model,
        cites=_cited(sitting, summary.text),
        meaningful=_meaningful(sitting),
        flags=summary.flags,
    )


def extracted(sitting: Sitting) -> Verdict:
    """A summary of what stands in the rounds, made without a model."""
    lines = [
        "No model wrote this summary: it was extracted from the rounds, and nothing in it was "
        "weighed or decided.",
        "",
        "**Where each expert stands**",
        "",
        *(
            f"- **{sitting.name(s.participant)}** ({s.turn_id}): {_gist(s)}"
            for s in sitting.last_words
        ),
        *_consensus_lines(sitting),
        *_dispute_lines(sitting),
        *_finding_lines(sitting),
    ]
    return Verdict(
        answer="\n".join(lines),
        agreement=agreement(sitting),
        dissent=dissent(sitting),
        method="extractive",
        cites=tuple(s.turn_id for s in sitting.last_words),
        meaningful=_meaningful(sitting),
    )


def planned_verdict(sitting: Sitting) -> Verdict:
    """What a full discussion would do, for those who asked for the analysis only."""
    state = sitting.state
    intent = read_intent(state.start.topic)
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
            + _because(sitting, p.id)
            for p in state.participants
        ),
        f"- **{sitting.host.name}** on {' → '.join(ref.model for ref in sitting.host.speakers)}",
        "",
        "**Rounds**",
        "",
        *(f"- R{each.number} {each.title}: {each.length}" for each in ROUNDS.values()),
        "",
        f"**Calls:** at least {4 * len(state.participants) + 1} for the full discussion, and up to "
        "two more for each speech that misses a requirement.",
    ]
    return Verdict(answer="\n".join(lines), method="extractive")


def _because(sitting: Sitting, participant: str) -> str:
    reasons = [sitting.told_of(participant, key) for key in ("reason", "routed")]
    told = "; ".join(reason for reason in reasons if reason)
    return f" ({told})" if told else ""


def agreement(sitting: Sitting) -> str:
    """The table's agreement in figures, from declared stances."""
    listed = sitting.points
    rounds = held(sitting.state)
    if not rounds or not listed.stances:
        return "Not measured: no stances that count were taken."
    last = listed.points_of_round(rounds[-1][0])
    return (
        f"{len(last.consensus)} of {len(listed.issues)} points in consensus, "
        f"{len(last.disagreement)} disputed."
    )


def dissent(sitting: Sitting) -> tuple[Dissent, ...]:
    """Whoever disagrees with a disputed point, in its own words where it gave a reason."""
    state = sitting.state
    listed = sitting.points
    held_by = {(s.participant, s.point): s for s in listed.held()}
    found: list[Dissent] = []
    for dispute in disputes(state):
        if dispute.kind != "point":
            continue
        for participant in dispute.against:
            stance = held_by.get((participant, dispute.ref))
            found.append(
                Dissent(
                    participant=participant,
                    position=f"disagrees that {' '.join(dispute.text.split())}",
                    reason=_reason(sitting, stance.turn if stance else "", dispute.ref),
                    turn_id=stance.turn if stance and stance.turn else None,
                )
            )
    return tuple(found)


def _reason(sitting: Sitting, turn: str, point: str) -> str:
    speech = sitting.state.speech(turn)
    given = forms.stances(speech.text) if speech else ()
    return next((stance.reason for stance in given if stance.point == point), "")


def _gist(speech: SpeechGiven) -> str:
    names = ("Revised Proposal", "Proposal")
    body = next((speech.sections[n] for n in names if speech.sections.get(n)), speech.text)
    prose = [line for line in body.splitlines() if not line.lstrip().startswith(("#", "|"))]
    return first_sentences("\n".join(prose))


def _consensus_lines(sitting: Sitting) -> Iterator[str]:
    listed = sitting.points
    rounds = held(sitting.state)
    agreed = listed.points_of_round(rounds[-1][0]).consensus if rounds else ()
    if agreed:
        yield from ("", "**Points in consensus**", "")
        positions = listed.positions()
        for issue in agreed:
            point = listed.point(issue)
            against = "disagree" in positions[issue].values()
            text = " ".join(point.text.split()) if point else ""
            yield f"- {issue}: {text}" + (" (rejected by all)" if against else "")


def _dispute_lines(sitting: Sitting) -> Iterator[str]:
    if open_ := disputes(sitting.state):
        yield from ("", "**Disputes, none of them ruled on**", "")
        for each in open_:
            yield f"- {each.id} ({each.kind} {each.ref}): {' '.join(each.text.split())}"


def _finding_lines(sitting: Sitting) -> Iterator[str]:
    speeches = sitting.state.spoken_in(CRITIQUE, 3)
    if speeches:
        yield from ("", "**Risks and defects that were raised**", "")
    for speech in speeches:
        for finding in forms.findings(speech.text):
            text = " ".join(finding.text.split())
            yield f"- {sitting.name(speech.participant)}, {finding.kind} {finding.number}: {text}"


def _cited(sitting: Sitting, text: str) -> tuple[str, ...]:
    """The turns that the host's markers lead to, or that it names."""
    known = statements(sitting.state, AFTER_ALL)
    named = {(known.who(r), r.round) for r in references(text) if known.resolves(r)}
    return tuple(
        speech.turn_id
        for speech in sitting.state.speeches
        if speech.round > 0
        and (
            (speech.participant, speech.round) in named
            or (speech.participant, None) in named
            or speech.turn_id in text
        )
    )


def _meaningful(sitting: Sitting) -> bool:
    spoke = {(s.participant, s.model) for s in sitting.last_words}
    return not any(
        ref.demonstration
        for p in sitting.state.participants
        for ref in p.speakers
        if (p.id, ref.model) in spoke
    )
