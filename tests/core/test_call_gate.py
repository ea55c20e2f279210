"""The gate of a provider, in virtual time: how many calls begin, and whose."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.call_gate import (
    ASKED,
    HOLDS,
    LOOKS,
    Asking,
    CallGate,
    CallLimits,
    Granted,
    slots_told,
)


class Door:
    """A gate, and what was granted at it."""

    def __init__(self, limits: CallLimits, gate: CallGate | None = None) -> None:
        self.limits = limits
        self.gate = gate or CallGate()

    def ask(self, who: str, held: int, wants: int, now: float, **said: object) -> Granted:
        asking = Asking(who, held, wants, **said)  # type: ignore[arg-type]
        self.gate, granted = self.gate.ask(asking, self.limits, now)
        self.gate = CallGate.read(self.gate.dumped())  # nothing is lost by being kept
        return granted


def test_no_more_calls_than_there_is_room_for() -> None:
    door = Door(CallLimits(at_once=3))
    assert door.ask("a", 0, 5, 1.0).calls == 3
    assert door.ask("a", 3, 2, 1.1).calls == 0
    assert door.ask("a", 2, 2, 1.2).calls == 1
    assert slots_told(door.gate) == "3 under way of 3, 1 waiting"


def test_calls_of_a_process_that_is_gone_are_freed_after_a_while() -> None:
    door = Door(CallLimits(at_once=2))
    assert door.ask("a", 0, 2, 1.0).calls == 2
    assert door.ask("b", 0, 2, 1.0 + HOLDS - 0.1).calls == 0
    assert door.ask("b", 0, 2, 1.0 + HOLDS + 0.1).calls == 2


def test_a_sign_of_life_keeps_what_is_held() -> None:
    door = Door(CallLimits(at_once=2))
    door.ask("a", 0, 2, 1.0)
    door.ask("a", 2, 0, 10.0)
    assert door.ask("b", 0, 2, 1.0 + HOLDS + 1).calls == 0


def test_saying_the_same_twice_changes_nothing() -> None:
    door = Door(CallLimits(at_once=4))
    door.ask("a", 0, 3, 1.0)
    for _ in range(3):
        door.ask("a", 3, 0, 1.1)
    assert door.ask("b", 0, 4, 1.2).calls == 1


def test_whoever_comes_later_gets_its_share_of_what_is_freed() -> None:
    door = Door(CallLimits(at_once=4))
    assert door.ask("a", 0, 100, 1.0).calls == 4
    assert door.ask("b", 0, 100, 1.1).calls == 0
    # A ends a call and wants the next: it is the other's turn.
    assert door.ask("a", 3, 97, 1.2).calls == 0
    assert door.ask("b", 0, 100, 1.3).calls == 1
    assert door.ask("a", 2, 98, 1.4).calls == 0
    assert door.ask("b", 1, 99, 1.5).calls == 1
    # Both have two now, and whoever ends one may have the next.
    assert door.ask("a", 1, 99, 1.6).calls == 1


def test_with_fewer_places_than_processes_each_has_its_turn() -> None:
    door = Door(CallLimits(at_once=1))
    assert door.ask("a", 0, 9, 1.0).calls == 1
    assert door.ask("b", 0, 9, 1.1).calls == 0
    assert door.ask("c", 0, 9, 1.2).calls == 0
    assert door.ask("a", 0, 9, 1.3).calls == 0
    assert door.ask("c", 0, 9, 1.3).calls == 0
    assert door.ask("b", 0, 9, 1.3).calls == 1


def test_a_place_is_not_kept_for_somebody_who_no_longer_asks() -> None:
    door = Door(CallLimits(at_once=1))
    door.ask("a", 0, 1, 1.0)
    door.ask("b", 0, 1, 1.1)  # and then it was killed
    assert door.ask("a", 0, 1, 1.2).calls == 0
    assert door.ask("a", 0, 1, 1.1 + ASKED + 0.1).calls == 1


def test_a_refusal_is_a_refusal_for_everybody() -> None:
    door = Door(CallLimits(at_once=16))
    door.ask("a", 0, 1, 1.0)
    door.ask("a", 1, 0, 2.0, refused=((1.0, 30.0),))
    told = door.ask("b", 0, 5, 3.0)
    assert (told.calls, told.paused, told.wait) == (0, 29.0, 29.0)
    door.ask("a", 1, 0, 20.0)
    assert door.ask("b", 0, 20, 32.5).calls == 7  # half of sixteen, and one is under way


def test_a_rate_is_kept_and_says_when_to_come_again() -> None:
    door = Door(CallLimits(per_minute=10))
    assert door.ask("a", 0, 3, 100.0).calls == 1
    told = door.ask("a", 1, 2, 100.0)
    assert (told.calls, told.wait) == (0, 6.0)
    assert door.ask("a", 1, 2, 106.0).calls == 1


@settings(max_examples=60)
@given(
    st.sampled_from([0.5, 1, 3, 10, 60, 500]),
    st.lists(st.tuples(st.floats(0, 5), st.integers(1, 40)), min_size=5, max_size=120),
)
def test_no_minute_has_more_calls_than_it_may_have(
    per_minute: float, course: list[tuple[float, int]]
) -> None:
    door = Door(CallLimits(per_minute=per_minute))
    now, begun = 0.0, []
    for step, wants in course:
        now += step
        begun += [now] * door.ask("a", 0, wants, now).calls
    for first in begun:
        assert sum(1 for each in begun if first <= each < first + 59.999) <= max(1, per_minute)


@settings(max_examples=60)
@given(
    st.integers(1, 20),
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5), st.booleans()), max_size=200),
)
def test_the_limit_is_never_passed_however_processes_come_and_go(
    at_once: int, course: list[tuple[str, int, bool]]
) -> None:
    door = Door(CallLimits(at_once=at_once))
    held = dict.fromkeys("abcd", 0)
    for step, (who, wants, ends) in enumerate(course):
        held[who] -= ends and held[who] > 0
        held[who] += door.ask(who, held[who], wants, 1.0 + step * LOOKS / 10).calls
        assert sum(held.values()) <= at_once


def test_time_that_goes_back_opens_nothing() -> None:
    door = Door(CallLimits(at_once=1))
    door.ask("a", 0, 1, 1_000.0)
    assert door.ask("b", 0, 1, 700.0).calls == 0
    assert door.ask("b", 0, 1, 1_000.0 + HOLDS - 0.1).calls == 0


def test_alone_each_keeps_to_its_share() -> None:
    door = Door(CallLimits(at_once=16, per_minute=120))
    for who in "abcd":
        door.ask(who, 0, 2, 1.0)
    alone, told = door.gate.alone("a").ask(Asking("a", 2, 50), door.limits, 100.0)
    assert told.calls <= 2
    assert sum(each.held for each in alone.parties.values()) <= 4
