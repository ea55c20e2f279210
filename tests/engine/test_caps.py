"""Whoever lets a discussion go on does so within the caps in force now, whatever it was opened
with."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from roundtable.bundle import check_bundle, make_bundle
from roundtable.core.errors import NotAllowed
from roundtable.core.events import (
    AttemptFinished,
    AttemptStarted,
    BudgetExhausted,
    LimitsRaised,
    StoredEvent,
)
from roundtable.core.limits import NO_LIMITS, Limits
from roundtable.core.state import State, fold
from roundtable.core.values import Budget
from roundtable.engine.caps import limits_of
from roundtable.procedures.opening import OpenRequest
from tests.rehearsal import Billed, Table, run_in_virtual_time

NOTHING = Limits.of(Budget(max_cost_usd=0), "ROUNDTABLE_MAX_COST")


def beside(there: Table, caps: Limits = NO_LIMITS) -> Table:
    """Another process at the same ledger, with caps of its own."""
    return Table(there.voices, ledger=there.ledger, caps=caps)


async def interrupted(there: Table, after: type = AttemptFinished, **request: Any) -> State:
    """A discussion whose process ended as soon as such an event was stored."""
    opened = await there.service.open(OpenRequest("Tea or coffee?", search=False, **request))
    return await ended_after(there, opened.discussion_id, after)


async def ended_after(there: Table, id_: str, after: type) -> State:
    """What a process left that ended as soon as such an event was stored."""
    reached = asyncio.Event()

    def look(record: StoredEvent, _: State) -> None:
        if isinstance(record.event, after):
            reached.set()

    driving = asyncio.create_task(there.service.run(id_, on_event=look))
    await reached.wait()
    driving.cancel()
    await asyncio.gather(driving, return_exceptions=True)
    return await there.service.read(id_)


def raised(records: Any) -> list[LimitsRaised]:
    return [each.event for each in records if isinstance(each.event, LimitsRaised)]


def found_sound(there: Table, state: State) -> None:
    records = run_in_virtual_time(there.records(state))
    assert fold(records) == state
    checked = check_bundle(make_bundle(records))
    assert [each for each in checked.findings if each.level == "wrong"] == []


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("budget", [Budget(), Budget(max_cost_usd=5.0)])
def test_what_was_interrupted_goes_on_within_the_cap_of_now(budget: Budget) -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        before = await interrupted(there, budget=budget)
        calls = len(there.requests)
        state = await beside(there, NOTHING).service.run(before.discussion_id)
        return calls, state, await there.records(state)

    calls, state, records = run_in_virtual_time(main())
    assert len(there.requests) == calls, "nothing more is asked"
    assert state.closed is not None
    assert state.closed.stop_reason == "budget"
    assert "limited by ROUNDTABLE_MAX_COST" in state.closed.detail
    assert "First raise ROUNDTABLE_MAX_COST, if it still holds." in state.closed.remedy
    (event,) = raised(records)
    assert (event.budget.max_cost_usd, event.by) == (0, "ROUNDTABLE_MAX_COST")
    found_sound(there, state)


@pytest.mark.requirement("Z-35")
def test_the_last_stage_is_not_asked_again_where_the_cap_of_now_is_spent() -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        before = await there.ask(search=False)
        capped = beside(there, NOTHING).service
        with pytest.raises(NotAllowed, match="limited by ROUNDTABLE_MAX_COST") as refused:
            await capped.ask_again(before.discussion_id, "synthesis", by="me")
        return before, refused.value, await there.service.read(before.discussion_id)

    before, refused, state = run_in_virtual_time(main())
    assert "before that limit was set" in str(refused)
    assert refused.remedy == "First raise ROUNDTABLE_MAX_COST."
    assert (state.seq, state.verdict, state.closed) == (before.seq, before.verdict, before.closed)


@pytest.mark.requirement("Z-35")
def test_that_a_lost_call_counts_as_all_that_was_set_aside_for_it_is_told() -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        before = await interrupted(there, after=AttemptStarted)
        return await beside(there, NOTHING).service.run(before.discussion_id)

    state = run_in_virtual_time(main())
    assert state.closed is not None
    assert (
        "with caution: a lost call counts as all that was set aside for it) before that limit was "
        "set, limited by ROUNDTABLE_MAX_COST" in state.closed.detail
    ), state.closed.detail


@pytest.mark.requirement("Z-35")
def test_a_cap_that_is_gone_is_not_what_is_to_be_raised() -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        before = await interrupted(there)
        id_ = before.discussion_id
        ended = await beside(there, NOTHING).service.run(id_)
        remedies = []
        for table in (beside(there, NOTHING), there):
            with pytest.raises(NotAllowed) as refused:
                await table.service.raise_limits(id_, limits_of(ended), by="me")
            remedies.append(refused.value.remedy)
        return ended, remedies

    ended, (capped, free) = run_in_virtual_time(main())
    assert ended.exhausted is not None
    higher = "ive a higher max_cost (--max-cost on the command line)."
    assert capped == f"First raise ROUNDTABLE_MAX_COST. Then g{higher}"
    assert free == f"G{higher}"


@pytest.mark.requirement("Z-35")
def test_under_a_cap_that_does_not_pay_for_it_the_last_stage_stands_as_it_was() -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        before = await there.ask(search=False)
        calls = len(there.requests)
        cap = Budget(max_cost_usd=1.01 * before.usage.priced_usd)
        capped = beside(there, Limits.of(cap, "ROUNDTABLE_MAX_COST")).service
        await capped.ask_again(before.discussion_id, "synthesis", by="me")
        return before, calls, await capped.run(before.discussion_id)

    before, calls, state = run_in_virtual_time(main())
    assert len(there.requests) == calls
    assert (state.verdict, state.closed) == (before.verdict, before.closed)
    assert state.kept_by is not None
    assert state.kept_by.origin == "ROUNDTABLE_MAX_COST"
    found_sound(there, state)


@pytest.mark.requirement("Z-35")
def test_without_the_cap_it_goes_on_once_somebody_gives_it_more() -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        before = await interrupted(there)
        ended = await beside(there, NOTHING).service.run(before.discussion_id)
        assert ended.exhausted is not None
        more = Limits.of(Budget(max_cost_usd=50.0), "--max-cost")
        await there.service.raise_limits(before.discussion_id, more, by="me")
        return await there.service.run(before.discussion_id)

    state = run_in_virtual_time(main())
    assert (state.status, state.exhausted) == ("concluded", None)
    assert state.verdict is not None
    found_sound(there, state)


@pytest.mark.requirement("Z-35")
def test_a_cap_that_is_not_lower_is_not_recorded_and_one_that_is_only_once() -> None:
    there = Table({"*": Billed()})
    high = Limits.of(Budget(max_cost_usd=50.0), "[caps] in config.toml")

    async def main() -> Any:
        limited = await interrupted(there, budget=Budget(max_cost_usd=5.0))
        await beside(there, high).service.run(limited.discussion_id)
        free = await interrupted(there)
        for _ in range(2):
            await ended_after(beside(there, high), free.discussion_id, AttemptStarted)
        ended = await there.service.run(free.discussion_id)
        return ended, await there.records(limited), await there.records(free)

    ended, of_limited, of_free = run_in_virtual_time(main())
    assert raised(of_limited) == []
    assert [each.budget.max_cost_usd for each in raised(of_free)] == [50.0]
    assert (ended.status, ended.exhausted) == ("concluded", None)
    found_sound(there, ended)


@pytest.mark.requirement("Z-35")
def test_a_lower_cap_while_it_comes_to_its_end_lets_it_end_and_undoes_nothing() -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        ending = await interrupted(there, BudgetExhausted, budget=Budget(max_calls=4))
        assert ending.closed is None
        calls = len(there.requests)
        return ending, calls, await beside(there, NOTHING).service.run(ending.discussion_id)

    ending, calls, state = run_in_virtual_time(main())
    assert len(there.requests) == calls
    assert state.exhausted == ending.exhausted
    assert state.closed is not None
    assert state.closed.stop_reason == "budget"
    assert len(state.said.in_rounds) == len(ending.said.in_rounds)
    found_sound(there, state)


@pytest.mark.requirement("Z-35")
def test_an_open_discussion_takes_a_first_limit_and_a_lower_one() -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        before = await interrupted(there)
        id_, calls = before.discussion_id, len(there.requests)
        for dollars in (5.0, 5.0, 0.0):
            limit = Limits.of(Budget(max_cost_usd=dollars), "--max-cost")
            await there.service.raise_limits(id_, limit, by="me")
        state = await there.service.run(id_)
        return calls, state, await there.records(state)

    calls, state, records = run_in_virtual_time(main())
    assert len(there.requests) == calls
    assert [each.budget.max_cost_usd for each in raised(records)] == [5.0, 0.0]
    assert "limited by --max-cost" in state.closed.detail
    found_sound(there, state)
