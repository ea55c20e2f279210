"""The last stage asked again: alone, the earlier word kept in the ledger, the newest counts."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from roundtable.core.errors import NotAllowed, SpeakerError
from roundtable.core.events import DiscussionClosed, SpeechGiven, StageReopened
from roundtable.core.limits import Limits
from roundtable.core.state import fold
from roundtable.core.values import Budget
from roundtable.procedures.opening import OpenRequest
from tests.rehearsal import Billed, Table, Voice, dutiful, run_in_virtual_time

SYNTHESIS = "0/synthesis/captain"


class Numbered(Voice):
    """Says how often it was asked for its last word."""

    def __init__(self) -> None:
        super().__init__(self._say)
        self.times = 0

    def _say(self, request: Any) -> str:
        if "/synthesis/" in request.idempotency_key:
            self.times += 1
            return dutiful(request).replace("by test/captain", f"no. {self.times} by test/captain")
        return dutiful(request)


def table() -> Table:
    return Table({"*": Numbered()})


def test_only_the_last_stage_is_asked_and_its_newest_word_counts() -> None:
    there = table()

    async def main() -> Any:
        before = await there.ask(search=False)
        calls = len(there.requests)
        opened = await there.service.ask_again(before.discussion_id, "synthesis", by="me")
        assert (opened.status, opened.verdict, opened.closed) == ("running", None, None)
        after = await there.service.run(before.discussion_id)
        return before, calls, after, await there.records(after)

    before, calls, after, records = run_in_virtual_time(main())
    assert len(there.requests) == calls + 1
    assert there.requests[-1].idempotency_key == f"{after.discussion_id}/{SYNTHESIS}/2"
    assert after.status == "concluded"
    assert after.verdict != before.verdict
    spoken = [r.event.text for r in records if isinstance(r.event, SpeechGiven)
              and r.event.turn_id == SYNTHESIS]  # fmt: skip
    assert len(spoken) == 2, "the earlier word stays in the ledger"
    assert [s.text for s in after.speeches if s.turn_id == SYNTHESIS] == spoken[1:]
    assert after.usage.calls == before.usage.calls + 1
    assert fold(records) == after


def test_it_can_be_asked_more_than_once_and_followed_to_its_newest_end() -> None:
    there = table()

    async def main() -> Any:
        state = await there.ask(search=False)
        for _ in range(2):
            await there.service.ask_again(state.discussion_id, "synthesis", by="me")
            state = await there.service.run(state.discussion_id)
        async with aclosing(there.service.events(state.discussion_id)) as events:
            return state, [record.event async for record in events]

    state, events = run_in_virtual_time(main())
    assert sum(isinstance(event, DiscussionClosed) for event in events) == 3
    assert sum(isinstance(event, StageReopened) for event in events) == 2
    assert isinstance(events[-1], DiscussionClosed)
    assert state.turns[SYNTHESIS].again == 2


def test_a_crash_in_the_middle_of_it_repeats_nothing_that_was_answered() -> None:
    there = table()

    async def main() -> Any:
        state = await there.ask(search=False)
        await there.service.ask_again(state.discussion_id, "synthesis", by="me")
        driving = asyncio.create_task(there.service.run(state.discussion_id))
        await asyncio.sleep(0.5)
        driving.cancel()
        await asyncio.gather(driving, return_exceptions=True)
        return await there.service.run(state.discussion_id)

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    assert [a.failed.cause if a.failed else "" for a in state.turns[SYNTHESIS].attempts] == [
        "", "cancelled", "",
    ]  # fmt: skip


def test_a_discussion_that_failed_can_ask_its_only_stage_again() -> None:
    silent = Voice(
        lambda request: None if "/answer/" in request.idempotency_key else dutiful(request)
    )
    there = Table({"*": silent})

    async def main() -> Any:
        failed = await there.ask(search=False)
        silent.script = dutiful
        await there.service.ask_again(failed.discussion_id, "answer", by="me")
        return failed, await there.service.run(failed.discussion_id)

    failed, state = run_in_virtual_time(main())
    assert failed.status == "failed"
    assert state.status == "concluded"
    assert len(state.spoken_in("answer", 1)) == 3
    assert state.failures == []


def test_it_is_refused_while_it_runs_for_another_stage_and_for_none() -> None:
    there = table()

    async def refused(id_: str, stage: str) -> str:
        with pytest.raises(NotAllowed) as caught:
            await there.service.ask_again(id_, stage, by="me")
        return str(caught.value)

    async def main() -> Any:
        open_ = await there.service.open(OpenRequest("Tea?", search=False))
        running = await refused(open_.discussion_id, "synthesis")
        state = await there.service.run(open_.discussion_id)
        id_ = state.discussion_id
        earlier, unknown = await refused(id_, "answer"), await refused(id_, "coda")
        await there.service.ask_again(id_, "synthesis", by="me")
        twice = await refused(id_, "synthesis")
        return running, earlier, unknown, twice

    running, earlier, unknown, twice = run_in_virtual_time(main())
    assert "is not over yet: its stages are still being asked" in running
    assert "answer is not its last stage" in earlier
    assert "--again synthesis" in earlier
    assert "coda is not a stage of it" in unknown
    assert "is not over yet" in twice


class Lost(Voice):
    """A host whose provider is gone once the last word was written."""

    def __init__(self) -> None:
        super().__init__(self._say)
        self.written = False

    def _say(self, request: Any) -> Any:
        if "/synthesis/" not in request.idempotency_key:
            return dutiful(request)
        if self.written:
            return SpeakerError("auth", "The key was refused.", "Check the key.")
        self.written = True
        return dutiful(request)


@pytest.mark.requirement("Z-09", "I-11")
def test_where_nothing_comes_of_it_what_was_said_before_stands() -> None:
    there = Table({"*": Lost()})

    async def main() -> Any:
        before = await there.ask(search=False)
        await there.service.ask_again(before.discussion_id, "synthesis", by="me")
        return before, await there.service.run(before.discussion_id)

    before, after = run_in_virtual_time(main())
    assert before.verdict is not None
    assert before.verdict.method == "written"
    assert after.verdict == before.verdict
    (note,) = [each for each in after.notes if each.code == f"stands/{SYNTHESIS}"]
    assert "The key was refused." in note.text


@pytest.mark.requirement("Z-09", "Z-35")
def test_a_limit_that_does_not_allow_it_loses_no_verdict_and_a_higher_one_comes_with_it() -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        free = await there.ask(search=False)
        budget = Budget(max_cost_usd=1.06 * free.usage.priced_usd)
        opened = await there.service.open(OpenRequest("Tea?", search=False, budget=budget))
        id_ = opened.discussion_id
        before = await there.service.run(id_)
        same = Limits.of(budget, "--max-cost")
        await there.service.ask_again(id_, "synthesis", by="me", limits=same)
        refused = await there.service.run(id_)
        more = Limits.of(Budget(max_cost_usd=5.0), "--max-cost")
        await there.service.ask_again(id_, "synthesis", by="me", limits=more)
        return before, refused, await there.service.run(id_)

    before, refused, after = run_in_virtual_time(main())
    assert before.verdict is not None
    assert refused.verdict is not None
    assert refused.kept_by is not None
    assert (refused.verdict, refused.closed) == (before.verdict, before.closed)
    assert (refused.status, refused.exhausted) == ("concluded", None)
    assert any(each.code == f"stands/{SYNTHESIS}" for each in refused.notes)
    assert (after.status, after.exhausted, after.usage.calls) == (
        "concluded", None, refused.usage.calls + 1
    )  # fmt: skip


@pytest.mark.requirement("Z-09", "Z-35")
def test_what_had_no_limit_can_be_asked_again_within_one() -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        before = await there.ask(search=False)
        id_ = before.discussion_id
        limit = Limits.of(Budget(max_cost_usd=3 * before.usage.priced_usd), "--max-cost")
        await there.service.ask_again(id_, "synthesis", by="me", limits=limit)
        return before, await there.service.run(id_)

    before, after = run_in_virtual_time(main())
    assert after.usage.calls == before.usage.calls + 1
    assert (after.status, after.exhausted, after.kept_by) == ("concluded", None, None)


@pytest.mark.requirement("Z-09", "Z-35")
@pytest.mark.parametrize(
    ("budget", "told"),
    [
        (Budget(max_cost_usd=0.0), "of $0.00 spent or set aside before that limit was set"),
        (Budget(max_calls=1), "of 1 calls made"),
        (Budget(max_tokens=1), "of 1 tokens spent or set aside before that limit was set"),
    ],
)
def test_under_a_limit_that_is_spent_already_it_is_not_asked_again_and_nothing_is_recorded(
    budget: Budget, told: str
) -> None:
    there = Table({"*": Billed()})

    async def main() -> Any:
        before = await there.ask(search=False)
        id_ = before.discussion_id
        limits = Limits.of(budget, "--max-cost")
        with pytest.raises(NotAllowed) as refused:
            await there.service.ask_again(id_, "synthesis", by="me", limits=limits)
        return before, refused.value, await there.service.read(id_)

    before, refused, after = run_in_virtual_time(main())
    assert told in str(refused)
    assert "limited by --max-cost" in str(refused)
    assert "Give a higher" in refused.remedy
    assert (after.seq, after.status, after.verdict) == (before.seq, "concluded", before.verdict)
