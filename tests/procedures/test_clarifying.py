"""What is missing in the question, where the host casts nobody: a council's Captain asks in its
briefing, the orchestrator of an adaptive run in a first call of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from roundtable.core.events import NewEvent
from roundtable.core.state import State
from roundtable.core.values import SearchHit
from roundtable.ports import SpeakRequest
from roundtable.procedures.casting import open_questions
from roundtable.procedures.casting_terms import CASTING
from roundtable.procedures.opening import OpenRequest
from roundtable.views.result import result
from tests.declaring import by_prompt
from tests.foreseen import foreseen
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time

from .council_table import sections, turn_of
from .test_casting import ASKED, Answers

SUB_TASKS = sections(Scholar="Find it.", Engineer="Count it.", Muse="Turn it round.")
PROCEDURES = ("council", "adaptive")


def asking(*questions: Any) -> str:
    return f"```casting\n{json.dumps({'questions': list(questions)})}\n```"


def a_table(*questions: Any, rests_on: tuple[str, ...] = (), **more: Any) -> Table:
    def speak(request: SpeakRequest) -> str:
        if "/briefing/" in turn_of(request):
            return f"{SUB_TASKS}\n\n{asking(*questions)}"
        if "/casting/" in turn_of(request):
            return asking(*questions)
        said = dutiful(request)
        if rests_on and "rests_on" in request.user:
            return by_prompt(said.partition("```declaration")[0], request.user, rests_on=rests_on)
        return said

    return Table({"*": Voice(speak)}, **more)


def asked(table: Table, procedure: str, **request: Any) -> State:
    given = {"procedure": procedure, "host_casts": True, "search": False, **request}
    return run_in_virtual_time(table.ask(**given))


def turns(table: Table) -> list[str]:
    return [turn_of(request) for request in table.requests]


@pytest.mark.requirement("Z-28")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_what_is_missing_is_asked_before_anybody_answers(procedure: str) -> None:
    person = Answers("In Chile.", None)
    table = a_table(*ASKED, asker=person)
    state = asked(table, procedure, clarify=True)
    assert person.heard == ["Which country?", "Whose money?"]
    assert [(m.source, m.text) for m in state.context] == [
        ("the asker, asked: Which country?", "In Chile."),
        ("assumptions of the host", "a1: Whose money? Assumed: The asker pays."),
    ]
    heard = [r for r in table.requests if "/answer/" in turn_of(r) or "/meta-panel/" in turn_of(r)]
    assert heard
    assert all("In Chile." in each.user for each in heard)
    assert state.status == "concluded"


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_without_anybody_to_answer_the_verdict_says_on_which_assumption_it_rests(
    procedure: str,
) -> None:
    state = asked(a_table(*ASKED, rests_on=("a2",)), procedure)
    assert not open_questions(state)
    assert result(state)["assumptions"] == [
        {"text": "Which country? Assumed: It is Germany.", "rests_on": False},
        {"text": "Whose money? Assumed: The asker pays.", "rests_on": True},
    ]


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_question_that_needs_nothing_is_not_asked_back(procedure: str) -> None:
    person = Answers()
    state = asked(a_table(asker=person), procedure, clarify=True)
    assert not person.heard
    assert not state.context
    assert state.verdict is not None


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_nobody_is_asked_where_that_is_turned_off(procedure: str) -> None:
    table = a_table(*ASKED)
    state = asked(table, procedure, host_casts=False)
    assert CASTING not in state.start.options
    assert not state.context
    assert not any("```casting" in request.user for request in table.requests)


def test_a_council_makes_no_call_for_it_and_its_sub_tasks_are_free_of_it() -> None:
    table, plain = a_table(*ASKED), a_table(*ASKED)
    asked(table, "council")
    asked(plain, "council", host_casts=False)
    assert turns(table) == turns(plain)
    (muse,) = [r for r in table.requests if turn_of(r) == "1/answer/muse"]
    task = muse.user.split("Turn it round.")[1].split("---END")[0]
    assert "casting" not in task
    assert "Which country?" not in task


def test_an_adaptive_run_makes_one_call_for_it_which_the_estimate_counts() -> None:
    table, plain = a_table(*ASKED), a_table(*ASKED)
    asked(table, "adaptive")
    asked(plain, "adaptive", host_casts=False)
    assert turns(table) == ["0/casting/orchestrator", *turns(plain)]

    async def calls(**request: Any) -> int:
        opened = await a_table().service.open(
            OpenRequest("Tea?", procedure="adaptive", search=False, **request)
        )
        return foreseen(opened).calls

    with_it = run_in_virtual_time(calls(host_casts=True))
    assert with_it == run_in_virtual_time(calls()) + 1


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_discussion_of_an_earlier_version_wants_no_such_stage(procedure: str) -> None:
    """Its opening holds no terms for it, wherever it was interrupted."""

    async def main() -> None:
        table = a_table()
        done = await table.ask(procedure=procedure, search=False)
        records = await table.records(done)
        for cut in (1, len(records) // 2):
            second = a_table(*ASKED, asker=Answers())
            left = [NewEvent(each.event, each.at, each.key) for each in records[:cut]]
            await second.ledger.append(done.discussion_id, left, expected=0)
            again = await second.service.run(done.discussion_id)
            assert again.status == "concluded"
            assert (CASTING, 0) not in again.stages
            assert not again.context

    run_in_virtual_time(main())


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("said", ["", "No block.", "```casting\nnot json\n```", asking({"ask": 7})])
def test_a_host_that_asks_in_no_form_costs_nothing_but_its_questions(
    procedure: str, said: str
) -> None:
    def speak(request: SpeakRequest) -> str:
        if "/briefing/" in turn_of(request):
            return f"{SUB_TASKS}\n\n{said}"
        return said or "…" if "/casting/" in turn_of(request) else dutiful(request)

    state = asked(Table({"*": Voice(speak)}), procedure, clarify=True)
    assert state.status == "concluded"
    assert not state.context


class Slow:
    """A search that is still under way when the host has asked."""

    name = "slow"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.found = 0

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        await asyncio.sleep(self.seconds)
        self.found += 1
        return (SearchHit(title=query, url="https://example.org/", text=f"{count} facts."),)


def test_an_adaptive_run_searches_before_it_asks() -> None:
    table = a_table(*ASKED, search=Slow(2))
    state = asked(table, "adaptive", search=True)
    kinds = [each.event.type for each in run_in_virtual_time(table.records(state))]
    assert kinds.index("SearchFinished") < kinds.index("AttemptStarted")
    assert kinds.count("SearchFinished") == 1


def test_a_question_does_not_cut_off_the_councils_search() -> None:
    search = Slow(5)
    person = Answers("In Chile.", "Mine.")
    state = asked(
        a_table(*ASKED, search=search, asker=person), "council", search=True, clarify=True
    )
    assert search.found == 1
    assert len(state.searches) == 1
    assert person.heard == ["Which country?", "Whose money?"]
