"""The first line: how a discussion ended, as a person would say it, the same on every surface.

It has the figures, whoever is absent, and, where the written answer says something else than the
table chose, that it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from .declaration import ANY, OPPOSE, OWN
from .events import SpeechGiven
from .framing import YES_NO
from .naming import line, name_of, turn_name
from .record import IN_REVERSE, ConditionOnTable
from .standing import DecisionStanding, standing_of
from .state import State
from .text import clip_words, worded
from .turns import DIFFERS, UNDECLARED
from .values import AGAINST_THE_COUNT, Finding

SHORT_OPTION = 48
"""Characters up to which the words of an option are a headline by themselves."""
LONGEST_OPTION = 200
MOST_CONDITIONS, LONGEST_CONDITION = 2, 90
"""What is told of the conditions of a yes or a no."""
T = TypeVar("T")
CONTRADICTS = "The written answer contradicts the count."


def headline(state: State) -> str:
    """One line, whatever there is to tell."""
    question = standing_of(state).question
    if question is not None:
        told = end_told(state, question)
    else:
        absent = absent_names(state)
        gone = f"; {len(absent)} absent ({', '.join(absent)})" if absent else ""
        told = f"Nothing was put to the vote, so no agreement is counted{gone}."
    return f"⚠ {CONTRADICTS} {told}" if contradicts(state) else told


def contradicts(state: State) -> bool:
    """Whether the written answer says something else than was counted, or claims more agreement."""
    findings = state.verdict.findings if state.verdict else ()
    return any(finding.code in AGAINST_THE_COUNT for finding in findings)


def absent_names(state: State) -> tuple[str, ...]:
    """Who was seated and asked, and never answered. Before anybody could have answered, nobody is
    absent."""
    begun = state.closed is not None or bool(state.said.in_rounds)
    unasked = not_asked(state)
    absent = [who for who in standing_of(state).record.absent if who not in unasked]
    return tuple(name_of(state, who) for who in absent) if begun else ()


def not_asked(state: State) -> frozenset[str]:
    """Who was seated, but not asked for anything before it broke off."""
    if state.verdict is not None:
        return frozenset()
    return state.derived("not asked", _not_asked)


def _not_asked(state: State) -> frozenset[str]:
    asked = {turn.attempts[0].started.participant for turn in state.called_turns}
    asked.update(each.participant for each in state.failures)
    asked.update(speech.participant for speech in state.said.of_seats)
    for stage in state.stages.values():
        if stage.closed is not None:
            asked.update(stage.closed.missing)
    return frozenset(each.id for each in state.voters if each.id not in asked)


def end_told(state: State, standing: DecisionStanding) -> str:
    """The end as a person would say it: “No, 3 of 3”; “2 of 3 for …, 1 absent (Muse)”."""
    missing = _missing_told(state, standing)
    if standing.end is None:
        gone = f"; absent: {', '.join(absent)}" if (absent := absent_names(state)) else ""
        return f"Not counted: {_small(standing.reason)}{gone}."
    if standing.delivered is None:
        counts = sorted((n for n in standing.counts.values() if n), reverse=True)
        told = " : ".join(map(str, counts)) or "no option has a vote"
        excluded = any(seat.fell_back for seat in standing.seats)
        why = ", under conditions that exclude each other" if excluded else ""
        return f"The table did not settle it: {told}{missing}{why}."
    count = f"{len(standing.holders)} of {standing.seated}"
    words = line(standing.answer).rstrip(".")
    if len(words) <= SHORT_OPTION:
        told = (
            f"{words[:1].upper()}{words[1:]}{_conditions_told(state, standing)}, {count}{missing}"
        )
    else:
        told = f"{count} for “{clip_words(words, LONGEST_OPTION)}”{missing}"
    # What weakens it is counted in one place: the standing says it, and this line repeats it.
    _, but, weakness = standing.reason.partition(", but ")
    return f"{told}{but}{weakness.rstrip('.')}."


def _conditions_told(state: State, standing: DecisionStanding) -> str:
    """Behind a plain yes or no, what it holds on: “on conditions (…)”, or “unless …” of a no whose
    holders would be against it without that; what its own side refuses (“in dispute”), and what
    was refused to those who count for a no only because of that. Of the conditions only demands
    count that all who voted for the answer granted; what is not granted yet is told by the
    count."""
    whole = standing_of(state)
    options = standing.decision.options
    yes_no = {option.text.strip(" .").casefold(): option.id for option in options}
    if standing is not whole.question or not set(YES_NO) <= yes_no.keys():
        return ""
    if standing.delivered not in [yes_no[each] for each in YES_NO]:
        return ""
    no = yes_no[YES_NO[1]]
    against = (OPPOSE, no) if standing.delivered == no else ()
    voted = {s.participant for s in standing.seats if s.cast == standing.delivered}
    granted = [c for c in whole.granted if c.owner in voted]
    unless = [c.text for c in granted if c.condition.otherwise in against]
    on = [c.text for c in granted if c.condition.otherwise not in against]
    told = _refused_told(_texts(whole.lost))
    told += f", unless {_quoted(unless)}" if unless else ""
    told += f", on conditions ({_quoted(on)})" if on else ""
    return told + (f", in dispute: {_disputed(state, standing)}" if whole.unmet else "")


def _refused_told(lost: Sequence[str]) -> str:
    if not lost:
        return ""
    were = "was" if len({worded(text) for text in lost}) == 1 else "were"
    return f", because {_quoted(lost)} {were} refused"


def _texts(conditions: Sequence[ConditionOnTable]) -> list[str]:
    return [each.text for each in conditions]


def _disputed(state: State, standing: DecisionStanding) -> str:
    """Demands that the answer's own side refuses, with whoever does."""
    told = []
    for each in _once(standing_of(state).unmet, lambda c: c.text):
        by = " and ".join(name_of(state, who) for who in standing.refused_by(each))
        told.append(f"{_quoted([each.text])} (refused by {by})")
    return _joined(told)


