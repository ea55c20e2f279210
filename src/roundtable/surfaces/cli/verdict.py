"""The verdict as a terminal shows it: the answer first, what follows from it, what it rests on.

It says what the page and the report say, from the same `Decision`; nothing is counted here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...core.naming import with_names
from ...core.state import State
from ...core.text import capitalised, clip_words, same_words, worded
from ...core.values import EXAMPLE_NOTE
from ...procedures import procedure_spec
from ...procedures.follow_up import is_demonstration
from ...version import __version__
from ...views.absence import Absence, absences
from ...views.decision import Decision
from ...views.decision_parts import (
    Cite,
    Made,
    Piece,
    Reason,
    Side,
    Sure,
    Vote,
    WorkLine,
    listed,
)
from ...views.decision_people import THE_SAME
from ...views.decision_votes import ON_THE_QUESTION
from ...views.spoken import spoken
from .board import cost_of
from .screen import Screen, screen_of
from .terminal import print_lines
from .typeset import Sheet

FLAGS = 5
"""What is to be known that stands under the votes; the rest is in the whole record."""
STEPS = 8
FIGURES = 8
"""Cells of the column in which the figures stand."""
SHORT_WORKS = 80
"""Lines of works that are shown with the verdict, though there are files of them."""
_UNANSWERED = ("failed", "stopped", "interrupted", "none", "live", "paused")
_OUT = {
    "rejects": ("rejects it", "reject it"),
    "any": ("has no preference", "have no preference"),
    "abstains": ("abstained", "abstained"),
    "undeclared": ("not counted", "not counted"),
    "absent": ("absent", "absent"),
    "demonstration": ("not counted", "not counted"),
    "none": ("did not vote on this", "did not vote on this"),
}
"""What is said of one seat, and of several."""
_DECLARED = ("undeclared", "none")
_LONGEST_HELD = 70
_IN_A_LINE = 80
"""Characters of an option that need no shorter words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is shown at the end of a discussion, or when it is looked at again."""

    decision: Decision
    absent: tuple[Absence, ...]
    called: str
    """By what its reader can name the discussion: `last`, or its id."""
    written: str
    """The answer as it was written; shown where no reasons stand for themselves."""
    cost: str
    outcome: str
    """How it turned out, if somebody said so."""
    whole_works: bool = False
    """Show all that is handed over, however long: there are no files of it."""
    anew: bool = False
    """Whether a further question needs another table: at this one nobody could answer."""

    @classmethod
    def of(
        cls,
        state: State,
        called: str = "",
        *,
        interrupted: bool = False,
        whole_works: bool = False,
    ) -> Verdict:
        decision = Decision.of(state, interrupted=interrupted)
        out = state.outcome
        return cls(
            decision,
            absences(state),
            called or state.discussion_id,
            _written(state, decision),
            cost_of(state),
            f"Turned out: {out.outcome}{f' ({out.note})' if out.note else ''}" if out else "",
            whole_works,
            is_demonstration(state),
        )


def _written(state: State, decision: Decision) -> str:
    """What was written, with names for the turns that it cites. Where nobody wrote and nothing was
    put to the vote, the words of the procedure, which may have counted something else."""
    if state.verdict is None:
        return ""
    if decision.kind == "values" and state.verdict.method == "extractive":
        return procedure_spec(state.start.procedure).deliver(state, __version__)
    return with_names(state, spoken(state.verdict.answer))


def in_short(verdict: Verdict, screen: Screen) -> list[str]:
    """The answer and the votes alone."""
    sheet = Sheet(screen)
    _answer(sheet, verdict.decision)
    _votes(sheet, verdict.decision, sure=False)
    for flag in verdict.decision.flags:
        if flag.code == "demonstration":  # without it the answer would be taken for one
            sheet.item(flag.text, "!", "warn")
    return sheet.lines


def typeset(verdict: Verdict, screen: Screen, *, question: bool = False) -> list[str]:
    """All of it, as far as somebody reads who decides; `question` puts it above the answer."""
    decision = verdict.decision
    sheet = Sheet(screen)
    if question:
        sheet.paragraph(decision.question.short, "dim")
        for flag in decision.flags:
            if flag.code == EXAMPLE_NOTE:
                sheet.paragraph(flag.text, "dim")
        sheet.blank()
    _answer(sheet, decision)
    if verdict.outcome:
        sheet.paragraph(verdict.outcome, "good")
    _votes(sheet, decision, sure=True)
    _values(sheet, decision)
    _known(sheet, verdict)
    _works(sheet, verdict)
    _why(sheet, verdict)
    _dissent(sheet, decision)
    _change(sheet, decision)
    _steps(sheet, decision)
    _record(sheet, decision)
    sheet.blank()
    _foot(sheet, verdict)
    return sheet.lines


def print_verdict(
    verdict: Verdict, *, quiet: bool = False, plain: bool = False, question: bool = False
) -> None:
    """The verdict for whoever reads standard output."""
    screen = screen_of(sys.stdout, os.environ, plain=plain)
    print_lines(in_short(verdict, screen) if quiet else typeset(verdict, screen, question=question))


# The first screen


def _answer(sheet: Sheet, decision: Decision) -> None:
    sheet.paragraph(decision.answer.first, "bold")
    if decision.answer.second:
        sheet.paragraph(decision.answer.second)
    if decision.cause is None:
        return
    for told in (decision.cause.more, decision.cause.remedy):
        if told:
            sheet.paragraph(told)


def _counted(decision: Decision) -> list[Vote]:
    """The votes that are shown; of what has no answer only those that were settled."""
    votes = [vote for vote in decision.votes if vote.pieces]
    if decision.kind in _UNANSWERED and not any(vote.settled for vote in votes):
        return []
    return votes


def _votes(sheet: Sheet, decision: Decision, *, sure: bool) -> None:
    votes = _counted(decision)
    shown = decision.confidence
    if votes:
        sheet.blank()
    for vote in votes:
        _vote(sheet, vote)
    if sure and votes and (shown.word != "none" or shown.reason):
        sheet.entry(*_sureness(shown), shown.reason, FIGURES)


def _vote(sheet: Sheet, vote: Vote) -> None:
    """The figure, what was chosen, and who is not behind it; first, what else was voted on."""
    about = "" if vote.title == ON_THE_QUESTION else vote.title
    chosen = next((each for each in vote.options if each.delivered), None)
    if all(piece.side == "none" for piece in vote.pieces):
        sheet.entry("no vote", "nobody voted on this", "", FIGURES, about)
        return
    if chosen is None:
        held = [f"{each.label} {each.count}" for each in vote.options if each.count]
        remarks = "; ".join([*held, *_otherwise(vote)])
        sheet.entry(vote.figure, "not settled", remarks, FIGURES, about)
        return
    # What is said of those who chose it stands beside it; who did not, below.
    below = "; ".join(_otherwise(vote))
    figure = f"{chosen.count} of {len(vote.pieces)}"
    text = capitalised(chosen.text if len(chosen.text) <= _IN_A_LINE else chosen.label)
    told = vote.before_told
    sheet.entry(figure, text, told[:1].lower() + told[1:], FIGURES, about, below=below)


def _otherwise(vote: Vote) -> Iterator[str]:
    """Who is not behind what was chosen, with what each holds instead."""
    for piece in vote.pieces:
        if piece.side in ("other", "own") and (vote.settled or piece.side == "own"):
            yield f"{piece.name}: {_held(piece)}"
    for side, (told, of_several) in _OUT.items():
        out = [piece for piece in vote.pieces if piece.side == side]
        # What somebody declared who has no vote is not lost.
        last = [piece for piece in out if side in _DECLARED and piece.held]
        if names := [piece.name for piece in out if piece not in last]:
            yield f"{listed(names)} {told if len(names) == 1 else of_several}"
        yield from (f"{piece.name} {told}, {_held(piece)}" for piece in last)


def _held(piece: Piece) -> str:
    held = piece.held.partition(": ")[2] if piece.side == "own" else piece.held
    return clip_words(held or "a position of its own", _LONGEST_HELD)


def _sureness(sure: Sure) -> tuple[str, str]:
    """In a word, and between which figures."""
    if sure.word == "none":
        return "none", "no confidence can be given"
    if sure.low is None or sure.high is None:
        return sure.word, "confidence"
    return sure.word, f"confidence, {round(sure.low * 100)}–{round(sure.high * 100)} %"


def _values(sheet: Sheet, decision: Decision) -> None:
    """Nothing is put to the vote where it turns on what one values: who holds what."""
    if decision.kind != "values" or _counted(decision):
        return
    held: dict[str, list[str]] = {}
    for each in decision.experts:
        position = each.final if each.final and each.final != THE_SAME else each.opening
        if position:
            held.setdefault(position, []).append(each.name)
    if held:
        sheet.blank()
        rows = [(listed(names), position) for position, names in held.items()]
        sheet.rows(rows, (28, 0), ("dim", ""))


# What must be known


def _known(sheet: Sheet, verdict: Verdict) -> None:
    told = [*_absent(verdict), *_flags(verdict)]
    if not told:
        return
    sheet.blank()
    for text in told[:FLAGS]:
        sheet.item(text, "!", "warn")
    if (more := len(told) - FLAGS) > 0:
        sheet.paragraph(f"{more} more: roundtable show {verdict.called} --full", "dim", 4)


def _absent(verdict: Verdict) -> Iterator[str]:
    if not verdict.absent:
        return
    missing = f"{len(verdict.absent)} of {verdict.decision.facts.seats} experts did not answer"
    by_cause: dict[tuple[str, str], list[str]] = {}
    for each in verdict.absent:
        by_cause.setdefault((each.why, each.remedy), []).append(each.name)
    causes = []
    for (why, remedy), names in by_cause.items():
        told = f"{listed(names)}: {why.rstrip('.')}" if why else listed(names)
        causes.append(f"{told}. {remedy}".strip(". ") + "." if why else f"{told}.")
    yield f"{missing}. {' '.join(causes)}"


def _flags(verdict: Verdict) -> Iterator[str]:
    decision = verdict.decision
    for flag in decision.flags:
        if flag.code == EXAMPLE_NOTE:
            continue  # said before anything else
        if flag.code != "absent":
            yield f"{flag.text} {flag.remedy}".strip()
        elif not verdict.absent and decision.facts.rounds:
            yield flag.text  # its remedy is a button of the page


# What it rests on


def _why(sheet: Sheet, verdict: Verdict) -> None:
    decision = verdict.decision
    if decision.why:
        sheet.heading("Why")
        for reason in decision.why:
            sheet.item(f"{reason.text}{_behind(reason)}", "•")
    elif verdict.written.strip() and not _says_it_all(verdict):
        sheet.heading("The answer" if _is_the_tables(decision) else "What was written")
        sheet.prose(verdict.written)
    if decision.assumptions:
        sheet.heading("Assumed, because nobody said")
        for text in decision.assumptions:
            sheet.item(text, "•")


def _is_the_tables(decision: Decision) -> bool:
    """Whether what was written answers in the table's name."""
    against = any(flag.code == "contradiction" for flag in decision.flags)
    return not against and decision.kind not in ("hollow", "split")


