"""The report says whose vote mattered, and who is a copy of whom."""

from __future__ import annotations

import pytest

from roundtable.core.standing import standing_of
from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.views.report_parts import Grid
from roundtable.views.report_positions import positions
from roundtable.views.result import result
from tests.declaring import declared
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time


def voting(choice: str) -> Voice:
    def script(request: SpeakRequest) -> str:
        if request.form is None or "delivers" in request.form.keys:
            return dutiful(request)
        words = dutiful(request).split("```")[0]
        if choice == "abstain":
            return f"{words}{declared(request.form, request.user, votes=[], abstain='Unknown.')}"
        return f"{words}{declared(request.form, request.user, choice=choice)}"

    return Voice(script)


def earned(state: State) -> dict[str, tuple[str, ...]]:
    grids = [part for part in positions(state) if isinstance(part, Grid)]
    [grid] = [part for part in grids if part.caption == "Who earned the seat"]
    return {row[0]: row[1:] for row in grid.rows}


@pytest.mark.requirement("Z-16")
def test_a_copy_of_a_model_earns_no_seat_and_the_report_names_its_twin() -> None:
    ones, others = voting("o1"), voting("o2")
    table = Table({"m/a": ones, "m/b": others, "n/c": others, "*": ones})
    state = run_in_virtual_time(
        table.ask(
            "Should we ship it?",
            procedure="deliberation",
            options={"models": "m/a,m/a,m/b,n/c", "seats": 4},
        )
    )
    rows = earned(state)
    first, second, third, fourth = (p.name for p in state.participants)
    assert rows[first] == ("the outcome stays", second)
    assert rows[second] == ("the outcome stays", first)
    assert rows[third] == rows[fourth] == ("the outcome is another one", "nobody")


@pytest.mark.requirement("Z-16", "Z-24")
@pytest.mark.parametrize("procedure", ["deliberation", "council", "adaptive"])
def test_whose_vote_decided_is_what_the_same_table_comes_to_without_it(procedure: str) -> None:
    def held(*choices: str) -> State:
        voices = {f"{model}/{model}": voting(c) for model, c in zip("abc", choices, strict=True)}
        options = {"models": ",".join(voices), "host": "h/h"}
        table = Table({**voices, "h/h": voting("o1"), "*": voting("o1")})
        return run_in_virtual_time(
            table.ask("Should we ship it?", procedure=procedure, options=options)
        )

    state = held("o1", "o1", "any")
    rows = [row[0] for row in earned(state).values()]
    assert rows == ["the outcome is another one"] * 2 + ["the outcome stays"]
    told = result(state)["influence"]["participants"]
    assert [each["decisive"] for each in told.values()] == [True, True, False]
    # The counter-proof: whoever is decisive abstains, and nothing prevails.
    question = standing_of(held("abstain", "o1", "any")).question
    assert question is not None
    assert question.delivered is None
