"""What somebody who decides must know beside the answer, in sentences; the weightiest first.

Codes of findings, flags and notes are for programs: here each has a sentence, or is no matter for
the first screen and stays in “How this was made”.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ..core.assessment import effective_voters_of
from ..core.condensing import CODE as CONDENSED
from ..core.condensing import SPREAD
from ..core.cut_short import BUDGET, CUT_SHORT, OWN_LENGTH, cut_short
from ..core.declaration import LIMITED
from ..core.naming import line
from ..core.state import State
from ..core.text import clip_words, first_sentences, sentences
from ..core.turns import TRUNCATED
from ..core.values import AGAINST_THE_COUNT, EXAMPLE_NOTE, FindingCode
from ..core.verdict_findings import MORE_AGREEMENT
from .decision_parts import Flag, listed, number
from .delivery import Delivery
from .delivery_parts import Seat

DOUBTS: tuple[FindingCode, ...] = ("words_differ", "refused", "before_differs", "no_declaration")
"""What a reader of the speeches would doubt in the count (`core.doubts`)."""
CLAIMS: tuple[FindingCode, ...] = ("false_count", "false_holder", "false_confidence")
"""What the writer says of the vote that was counted otherwise (`core.vote_claims`)."""
FINDINGS: dict[FindingCode, Callable[[int], str]] = {
    "contradiction": lambda _: "The written answer differs from what the table chose.",
    "false_agreement": lambda _: MORE_AGREEMENT,
    "not_found": lambda n: f"{_many(n, 'quotation', 'stands', 'stand')} in no speech.",
    "number": lambda n: f"{_many(n, 'quotation', 'gives', 'give')} another number than the speech.",
    "negation": lambda n: f"{_many(n, 'quotation', 'leaves', 'leave')} out a negation.",
    "stitched": lambda n: (
        f"{_many(n, 'quotation', 'joins', 'join')} words that do not belong together."
    ),
    "wrong_speaker": lambda n: (
        f"{_many(n, 'quotation', 'is', 'are')} ascribed to somebody who did not say it."
    ),
    "wrong_turn": lambda n: (
        f"{_many(n, 'quotation', 'does', 'do')} not stand in the speech that is cited for it."
    ),
    "second_hand": lambda n: (
        f"{_many(n, 'quotation', 'gives', 'give')} words that their speaker only quoted."
    ),
    "translation": lambda n: (
        f"{_many(n, 'quotation', 'is', 'are')} translated, and could not be checked."
    ),
    "unchecked": lambda _: "Not all quotations were checked.",
    "unknown_turn": lambda n: (
        f"{_many(n, 'citation', 'points', 'point')} to a speech that does not exist."
    ),
    "host_cited": lambda _: "The answer cites its own writer, which proves nothing.",
    "missing_part": lambda _: "A part of the answer that was asked for is missing.",
    "forged_mark": lambda _: "The writer put marks of the program into its text; they are its own.",
    **dict.fromkeys((*DOUBTS, *CLAIMS), lambda _: ""),
}
"""Sentences for what the check found; claims of the writer and doubts of votes have their own."""

MARKS: dict[str, str] = {
    "[pasted answer]": "Most of the answer is copied from one speech.",
    "[no citations]": "The answer cites nobody.",
    "[voting rules disagree]": "Other ways of counting the votes would decide otherwise.",
    "[counted by the program]": "No model wrote this answer: the program counted it.",
    TRUNCATED: f"The written answer was {OWN_LENGTH}: its end is missing.",
    LIMITED: f"The written answer was {BUDGET}: its end is missing.",
    "[statement not revised]": "The statement was not revised after the critique.",
}
"""Sentences for what a verdict is marked with beside what the check found."""

NOTES: dict[str, str] = {
    "one_survivor": "Only one expert answered, so there was nobody to talk to.",
    "single_survivor": "Only one expert is left, so there was nobody to talk to.",
    "panel_degraded": "Another model spoke in place of the one that was wanted.",
    "misrepresentation": "One of the experts calls the written answer inaccurate.",
    "correction": "One of the experts asks for a correction of the written answer.",
    "rewrite_failed": "The answer could not be rewritten after the experts corrected it.",
    "rewrite_unchecked": "The answer was rewritten, and nobody checked it again.",
    "rough_options": "The options were read from the answers' own words.",
    "silent_round": "Nobody spoke in a round, so the discussion ended there.",
    "no_cross_critique": "Nobody could be criticised, so the first answers stand.",
    "round2_omitted": "The experts did not examine each other: too few answered.",
    "unread_documents": "Some documents could not be read; the experts have not seen them.",
    CONDENSED: "The documents did not fit the models: the experts read only their beginnings and "
    "the passages that share most words with the question.",
    SPREAD: "The documents did not fit the models, and the question shares hardly a word with one "
    "or more of them: of those the experts read passages from all parts, which may miss what "
    "matters.",
    "bias_risk": "The answer was written by a model that also took part.",
}
"""Sentences for those notes that bear on the decision."""
CUT_PROMPT = (
    "What was said and given did not all fit a model: in at least one turn parts of it were left "
    "out."
)
"""Of notes on the prompt of one turn, which is another matter than the documents of the table."""

ONE_FAMILY = "one_family"
_CUT_NUMBER = re.compile(r"\s*[^\s\d]*\d[\d.,]*…$")
"""Earlier versions cut what they kept anywhere: what is left of a number says another one."""
CLAIMED = "The written answer claims an answer, but the table chose none."
"""What a contradiction is where nothing was chosen that it could contradict."""


def flags(state: State, delivery: Delivery) -> tuple[Flag, ...]:
    """All of them, the weightiest first."""
    found = [
        *_findings(delivery),
        *_doubts(delivery),
        *_cut_short(state),
        *_conditions(delivery),
        *_gave_in(delivery.seats),
        *_outvoted(delivery.seats),
        *_family(state, delivery),
        *_how_it_ended(state, delivery),
        # Whoever was not asked before it ended is not absent.
        *(_missing(delivery) if state.verdict is not None else ()),
        *_noted(state),
    ]
    unique = {flag.text: flag for flag in reversed(found)}
    return tuple(flag for flag in found if unique[flag.text] is flag)


def finding_told(delivery: Delivery, code: FindingCode) -> tuple[str, ...]:
    """What the check found, however many times, in a sentence; what the writer says of the vote in
    one for each claim."""
    found = [each for each in delivery.findings if each.code == code]
    if code in CLAIMS:
        return tuple(each.message for each in found)
    question = delivery.question
    if code == "contradiction" and (question is None or question.delivered is None):
        return (CLAIMED,)
    return tuple(filter(None, [FINDINGS[code](len(found))]))


def _findings(delivery: Delivery) -> Iterator[Flag]:
    findings = delivery.findings
    codes = list(dict.fromkeys(each.code for each in findings))
    serious = {each.code for each in findings if each.serious}
    for code in sorted(codes, key=lambda c: (c not in AGAINST_THE_COUNT, c not in serious)):
        yield from (Flag(code, told) for told in finding_told(delivery, code))


def _doubts(delivery: Delivery) -> Iterator[Flag]:
    for code in DOUBTS:
        yield from (Flag(code, each.message) for each in delivery.findings if each.code == code)


def _cut_short(state: State) -> Iterator[Flag]:
    for told, remedy in cut_short(state):
        yield Flag(CUT_SHORT, told, remedy=remedy)


def _conditions(delivery: Delivery) -> Iterator[Flag]:
    for seat in delivery.seats:
        for demand in seat.demands if seat.holds or seat.refused else ():
            if demand in seat.refused:
                by = seat.refused_by[seat.refused.index(demand)]
                told = f"The demand of {seat.name} was refused by {by}: {demand}"
            else:
                told = f"{seat.name} agrees only on a condition that not all have granted: {demand}"
            yield Flag("condition", _ended(_CUT_NUMBER.sub("…", told)))


def _gave_in(seats: Sequence[Seat]) -> Iterator[Flag]:
    if names := [seat.name for seat in seats if seat.gave_in]:
        yield Flag("gave_in", f"{listed(names)} came over without naming an argument.")


def _outvoted(seats: Sequence[Seat]) -> Iterator[Flag]:
    for seat in seats:
        if seat.outvoted and seat.choice:
            voted, before = (seat.voted or seat.final).rstrip(" .。"), seat.position.rstrip(" .。")
            yield Flag(
                "outvoted",
                f"{seat.name} voted for “{clip_words(voted, 80)}”; its last words before that "
                f"say “{clip_words(before, 80)}”. The vote counts.",
            )


def _family(state: State, delivery: Delivery) -> Iterator[Flag]:
    if state.verdict is None or not any(seat.choice for seat in delivery.seats):
        return  # there is no agreement to count
    notes = [note for note in state.notes if note.code == ONE_FAMILY]
    few = bool(delivery.voters) and _few_voters(state, delivery.seats)
    one_model = few and len({each.speaker.model for each in state.voters}) == 1
    if notes or one_model:
        seats = number(len(state.voters))
        who = "Both" if seats == "two" else f"All {seats}"
        told = f"{who} experts run on models of one family: count their agreement as fewer"
        yield Flag(
            ONE_FAMILY,
            f"{told} than {seats} voices.",
            remedy=line(notes[0].remedy) if notes else "",
        )
    elif few:
        yield Flag("voters", _ended(delivery.voters))


def _few_voters(state: State, seats: Sequence[Seat]) -> bool:
    """Whether a whole voice is missing: what little likeness costs stays with the details."""
    return effective_voters_of(state).number <= sum(bool(seat.choice) for seat in seats) - 0.75


def _how_it_ended(state: State, delivery: Delivery) -> Iterator[Flag]:
    if delivery.demonstration:
        yield Flag("demonstration", "Not for real decisions: a demonstration model spoke.")
    if any(each.speaker.model.startswith("scripted/") for each in state.voters):
        yield Flag("scripted", "Held by scripted speakers, for trying things out.")
    if state.exhausted is not None:
        limit = state.exhausted.limit.replace("_", " ")
        yield Flag("budget", f"The {limit} limit left no room for all of it.")
    elif delivery.partial:
        yield Flag("partial", "It was ended early: this is the answer as far as it came.")
    if delivery.extract:
        yield Flag("extract", "No model wrote this answer: it is put together from what was said.")
    for mark in delivery.flags:
        if mark == TRUNCATED and LIMITED in delivery.flags:
            continue  # it was not its own length that cut it
        if mark in MARKS:
            yield Flag(mark.strip("[]").replace(" ", "_"), MARKS[mark])


def _missing(delivery: Delivery) -> Iterator[Flag]:
    for name in delivery.absent:
        yield Flag("absent", f"{name} did not answer.", remedy="Ask only this expert")
    for seat in delivery.seats:
        if seat.missed and seat.status not in ("absent", "undeclared"):
            yield Flag("missed", _ended(f"{seat.name}: {seat.missed}"))


def _noted(state: State) -> Iterator[Flag]:
    cut = [note for note in state.notes if note.code.startswith(f"{CONDENSED}/")]
    codes = dict.fromkeys(note.code.partition("/")[0] for note in state.notes if note not in cut)
    if state.substitutions:
        codes.setdefault("panel_degraded")
    for code in codes:
        if code in NOTES:
            yield Flag(code, NOTES[code])
    if cut:
        yield Flag("condensed_prompt", CUT_PROMPT)
    for note in state.notes:
        if note.code == EXAMPLE_NOTE:
            about = " ".join(sentences(line(note.text))[1:])
            yield Flag(
                EXAMPLE_NOTE, f"A recorded example. {first_sentences(about, 1, 240)}".strip()
            )


def _many(count: int, noun: str, one: str, many: str) -> str:
    return f"A {noun} {one}" if count == 1 else f"{number(count).capitalize()} {noun}s {many}"


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。", "！", "？", "…")) else f"{text}."
