"""The estimate, held against what it took in the report."""

from __future__ import annotations

import pytest

from roundtable.core.state import State
from roundtable.core.text import about
from roundtable.core.values import Budget
from roundtable.procedures.opening import OpenRequest
from roundtable.views.report_md import markdown_report
from tests.rehearsal import Billed, Cast, Table, Voice, run_in_virtual_time


def held(*, estimated: bool, cast: Cast | None = None, budget: Budget | None = None) -> State:
    async def main() -> State:
        voice: Voice = Billed(words=100)
        table = Table({"*": voice}, cast=cast)
        request = OpenRequest("Tea or coffee?", procedure="council", budget=budget or Budget())
        opened = await table.service.open(request)
        if estimated:
            await table.service.tell_estimate(opened)
        await table.service.run(opened.discussion_id)
        return await table.service.read(opened.discussion_id)

    return run_in_virtual_time(main())


@pytest.mark.requirement("Z-35")
def test_the_report_holds_the_estimate_against_what_it_took() -> None:
    state = held(estimated=True)
    assert state.expected is not None
    report = markdown_report(state, "")
    grid = report.partition("Estimated and actual")[2]
    told = state.expected
    assert told.fewest_calls == told.most_calls
    calls = f"{told.most_calls} without repeats"
    tokens = f"{about(told.least_tokens)}–{about(told.most_tokens)}"
    assert f"| Calls | {calls} | {state.usage.calls} |" in grid, "as it was told at the start"
    assert f"| Tokens | {tokens} | {state.usage.tokens:,} |" in grid
    assert "| Cost | $" in grid
    assert "Estimated and actual" not in markdown_report(held(estimated=False), "")


@pytest.mark.requirement("Z-35")
def test_an_unknown_price_is_unknown_in_the_report_too() -> None:
    unknown = Cast(facts={"usd_per_million_in": None, "usd_per_million_out": None})
    state = held(estimated=True, cast=unknown)
    assert state.expected is not None
    assert state.expected.cost_usd is None
    assert "| Cost | unknown |" in markdown_report(state, "").partition("Estimated and actual")[2]
