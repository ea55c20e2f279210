"""The verdict of a custom procedure: written by the host, counted, or extracted."""

from __future__ import annotations

from ...core.contracts import parse_confidence, says_nothing
from ...core.events import SpeechGiven
from ...core.quotes import FABRICATED, check_quotations
from ...core.values import Dissent, Verdict
from .results import Result, first_choice, shown
from .sitting import Sitting, digest

COMPUTED = "[counted by the program]"
RULES_DISAGREE = "[voting rules disagree]"
_PLACED = ("Answer", "Confidence", "Gaps and Risks")


def written(sitting: Sitting, speech: SpeechGiven) -> Verdict:
    """As the host wrote it, with its quotations verified and what was counted beside it."""
    sections = speech.sections
    answer, invented = _checked(sitting, _worded(speech))
    gaps = sections.get("Gaps and Risks", "")
    return _counted(sitting).model_copy(
        update={
            "answer": answer,
            "method": "written",
            "author": speech.model,
            "confidence": parse_confidence(sections.get("Confidence", "")),
            "cites": tuple(
                s.turn_id for s in sitting.state.speeches if s.round > 0 and s.turn_id in answer
            ),
            "gaps": "" if says_nothing(gaps) else gaps,
            "flags": (
                *speech.flags,
                *([FABRICATED] if invented else []),
                *_alarm(final_result(sitting)),
            ),
        }
    )


def _worded(speech: SpeechGiven) -> str:
    """The answer, and below it the sections that have no place of their own."""
    if not speech.sections.get("Answer"):
        return speech.text
    others = [f"### {h}\n{body}" for h, body in speech.sections.items() if h not in _PLACED]
    return "\n\n".join([speech.sections["Answer"], *others])


def computed(sitting: Sitting) -> Verdict | None:
    """The aggregate alone; None where nothing could be counted."""
    result = final_result(sitting)
    if result is None or not result.values:
        return None
    cites = [s.turn_id for s in sitting.last_words if s.participant in result.values]
    return _counted(sitting).model_copy(
        update={
            "answer": _answer(result),
            "method": "extractive",
            "cites": tuple(cites),
            "flags": (COMPUTED, *_alarm(result)),
        }
    )


def extracted(sitting: Sitting) -> Verdict:
    """Everybody's own last words side by side."""
    names = {p.id: p.name for p in sitting.state.participants}
    lines = [f"- **{names[s.participant]}** ({s.turn_id}): {digest(s)}" for s in sitting.last_words]
    return _counted(sitting).model_copy(
        update={
            "answer": "No model wrote this answer; these are the participants' own words.\n\n"
            + "\n".join(lines),
            "method": "extractive",
            "cites": tuple(s.turn_id for s in sitting.last_words),
            "flags": tuple(_alarm(final_result(sitting))),
        }
    )


def final_result(sitting: Sitting) -> Result | None:
    """The last aggregate of the stage that the verdict is about, or of any; one for which too few
    spoke stands only where there is no other."""
    wanted = sitting.definition.verdict.of
    made = [r for r in sitting.results if wanted in (None, r.stage)]
    counted = [r for r in made if r.values]
    whole = [r for r in counted if r.enough]
    standing = whole or counted or made
    return standing[-1] if standing else None


def _answer(result: Result) -> str:
    if result.statistics is not None:
        s = result.statistics
        return (
            f"**{result.of}: {shown(s.median)}** (the median of {s.count}; the middle half lies "
            f"between {shown(s.q1)} and {shown(s.q3)}, all of them between {shown(s.minimum)} and "
            f"{shown(s.maximum)})."
        )
    if result.tally is not None:
        tie = "A tie: " if len(result.winners) > 1 else ""
        return f"**{tie}{' and '.join(result.winners)}**, {result.finding()}"
    return f"The points that were raised:\n{result.finding()}"


def _counted(sitting: Sitting) -> Verdict:
    """What can be said without a model."""
    result = final_result(sitting)
    course = [r for r in sitting.results if result and r.stage == result.stage and r.values]
    meaningful = any(sitting.meaningful(speech) for speech in sitting.last_words)
    return Verdict(
        answer="",
        agreement=result.text() if result else "",
        dissent=_dissent(sitting, result),
        changed_minds="\n".join(f"- {each.text()}" for each in course) if len(course) > 1 else "",
        meaningful=meaningful and (result is None or bool(result.values)),
    )


def _dissent(sitting: Sitting, result: Result | None) -> tuple[Dissent, ...]:
    """Whoever stands outside what the count says: another choice, or a number outside the middle
    half."""
    if result is None:
        return ()
    last = {speech.participant: speech for speech in sitting.last_words}
    found = []
    for name, value in result.values.items():
        if result.statistics is not None and isinstance(value, float):
            outside = not result.statistics.q1 <= value <= result.statistics.q3
        else:
            outside = result.tally is not None and first_choice(value) not in result.winners
        if outside and name in last:
            said = f"{first_choice(value)}: {_reasons(sitting, last[name])}"
            found.append(Dissent(participant=name, position=said, turn_id=last[name].turn_id))
    return tuple(found)


def _reasons(sitting: Sitting, speech: SpeechGiven) -> str:
    """The beginning of a speech without the sections that only hold what was counted."""
    stage = sitting.definition.stage(speech.stage)
    counted = {each.section for each in stage.extract} if stage else set()
    rest = {heading: body for heading, body in speech.sections.items() if heading not in counted}
    return digest(speech.model_copy(update={"sections": rest}) if rest else speech)


def _alarm(result: Result | None) -> list[str]:
    return [RULES_DISAGREE] if result is not None and result.tally and result.tally.alarm else []


def _checked(sitting: Sitting, answer: str) -> tuple[str, bool]:
    """The answer without quotations that stand in no speech, and whether there were any."""
    said = {speech.turn_id: speech.text for speech in sitting.state.speeches if speech.round > 0}
    said["question"] = sitting.state.start.topic
    return check_quotations(answer, said)
