"""Designs that divide the work: merged by what the parts are, so that each is covered once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.procedures.adaptive.design import Position
from roundtable.procedures.adaptive.sub_tasks import merged, same_task

from .adaptive_table import (
    CODEX,
    DEAD,
    GEMINI,
    GROK,
    OPUS,
    SONNET,
    Act,
    Market,
    adaptive,
    calls,
    codes,
    hold,
    labels,
    meta_section,
    note,
)
from .council_table import prompt_of

COST = "Estimate the cost of the migration in euros per month."
LAW = "Check which laws on personal data apply in Germany and France."
USERS = "Find out what the users of the old system would lose."
RISKS = "List the operational risks during the switch, with a way back."


def row(*parts: tuple[str, str], model: str = "m") -> list[Position]:
    return [Position(role=role, model=model, task=task) for role, task in parts]


def hybrid(*parts: tuple[str, str, str], second: str = OPUS) -> str:
    rows = [f"1 | {role} | {model} | {task}" for role, model, task in parts]
    return (
        "## Workflow\nhybrid\n\n## Rounds\n1\n\n## Stages\n"
        + "\n".join([*rows, f"2 | Integrator | {second} | Integrate everything."])
        + f"\n\n## Synthesiser\n{SONNET}"
    )


@pytest.mark.requirement("A-45", "A-60")
def test_parts_are_merged_by_what_they_are_and_not_by_their_lines() -> None:
    division = merged(
        [
            ("a", row(("Economist", COST), ("Lawyer", LAW))),
            ("b", row(("Data Lawyer", "Check the laws on personal data that apply in Germany."))),
            ("c", row(("Lawyer", LAW), ("Cost Analyst", "Estimate the cost in euros per month."))),
        ],
        4,
    )
    assert [part.positions[0].role for part in division.parts] == ["Economist", "Lawyer"]
    assert [part.analysts for part in division.parts] == [{"a", "c"}, {"a", "b", "c"}]
    assert division.left_out == ()


@pytest.mark.requirement("A-60")
def test_what_several_name_beside_it_gets_a_seat_and_what_one_names_is_left_out() -> None:
    base = (("Economist", COST), ("Lawyer", LAW))
    division = merged(
        [
            ("a", row(*base)),
            ("b", row(*base, ("Tester", RISKS))),
            ("c", row(*base, ("Operator", RISKS), ("Researcher", USERS))),
        ],
        4,
    )
    roles = [part.positions[0].role for part in division.parts]
    assert roles[:2] == ["Economist", "Lawyer"]
    assert len(division.parts) == 4 - len(division.left_out)
    told = " ".join([*division.left_out, *(each for part in division.parts for each in part.told)])
    for task in (COST, LAW, USERS, RISKS):
        assert told.count(task) == 1
    small = merged([("a", row(*base, ("Tester", RISKS)))], 2)
    assert small.left_out == (f"Tester: {RISKS}",)


@pytest.mark.requirement("A-60")
def test_a_task_that_is_given_twice_is_covered_once() -> None:
    division = merged([("a", row(("One", COST), ("Two", f"{COST} "), ("Three", LAW)))], 4)
    assert [part.positions[0].role for part in division.parts] == ["One", "Three"]


TASKS = st.sampled_from([COST, LAW, USERS, RISKS, "", "检查数据保护法", "估算每月成本", "x"])


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(["A", "B", "C"]), TASKS), max_size=5),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 5),
)
def test_every_sub_task_is_covered_once_or_said_to_be_left_out(
    designs: list[list[tuple[str, str]]], at_most: int
) -> None:
    rows = [(f"meta-{n}", row(*parts)) for n, parts in enumerate(designs)]
    division = merged(rows, at_most)
    assert len(division.parts) <= at_most
    seats = [part.positions[0] for part in division.parts]
    tasks = [seat.task for seat in seats if seat.task]
    assert len(tasks) == len(set(tasks))
    for _, positions in rows:
        for position in positions:
            known = any(
                position == each or same_task(position, each) or position.task == each.task
                for part in division.parts
                for each in part.positions
            )
            left = any(
                position.task in told and position.role in told for told in division.left_out
            )
            kin = any(
                same_task(position, Position(role=r, model="m", task=t))
                for told in division.left_out
                for r, _, t in [told.partition(": ")]
            )
            assert known or left or kin


@pytest.mark.requirement("A-44", "A-45", "A-48", "A-60", "A-95")
def test_a_hybrid_of_several_designs_covers_each_part_once_and_meta_says_what_is_left_out() -> None:
    acts: dict[str, Act] = {
        "meta-panel/meta-a": hybrid(("Economist", GEMINI, COST), ("Lawyer", GROK, LAW)),
        "meta-panel/meta-b": hybrid(("Lawyer", CODEX, LAW), ("Economist", GEMINI, COST)),
        "meta-panel/meta-c": hybrid(("Lawyer", CODEX, LAW), ("Researcher", OPUS, USERS)),
        "meta-panel/meta-d": DEAD,
    }
    table = adaptive(acts)
    state = hold(table)
    seats = [(p.id, p.speaker.model) for p in state.participants if p.role == "Panelist"]
    assert sorted(seats) == [("economist", GEMINI), ("lawyer", CODEX)]
    assert COST in prompt_of(table, "1/answer/economist").user
    assert LAW in prompt_of(table, "1/answer/lawyer").user
    left = note(state, "sub_tasks_left_out")
    assert "Researcher: Find out what the users" in left.text
    assert sum("given no seat: Researcher" in line for line in meta_section(state)) == 1
    integrator = prompt_of(table, "2/second-stage/integrator").user
    assert USERS in integrator.split("Parts on which nobody has worked")[1]


@pytest.mark.requirement("A-60", "A-80")
def test_a_part_whose_seat_was_lost_is_handed_to_the_integrator() -> None:
    plan = hybrid(("Economist", GEMINI, COST), ("Lawyer", GROK, LAW))
    table = adaptive({"meta-panel": plan, "1/answer/lawyer": DEAD})
    state = hold(table)
    assert state.status == "concluded"
    uncovered = prompt_of(table, "2/second-stage/integrator").user.split("nobody has worked")[1]
    assert LAW in uncovered
    assert COST not in uncovered


@pytest.mark.requirement("A-43")
def test_a_designed_role_has_a_brief_and_one_of_ours_needs_none() -> None:
    plan = hybrid(("Analyst", GEMINI, COST), ("Data Lawyer", GROK, LAW)).replace(
        "hybrid", "parallel_debate"
    )
    table = adaptive({"meta-panel": plan})
    state = hold(table)
    lawyer = next(p for p in state.participants if p.name == "Data Lawyer")
    assert lawyer.perspective == LAW
    brief = prompt_of(table, "1/answer/data-lawyer").user.split("---SUB-TASK (untrusted)---")[1]
    assert LAW in brief
    assert "---SUB-TASK" not in prompt_of(table, "1/answer/analyst").user
    assert "Weigh the evidence" in prompt_of(table, "1/answer/analyst").system


@pytest.mark.requirement("A-43", "A-45", "X-15")
def test_two_models_are_enough_for_a_meta_panel_and_both_sit() -> None:
    plan = hybrid(("Economist", OPUS, COST), ("Lawyer", SONNET, LAW), second=OPUS)
    table = adaptive({"meta-panel": plan}, cast=Market([OPUS, SONNET], default=SONNET))
    state = hold(table)
    assert [call.model for call in calls(table, state) if "meta" in call.label] == [OPUS, SONNET]
    seats = {p.name: p.speaker.model for p in state.participants if p.role == "Panelist"}
    assert seats == {"Economist": OPUS, "Lawyer": SONNET}
    # The rule gives way because nobody else is there, and META says so.
    assert "orchestrator_on_panel" in codes(state)
    assert "meta_smaller" in codes(state)
    listed = prompt_of(table, "0/meta-panel/meta-a").system
    assert f"- {OPUS}" in listed
    assert f"- {SONNET}" in listed


@pytest.mark.requirement("A-49", "X-15")
def test_one_model_alone_is_no_meta_panel_and_that_is_said() -> None:
    table = adaptive(cast=Market(["only/one"]))
    state = hold(table)
    assert not any(label.startswith("rt-meta") for label in labels(table, state))
    assert "Configure a second model" in note(state, "meta_alone").remedy
