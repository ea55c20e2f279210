"""Track records in a deliberation: learned from the ledger, kept with the discussion, and shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from roundtable.core.standing import standing_of
from roundtable.core.state import State, fold
from roundtable.core.track_record import ENOUGH
from roundtable.experts.methods import METHODS
from roundtable.ports import CastingRequest, ChosenExperts, SpeakRequest
from roundtable.procedures.table import Table as Seen
from roundtable.procedures.verdicts import by_past_record
from tests.declaring import spoken
from tests.rehearsal import Table, Voice, run_in_virtual_time

from .deliberation_table import answer, review, synthesis, turn_of, verdict_of

MODELS = ("good/a", "good/b", "odd/c", "odd/d", "odd/e")
OPTIONS = {"choices": ("stay", "go", "wait"), "models": MODELS, "seats": 5}
SPLIT = ("o1", "o1", "o2", "o2", "o3")
"""Two against two, and one for something else."""


class Library:
    """Casts the ready ways to reason."""

    async def choose(self, topic: str, casting_request: CastingRequest) -> ChosenExperts:
        assert topic
        return ChosenExperts(METHODS[: casting_request.count])


def votes_on(question: int) -> Sequence[str]:
    """The good ones agree; the odd ones each go astray in a way of their own, or join them."""
    right = f"o{question % 3 + 1}"
    astray = [f"o{(question // n + n) % 3 + 1}" for n in (1, 2, 4)]
    return (right, right, *astray)


def voted(request: SpeakRequest, choices: Sequence[str]) -> str:
    """What the seat that is asked says, with its choice out of these, in the order of the seats."""
    _, stage, who = turn_of(request).split("/")
    if who == "host":
        return spoken(synthesis(), request)
    choice = choices[[persona.id for persona in METHODS].index(who)]
    said = answer(who) if stage == "answer" else review(who)
    return spoken(said, request, choice=choice, position=f"The position of {who}.")


def script(request: SpeakRequest) -> str:
    found = re.search(r"Case (\d+)", request.user)
    return voted(request, votes_on(int(found[1])) if found else SPLIT)


def with_past(count: int, **options: object) -> tuple[Table, State]:
    """A ledger with so many earlier questions, and then one on which the table is split."""

    async def hold() -> tuple[Table, State]:
        at = Table({"*": Voice(script)}, casting=lambda _: Library())
        for number in range(count):
            await at.ask(f"Case {number}?", procedure="deliberation", options=OPTIONS)
        last = {**OPTIONS, **options}
        return at, await at.ask("What now?", procedure="deliberation", options=last)

    return run_in_virtual_time(hold())


@pytest.mark.requirement("Z-03", "Z-16")
def test_where_nobody_prevails_the_record_of_the_models_leans_and_the_end_stays_an_impasse() -> (
    None
):
    at, state = with_past(ENOUGH + 2)
    kept: Any = state.start.options["record"]
    weights = kept["weights"]
    assert kept["questions"] == ENOUGH + 2
    assert min(weights["good/a"], weights["good/b"]) > max(weights[m] for m in MODELS[2:])
    verdict = verdict_of(state)
    assert verdict.agreement.startswith("Impasse")
    told = f"Counted with track record (learned from {ENOUGH + 2} past questions): “stay” leads"
    assert told in verdict.agreement
    assert verdict.confidence is None
    assert "The track record of the models leans to o1; it settles nothing." in at.requests[-1].user


@pytest.mark.requirement("Z-03")
def test_a_record_is_part_of_the_discussion_and_counted_again_to_the_same() -> None:
    at, state = with_past(ENOUGH)
    again = fold(run_in_virtual_time(at.records(state)))
    told = by_past_record(Seen(again, "deliberation"))
    assert told == by_past_record(Seen(state, "deliberation"))
    assert "“stay” leads" in told


@pytest.mark.requirement("Z-03")
@pytest.mark.parametrize("count", [0, ENOUGH - 1])
def test_without_enough_past_the_count_is_plain(count: int) -> None:
    _, state = with_past(count)
    assert "record" not in state.start.options
    assert "track record" not in verdict_of(state).agreement
    question = standing_of(state).question
    assert question is not None
    assert question.tied == ("o1", "o2")


@pytest.mark.requirement("Z-03")
def test_the_record_is_off_on_demand() -> None:
    _, state = with_past(ENOUGH, no_record=True)
    assert "record" not in state.start.options
    assert "track record" not in verdict_of(state).agreement


@pytest.mark.requirement("Z-03")
def test_a_majority_stands_whatever_the_record() -> None:
    async def hold() -> State:
        at = Table({"*": Voice(script)}, casting=lambda _: Library())
        for number in range(ENOUGH):
            await at.ask(f"Case {number}?", procedure="deliberation", options=OPTIONS)
        majority = ("o1", "o1", "o2", "o2", "o2")
        at.voices["*"].script = lambda request: voted(request, majority)
        return await at.ask("What now?", procedure="deliberation", options=OPTIONS)

    state = run_in_virtual_time(hold())
    question = standing_of(state).question
    assert question is not None
    assert question.delivered == "o2"
    verdict = verdict_of(state)
    assert verdict.agreement.startswith("Majority: 3 of 5.")
    assert "a majority stands): no change." in verdict.agreement


@pytest.mark.requirement("Z-03")
def test_the_same_question_asked_again_is_no_past_of_itself() -> None:
    async def hold() -> State:
        at = Table({"*": Voice(script)}, casting=lambda _: Library())
        for _ in range(ENOUGH + 3):
            await at.ask("What now?", procedure="deliberation", options=OPTIONS)
        return await at.ask("What  NOW?", procedure="deliberation", options=OPTIONS)

    assert "record" not in run_in_virtual_time(hold()).start.options