def _quoted(texts: Sequence[str]) -> str:
    """The first few, each in marks and once; the report has all of them whole."""
    return _joined(
        [
            f"“{clip_words(line(text).rstrip('.'), LONGEST_CONDITION)}”"
            for text in _once(texts, lambda text: text)
        ]
    )


def _once(items: Iterable[T], said: Callable[[T], str]) -> list[T]:
    """The first of those that say the same."""
    first: dict[str, T] = {}
    for each in items:
        first.setdefault(worded(said(each)), each)
    return list(first.values())


def _joined(told: Sequence[str]) -> str:
    """All of them hold together: “A” and “B”; “A”, “B” and 2 more."""
    more = len(told) - MOST_CONDITIONS
    if more > 0:
        return f"{', '.join(told[:MOST_CONDITIONS])} and {more} more"
    return " and ".join(told)


def dropped_out(state: State, who: str) -> str:
    """Where a seat that had spoken was lost in its last round: “absent in round 2”, “not
    asked in round 2” where a limit left it out; empty if it was not."""
    spoken = [s for s in state.said.in_rounds if s.participant == who]
    if not spoken:
        return ""
    last = spoken[-1]
    missed = [f for f in state.failures if f.participant == who and f.round > last.round]
    if missed:
        was = "not asked" if missed[-1].cause == "budget" else "absent"
        return f"{was} in round {missed[-1].round}"
    return f"declared nothing in round {last.round}" if UNDECLARED in last.flags else ""


def _missing_told(state: State, standing: DecisionStanding) -> str:
    found = ""
    silent = [s for s in standing.seats if not s.final]
    for told, seats in (
        ("for another answer", _against(standing)),
        ("with a position of its own", standing.own),
        ("without a preference", [s.participant for s in standing.seats if s.final == ANY]),
        ("abstaining", [s.participant for s in silent if s.participant in standing.abstained]),
        (
            "without a declaration",
            [s.participant for s in silent if s.participant in standing.undeclared],
        ),
    ):
        if seats:
            found += f", {len(seats)} {told}"
    if voteless := voteless_seats(state, standing):
        names = [
            f"{name_of(state, who)}{f', {lost}' if (lost := dropped_out(state, who)) else ''}"
            for who in voteless
        ]
        found += f", {len(voteless)} without a vote on it ({'; '.join(names)})"
    return found + _absent_told(state, standing.absent)


def doubtful_votes(state: State) -> tuple[Finding, ...]:
    """What a reader of the speeches would doubt in the count: votes behind the answer (behind any,
    where nothing prevails) whose words say something else, and votes that lapsed because their
    seat's last words declare nothing."""
    return state.derived("doubtful votes", _doubtful_votes)


def _doubtful_votes(state: State) -> tuple[Finding, ...]:
    question, record = standing_of(state).question, standing_of(state).record
    if question is None:
        return ()
    behind = question.holders if question.delivered else [s.participant for s in question.seats]
    found: list[Finding] = []
    for speech in state.said.in_rounds:
        if speech.stage.endswith(IN_REVERSE):
            continue
        where = turn_name(state, speech.turn_id)
        if DIFFERS in speech.flags and speech.participant in behind:
            told = f"{where}: its words and its declaration differ; the declaration counts."
            found.append(Finding(code="words_differ", message=told))
        lapsed = speech.participant in record.lapsed
        if UNDECLARED in speech.flags and lapsed and not _declared_since(state, speech):
            told = f"{where}: no declaration, so what it declared before is not counted."
            found.append(Finding(code="no_declaration", message=told))
    return tuple(found)


def _declared_since(state: State, speech: SpeechGiven) -> bool:
    later = state.speeches[state.speeches.index(speech) + 1 :]
    return any(s.participant == speech.participant and s.declaration for s in later)


def voteless_seats(state: State, standing: DecisionStanding) -> tuple[str, ...]:
    """Who declared something, but no vote on this, and does not abstain either."""
    demonstration = standing_of(state).record.demonstration
    elsewhere = {*standing.abstained, *standing.undeclared, *standing.absent, *demonstration}
    return tuple(
        s.participant for s in standing.seats if not s.final and s.participant not in elsewhere
    )


def _against(standing: DecisionStanding) -> list[str]:
    if standing.delivered is None:
        return []
    others = (OWN, ANY, "", standing.delivered)
    return [s.participant for s in standing.seats if s.final not in others]


def _absent_told(state: State, absent: Sequence[str]) -> str:
    if not absent:
        return ""
    return f", {len(absent)} absent ({', '.join(name_of(state, who) for who in absent)})"


def _small(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}".rstrip(".")