def _says_it_all(verdict: Verdict) -> bool:
    """Whether what was written is what stands above already."""
    answer = verdict.decision.answer
    short = f"{answer.first} {answer.second}".split()
    return " ".join(verdict.written.split()) in (" ".join(short), answer.first)


def _behind(reason: Reason) -> str:
    names = _names(reason.cites)
    told = "; ".join(
        each
        for each in (names, reason.status[:1].lower() + reason.status[1:] if reason.status else "")
        if each
    )
    return f" ({told})" if told else ""


def _names(cites: Sequence[Cite]) -> str:
    return listed(list(dict.fromkeys(each.name for each in cites)))


def _dissent(sheet: Sheet, decision: Decision) -> None:
    dissent = decision.dissent
    against = dissent.strongest_against
    worth = bool(dissent.lead) and decision.kind in ("decided", "split")
    if decision.kind in _UNANSWERED or not (dissent.pairs or against or worth):
        return
    sheet.heading("Who disagrees")
    if dissent.lead:
        sheet.paragraph(dissent.lead, indent=2)
    if decision.kind == "split" and dissent.pairs:
        # Nothing prevails, so the largest camp is one side among the others.
        _side(sheet, dissent.pairs[0].majority)
    for pair in dissent.pairs:
        _side(sheet, pair.against)
        if pair.settle:
            sheet.paragraph(f"What would settle it: {pair.settle}", indent=4)
    if against is not None and not dissent.pairs:
        sheet.item(f"The strongest argument against it: {against.text}", "•")


