"""How much of what was expected it has taken: while it runs, and held against it in the report."""

from __future__ import annotations

from datetime import timedelta

import pytest

from roundtable.core.state import State
from roundtable.core.text import about, dollars
from roundtable.core.values import Budget
from roundtable.procedures.opening import OpenRequest
from roundtable.views.report_md import markdown_report
from roundtable.views.so_far import SoFar, so_far
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


def spent(cost: float | None, of: float | None) -> SoFar:
    return SoFar(calls=1, of_calls=9, cost_usd=cost, of_cost_usd=of, seconds=1, of_seconds=9)


@pytest.mark.requirement("Z-35")
def test_what_was_spent_is_told_as_a_part_of_what_was_expected() -> None:
    state = held(estimated=True)
    assert state.updated_at is not None
    assert state.expected is not None
    found = so_far(state, state.updated_at)
    assert (found.calls, found.of_calls) == (state.usage.calls, state.expected.calls)
    assert found.of_cost_usd == state.expected.cost_usd
    assert found.of_seconds == state.expected.seconds
    later = so_far(state, state.updated_at + timedelta(hours=1))
    assert later.seconds == found.seconds, "only active time counts"


@pytest.mark.requirement("Z-35")
def test_what_nobody_estimated_is_told_alone() -> None:
    state = held(estimated=False)
    assert state.updated_at is not None
    found = so_far(state, state.updated_at)
    assert (found.of_calls, found.of_cost_usd, found.of_seconds) == (None, None, None)
    assert found.cost_told == dollars(state.usage.priced_usd)


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize(
    ("cost", "of", "told"),
    [
        (0.04, 0.18, "$0.04 of about $0.18"),
        (0.20, 0.18, "$0.20"),
        (0.04, None, "$0.04"),
        (0.0, 0.0, "$0.00"),
        (None, 0.18, ""),
    ],
)
def test_cost_is_told_as_far_as_it_is_known(
    cost: float | None, of: float | None, told: str
) -> None:
    assert spent(cost, of).cost_told == told


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
