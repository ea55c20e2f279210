"""Versions: who took whose place, and what stands at the end."""

from __future__ import annotations

import pytest

from roundtable.core.deliverable import Deliverable
from roundtable.core.events import Event, SpeechGiven, VerdictReached
from roundtable.core.state import State, fold
from roundtable.core.turns import CONDENSED
from roundtable.core.values import Verdict
from roundtable.core.versions import current_versions, delivered, versions_of

from .samples import opened, recorded


def speech(
    who: str, round_: int, *works: Deliverable, independent: bool = False, stage: str = "answer"
) -> SpeechGiven:
    return SpeechGiven(
        turn_id=f"{round_}/{stage}/{who}",
        stage=stage,
        round=round_,
        participant=who,
        model="test/a",
        text="Words.",
        independent=independent,
        deliverables=works,
    )


def work(name: str = "a.py", *revises: str, text: str = "x\n", whole: bool = True) -> Deliverable:
    return Deliverable(name=name, text=text, revises=revises, whole=whole)


def state(*events: Event) -> State:
    return fold(recorded(opened(), *events))


def told(found: State) -> list[tuple[str, str, int, tuple[str, ...]]]:
    return [(v.id, v.participant, v.number, v.replaces) for v in versions_of(found)]


def standing(found: State) -> list[str]:
    return [v.id for v in delivered(found).versions]


@pytest.mark.requirement("Z-31")
def test_rivals_stand_beside_each_other_and_an_author_revises_its_own() -> None:
    found = state(
        speech("one", 1, work(), independent=True),
        speech("two", 1, work(), independent=True),
        speech("one", 2, work(text="y\n")),
    )
    assert told(found) == [("w1", "one", 1, ()), ("w2", "two", 1, ()), ("w3", "one", 2, ("w1",))]
    assert standing(found) == ["w2", "w3"]
    assert not delivered(found).chosen


@pytest.mark.requirement("Z-31")
def test_the_next_seat_takes_up_the_only_work_of_that_name_or_those_it_names() -> None:
    found = state(
        speech("one", 1, work(), work("b.py"), independent=True),
        speech("two", 2, work("A.PY")),
        speech("three", 2, work("all.py", "w1", "w2", "w3", "w99")),
        speech("four", 3, work("all.py", "w4")),
    )
    assert told(found)[2:] == [
        ("w3", "two", 2, ("w1",)),
        # Whoever speaks in the same round has not seen w3.
        ("w4", "three", 2, ("w1", "w2")),
        ("w5", "four", 3, ("w4",)),
    ]
    assert standing(found) == ["w3", "w5"]


@pytest.mark.requirement("Z-31")
def test_what_was_cut_off_takes_nobodys_place_but_stands_where_nothing_else_does() -> None:
    first = speech("one", 1, work(), work("b.py", whole=False), independent=True)
    found = state(first, speech("one", 2, work(text="x", whole=False)))
    assert standing(found) == ["w1", "w2"]
    assert [v.id for v in current_versions(found)] == ["w1", "w2"]


@pytest.mark.requirement("Z-31")
def test_who_could_not_read_everything_takes_nobodys_place() -> None:
    revised = speech("two", 2, work("a.py", "w1", text="half\n"))
    found = state(
        speech("one", 1, work(), independent=True),
        revised.model_copy(update={"flags": (CONDENSED,)}),
    )
    assert standing(found) == ["w1", "w2"]


@pytest.mark.requirement("Z-31")
def test_what_the_writer_names_stands_and_names_that_nobody_knows_do_not() -> None:
    speeches = [
        speech("one", 1, work(), independent=True),
        speech("two", 1, work(), independent=True),
    ]
    chosen = state(*speeches, VerdictReached(verdict=Verdict(answer="x", stands=("w2",))))
    assert standing(chosen) == ["w2"]
    assert delivered(chosen).chosen
    unknown = state(*speeches, VerdictReached(verdict=Verdict(answer="x", stands=("w7",))))
    assert standing(unknown) == ["w1", "w2"]