def _side(sheet: Sheet, side: Side) -> None:
    sheet.item(f"{side.title}: {side.position}", "•")
    said = [quote.words for quote in side.quotes if not _says(quote.words, side.position)]
    for words in said[:1]:
        sheet.paragraph(f"“{words}”", "dim", 4)


def _says(quotation: str, position: str) -> bool:
    """Whether a quotation is the position over again, whole or as far as that was cut."""
    return worded(quotation).startswith(worded(position.removesuffix("…"))) and (
        position.endswith("…") or same_words(quotation, position)
    )


def _change(sheet: Sheet, decision: Decision) -> None:
    if not decision.would_change:
        return
    sheet.heading("What would change it")
    for each in decision.would_change:
        sheet.item(f"{each.when} → {each.then}" if each.then else each.when, "•")


def _steps(sheet: Sheet, decision: Decision) -> None:
    if not decision.steps:
        return
    sheet.heading("Next steps")
    rows = [
        (str(n), each.when, f"{each.what} ({each.owner or 'no owner named'})")
        for n, each in enumerate(decision.steps[:STEPS], 1)
    ]
    sheet.rows(rows, (2, 18, 0), ("dim", "dim", ""))
    if (more := len(decision.steps) - STEPS) > 0:
        sheet.paragraph(f"and {more} more", "dim", 2)


