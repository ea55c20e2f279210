"""What a limit of time gives up, in every procedure and in the order of money: first what the table
can do without, then further rounds, then seats, and the verdict last. Calls take as long as they
take here, whatever was known of it before."""

from __future__ import annotations

import asyncio
from functools import cache

import pytest

from roundtable.core.state import State
from roundtable.core.values import Budget
from roundtable.ports import OnWords, Reply, SpeakRequest
from tests.covering import every_pair
from tests.procedures.five_round_table import compliant
from tests.rehearsal import Billed, Table, dutiful, run_in_virtual_time

PROCEDURES = ("deliberation", "council", "five-round", "adaptive", "meeting")
WRITING = ("synthesis", "arbitration", "conclusion")
EACH = 2.0
"""Seconds of a call, unless it is slow."""


class Even(Billed):
    """Takes as long for every call, or so many times that."""

    times = 1.0

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        await asyncio.sleep(EACH * self.times - 1.0)
        return reply


def table(procedure: str) -> Table:
    return Table({"*": Even(compliant if procedure == "five-round" else dutiful, words=200)})


@cache
def held(procedure: str, limit: float | None = None, earlier: float | None = None) -> State:
    """Held with so many seconds, perhaps after one in which calls took so many times as long."""
    at = table(procedure)
    options = {"always_critique": True} if procedure == "deliberation" else {}

    async def main() -> State:
        voice = at.voices["*"]
        assert isinstance(voice, Even)
        if earlier is not None:
            voice.times = earlier
            await at.ask("And before?", procedure=procedure, options=options)
            voice.times = 1.0
        budget = Budget(max_seconds=limit)
        return await at.ask(procedure=procedure, budget=budget, options=options)

    return run_in_virtual_time(main())


def is_concluded_in_words(state: State) -> bool:
    return any(each.stage in WRITING for each in state.speeches)


def rounds(state: State) -> int:
    return max((each.round for each in state.speeches), default=0)


def seconds(state: State) -> float:
    assert state.updated_at is not None
    return state.spending(state.updated_at).seconds


@pytest.mark.requirement("Z-35", "Z-09", "I-11")
@pytest.mark.parametrize(
    ("procedure", "limit", "earlier"),
    every_pair(PROCEDURES, [4.5, 5.0, 6.0, 7.0, 8.0, 10.0, 14.0, 20.0], [None, 0.6, 1.0, 2.0]),
)
def test_no_further_round_is_held_with_the_time_of_the_verdict(
    procedure: str, limit: float, earlier: float | None
) -> None:
    state = held(procedure, limit, earlier)
    assert is_concluded_in_words(state)
    cut = [turn.id for turn in state.turns.values() for each in turn.attempts if each.failed]
    assert not cut, "paid and of no use"
    assert seconds(state) <= limit


@pytest.mark.requirement("Z-35", "I-11")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_limit_of_time_that_leaves_room_refuses_no_round(procedure: str) -> None:
    free = held(procedure)
    state = held(procedure, 1.5 * seconds(free))
    assert (state.exhausted, state.status) == (None, free.status)
    assert rounds(state) == rounds(free)


@pytest.mark.requirement("Z-35", "I-11")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_what_is_not_held_for_want_of_time_is_said_and_not_told_as_passed(procedure: str) -> None:
    state = held(procedure, 5.0)
    assert rounds(state) == 1
    assert state.exhausted is not None
    told = "2 of 5 seconds passed, and what comes next would take more than is left"
    assert (state.exhausted.limit, state.exhausted.detail) == ("time", told)
    assert (state.status, state.closed and state.closed.stop_reason) == ("stopped", "budget")


@pytest.mark.requirement("Z-35", "I-11")
def test_first_answers_are_asked_for_before_anybody_knows_how_fast_it_goes() -> None:
    at = table("deliberation")
    voice = at.voices["*"]
    assert isinstance(voice, Even)

    async def main() -> State:
        voice.times = 20.0
        await at.ask("And before?", procedure="deliberation")
        voice.times = 1.0
        return await at.ask(procedure="deliberation", budget=Budget(max_seconds=6))

    state = run_in_virtual_time(main())
    assert len({each.participant for each in state.speeches if each.round == 1}) == 3
    assert is_concluded_in_words(state)


@pytest.mark.requirement("Z-35", "I-11")
def test_who_would_speak_after_others_gives_way_to_the_verdict() -> None:
    state = held("meeting", 7.0)
    assert len([each for each in state.speeches if each.round == 1]) < 4
    assert is_concluded_in_words(state)
