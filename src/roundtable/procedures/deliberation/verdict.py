"""The verdict of a deliberation: what the vote says, checked against what was said."""

from __future__ import annotations

import re

from ...core.contracts import says_nothing
from ...core.convergence import Ending
from ...core.events import SpeechGiven
from ...core.quotes import find_quote
from ...core.tally import Tally
from ...core.values import Confidence, Dissent, Verdict
from .sitting import Sitting, position

FABRICATED = "[quotation not found]"
RULES_DISAGREE = "[voting rules disagree]"
_QUOTATION = re.compile(r"[\"“„«「]([^\"“”„«»「」\n]{12,400})[\"”“»」]")
_SHORTEST_QUOTATION = 4
"""Words. Shorter ones are names and terms, not quotations."""


def written(sitting: Sitting, synthesis: SpeechGiven) -> Verdict:
    """The verdict as the host wrote it, with its quotations verified and every dissent kept."""
    answer, invented = _checked(sitting, synthesis.sections.get("Answer") or synthesis.text)
    flags = [*synthesis.flags, *([FABRICATED] if invented else []), *_alarm(sitting)]
    gaps = synthesis.sections.get("Gaps and Risks", "")
    return _verdict(sitting).model_copy(
        update={
            "answer": answer,
            "method": "written",
            "author": synthesis.model,
            "cites": _cited(sitting, synthesis.text),
            "gaps": "" if says_nothing(gaps) else gaps,
            "flags": tuple(flags),
        }
    )


def extracted(sitting: Sitting) -> Verdict:
    """The experts' own last words side by side, for when no model can write the verdict."""
    names = {p.id: p.name for p in sitting.state.participants}
    lines = [
        f"- **{names[s.participant]}** ({s.turn_id}): {position(s)}" for s in sitting.last_words
    ]
    return _verdict(sitting).model_copy(
        update={
            "answer": "No model wrote this answer; these are the experts' own words.\n\n"
            + "\n".join(lines),
            "method": "extractive",
            "cites": tuple(s.turn_id for s in sitting.last_words),
            "flags": tuple(_alarm(sitting)),
        }
    )


def outcome(sitting: Sitting) -> str:
    """The result of the vote in words, for the host who has to write it up."""
    ending = sitting.ending
    if ending.end is None:
        return f"There was no countable vote: {ending.reason}."
    lines = [f"The end: {ending.end} ({ending.reason})."]
    for option, votes in _first_choices(sitting.count()).items():
        lines.append(f"- {sitting.options[option]}: {votes}")
    return "\n".join(lines)


def _verdict(sitting: Sitting) -> Verdict:
    """What the ballots alone say."""
    ending = sitting.ending
    return Verdict(
        answer="",
        confidence=_confidence(sitting, ending),
        agreement=_agreement(ending),
        dissent=_dissent(sitting, ending),
        changed_minds=what_talk_changed(sitting),
        meaningful=ending.end is not None,
    )


def _agreement(ending: Ending) -> str:
    if ending.end is None:
        return f"Not measured: {ending.reason}."
    numbers = [f"agreement {ending.agreement:.0%}"] if ending.agreement is not None else []
    if ending.stability is not None:
        numbers.append(f"stability {ending.stability:.0%}")
    return f"{ending.end.capitalize()}: {ending.reason}" + (
        f" ({', '.join(numbers)})." if numbers else "."
    )


def _confidence(sitting: Sitting, ending: Ending) -> Confidence | None:
    """From how the table ended and how sure it says it is, not from how the host sounds."""
    if ending.end is None:
        return None
    if ending.end in ("impasse", "drift"):
        return "low"
    last = {b.participant: b for b in sitting.state.ballots if b.meaningful}
    doubters = sum(1 for b in last.values() if b.confidence in (None, "low"))
    if ending.end == "consensus":
        return "high" if doubters == 0 else "medium"
    return "medium" if doubters * 2 <= len(last) else "low"


def _dissent(sitting: Sitting, ending: Ending) -> tuple[Dissent, ...]:
    """Everybody who does not hold what prevailed; in an impasse or a drift, everybody."""
    last = {speech.participant: speech for speech in sitting.last_words}
    return tuple(
        Dissent(
            participant=name,
            position=position(last[name]),
            turn_id=last[name].turn_id,
        )
        for name in ending.dissenting
        if name in last
    )


def what_talk_changed(sitting: Sitting) -> str:
    """What voting without talk would have said, who changed, by which argument, and who gave in."""
    if not sitting.ballots(2):
        return ""
    before, after = _leaders(sitting, 1), _leaders(sitting, None)
    lines = [
        f"Without talk the vote would have said {before}; after it, it says {after}."
        if before != after
        else f"Talk did not change the result: {after}."
    ]
    names = {p.id: p.name for p in sitting.state.participants}
    for change in sitting.changes():
        moved = (
            f"{names[change.participant]} went from “{sitting.options[change.before]}” to "
            f"“{sitting.options[change.after]}”"
        )
        if change.argument is None:
            lines.append(f"- {moved} without naming a new argument: a capitulation.")
        else:
            lines.append(f"- {moved} because of {change.argument}.")
    return "\n".join(lines)


def _leaders(sitting: Sitting, round_: int | None) -> str:
    winners = sitting.count(round_).outcomes["plurality"].winners
    return " and ".join(f"“{sitting.options[w]}”" for w in winners) or "nothing"


def _first_choices(tally: Tally) -> dict[str, int]:
    scores = tally.outcomes["plurality"].scores
    return {option: int(votes) for option, votes in scores.items()}


def _alarm(sitting: Sitting) -> list[str]:
    return [RULES_DISAGREE] if sitting.count().alarm else []


def _checked(sitting: Sitting, answer: str) -> tuple[str, bool]:
    """The answer with every quotation that stands in no speech taken out of its marks."""
    transcript = {speech.turn_id: speech.text for speech in sitting.state.speeches}
    transcript["question"] = sitting.state.start.topic
    invented = False

    def verify(match: re.Match[str]) -> str:
        nonlocal invented
        if len(match[1].split()) < _SHORTEST_QUOTATION or find_quote(match[1], transcript):
            return match[0]
        invented = True
        return FABRICATED

    return _QUOTATION.sub(verify, answer), invented


def _cited(sitting: Sitting, text: str) -> tuple[str, ...]:
    return tuple(s.turn_id for s in sitting.state.speeches if s.round > 0 and s.turn_id in text)