def _record(sheet: Sheet, decision: Decision) -> None:
    if not decision.record or decision.kind in _UNANSWERED:
        return
    sheet.heading("For the record")
    for kept in decision.record:
        sheet.item(f"{kept.name}: {kept.text}", "•")


# What it hands over


def _works(sheet: Sheet, verdict: Verdict) -> None:
    works = verdict.decision.works
    if not works:
        return
    lines = sum(each.text.count("\n") + 1 for each in works)
    for work in works:
        sheet.heading(_handed(work))
        if work.text and (verdict.whole_works or lines <= SHORT_WORKS):
            sheet.kept(work.text)
            continue
        name = work.file or work.title
        sheet.paragraph(f"Read it: roundtable show {verdict.called} --deliverable {name}", "dim", 2)


def _handed(work: WorkLine) -> str:
    return f"{work.file or work.title}, by {work.author}" if work.author else work.title


# The last line


def _foot(sheet: Sheet, verdict: Verdict) -> None:
    made = verdict.decision.made
    spent = f"{made.ids.discussion}  {_spent(made, verdict.cost)}"
    sheet.beside([spent, *next_words(verdict)], "dim")


def _spent(made: Made, cost: str) -> str:
    """Calls, tokens and cost, in one phrase."""
    if not made.calls:
        return "no calls"
    calls = "1 call" if made.calls == 1 else f"{made.calls} calls"
    about = "about " if made.own_tokens else ""
    tokens = f"{about}{made.input_tokens + made.output_tokens:,} tokens"
    return f"{calls}, {tokens}, {cost_told(cost)}"


def cost_told(cost: str) -> str:
    return "free" if cost == "$0.00" else cost


def next_words(verdict: Verdict) -> list[str]:
    """What to type next."""
    kind, called = verdict.decision.kind, verdict.called
    match kind:
        case "interrupted" | "paused":
            return [f"roundtable resume {called}"]
        case "live":
            return [f"roundtable show {called} --follow"]
        case _ if kind in _UNANSWERED or called.startswith("example:"):
            return [f"roundtable show {called} --full"]
        case _:
            table = " --procedure council" if verdict.anew else ""
            further = f'roundtable follow-up {called} "…"{table}'
            return [f"roundtable show {called} --full", further]
