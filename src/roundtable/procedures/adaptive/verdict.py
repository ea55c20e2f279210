"""The verdict of an adaptive run: read from the synthesis, or extracted without a model."""

from __future__ import annotations

import re

from ...core.contracts import Contract, parse_confidence, says_nothing
from ...core.events import SearchFinished, SpeechGiven
from ...core.grounding import labelled
from ...core.quotes import find_quote
from ...core.values import Dissent, Verdict
from ...views.adaptive_votes import counted
from .ballots import position
from .digests import digest
from .sitting import Sitting

SECTIONS = ("Answer", "Confidence", "Agreement", "Dissent", "Open Questions", "Sources")
SYNTHESIS_CONTRACT = Contract(sections=SECTIONS)
UNVERIFIED_QUOTE = "[unverified quotation]"
LOW = 2
"""Whoever scores its peers no higher on average stands against them."""
_URL = re.compile(r"https?://(?:[^\s<>()\[\]\"'`|]|\([^\s<>()]*\))+")
_QUOTED = re.compile(r"[“\"]([^“”\"\n]{20,400})[”\"]")


def written(sitting: Sitting, synthesis: SpeechGiven) -> Verdict:
    """The verdict as it was written. A dissent that it left out is put back."""
    parts = {name: synthesis.sections.get(name, "") for name in SECTIONS}
    answer = parts["Answer"] or synthesis.text
    flags = list(synthesis.flags)
    if _invented(sitting, answer):
        flags.append(UNVERIFIED_QUOTE)
    return Verdict(
        answer=answer,
        confidence=parse_confidence(parts["Confidence"]),
        agreement=parts["Agreement"],
        dissent=(*_writers(synthesis, parts["Dissent"]), *dissents(sitting)),
        method="written",
        author=synthesis.model,
        cites=tuple(
            s.turn_id for s in sitting.state.speeches if s.round > 0 and s.turn_id in synthesis.text
        ),
        gaps=parts["Open Questions"],
        sources=_sources(sitting, parts["Sources"]),
        meaningful=_meaningful(sitting),
        flags=tuple(flags),
    )


def extracted(sitting: Sitting) -> Verdict:
    """The panel's own digests side by side, for when no model can write the synthesis."""
    speeches = sitting.last_words
    lines = [f"- **{sitting.role(s.participant)}** ({s.turn_id}): {digest(s)}" for s in speeches]
    return Verdict(
        answer="No model wrote this answer; these are the panel's own words.\n\n"
        + "\n".join(lines),
        agreement="Not judged: an extract cannot weigh positions against each other.",
        dissent=dissents(sitting),
        method="extractive",
        cites=tuple(s.turn_id for s in speeches),
        meaningful=_meaningful(sitting),
    )


def dissents(sitting: Sitting) -> tuple[Dissent, ...]:
    """Who voted for another option than the winner, and who agrees with nobody."""
    against: dict[str, str] = {}
    result = counted(sitting.state)
    winner = result.winner("plurality") if result is not None else None
    if winner is not None:
        for ballot in sitting.state.ballots:
            if ballot.ranking:
                against.pop(ballot.participant, None)
            if ballot.ranking and ballot.ranking[0] != (winner,):
                against[ballot.participant] = f"chooses {ballot.ranking[0][0]}"
    for row in sitting.counted:
        clean = [score for peer, score in row.scores.items() if peer not in row.inferred]
        if clean and sum(clean) / len(clean) <= LOW:
            against.setdefault(row.participant, "")
    last = {s.participant: s for s in sitting.last_words}
    return tuple(
        Dissent(
            participant=who,
            position=f"{choice}: {position(last[who])}" if choice else position(last[who]),
            turn_id=last[who].turn_id,
        )
        for who, choice in against.items()
        if who in last
    )


def _writers(synthesis: SpeechGiven, text: str) -> tuple[Dissent, ...]:
    if says_nothing(text):
        return ()
    return (Dissent(participant=synthesis.participant, position=text),)


def _meaningful(sitting: Sitting) -> bool:
    newest = {b.participant: b for b in sitting.state.ballots}
    return all(b.meaningful for b in newest.values())


def _invented(sitting: Sitting, answer: str) -> bool:
    """Whether a longer quotation in the answer is nobody's words."""
    said = {s.turn_id: s.text for s in sitting.state.speeches if s.round > 0}
    said["question"] = sitting.state.start.topic
    return any(find_quote(quote, said) is None for quote in _QUOTED.findall(answer))


def _sources(sitting: Sitting, text: str) -> tuple[str, ...]:
    """The addresses named; those that no search brought are called unverified."""
    finished = [s for s in sitting.state.searches if isinstance(s, SearchFinished)]
    found = {hit.url: labelled(hit) for each in finished for hit in each.hits}
    urls = dict.fromkeys(url.rstrip(".,;:!?*_") for url in _URL.findall(text))
    return tuple(found.get(url, f"{url} (unverified)") for url in urls)
