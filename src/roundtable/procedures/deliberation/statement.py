"""Consensus statements: for value questions, words that the whole table can live with.

The host drafts candidates, every expert ranks them without knowing what the others do, the Schulze
method picks, and the host revises the winner once, by the objections that came with the ranks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...core.contracts import Contract, Violation, says_nothing
from ...core.declaration import Decision, DeclaredVote, Option
from ...core.declaration_form import Form
from ...core.effects import PromptPlan, PromptValue, Task, TurnPlan, TurnPolicy, Untrusted
from ...core.events import SpeechGiven
from ...core.tally import Tally, Vote, tally
from ...core.text import clip, first_sentences
from ...core.values import Dissent, Finding, Participant, Verdict
from .. import verdicts
from ..table import Table

DRAFT, RANKING, REVISION = "draft", "ranking", "revision"
RANKING_ROUND = 3
FEWEST, MOST = 2, 4
LONGEST = 1500
NOT_REVISED = "[statement not revised]"
OBJECTION = "Objection"
DECISION = "statement"
EXPERT = TurnPolicy(timeout=120, deadline=150, retries=1, repairs=1)
CONCLUDING = TurnPolicy(timeout=180, deadline=200, retries=1, repairs=1)
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


def wanted(table: Table) -> bool:
    return bool(table.option("statement")) and table.host_writes


def candidates(table: Table) -> dict[str, str]:
    speech = next(iter(table.state.spoken_in(DRAFT, 0)), None)
    found = read_drafts(speech.text) if speech else {}
    return found if len(found) >= FEWEST else {}


# --- turns -------------------------------------------------------------------------------------


def draft(table: Table) -> TurnPlan:
    said = [s for s in table.state.said.in_rounds if s.round in (1, 2) and s.text]
    variables: dict[str, PromptValue] = {
        **table.common(),
        "answers": table.by_name([s for s in said if s.round == 1]),
        "critiques": table.by_name([s for s in said if s.round == 2]),
    }
    task = Task(PromptPlan("deliberation/statement-draft", variables), DraftContract())
    return table.host_turn(DRAFT, task, CONCLUDING)


def rankings(table: Table) -> list[TurnPlan]:
    """Everybody who answered ranks. A demonstration model cannot."""
    here = {speech.participant for speech in table.state.said.in_rounds if speech.round == 1}
    return [
        _ranking(table, seat)
        for seat in table.seats
        if seat.id in here and not seat.speaker.demonstration
    ]


def _ranking(table: Table, seat: Participant) -> TurnPlan:
    drafts = candidates(table)
    order = table.shuffled(seat.id, list(drafts))
    options = tuple(Option(id=each, text=drafts[each]) for each in order)
    asked = "Which statement could the whole table stand behind?"
    form = Form(("votes",), (Decision(id=DECISION, question=asked, options=options),))
    task = table.declaring_task(
        "deliberation/statement-ranking",
        {**table.common(), **table.persona(seat)},
        form,
        Contract(sections=(OBJECTION,)),
    )
    return table.seat_turn(seat, RANKING, RANKING_ROUND, task, EXPERT)


def revision(table: Table) -> TurnPlan:
    objections = tuple(
        Untrusted("speech", words, f"turn {speech.turn_id}")
        for speech in _ranked(table)
        if (words := objection(speech))
    )
    variables: dict[str, PromptValue] = {
        **table.common(),
        "statement": Untrusted("options", candidates(table)[winner(table) or ""]),
        "objections": objections,
    }
    contract = Contract(sections=("Statement", "Gaps and Risks"))
    task = Task(PromptPlan("deliberation/statement-revision", variables), contract)
    return table.host_turn(REVISION, task, CONCLUDING)


# --- the vote ----------------------------------------------------------------------------------


def votes(table: Table) -> dict[str, DeclaredVote]:
    """Everybody's ranking of the statements, by seat."""
    found = {s.participant: s.declaration.vote(DECISION) for s in _ranked(table) if s.declaration}
    return {seat: vote for seat, vote in found.items() if vote is not None and vote.ranking}


def count(table: Table) -> Tally:
    cast = [Vote.of(seat, *vote.ranking) for seat, vote in votes(table).items()]
    return tally(cast, list(candidates(table)))


def winner(table: Table) -> str | None:
    """The statement that the Schulze method picks; in a tie, the one with more Borda points, then
    the one drafted first. None without a countable vote."""
    outcomes = count(table).outcomes
    points = outcomes["borda"].scores
    return max(outcomes["schulze"].winners, key=lambda each: points[each], default=None)


def _ranked(table: Table) -> list[SpeechGiven]:
    return table.state.spoken_in(RANKING, RANKING_ROUND)


def objection(speech: SpeechGiven) -> str:
    words = speech.sections.get(OBJECTION, "")
    return "" if says_nothing(words) else words


# --- the verdict -------------------------------------------------------------------------------


def verdict(table: Table, revised: SpeechGiven | None) -> Verdict:
    """The winning statement, revised where the host could do it."""
    won = winner(table)
    assert won is not None, "a statement verdict needs a statement that won"
    base = verdicts.counted(table)
    text, gaps, flags = candidates(table)[won], "", [NOT_REVISED]
    author = next(s.model for s in table.state.spoken_in(DRAFT, 0))
    if revised is not None:
        flags, author = list(revised.flags), revised.model
        text = revised.sections.get("Statement") or revised.text
        gaps = revised.sections.get("Gaps and Risks", "")
    check = verdicts.Checking(table.state)
    text, gaps = check(text), check("" if says_nothing(gaps) else gaps)
    findings: list[Finding] = check.findings
    flags += dict.fromkeys(map(verdicts.flag_of, findings))
    cast = votes(table)
    first = sum(vote.ranking[0] == won for vote in cast.values())
    return base.model_copy(
        update={
            "answer": text,
            "brief": first_sentences(text, 2, 400),
            "author": author,
            "agreement": f"Of {len(candidates(table))} statements this one won by the Schulze "
            f"method; {first} of {len(cast)} rank it first. On the question itself: "
            f"{base.agreement}",
            "dissent": _dissent(table, won),
            "cites": tuple(s.turn_id for s in _ranked(table)),
            "gaps": gaps,
            "findings": tuple(findings),
            "flags": (*flags, *base.flags),
            "meaningful": True,
        }
    )


def without_a_statement(table: Table) -> Verdict:
    """The position that most hold in its own words, for when nobody could draft or rank."""
    base = verdicts.extracted(table, [s for s in table.state.said.in_rounds if s.round in (1, 2)])
    question = table.standing.question
    if question is None or question.delivered is None:
        return base
    return base.model_copy(update={"answer": question.answer})


def _dissent(table: Table, won: str) -> tuple[Dissent, ...]:
    """Everybody who would rather have had another statement, with the objection it made."""
    preferred = {s: v.ranking[0] for s, v in votes(table).items() if v.ranking[0] != won}
    texts = candidates(table)
    return tuple(
        Dissent(
            participant=speech.participant,
            position=first_sentences(objection(speech), 3, 500)
            or f"Prefers: {clip(texts.get(preferred[speech.participant], ''), 300)}",
            turn_id=speech.turn_id,
        )
        for speech in _ranked(table)
        if speech.participant in preferred
    )
