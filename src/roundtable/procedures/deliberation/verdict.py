"""The verdict of a deliberation: what the vote says, checked against what was said."""

from __future__ import annotations

from ...core.contracts import says_nothing
from ...core.convergence import Ending
from ...core.events import SpeechGiven
from ...core.text import clip
from ...core.values import Confidence, Dissent, Verdict
from .ballots import read_reasons
from .checks import UNCITED, check_citations, check_quotations, cited
from .sitting import FIRST_ROUND, LAST_ROUND, Sitting, position

RULES_DISAGREE = "[voting rules disagree]"


def written(sitting: Sitting, synthesis: SpeechGiven) -> Verdict:
    """The verdict as the host wrote it, with quotations and citations verified and every dissent
    kept."""
    flags = dict.fromkeys(synthesis.flags)

    def checked(text: str) -> str:
        for check in (check_quotations, check_citations):
            text, found = check(sitting, text)
            flags.update(dict.fromkeys(found))
        return text

    base = by_ballots(sitting)
    told = checked(synthesis.sections.get("Agreement", ""))
    gaps = synthesis.sections.get("Gaps and Risks", "")
    answer = checked(synthesis.sections.get("Answer") or synthesis.text)
    cites = cited(sitting, synthesis.text)
    if not cites:
        flags[UNCITED] = None
    return base.model_copy(
        update={
            "answer": answer,
            "method": "written",
            "author": synthesis.model,
            # The measure comes first: the host's words cannot turn an impasse into an agreement.
            "agreement": base.agreement if says_nothing(told) else f"{base.agreement} {told}",
            "cites": cites,
            "gaps": "" if says_nothing(gaps) else checked(gaps),
            "flags": (*flags, *base.flags),
        }
    )


def extracted(sitting: Sitting) -> Verdict:
    """The experts' own last words side by side, for when no model can write the verdict."""
    base = by_ballots(sitting)
    lines = ["No model wrote this answer; these are the experts' own words.", ""]
    if leading := sitting.ending.position:
        lines[:0] = [f"The vote is for {_named(sitting, leading)}.", ""]
    lines += [
        f"- **{sitting.name(s.participant)}** ({s.turn_id}): {position(s)}"
        for s in sitting.last_words
    ]
    return base.model_copy(
        update={
            "answer": "\n".join(lines),
            "method": "extractive",
            "cites": tuple(s.turn_id for s in sitting.last_words),
            # Where nothing was voted on, the answer itself is the list of all positions.
            "dissent": base.dissent if base.meaningful else (),
        }
    )


def by_ballots(sitting: Sitting) -> Verdict:
    """What the ballots alone say; the answer is still empty."""
    ending = sitting.ending
    alarm = sitting.count(sitting.last_ballots).alarm
    return Verdict(
        answer="",
        confidence=_confidence(sitting, ending),
        agreement=_agreement(ending) + _by_record(sitting),
        dissent=_dissent(sitting, ending),
        changed_minds=what_talk_changed(sitting),
        meaningful=ending.end is not None,
        flags=(RULES_DISAGREE,) if alarm else (),
    )


def outcome(sitting: Sitting) -> str:
    """The result of the vote for the host who has to write it up. Options stand in it by their ids
    alone, because their words are not ours."""
    ending = sitting.ending
    if ending.end is None:
        return f"There was no countable vote: {ending.reason}."
    prevails = f", {ending.position} prevails" if ending.position else ""
    lines = [f"The end: {ending.end}{prevails} ({ending.reason})."]
    votes = sitting.count(sitting.last_ballots).outcomes["plurality"].scores
    lines += [f"- {option}: {int(count)} first choices" for option, count in votes.items()]
    choice = sitting.choice
    if ending.position is None and choice.weighted and not choice.tied:
        lines.append(
            f"The track record of the models leans to {choice.winner}; that settles nothing."
        )
    return "\n".join(lines)


