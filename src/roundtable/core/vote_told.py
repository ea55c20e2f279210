"""What a verdict can be held against: the vote on the question, in plain values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .assessment import assessment_of
from .confidence import Word
from .declaration import ANY, OWN, Option
from .naming import name_of
from .standing import DecisionStanding, SeatStanding, standing_of
from .state import State


@dataclass(frozen=True, slots=True)
class Tolerated:
    """An option, and how many may be said to be for it: its votes in the end, at first, as they
    were cast, and with those who could live with it."""

    id: str
    text: str
    votes: int
    figures: frozenset[int]


@dataclass(frozen=True, slots=True)
class Voter:
    """A seat, and every option that it may be said to have chosen at some time, or to accept."""

    name: str
    final: str
    """What it votes for in the end, in words."""
    held: frozenset[str]


@dataclass(frozen=True, slots=True)
class VoteTold:
    """What a verdict can be held against, in plain values."""

    question: str
    options: tuple[Tolerated, ...]
    delivered: str
    """The option that was counted; empty where none prevails."""
    answer: str
    """Its words."""
    reason: str
    """How it ended, with the figures."""
    seated: int
    voted: int
    all_agree: bool
    """Whether all who were seated hold what is delivered or could live with it."""
    voters_agree: bool
    """The same of those who voted."""
    dissenting: tuple[str, ...]
    voters: tuple[Voter, ...]
    pairs: frozenset[tuple[int, int]]
    """The votes for something against the votes for something else, in every sense."""
    word: Word
    low: float | None
    high: float | None

    @property
    def texts(self) -> dict[str, str]:
        return {each.id: each.text for each in self.options}

    def option(self, own: str) -> Tolerated:
        return next(each for each in self.options if each.id == own)


def vote_told(state: State) -> VoteTold | None:
    """What there is to hold a verdict against; None where nothing was put to the vote."""
    return state.derived("vote told", _vote_told)


def _vote_told(state: State) -> VoteTold | None:
    standing = standing_of(state)
    question = standing.question
    if question is None:
        return None
    with_it = {*question.holders, *question.accepting}
    voting = [seat for seat in question.seats if seat.final]
    sure = assessment_of(state)
    return VoteTold(
        question=state.start.topic,
        options=tuple(
            Tolerated(o.id, o.text, question.counts.get(o.id, 0), _figures(question, o))
            for o in question.decision.options
        ),
        delivered=question.delivered or "",
        answer=question.answer,
        reason=question.reason,
        seated=question.seated,
        voted=len(voting),
        all_agree=bool(question.delivered)
        and len(with_it) == question.seated
        and not question.dissenting,
        voters_agree=bool(question.delivered)
        and all(seat.participant in with_it for seat in voting),
        dissenting=tuple(name_of(state, who) for who in question.dissenting),
        voters=tuple(_voter(state, question, seat) for seat in question.seats),
        pairs=frozenset(pair for each in standing.decisions for pair in _pairs(each)),
        word=sure.word,
        low=sure.low,
        high=sure.high,
    )


def _figures(question: DecisionStanding, told: Option) -> frozenset[int]:
    option = told.id
    final = [s for s in question.seats if s.final == option]
    bearing = [s for s in question.seats if s.final != option and _could_live(s, option)]
    return frozenset(
        [
            len(final),
            len(final) + len(bearing),
            len(final) + sum(s.last == option for s in question.seats),
            sum(s.cast == option for s in question.seats),
            sum(s.opening == option for s in question.seats),
            question.before.counts.get(option, 0),
            len(told.holders),
        ]
    )


def _could_live(seat: SeatStanding, option: str) -> bool:
    return option not in seat.rejects and (seat.final == ANY or option in seat.acceptable)


def _voter(state: State, question: DecisionStanding, seat: SeatStanding) -> Voter:
    held = {seat.opening, seat.final, seat.cast, seat.last, *seat.between, *seat.acceptable}
    held.update(o.id for o in question.decision.options if seat.participant in o.holders)
    # Nobody can say what a position of one's own, or none at all, comes closest to.
    loose = seat.final in ("", OWN, ANY) or OWN in held
    chosen = [o.id for o in question.decision.options]
    final = "" if loose else question.text_of(seat.final)
    return Voter(name_of(state, seat.participant), final, frozenset(chosen if loose else held))


def _pairs(decision: DecisionStanding) -> Iterator[tuple[int, int]]:
    cast = {o: sum(s.cast == o for s in decision.seats) for o in decision.decision.option_ids}
    opening = {o: sum(s.opening == o for s in decision.seats) for o in decision.decision.option_ids}
    for counts in (decision.counts, decision.before.counts, cast, opening):
        whole = sum(counts.values())
        for option, top in counts.items():
            if not top:
                continue
            against = [n for o, n in counts.items() if o != option]
            if counts is decision.counts:
                against += [decision.seated - top, len(decision.dissenting)]
            bearing = sum(s.final != option and _could_live(s, option) for s in decision.seats)
            for other in (*against, whole - top):
                yield top, other
                yield top + bearing, max(0, other - bearing)
