"""Consensus statements: for value questions, words that the whole table can live with.

The host drafts candidates, every expert ranks them without knowing what the others do, the Schulze
method picks, and the host revises the winner once, by the objections that came with the ranks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.contracts import Contract, Violation, says_nothing
from ...core.effects import PromptPlan, PromptValue, Task, TurnPlan, Untrusted
from ...core.events import BallotCast, Event, SpeechGiven
from ...core.tally import Tally, Vote, tally
from ...core.text import clip, first_sentences
from ...core.values import Confidence, Dissent, Participant, Verdict
from .ballots import read_ballot
from .checks import check_citations, check_quotations
from .contracts import BALLOT, BallotContract
from .records import cast
from .sitting import Sitting
from .tasks import (
    CONCLUDING,
    common,
    everything_said,
    expert_turn,
    host_turn,
    listed,
    persona,
)
from .verdict import by_ballots, extracted

DRAFT, RANKING, REVISION = "draft", "ranking", "revision"
RANKING_ROUND = 3
FEWEST, MOST = 2, 4
LONGEST = 1500
NOT_REVISED = "[statement not revised]"
OBJECTION = "Objection"
_STATEMENT = re.compile(r"^[\s>*_`#•+\-]*STATEMENT\s*\d*[\s*_]*[:：][\s*_]*", re.I | re.M)


@dataclass(frozen=True, slots=True)
class DraftContract(Contract):
    """Two to four statements."""

    def check(self, text: str) -> tuple[Violation, ...]:
        count = len(read_drafts(text))
        if count >= FEWEST:
            return ()
        told = f"{count} statements; {FEWEST} to {MOST} are needed, each after “STATEMENT:”."
        return (Violation("statements", told),)


def read_drafts(text: str) -> dict[str, str]:
    """The drafted statements by id, each of them once."""
    parts = (part.strip(' \n\t*_"“”') for part in _STATEMENT.split(text)[1:])
    drafts = dict.fromkeys(clip(part, LONGEST) for part in parts if part)
    return {f"s{n}": words for n, words in enumerate(list(drafts)[:MOST], 1)}


def wanted(sitting: Sitting) -> bool:
    return bool(sitting.state.start.options.get("statement")) and sitting.host_writes


def candidates(sitting: Sitting) -> dict[str, str]:
    speech = next(iter(sitting.state.spoken_in(DRAFT, 0)), None)
    found = read_drafts(speech.text) if speech else {}
    return found if len(found) >= FEWEST else {}


# --- turns -------------------------------------------------------------------------------------


def draft(sitting: Sitting) -> TurnPlan:
    variables: dict[str, PromptValue] = {**common(sitting), **everything_said(sitting)}
    task = Task(PromptPlan("deliberation/statement-draft", variables), DraftContract())
    return host_turn(sitting, DRAFT, task, CONCLUDING, last=False)


def rankings(sitting: Sitting) -> list[TurnPlan]:
    """Everybody who answered ranks. A demonstration model cannot."""
    here = {speech.participant for speech in sitting.answers}
    return [
        _ranking(sitting, p)
        for p in sitting.state.participants
        if p.id in here and not p.speaker.demonstration
    ]


def _ranking(sitting: Sitting, participant: Participant) -> TurnPlan:
    drafts = candidates(sitting)
    order = sitting.shuffled(participant.id, list(drafts))
    variables: dict[str, PromptValue] = {
        **common(sitting),
        **persona(sitting, participant),
        "statements": listed({each: drafts[each] for each in order}),
    }
    contract = BallotContract(sections=(OBJECTION, BALLOT), options=tuple(drafts.items()))
    task = Task(PromptPlan("deliberation/statement-ranking", variables), contract)
    return expert_turn(sitting, participant, RANKING, RANKING_ROUND, task, None)


def revision(sitting: Sitting) -> TurnPlan:
    objections = tuple(
        Untrusted("speech", words, f"turn {speech.turn_id}")
        for speech in _ranked(sitting)
        if (words := objection(speech))
    )
    variables: dict[str, PromptValue] = {
        **common(sitting),
        "statement": Untrusted("options", candidates(sitting)[winner(sitting) or ""]),
        "objections": objections,
    }
    contract = Contract(sections=("Statement", "Gaps and Risks"))
    task = Task(PromptPlan("deliberation/statement-revision", variables), contract)
    return host_turn(sitting, REVISION, task, CONCLUDING)


# --- the vote ----------------------------------------------------------------------------------


def ballots(sitting: Sitting, speeches: Sequence[SpeechGiven]) -> tuple[Event, ...]:
    drafts = candidates(sitting)
    written = [(s, read_ballot(s.sections.get(BALLOT, ""), drafts)) for s in speeches]
    return tuple(cast(sitting, s, ballot, ballot.ranking, drafts) for s, ballot in written)


def count(sitting: Sitting) -> Tally:
    votes = [Vote(b.participant, b.ranking, b.certainty) for b in _counted(sitting)]
    return tally(votes, list(candidates(sitting)))


def winner(sitting: Sitting) -> str | None:
    """The statement that the Schulze method picks; in a tie, the one with more Borda points, then
    the one drafted first. None without a countable ballot."""
    outcomes = count(sitting).outcomes
    points = outcomes["borda"].scores
    return max(outcomes["schulze"].winners, key=lambda each: points[each], default=None)


def _counted(sitting: Sitting) -> list[BallotCast]:
    return [ballot for ballot in sitting.ballots(RANKING_ROUND) if ballot.meaningful]


def _ranked(sitting: Sitting) -> list[SpeechGiven]:
    return sitting.state.spoken_in(RANKING, RANKING_ROUND)


def objection(speech: SpeechGiven) -> str:
    words = speech.sections.get(OBJECTION, "")
    return "" if says_nothing(words) else words


# --- the verdict -------------------------------------------------------------------------------


def verdict(sitting: Sitting, revised: SpeechGiven | None) -> Verdict:
    """The winning statement, revised where the host could do it."""
    won = winner(sitting)
    assert won is not None, "a statement verdict needs a statement that won"
    base = by_ballots(sitting)
    statement, gaps, flags = candidates(sitting)[won], "", [NOT_REVISED]
    author = next(s.model for s in sitting.state.spoken_in(DRAFT, 0))
    if revised is not None:
        flags, author = list(revised.flags), revised.model
        statement = revised.sections.get("Statement") or revised.text
        gaps = revised.sections.get("Gaps and Risks", "")
    for check in (check_quotations, check_citations):
        statement, found = check(sitting, statement)
        flags += found
    first = sum(1 for ballot in _counted(sitting) if ballot.ranking[0] == (won,))
    voters = len(_counted(sitting))
    return base.model_copy(
        update={
            "answer": statement,
            "author": author,
            "confidence": _confidence(first, voters),
            "agreement": f"Of {len(candidates(sitting))} statements this one won by the Schulze "
            f"method; {first} of {voters} rank it first. On the question itself: "
            f"{base.agreement}",
            "dissent": _dissent(sitting, won),
            "cites": tuple(s.turn_id for s in _ranked(sitting)),
            "gaps": "" if says_nothing(gaps) else gaps,
            "flags": (*flags, *base.flags),
            "meaningful": True,
        }
    )


def without_a_statement(sitting: Sitting) -> Verdict:
    """The best-ranked position in its own words, for when nobody could draft or rank."""
    base = extracted(sitting)
    outcomes = sitting.count(sitting.last_ballots).outcomes
    points = outcomes["borda"].scores
    best = max(outcomes["schulze"].winners, key=lambda each: points[each], default=None)
    return base if best is None else base.model_copy(update={"answer": sitting.options[best]})


def _confidence(first: int, voters: int) -> Confidence:
    if first == voters:
        return "high"
    return "medium" if first * 2 > voters else "low"


def _dissent(sitting: Sitting, won: str) -> tuple[Dissent, ...]:
    """Everybody who would rather have had another statement, with the objection it made."""
    preferred = {b.participant: b for b in _counted(sitting) if b.ranking[0] != (won,)}
    return tuple(
        Dissent(
            participant=speech.participant,
            position=first_sentences(objection(speech), 3, 500)
            or f"Prefers: {clip(preferred[speech.participant].position, 300)}",
            turn_id=speech.turn_id,
        )
        for speech in _ranked(sitting)
        if speech.participant in preferred
    )
