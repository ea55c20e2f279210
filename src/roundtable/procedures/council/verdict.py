"""The council's verdict: read from the Captain's synthesis, or extracted without a model."""

from __future__ import annotations

import re

from ...core.contracts import parse_confidence, says_nothing
from ...core.events import SpeechGiven
from ...core.grounding import labelled
from ...core.quotes import copied_share
from ...core.values import Confidence, Dissent, Verdict
from .roles import BY_ID, VERDICT_SECTIONS
from .sitting import Sitting, dissent, position

PASTED = "[pasted answer]"
PASTED_LIMIT = 0.6
"""Above this share of copied runs of words a synthesis is not the Captain's own."""
_URL = re.compile(r"https?://(?:[^\s<>()\[\]\"'`|]|\([^\s<>()]*\))+")
"""Brackets in pairs belong to an address, a single one to the Markdown around it."""
_LEVELS: tuple[Confidence, ...] = ("low", "medium", "high")


def written(sitting: Sitting, synthesis: SpeechGiven) -> Verdict:
    """The verdict as the Captain wrote it. What is not in its place is taken from the speeches,
    and a dissent that the Captain left out is put back."""
    parts = {name: synthesis.sections.get(name, "") for name in VERDICT_SECTIONS}
    answer = parts["Answer"] or synthesis.text
    flags = list(synthesis.flags)
    if any(copied_share(answer, speech.text) > PASTED_LIMIT for speech in sitting.answers):
        flags.append(PASTED)
    return Verdict(
        answer=answer,
        confidence=parse_confidence(parts["Confidence"]) or _declared(sitting),
        agreement=parts["Agreement"],
        dissent=(*_captains_dissent(sitting, parts["Dissent"]), *_declared_dissent(sitting)),
        method="written",
        author=synthesis.model,
        cites=_cited(sitting, synthesis.text),
        changed_minds=parts["Changed Minds"],
        gaps=parts["Gaps and Risks"],
        sources=_sources(sitting, parts["Sources"]),
        meaningful=_meaningful(sitting),
        flags=tuple(flags),
    )


def extracted(sitting: Sitting) -> Verdict:
    """The specialists' own positions side by side, for when no model can write the verdict."""
    speeches = sitting.last_words
    lines = [f"- **{BY_ID[s.participant].name}** ({s.turn_id}): {position(s)}" for s in speeches]
    meaningful = _meaningful(sitting)
    return Verdict(
        answer="No model wrote this answer; these are the specialists' own words.\n\n"
        + "\n".join(lines),
        confidence=_declared(sitting) if meaningful else None,
        agreement="Not judged: an extract cannot weigh positions against each other.",
        dissent=_declared_dissent(sitting),
        method="extractive",
        cites=tuple(s.turn_id for s in speeches),
        sources=_sources(sitting, ""),
        meaningful=meaningful,
    )


def joint_findings(sitting: Sitting) -> str:
    """A summary of round 1 made without a model: each position in its own words."""
    return "\n".join(
        f"{BY_ID[s.participant].name}: {position(s)}"
        + (f" Reservation: {dissent(s)}" if dissent(s) else "")
        for s in sitting.answers
    )


def _meaningful(sitting: Sitting) -> bool:
    newest = {b.participant: b for b in sitting.state.ballots}
    return all(b.meaningful for b in newest.values())


def _declared(sitting: Sitting) -> Confidence | None:
    """The lowest confidence among the last ballots: a table is as sure as its doubter."""
    newest = {b.participant: b for b in sitting.state.ballots if b.meaningful}
    named = [b.confidence for b in newest.values() if b.confidence is not None]
    return min(named, key=_LEVELS.index) if named else None


def _captains_dissent(sitting: Sitting, text: str) -> tuple[Dissent, ...]:
    if says_nothing(text):
        return ()
    return (Dissent(participant=sitting.captain.id, position=text),)


def _declared_dissent(sitting: Sitting) -> tuple[Dissent, ...]:
    """Every reservation that a specialist declared, also one that round 2 did not repeat."""
    return tuple(
        Dissent(participant=s.participant, position=reservation, turn_id=s.turn_id)
        for s in sitting.answers
        if (reservation := dissent(s))
    )


def _cited(sitting: Sitting, text: str) -> tuple[str, ...]:
    return tuple(s.turn_id for s in sitting.state.speeches if s.round > 0 and s.turn_id in text)


def _sources(sitting: Sitting, captains: str) -> tuple[str, ...]:
    """The addresses named, merged. Those that no search brought are marked as unverified, and
    those that it brought from a weak source as that."""
    found = {hit.url: labelled(hit) for hit in sitting.hits}
    texts = [captains, *(s.sections.get("Sources", "") for s in sitting.answers)]
    named = (url.rstrip(".,;:!?*_") for text in texts for url in _URL.findall(text))
    urls = dict.fromkeys(named)
    return tuple(found.get(url, f"{url} (unverified)") for url in urls)
