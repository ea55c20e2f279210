"""The first line: how a discussion ended, as a person would say it, the same on every surface.

It has the figures, whoever is absent, and, where the written answer says something else than the
table chose, that it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from .cut_short import BUDGET, cut_by
from .declaration import ANY, OPPOSE, OWN
from .events import SpeechGiven
from .framing import YES_NO
from .naming import line, name_of
from .record import ConditionOnTable, was_asked
from .standing import DecisionStanding, SeatStanding, standing_of
from .state import State, lost_to_limit
from .text import capitalised, clip_words, listed, worded
from .unread import unread_vote
from .verdict_findings import warning

SHORT_OPTION = 48
"""Characters up to which the words of an option are a headline by themselves."""
LONGEST_OPTION = 200
LONGEST_LAST = 60
"""Of what a seat declared last that has no vote."""
MOST_CONDITIONS, LONGEST_CONDITION = 2, 90
"""What is told of the conditions of a yes or a no."""
T = TypeVar("T")


def headline(state: State) -> str:
    """One line, whatever there is to tell."""
    question = standing_of(state).question
    if question is not None:
        told = end_told(state, question)
    else:
        absent = absent_names(state)
        gone = f"; {len(absent)} absent ({', '.join(absent)})" if absent else ""
        told = f"Nothing was put to the vote, so no agreement is counted{gone}."
    return f"⚠ {against} {told}" if (against := warning(state)) else told


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
    if not any(map(str.isalpha, words)):
        words = f"“{words}”"  # “2”, 3 of 3
    if len(words) <= SHORT_OPTION:
        told = f"{capitalised(words)}{_conditions_told(state, standing)}, {count}{missing}"
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
    """Since when a seat that had spoken was lost: “absent in rounds 2 and 3”, “not asked in round
    2” where a limit left it out; empty if it was not."""
    spoken = [s for s in state.said.in_rounds if s.participant == who]
    if not spoken:
        return ""
    last = spoken[-1]
    missed = [f for f in state.failures if f.participant == who and f.round > last.round]
    if missed:
        left_out = {each.round for each in missed if each.cause == "budget"}
        failed = {each.round for each in missed} - left_out
        told = (("absent", failed), ("not asked", left_out))
        return ", ".join(f"{was} in {_rounds(rounds)}" for was, rounds in told if rounds)
    if (silent := undeclared_speech(state, who)) is None:
        return ""
    if unread := unread_words(state, who):
        return f"its vote in round {silent.round} cannot be read: {unread}"
    if lost_to_limit(silent):
        return f"{BUDGET} in round {silent.round}, before its declaration"
    declared = f"declared nothing in round {silent.round}"
    by = cut_by(silent.flags)
    return f"{declared}, where it was {by}" if by else declared


def _rounds(numbers: Iterable[int]) -> str:
    told = [str(each) for each in sorted(numbers)]
    return f"round{'s' if len(told) > 1 else ''} {listed(told)}"


def undeclared_speech(state: State, who: str) -> SpeechGiven | None:
    """The last speech in which a seat was to declare something, if it did not."""
    asked = [s for s in state.said.in_rounds if s.participant == who and was_asked(s)]
    return asked[-1] if asked and asked[-1].declaration is None else None


def unread_words(state: State, who: str) -> str:
    """What the last words of a seat vote for, where that cannot be read: its own words. What a
    limit cut in its middle is no vote that cannot be read."""
    silent = undeclared_speech(state, who)
    if silent is None or lost_to_limit(silent):
        return ""
    return line(unread_vote(state, silent.turn_id))


def last_declared(state: State, standing: DecisionStanding, seat: SeatStanding) -> str:
    """What a seat without a vote declared last, in words; empty if it has a vote, or none."""
    if seat.last == OWN:
        return line(standing_of(state).record.position(seat.participant))
    return "no preference" if seat.last == ANY else line(standing.text_of(seat.last))


def _missing_told(state: State, standing: DecisionStanding) -> str:
    found = ""
    silent = [s for s in standing.seats if not s.final]
    for told, seats in (
        ("for another answer", _against(standing)),
        ("with a position of its own", standing.own),
        ("rejecting it", standing.rejecting),
        ("without a preference", standing.indifferent),
        ("abstaining", [s.participant for s in silent if s.participant in standing.abstained]),
    ):
        if seats:
            found += f", {len(seats)} {told}"
    if undeclared := [s for s in silent if s.participant in standing.undeclared]:
        unread = {s.participant: unread_words(state, s.participant) for s in undeclared}
        names = [
            _uncounted_told(state, standing, each, unread[each.participant])
            for each in undeclared
            if each.last or unread[each.participant]
        ]
        more = f" ({'; '.join(names)})" if names else ""
        found += f", {len(undeclared)} without a countable declaration{more}"
    if voteless := voteless_seats(state, standing):
        names = [
            _uncounted_told(state, standing, each, dropped_out(state, each.participant))
            for each in standing.seats
            if each.participant in voteless
        ]
        found += f", {len(voteless)} without a vote on it ({'; '.join(names)})"
    return found + _absent_told(state, standing.absent)


def _uncounted_told(
    state: State, standing: DecisionStanding, seat: SeatStanding, lost: str = ""
) -> str:
    """Who has no vote, and what it declared last: “Muse, last declared: Coffee”."""
    last = clip_words(last_declared(state, standing, seat).rstrip(" .。"), LONGEST_LAST)
    told = [name_of(state, seat.participant), *([lost] if lost else [])]
    return ", ".join([*told, *([f"last declared: {last}"] if last else [])])


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
