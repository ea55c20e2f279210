"""Agreement is what seats declared: scripts that tempt a program to see it where there is none."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from roundtable.core.assessment import assessment_of
from roundtable.core.standing import Standing, standing_of
from roundtable.core.state import State
from tests.agreement.script import Cast, ClerkKind, Manner, scripts
from tests.procedures.custom_table import Shelved, defined
from tests.rehearsal import Table, Voice, run_in_virtual_time

SCRIPTS = scripts()
SEATS: dict[str, tuple[str, ...]] = {
    "deliberation": ("first-principles", "precedent", "pre-mortem", "affected-people"),
    "council": ("scholar", "engineer", "muse"),
    "adaptive": ("advocate", "devils-advocate", "analyst", "contrarian"),
    "meeting": ("arch", "back", "prod", "test"),
    "five-round": ("expert-one", "expert-two", "expert-three", "expert-four"),
    "own": ("anna", "ben", "cleo", "dora"),
}
"""The procedures that scripts go through, and the ids of their seats in order."""
PROCEDURES = tuple(SEATS)
CASES = [
    pytest.param(procedure, script, id=f"{procedure}-{script['kind']}-{script['id']}")
    for procedure, seats in SEATS.items()
    for script in SCRIPTS
    # A council always has three seats.
    if len(script["seats"]) <= len(seats)
]


def held(cast: Cast, procedure: str, **options: Any) -> State:
    """The script, spoken through a procedure."""
    seats = len(cast.script["seats"])
    table = table_for(cast)
    cast.seats = list(SEATS[procedure][:seats])
    return run_in_virtual_time(
        table.ask(
            cast.script["question"],
            procedure=procedure,
            options={**options_for(procedure, seats), **options},
        )
    )


def table_for(cast: Cast) -> Table:
    """A table at which the cast speaks; it knows a small procedure of the user's own as well."""
    seats = SEATS["own"][: len(cast.script["seats"])]
    own = defined(
        {"name": "answer", "aggregate": "decision", "sections": ["Answer"]},
        {"name": "reply", "aggregate": "decision", "sees": "previous", "anonymous": True},
        participants=[{"id": who, "name": who.capitalize()} for who in seats],
        verdict={"by": "host"},
    )
    return Table({"*": Voice(cast.speak)}, own=Shelved(own))


def options_for(procedure: str, seats: int) -> dict[str, Any]:
    """What a procedure is opened with for this many seats."""
    match procedure:
        case "deliberation":
            return {"seats": seats}
        case "adaptive":
            models = [f"test/{seat}" for seat in SEATS[procedure][:seats]]
            return {"debate": True, "panel": ",".join(models)}
        case "five-round":
            names = SEATS[procedure][:seats]
            return {"agents": [name.replace("-", " ").title() for name in names]}
        case "meeting":
            names = SEATS[procedure][:seats]
            return {"participants": [{"profile": name, "role": name} for name in names]}
        case "five-round":
            return {"agents": ["Expert One", "Expert Two", "Expert Three", "Expert Four"][:seats]}
    return {}


def of_kind(**wanted: str) -> list[Any]:
    """The cases of one kind or end."""
    return [
        case
        for case in CASES
        if all(case.values[1][key] == value for key, value in wanted.items())  # type: ignore[index]
    ]


def named(standing: Standing) -> str:
    """The end as a careful person calls it."""
    end = standing.end
    return end if end in ("consensus", "majority", "hollow") else "none"


@pytest.mark.requirement("Z-22", "Z-23", "Z-24")
@pytest.mark.parametrize("clerk", get_args(ClerkKind))
@pytest.mark.parametrize(("procedure", "script"), CASES)
def test_honest_declarations_end_as_a_careful_person_calls_it(
    script: dict[str, Any], clerk: ClerkKind, procedure: str
) -> None:
    state = held(Cast(script, "honest", clerk), procedure)
    standing = standing_of(state)
    assert named(standing) == script["end"], standing.question
    assert state.verdict is not None
    if script["end"] in ("consensus", "majority"):
        assert standing.question is not None
        held_by = {seat["position"]: seat["holds"] for seat in script["seats"]}
        answer = standing.question.answer
        counted = [seat["holds"] for seat in script["seats"]]
        winner = max(set(counted), key=counted.count)
        assert held_by.get(answer, answer) == winner


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(("procedure", "script"), CASES)
def test_nothing_is_counted_that_was_not_declared(script: dict[str, Any], procedure: str) -> None:
    # By turns: each script is told in both manners, and each procedure hears both.
    by_turns = SCRIPTS.index(script) + list(SEATS).index(procedure)
    manner: Manner = "prose" if by_turns % 2 else "missing"
    state = held(Cast(script, manner, "hasty"), procedure)
    standing = standing_of(state)
    assert standing.end is None
    assert standing.record.undeclared == tuple(standing.record.seats)
    assert assessment_of(state).probability is None
    assert state.verdict is None or state.verdict.confidence is None


@pytest.mark.requirement("Z-23")
@pytest.mark.parametrize(("procedure", "script"), of_kind(kind="agreebut"))
def test_a_yes_under_demands_that_nobody_granted_is_no_agreement(
    script: dict[str, Any], procedure: str
) -> None:
    state = held(Cast(script, "conditions"), procedure)
    assert named(standing_of(state)) == "none"


@pytest.mark.requirement("Z-25")
@pytest.mark.parametrize(("procedure", "script"), of_kind(end="hollow"))
def test_agreement_by_giving_in_is_never_high_and_keeps_the_arguments(
    script: dict[str, Any], procedure: str
) -> None:
    state = held(Cast(script), procedure)
    assessed = assessment_of(state)
    assert assessed.word != "high"
    assert state.verdict is not None
    kept = {each.position for each in state.verdict.dissent if each.gave_in}
    assert kept == {seat["position"] for seat in script["seats"] if seat.get("after_talk")}
