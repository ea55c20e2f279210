"""The report says whose vote mattered, and who is a copy of whom."""

from __future__ import annotations

import pytest

from roundtable.ports import SpeakRequest
from roundtable.views.report_parts import Grid
from roundtable.views.report_positions import positions
from tests.declaring import declared
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time


def voting(choice: str) -> Voice:
    def script(request: SpeakRequest) -> str:
        if request.form is None or "delivers" in request.form.keys:
            return dutiful(request)
        words = dutiful(request).split("```")[0]
        return f"{words}{declared(request.form, request.user, choice=choice)}"

    return Voice(script)


@pytest.mark.requirement("Z-16")
def test_a_copy_of_a_model_earns_no_seat_and_the_report_names_its_twin() -> None:
    table = Table({"m/a": voting("o1"), "m/b": voting("o2"), "*": voting("o1")})
    state = run_in_virtual_time(
        table.ask(
            "Should we ship it?",
            procedure="deliberation",
            options={"models": "m/a,m/a,m/b", "seats": 3},
        )
    )
    grids = [part for part in positions(state) if isinstance(part, Grid)]
    [grid] = [part for part in grids if part.caption == "Who earned the seat"]
    rows = {row[0]: row[1:] for row in grid.rows}
    first, second, third = (p.name for p in state.participants)
    assert rows[first] == ("the outcome stays", second)
    assert rows[second] == ("the outcome stays", first)
    assert rows[third] == ("the outcome is another one", "nobody")
