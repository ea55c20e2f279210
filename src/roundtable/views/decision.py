"""The decision: what came out, as somebody reads it who has to decide, in ten seconds.

One read model for the page, the report and the printed page. Figures come from the delivery and
its standing; nothing is counted again here, and nothing that is not known is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core.contradiction import speaks_for
from ..core.headline import unread_words
from ..core.naming import name_of
from ..core.record import record_of
from ..core.state import State
from ..core.text import capitalised, clip_words, count_words, same_words, sentences
from ..core.values import OUTSIDE
from .citing import cite, cited, in_words, plain, surroundings_of
from .decision_flags import flags
from .decision_made import made_of
from .decision_parts import (
    SET_ASIDE,
    SET_ASIDE_TOLD,
    STATES,
    Agreement,
    Answer,
    Cause,
    Change,
    Disagreement,
    ExpertLine,
    Facts,
    Flag,
    Kept,
    Kind,
    Made,
    OpenPoint,
    Question,
    Reason,
    Slope,
    Step,
    Sure,
    Vote,
    WorkLine,
    number,
)
from .decision_people import disagreement, dissents, experts
from .decision_votes import labels, slope, votes
from .delivery import Delivery, kept_for_the_record
from .delivery_parts import PointTold
from .emphasis import as_item, meant
from .report_parts import clean, line
from .safe_markdown import to_html

BELOW = 2
"""The level of the page's heading over what was written."""
LONGEST_QUESTION = 140
LONGEST_ANSWER = 140
"""Characters up to which a sentence is an answer that is read at a glance."""
LONGEST_SECOND = 280
_ASKS = ("?", "？", "؟")
_CLOSERS = ' "”’»」』)）]*_'
_CONDITION = re.compile(
    r"^(?:(?:if|wenn|falls|si)\s+|如果|若)?\s*(?P<when>.{8,}?)\s*"
    r"[:,;：，；]\s*(?:then|dann|entonces|则|那么)\s+(?P<then>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
PROSE = frozenset({"text", "txt", "md", "markdown"})
"""Endings of files that hold text for people."""


@dataclass(frozen=True, slots=True)
class Decision:
    """All of it, in the order in which it is read."""

    kind: Kind
    partial: bool
    facts: Facts
    question: Question
    answer: Answer
    cause: Cause | None
    votes: tuple[Vote, ...]
    confidence: Sure
    agreement: Agreement | None
    flags: tuple[Flag, ...]
    why: tuple[Reason, ...]
    open_points: tuple[OpenPoint, ...]
    dissent: Disagreement
    would_change: tuple[Change, ...]
    steps: tuple[Step, ...]
    experts: tuple[ExpertLine, ...]
    slope: Slope | None
    assumptions: tuple[str, ...]
    rests_on: tuple[str, ...]
    works: tuple[WorkLine, ...]
    record: tuple[Kept, ...]
    made: Made
    state: str
    """The kind in a word or two."""

    @classmethod
    def of(cls, state: State, *, interrupted: bool = False) -> Decision:
        """The decision of a discussion, which may still be going on. `interrupted` says that it is
        open and nobody drives it, which no event tells."""
        name = f"decision{' interrupted' if interrupted else ''}"
        return state.derived(name, lambda s: _decision(s, interrupted))


@dataclass(frozen=True, slots=True)
class Glance:
    """What a list shows of a decision, without all that takes long to find."""

    kind: Kind
    state: str
    """The kind in a word or two."""
    question: Question
    first: str
    """The first sentence of the answer."""
    votes: tuple[Vote, ...]
    confidence: Sure
    dissent: bool

    @classmethod
    def of(cls, state: State, *, interrupted: bool = False) -> Glance:
        """The same as the decision says, for as many discussions as a list has."""
        delivery = Delivery.of(state)
        kind = _kind(state, delivery, interrupted)
        return cls(
            kind=kind,
            state=_in_a_word(state, kind),
            question=question_of(clean(state.start.topic)),
            first=_first_two(state, delivery, kind, _cause(state, kind))[0],
            votes=votes(delivery.decisions),
            confidence=_sure(delivery),
            dissent=dissents(state, delivery),
        )


def _decision(state: State, interrupted: bool) -> Decision:
    delivery = Delivery.of(state)
    verdict = state.verdict
    kind = _kind(state, delivery, interrupted)
    cause = _cause(state, kind)
    facts = _facts(state)
    return Decision(
        kind=kind,
        state=_in_a_word(state, kind),
        partial=delivery.partial,
        facts=facts,
        question=question_of(clean(state.start.topic)),
        answer=_answer(state, delivery, kind, cause),
        cause=cause,
        votes=votes(delivery.decisions),
        confidence=_sure(delivery),
        agreement=_agreement(delivery),
        flags=flags(state, delivery),
        why=tuple(_reason(state, delivery, each) for each in (verdict.why if verdict else ())),
        open_points=tuple(
            OpenPoint(each.text, _standing(each))
            for each in delivery.points_that_are("disputed", "held", "open")
        ),
        dissent=disagreement(state, delivery),
        would_change=tuple(
            _change(state, each) for each in (verdict.would_change if verdict else ())
        ),
        steps=tuple(
            Step(line(each.due), plain(cited(state, each.text).text), "", line(each.owner))
            for each in delivery.next_steps
        ),
        experts=experts(state, delivery),
        slope=slope(delivery.decisions),
        assumptions=delivery.assumptions,
        rests_on=delivery.rests_on,
        works=tuple(_works(state, delivery)),
        record=tuple(
            Kept(name_of(state, who), in_words(state, text))
            for who, text in kept_for_the_record(state)
        ),
        made=made_of(state, delivery, facts),
    )


# How it stands


def _kind(state: State, delivery: Delivery, interrupted: bool) -> Kind:
    closed, question = state.closed, delivery.question
    if closed is None:
        if state.paused is not None:
            return "paused"
        return "interrupted" if interrupted else "live"
    if closed.status == "failed":
        return "failed"
    # Who stops a discussion gets the answer as far as it came, if there is one.
    if state.verdict is None:
        return "stopped" if closed.status == "stopped" else "none"
    if delivery.demonstration and not delivery.meaningful:
        return "demonstration"
    if question is None:
        return "values"
    if question.delivered is not None:
        return "decided"
    if delivery.split:
        return "split"
    return "hollow" if delivery.hollow else "uncounted"


def _in_a_word(state: State, kind: Kind) -> str:
    return SET_ASIDE if kind == "interrupted" and state.set_aside else STATES[kind]


_STOPPED = {
    "too_few_answers": "too few of the experts answered",
    "budget": "the limit of what it may cost left no room for more",
    "stopped_by_user": "somebody stopped it",
    "declined": "it was declined at the beginning",
}


def _cause(state: State, kind: Kind) -> Cause | None:
    if kind == "interrupted":
        kept = bool(state.said.in_rounds)
        remedy = "Go on: nothing that was said is lost." if kept else "Go on: it begins again."
        if state.set_aside:
            return Cause(SET_ASIDE_TOLD, f"`resume` continues it by hand. {remedy}")
        return Cause("It was interrupted, and nobody leads it now.", remedy)
    if kind == "paused" and state.paused is not None:
        by = line(state.paused.by)
        why = f": {line(state.paused.reason)}" if state.paused.reason else ""
        return Cause(f"Paused{f' by {by}' if by else ''}{why}.", "Resume it when you are ready.")
    if state.closed is None or state.closed.status == "concluded":
        return None
    told = line(state.closed.detail) or _STOPPED.get(state.closed.stop_reason, "")
    told = re.sub(r"^sorry[:,] +", "", told, flags=re.IGNORECASE)
    first = next(iter(sentences(told)), "")
    return Cause(
        _sentence(first or "it ended before there was an answer"),
        line(state.closed.remedy),
        told.removeprefix(first).strip(),
    )


def _facts(state: State) -> Facts:
    ended = None
    if state.closed is not None:
        # News, outcomes and follow-ups come after the end: the last speech tells when it was.
        ended = state.spoken_at[-1] if state.spoken_at else state.updated_at
    rounds = state.said.last_round
    return Facts(len(state.voters), rounds, state.opened_at, ended)


def _sure(delivery: Delivery) -> Sure:
    held = delivery.confidence
    if not delivery.meaningful:
        why = delivery.nothing_counted or held.reason
        if delivery.demonstration:
            why = "The demonstration model shows how the program works; it cannot judge."
        return Sure("none", None, None, why, "")
    word = held.word.casefold()
    match word:
        case "high" | "medium" | "low":
            return Sure(word, held.low, held.high, held.reason, held.meaning)
        case _:
            return Sure("none", None, None, held.reason, held.meaning)


def _agreement(delivery: Delivery) -> Agreement | None:
    question = delivery.question
    if question is None or question.end is None:
        return None
    return Agreement(question.holding, question.seated)


# The question and the answer


def question_of(topic: str) -> Question:
    """The sentence that asks; where none does, the first ones."""
    whole = topic.strip()
    found = [line(plain(each)) for each in sentences(whole)]
    # Who asks in one line asks in words, not in Markdown.
    asked = line(plain(whole) if "\n" in whole else whole)
    if asked and len(asked) <= LONGEST_QUESTION:
        return Question(asked, whole)
    asking = [n for n, each in enumerate(found) if each.rstrip(_CLOSERS).endswith(_ASKS)]
    if not asking:
        return Question(clip_words(_as_many(found), LONGEST_QUESTION), whole)
    last = asking[-1]
    short = found[last]
    # “Why?” asks nothing by itself.
    if len(short) > LONGEST_QUESTION:
        # “The board asks: …?” asks behind its colon.
        behind = short.rpartition(": ")[2] if ": " in short else ""
        fits = 20 < len(behind) <= LONGEST_QUESTION and behind[:1].isalpha()
        short = capitalised(behind) if fits else short
    elif last and count_words(short) < 3 and len(found[last - 1]) + len(short) < LONGEST_QUESTION:
        short = f"{found[last - 1]} {short}"
    return Question(clip_words(short, LONGEST_QUESTION), whole)


def _as_many(found: Sequence[str]) -> str:
    told = ""
    for each in found:
        if told and len(told) + len(each) >= LONGEST_QUESTION:
            return told
        told = f"{told} {each}".strip()
    return told


def _answer(state: State, delivery: Delivery, kind: Kind, cause: Cause | None) -> Answer:
    verdict = state.verdict
    written = ""
    if verdict is not None and verdict.answer.strip():
        written = to_html(clean(verdict.answer).strip(), below=BELOW, around=surroundings_of(state))
    first, second = _first_two(state, delivery, kind, cause)
    second = clip_words(second, LONGEST_SECOND)
    return Answer(first, "" if same_words(first, second) else second, written)


def _first_two(
    state: State, delivery: Delivery, kind: Kind, cause: Cause | None
) -> tuple[str, str]:
    match kind:
        case "live":
            return "No answer yet.", ""
        case "failed" | "stopped" | "interrupted" | "paused":
            told = cause.text if cause else ""
            yet = "No answer yet" if kind in ("interrupted", "paused") else "No answer"
            return f"{yet}: {_small(told)}" if told else f"{yet}.", _kept(state, kind)
        case "none":
            return "No answer was given.", _kept(state, kind)
        case "split":
            return _split(delivery), _beside_the_count(state, delivery)
        case "hollow":
            return _hollow(state, delivery), ""
        case "decided" | "demonstration" | "values" | "uncounted":
            return _chosen(state, delivery)


def _chosen(state: State, delivery: Delivery) -> tuple[str, str]:
    """The writer's own short answer; the words of the vote where there is none, where it says
    something else, or where it is too long to be read at a glance; and before it where it does not
    name what was chosen, so that nobody has to guess that."""
    brief = _brief(state)
    chosen = delivery.question.answer if delivery.question else ""
    chosen = _sentence(capitalised(chosen)) if chosen else ""
    if chosen and (delivery.contradicts or not brief or _is_chosen(delivery)):
        return chosen, ""
    if chosen and len(chosen) <= LONGEST_ANSWER and not _spoken_for(delivery, brief):
        return chosen, brief[0]
    if not brief and delivery.extract:
        agreed = len(delivery.points_that_are("agreed"))
        of = f"the table agrees on {number(agreed)} {'point' if agreed == 1 else 'points'}"
        return f"Nothing was put to the vote; {of}.", ""
    if not brief:
        told = _written(state)
        return (told[0], told[1] if len(told) > 1 else "") if told else (delivery.headline, "")
    first, second = brief[0], brief[1] if len(brief) > 1 else ""
    if len(first) <= LONGEST_ANSWER:
        # “yes” of a writer who names the option is a sentence where it stands alone.
        return (_sentence(capitalised(first)) if not second else first), second
    before, colon, after = first.partition(": ")
    if colon and len(before) <= LONGEST_ANSWER and after:
        return _sentence(before), capitalised(after)
    if chosen and len(chosen.split()) > 2 and len(chosen) <= LONGEST_ANSWER:
        return chosen, second
    return first, second


def _is_chosen(delivery: Delivery) -> bool:
    """Whether the short answer is what was chosen, in the very words that were put to the vote."""
    return delivery.question is not None and same_words(delivery.brief, delivery.question.answer)


def _spoken_for(delivery: Delivery, brief: Sequence[str]) -> bool:
    question = delivery.question
    assert question is not None, "without a decision nothing was chosen"
    others = [each.text for each in question.options if each.id != question.delivered]
    return speaks_for(" ".join(brief), question.answer, others)


def _brief(state: State) -> list[str]:
    """The sentences of the short answer that the writer declared."""
    if state.verdict is None:
        return []
    return sentences(plain(cited(state, state.verdict.brief).text))


def _written(state: State) -> list[str]:
    """The sentences of all that was written."""
    if state.verdict is None:
        return []
    return [plain(each) for each in sentences(plain(cited(state, state.verdict.answer).text))]


def _split(delivery: Delivery) -> str:
    question = delivery.question
    assert question is not None, "without a decision nothing is split"
    short = labels(question)
    ranked = sorted(question.options, key=lambda each: -len(each.participants))
    told = [
        f"{number(len(each.participants))} for “{short[each.id]}”"
        for each in ranked
        if each.participants
    ]
    if own := len(question.named("own")):
        told.append(f"{number(own)} with a position of {'its' if own == 1 else 'their'} own")
    return f"No answer: {', '.join(told)}." if told else "No answer: no option has a vote."


def _beside_the_count(state: State, delivery: Delivery) -> str:
    """What the writer says to a split, where it is more than the count: that stands there twice."""
    counted = delivery.question.reason.rstrip(" .。") if delivery.question else ""
    told = (each for each in _brief(state) if not counted or counted not in each)
    return next(told, "")


def _hollow(state: State, delivery: Delivery) -> str:
    record = record_of(state)
    said = [p for seat in delivery.seats if (p := line(record.position(seat.participant)))]
    alike = len(said) > 1 and all(same_words(said[0], each) for each in said)
    if alike and len(said) == len(delivery.seats):
        words = clip_words(said[0].rstrip(" .。"), 80)
        return f"No answer: all {number(len(said))} say “{words}”, and nobody chose."
    if state.exhausted is not None:
        return _unvoted(state, delivery)
    if unread := sum(bool(unread_words(state, seat.participant)) for seat in delivery.seats):
        return f"No answer: {number(unread)} voted, and what for cannot be read."
    return "No answer: nobody chose."


def _unvoted(state: State, delivery: Delivery) -> str:
    """Where they seemed to stand when a limit ended it before the vote."""
    on_the_table = record_of(state).question
    assert on_the_table is not None, "without a decision there is no vote"
    assert delivery.question is not None, "it is the same decision"
    short = labels(delivery.question)
    ranked = sorted(on_the_table.options, key=lambda each: -len(each.holders))
    told = [
        f"{number(len(each.holders))} for “{short[each.id]}”" for each in ranked if each.holders
    ]
    stood = f"; by their answers {', '.join(told)}" if told else ""
    return f"No answer: a limit ended it before the vote{stood}."


def _kept(state: State, kind: Kind) -> str:
    """What is there of what was said, and what was lost when it was interrupted."""
    said = len(state.said.in_rounds)
    lost = ""
    if kind == "interrupted" and (cut := _lost(state)):
        were, again = ("speech was", "it is") if cut == 1 else ("speeches were", "they are")
        lost = f"{number(cut).capitalize()} unfinished {were} lost; "
        lost += f"{again} asked again when it goes on."
    if not said:
        return lost or "Nothing was said yet."
    kept = f"{number(said).capitalize()} {'speech is' if said == 1 else 'speeches are'} kept."
    return f"{kept} {lost}".strip()


def _lost(state: State) -> int:
    """How many were speaking when it was interrupted. Whoever is asked outside the program still
    is."""
    calls = (each.started for each in state.in_flight)
    return len({call.turn_id for call in calls if call.model != OUTSIDE})


# Why, and what would change it


def _reason(state: State, delivery: Delivery, text: str) -> Reason:
    found = cited(state, text)
    points = [p for p in delivery.points if p.id in found.points]
    # A reason that is a point to the letter is that point.
    points = points or [p for p in delivery.points if same_words(p.text, found.text)]
    record = record_of(state)
    cites = list(found.cites)
    for each in points:
        point = record.point(each.id)
        if point is not None and not cites:
            cites += [c for c in [cite(state, point.turn_id, words=each.text)] if c is not None]
    return Reason(
        html=to_html(as_item(meant(found.text)), below=BELOW + 1),
        text=plain(found.text),
        cites=tuple(cites),
        status=_agreed(points[0]) if len(points) == 1 else "",
    )


def _agreed(point: PointTold) -> str:
    if point.status == "agreed":
        everybody = len(point.holders)
        if everybody != point.of:
            return f"Held by {everybody}"
        return "Agreed by both" if everybody == 2 else f"Agreed by all {everybody}"
    if point.status == "held":
        return f"Held by {len(point.holders)} of {point.of}"
    return _standing(point) if point.status == "disputed" else ""


def _standing(point: PointTold) -> str:
    """Who is for it, against it and silent, in figures."""
    told = [f"{len(point.holders)} for"]
    if point.opponents:
        told.append(f"{len(point.opponents)} against")
    if point.doubts:
        told.append(f"{len(point.doubts)} in doubt")
    silent = point.of - len(point.holders) - len(point.opponents) - len(point.doubts)
    if silent > 0:
        told.append(f"{silent} not heard")
    return ", ".join(told)


def _change(state: State, text: str) -> Change:
    found = cited(state, text)
    told = plain(found.text)
    parts = _CONDITION.match(told)
    if parts is None:
        return Change(told, "", "", found.cites)
    then = parts["then"].strip()
    return Change(
        _sentence(capitalised(parts["when"])).rstrip("."),
        capitalised(then),
        "",
        found.cites,
    )


# What it hands over


def _works(state: State, delivery: Delivery) -> Iterator[WorkLine]:
    for each in delivery.works.standing:
        ending = each.name.rpartition(".")[2].lower() if "." in each.name else "text"
        yield WorkLine(
            each.name,
            ending,
            each.by,
            cite(state, each.turn_id),
            "" if each.left_out else each.text,
            "" if each.left_out else each.file,
            to_html(clean(each.text), below=BELOW + 1)
            if ending in PROSE and not each.left_out
            else "",
        )


def _sentence(text: str) -> str:
    stripped = text.strip().rstrip(",;: ")
    ended = stripped.endswith((".", "!", "?", "。", "！", "？", "؟", "…"))
    if ended or not stripped:
        return stripped
    return f"{stripped}。" if "\u3040" <= stripped[-1] <= "\u9fff" else f"{stripped}."


def _small(text: str) -> str:
    """For the middle of a sentence; a name or an abbreviation keeps its capitals."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
