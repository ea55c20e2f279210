"""The verdict of a custom procedure: written by the host, counted, or extracted."""

from __future__ import annotations

from ...core.events import SpeechGiven
from ...core.values import Dissent, Verdict
from .. import verdicts
from .results import Result, first_choice, shown
from .table import CustomTable, digest

COMPUTED = "[counted by the program]"
RULES_DISAGREE = "[voting rules disagree]"
_PLACED = ("Answer", "Gaps and Risks")


def written(table: CustomTable, speech: SpeechGiven) -> Verdict:
    """As the host wrote it, checked, with what was counted beside it."""
    gaps = speech.sections.get("Gaps and Risks", "")
    verdict = verdicts.written(table, speech, answer=_worded(speech), gaps=gaps, among=table.newest)
    counted = _counted(table)
    return verdict.model_copy(
        update={
            "agreement": counted.agreement,
            "dissent": counted.dissent,
            "changed_minds": counted.changed_minds,
            "confidence": counted.confidence,
            "meaningful": counted.meaningful,
            "flags": (*verdict.flags, *_alarm(final_result(table))),
        }
    )


def _worded(speech: SpeechGiven) -> str:
    """The answer, and below it the sections that have no place of their own."""
    if not speech.sections.get("Answer"):
        return speech.text
    others = [f"### {h}\n{body}" for h, body in speech.sections.items() if h not in _PLACED]
    return "\n\n".join([speech.sections["Answer"], *others])


def computed(table: CustomTable) -> Verdict | None:
    """The aggregate alone; None where nothing could be counted."""
    result = final_result(table)
    if result is None or not result.values:
        return None
    cites = [s.turn_id for s in table.newest if s.participant in result.values]
    return _counted(table).model_copy(
        update={
            "answer": _answer(result),
            "method": "extractive",
            "cites": tuple(cites),
            "flags": (COMPUTED, *_alarm(result)),
        }
    )


def extracted(table: CustomTable) -> Verdict:
    """Everybody's own last words side by side."""
    lines = [f"- **{table.name(s.participant)}** ({s.turn_id}): {digest(s)}" for s in table.newest]
    return _counted(table).model_copy(
        update={
            "answer": "No model wrote this answer; these are the participants' own words.\n\n"
            + "\n".join(lines),
            "method": "extractive",
            "cites": tuple(s.turn_id for s in table.newest),
            "flags": tuple(_alarm(final_result(table))),
        }
    )


def final_result(table: CustomTable) -> Result | None:
    """The last aggregate of the stage that the verdict is about, or of any; one for which too few
    spoke stands only where there is no other."""
    wanted = table.definition.verdict.of
    made = [r for r in table.results if wanted in (None, r.stage)]
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
    if result.kind == "decision":
        won = f"**{' and '.join(result.winners)}**, " if result.winners else "Nothing prevails: "
        return f"{won}{result.finding()}"
    if result.tally is not None:
        tie = "A tie: " if len(result.winners) > 1 else ""
        return f"**{tie}{' and '.join(result.winners)}**, {result.finding()}"
    return f"The points that were raised:\n{result.finding()}"


def _counted(table: CustomTable) -> Verdict:
    """What can be said without a model."""
    result = final_result(table)
    course = [r for r in table.results if result and r.stage == result.stage and r.values]
    told = "\n".join(f"- {each.text()}" for each in course) if len(course) > 1 else ""
    base = verdicts.counted(table)
    if result is not None and result.kind == "decision":
        changed = "\n".join(each for each in (base.changed_minds, told) if each)
        return base.model_copy(update={"changed_minds": changed})
    counts = bool(result.values) if result else _speaks(table)
    return Verdict(
        answer="",
        confidence=base.confidence,
        agreement=result.text() if result else "",
        dissent=_dissent(table, result),
        changed_minds=told,
        meaningful=counts,
    )


def _speaks(table: CustomTable) -> bool:
    """Whether anybody but a demonstration model spoke."""
    return any(s.participant not in table.record.demonstration for s in table.newest)


def _dissent(table: CustomTable, result: Result | None) -> tuple[Dissent, ...]:
    """Whoever stands outside what the count says: another choice, or a number outside the middle
    half."""
    if result is None:
        return ()
    last = {speech.participant: speech for speech in table.newest}
    found = []
    for name, value in result.values.items():
        if result.statistics is not None and isinstance(value, float):
            outside = not result.statistics.q1 <= value <= result.statistics.q3
        else:
            outside = result.tally is not None and first_choice(value) not in result.winners
        if outside and name in last:
            said = f"{first_choice(value)}: {_reasons(table, last[name])}"
            found.append(Dissent(participant=name, position=said, turn_id=last[name].turn_id))
    return tuple(found)


def _reasons(table: CustomTable, speech: SpeechGiven) -> str:
    """The beginning of a speech without the sections that only hold what was counted."""
    stage = table.definition.stage(speech.stage)
    counted = {each.section for each in stage.extract} if stage else set()
    rest = {heading: body for heading, body in speech.sections.items() if heading not in counted}
    return digest(speech.model_copy(update={"sections": rest}) if rest else speech)


def _alarm(result: Result | None) -> list[str]:
    return [RULES_DISAGREE] if result is not None and result.tally and result.tally.alarm else []