def _agreement(ending: Ending) -> str:
    if ending.end is None:
        return f"Not measured: {ending.reason}."
    numbers = [f"agreement {ending.agreement:.0%}"] if ending.agreement is not None else []
    if ending.stability is not None:
        numbers.append(f"stability {ending.stability:.0%}")
    return f"{ending.end.capitalize()}: {ending.reason}" + (
        f" ({', '.join(numbers)})." if numbers else "."
    )


def _by_record(sitting: Sitting) -> str:
    """What the track record makes of the vote, in a sentence of its own. It never changes how the
    debate ended: positions do that."""
    choice = sitting.choice
    if not choice.weighted or not choice.winners:
        return ""
    if sitting.ending.position is not None:
        return f" Counted with track record ({choice.reason}): no change."
    if choice.tied:
        return f" Counted with track record ({choice.reason})."
    weight, whole = choice.scores[choice.winners[0]], sum(choice.scores.values())
    return (
        f" Counted with track record ({choice.reason}): {_named(sitting, choice.winners[0])} leads "
        f"with {weight:.1f} of {whole:.1f}."
    )


def _confidence(sitting: Sitting, ending: Ending) -> Confidence | None:
    """From how the table ended and how sure it says it is, not from how the host sounds."""
    if ending.end is None:
        return None
    if ending.end in ("impasse", "drift"):
        return "low"
    last = sitting.last_ballots
    doubters = sum(1 for ballot in last if ballot.confidence in (None, "low"))
    if ending.end == "consensus":
        return "high" if doubters == 0 else "medium"
    return "medium" if doubters * 2 <= len(last) else "low"


def _dissent(sitting: Sitting, ending: Ending) -> tuple[Dissent, ...]:
    """Everybody who does not hold what prevailed, with its first reason; where nothing prevailed,
    everybody."""
    last = {speech.participant: speech for speech in sitting.last_words}
    first = {speech.participant: speech for speech in sitting.answers}
    return tuple(
        Dissent(
            participant=name,
            position=position(last[name]),
            reason=next(iter(read_reasons(first[name].sections.get("Reasons", ""))), ""),
            turn_id=last[name].turn_id,
        )
        for name in ending.dissenting
        if name in last
    )


def what_talk_changed(sitting: Sitting) -> str:
    """What voting without talk would have said, who changed, by which argument, and who gave in."""
    if not sitting.ballots(LAST_ROUND) or not sitting.last_ballots:
        return ""
    before = _leaders(sitting, first_only=True)
    after = _leaders(sitting, first_only=False)
    lines = [
        f"Without talk the vote would have said {before}; after it, it says {after}."
        if before != after
        else f"Talk did not change the result: {after}."
    ]
    for change in sitting.changes:
        moved = (
            f"{sitting.name(change.participant)} went from {_named(sitting, change.before)} to "
            f"{_named(sitting, change.after)}"
        )
        speech = sitting.state.speech(change.argument) if change.argument else None
        if speech is None:
            lines.append(f"- {moved} without naming a new argument: a capitulation.")
            continue
        own = sitting.state.speech(change.turn)
        argument = sitting.written(own).argument if own else ""
        lines.append(
            f"- {moved} because of {sitting.name(speech.participant)} ({speech.turn_id})"
            + (f": {argument}" if argument else "")
            + "."
        )
    return "\n".join(lines)


def _leaders(sitting: Sitting, *, first_only: bool) -> str:
    ballots = sitting.ballots(FIRST_ROUND) if first_only else sitting.last_ballots
    winners = sitting.count(ballots).outcomes["plurality"].winners
    if len(winners) > 2:
        return f"a tie of {len(winners)} positions"
    named = " and ".join(_named(sitting, winner) for winner in winners)
    return f"a tie of {named}" if len(winners) > 1 else named or "nothing"


def _named(sitting: Sitting, option: str) -> str:
    """An option within a sentence."""
    return f"“{clip(sitting.options[option].rstrip(' .。'), 120)}”"
