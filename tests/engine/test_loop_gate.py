"""The gate: discussions compute one after the other, and begin when there is room for them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from roundtable.engine.loop_gate import LATE, LONGEST_REFUSAL, TOLD_AFTER, LoopGate
from roundtable.engine.outage import Notice
from roundtable.procedures.opening import OpenRequest
from tests.rehearsal import Table, run_in_virtual_time


def compute(seconds: float) -> None:
    """Let the loop stand still for so long."""
    asyncio.get_running_loop().elapsed += seconds  # type: ignore[attr-defined]


class Crowd:
    """What came through a gate, in order."""

    def __init__(self, gate: LoopGate | None = None) -> None:
        self.gate = gate or LoopGate()
        self.order: list[str] = []
        self.told: list[tuple[str, int]] = []
        self.tasks: list[asyncio.Task[None]] = []

    def step(self, name: str, seconds: float = 0.0) -> asyncio.Task[None]:
        async def step() -> None:
            await self.gate.step()
            self.order.append(name)
            compute(seconds)

        return self._start(step())

    def begin(self, name: str) -> asyncio.Task[None]:
        async def begin() -> None:
            await self.gate.begin(name, lambda before: self.told.append((name, before)))
            self.order.append(name)

        return self._start(begin())

    def tick(self, passes: int) -> None:
        """Note each of the next passes of the loop."""

        async def tick() -> None:
            for _ in range(passes):
                self.order.append("·")
                await asyncio.sleep(0)

        self._start(tick())

    async def over(self) -> list[str]:
        await asyncio.gather(*self.tasks, return_exceptions=True)
        return self.order

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        self.tasks.append(asyncio.create_task(work))
        return self.tasks[-1]


def test_whoever_is_alone_does_not_even_wait_for_the_next_pass_of_the_loop() -> None:
    async def main() -> None:
        passed: list[int] = []
        asyncio.get_running_loop().call_soon(passed.append, 1)
        await LoopGate().step()
        assert passed == []

    run_in_virtual_time(main())


def test_each_computes_in_a_pass_of_its_own_in_the_order_of_asking() -> None:
    async def main() -> list[str]:
        crowd = Crowd()
        for name in "abcd":
            crowd.step(name)
        crowd.tick(8)
        return await crowd.over()

    order = "".join(run_in_virtual_time(main()))
    assert order.replace("·", "") == "abcd"
    assert all(f"{one}{two}" not in order for one, two in ("ab", "bc", "cd"))


def test_those_who_have_begun_go_before_those_who_begin() -> None:
    async def main() -> list[str]:
        crowd = Crowd()
        crowd.step("first")  # takes this pass
        for name in ("new 1", "new 2"):
            crowd.begin(name)
        for name in ("a", "b", "c"):
            crowd.step(name)
        return await crowd.over()

    assert run_in_virtual_time(main()) == ["first", "a", "b", "c", "new 1", "new 2"]


def test_nobody_begins_while_the_loop_is_late_but_one_a_second_does() -> None:
    async def main() -> tuple[list[str], list[str]]:
        crowd = Crowd()
        busy = True

        async def others() -> None:
            """Work that does not ask the gate: words that stream in."""
            while busy:
                compute(4 * LATE)
                await asyncio.sleep(0)

        working = asyncio.create_task(others())
        await crowd.gate.begin("before")
        for name in ("a", "b", "c"):
            crowd.begin(name)
        await asyncio.sleep(1.5 * LONGEST_REFUSAL)
        while_late = list(crowd.order)
        busy = False
        await working
        return while_late, await crowd.over()

    while_late, in_the_end = run_in_virtual_time(main())
    assert while_late == ["a"]
    assert in_the_end == ["a", "b", "c"]


def test_whoever_no_longer_wants_to_begin_is_nobody_elses_concern() -> None:
    async def main() -> list[str]:
        crowd = Crowd()
        crowd.step("first")
        gone = [crowd.begin("gone"), crowd.step("gone too")]
        crowd.begin("a")
        crowd.step("b")
        await asyncio.sleep(0)
        for each in gone:
            each.cancel()
        order = await crowd.over()
        assert crowd.gate.outside == frozenset()
        await crowd.gate.step()  # and the gate is as good as new
        return order

    assert run_in_virtual_time(main()) == ["first", "b", "a"]


def test_whoever_waits_for_long_is_told_once_how_many_are_before_it() -> None:
    async def main() -> Crowd:
        crowd = Crowd()
        for number in range(100):
            crowd.step(str(number), 2 * TOLD_AFTER / 100)
        crowd.begin("a")
        crowd.begin("b")
        await asyncio.sleep(0)
        assert crowd.gate.outside == {"a", "b"}
        await crowd.over()
        return crowd

    crowd = run_in_virtual_time(main())
    assert crowd.told == [("a", 0), ("b", 1)]


def test_a_gate_serves_one_event_loop_after_the_other() -> None:
    gate = LoopGate()

    async def left_behind() -> None:
        crowd = Crowd(gate)
        for name in "abc":
            crowd.begin(name)
        await asyncio.sleep(0)
        for task in crowd.tasks:
            task.cancel()

    async def main() -> list[str]:
        crowd = Crowd(gate)
        crowd.begin("a")
        crowd.step("b")
        return await crowd.over()

    run_in_virtual_time(left_behind())
    assert sorted(run_in_virtual_time(main())) == ["a", "b"]


def test_a_discussion_that_waits_to_begin_says_so_and_is_not_interrupted() -> None:
    async def main() -> list[Notice]:
        table = Table()
        gate = table.service._tools.loop_gate
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        id_ = state.discussion_id
        notices: list[Notice] = []
        full = True

        async def full_house() -> None:
            while full:
                await gate.step()
                compute(LATE)

        crowd = [asyncio.create_task(full_house()) for _ in range(3)]
        await asyncio.sleep(0)
        await gate.begin("the one that began a moment ago")
        running = asyncio.create_task(table.service.run(id_, on_notice=notices.append))
        await asyncio.sleep(0)
        assert await table.service.is_driven(id_)
        assert not (await table.service.summaries())[0].interrupted
        assert await table.ledger.driver(id_) is None  # it holds no lease that it would not use
        state = await running
        full = False
        await asyncio.gather(*crowd)
        assert state.status == "concluded"
        return notices

    waiting, begins = run_in_virtual_time(main())
    assert (waiting.waiting, waiting.away) == (True, False)
    assert waiting.text == (
        "Waiting for its turn: as many are under way as this machine can carry."
    )
    assert (begins.waiting, begins.text) == (False, "It begins.")
