"""What earlier discussions tell about the next: how long answers are, who has to be asked again,
how a provider counts, and how far a procedure usually goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from roundtable.core.errors import LedgerError
from roundtable.core.state import State
from roundtable.core.values import Budget
from roundtable.engine.learned import LOOKED_AT, Learned
from roundtable.ledger.memory import MemoryLedger
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.rehearsal.estimate import Estimate
from roundtable.rehearsal.lengths import COUNTED, NOTHING_HEARD, UNCOUNTED, USUAL, Lengths
from tests.procedures.five_round_table import compliant
from tests.rehearsal import Billed, Script, Table, dutiful, run_in_virtual_time

TEMPLATE = "deliberation/answer"
MODEL = "test/captain"


async def told(
    table: Table, topic: str = "Tea or coffee?", procedure: str = "deliberation"
) -> Estimate:
    opened = await table.service.open(OpenRequest(topic, procedure=procedure))
    return await table.service.estimate(opened)


@pytest.mark.requirement("Z-35")
def test_who_was_heard_to_say_much_is_expected_to_say_much() -> None:
    async def main(words: int) -> tuple[Estimate, Estimate]:
        table = Table({"*": Billed(words=words)})
        before = await told(table)
        await table.ask("Which of three offices?", procedure="deliberation")
        return before, await told(table)

    guess, chatty = run_in_virtual_time(main(3_000))
    same, terse = run_in_virtual_time(main(0))
    assert guess == same, "nothing was known of either"
    assert chatty.likely.tokens > 1.5 * guess.likely.tokens
    assert terse.likely.tokens < guess.likely.tokens


@pytest.mark.requirement("Z-35")
def test_a_provider_that_has_told_how_it_counts_makes_the_range_narrower() -> None:
    async def main() -> Lengths:
        table = Table({"*": Billed(words=200)})
        state = await table.ask("Tea or coffee?", procedure="deliberation")
        assert state.status == "concluded"
        return await Learned(table.ledger).lengths()

    known = run_in_virtual_time(main())
    assert 0.9 < known.counted(MODEL) < 1.1, "it counts as we do"
    assert (known.counting(MODEL), known.counting("test/other")) == (COUNTED, UNCOUNTED)
    assert known.said(MODEL, TEMPLATE) != USUAL[TEMPLATE]


class Liar(Billed):
    """Counted so many times as it is, in and out."""

    factor = 1

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        told = {
            "input_tokens": reply.usage.input_tokens * self.factor,
            "output_tokens": reply.usage.output_tokens * self.factor,
            "priced_usd": reply.usage.priced_usd * self.factor,
        }
        return replace(reply, usage=reply.usage.model_copy(update=told))


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("factor", [50, 10**18])
def test_a_count_that_no_such_words_can_have_is_billed_and_teaches_nothing(factor: int) -> None:
    async def main(factor: int) -> tuple[State, Estimate, Lengths, State]:
        liar = Liar(words=200)
        liar.factor = factor
        table = Table({"*": liar})
        first = await table.ask("Which of three offices?", procedure="deliberation")
        liar.factor = 1
        expected, known = await told(table), await Learned(table.ledger).lengths()
        budget = Budget(max_cost_usd=0.05)
        second = await table.ask("Tea or coffee?", procedure="deliberation", budget=budget)
        return first, expected, known, second

    honest, guess, learned, after_honest = run_in_virtual_time(main(1))
    lying, same, known, after = run_in_virtual_time(main(factor))
    assert lying.usage.tokens == factor * honest.usage.tokens
    # A short answer may have so many tokens of thoughts as the smaller factor makes of it.
    assert 1.0 <= known.said(MODEL, TEMPLATE) / learned.said(MODEL, TEMPLATE) < 1.5
    assert (known.counted(MODEL), known.counting(MODEL)) == (1.0, UNCOUNTED)
    assert 0.9 < same.likely.tokens / guess.likely.tokens < 1.5
    assert after.exhausted is after_honest.exhausted is None
    assert after.usage.calls == after_honest.usage.calls


@pytest.mark.requirement("Z-35")
def test_what_still_runs_and_what_is_long_past_teaches_nothing() -> None:
    async def main() -> tuple[Lengths, Lengths]:
        table = Table({"*": Billed()})
        await table.service.open(OpenRequest("It has not begun.", procedure="deliberation"))
        nothing = await Learned(table.ledger).lengths()
        for number in range(LOOKED_AT + 3):
            await table.ask(f"Case {number}?", procedure="council", options={"quick": True})
        return nothing, await Learned(table.ledger).lengths()

    nothing, learned = run_in_virtual_time(main())
    assert nothing == NOTHING_HEARD
    assert len(learned.went["council"]) == LOOKED_AT


@pytest.mark.requirement("Z-35")
def test_only_what_came_to_its_end_by_itself_tells_how_far_one_goes() -> None:
    async def main() -> tuple[State, Lengths]:
        table = Table({"*": Billed(words=200)})
        state = await table.ask(procedure="council", budget=Budget(max_calls=5))
        return state, await Learned(table.ledger).lengths()

    state, learned = run_in_virtual_time(main())
    assert state.exhausted is not None
    assert state.usage.calls > 0
    assert learned.heard, "what was said in it counts"
    assert "council" not in learned.went or state.status == "concluded"


@pytest.mark.requirement("Z-35")
def test_a_ledger_that_cannot_be_read_tells_nothing_and_hinders_nobody() -> None:
    class Away(MemoryLedger):
        async def summaries(self, *_: Any, **__: Any) -> Any:
            raise LedgerError("The database is away.")

    async def main() -> Lengths:
        return await Learned(Away()).lengths()

    assert run_in_virtual_time(main()) == NOTHING_HEARD


@pytest.mark.requirement("Z-35")
def test_a_discussion_is_read_once_until_something_new_is_in_it() -> None:
    class Counting(MemoryLedger):
        reads = 0

        async def read(self, *given: Any, **more: Any) -> Any:
            Counting.reads += 1
            return await super().read(*given, **more)

    async def main() -> tuple[int, int]:
        ledger = Counting()
        table = Table({"*": Billed()}, ledger=ledger)
        await table.ask(procedure="council", options={"quick": True})
        learned = Learned(ledger)
        await learned.lengths()
        once = Counting.reads
        await learned.lengths()
        return once, Counting.reads

    once, twice = run_in_virtual_time(main())
    assert once == twice


def held_twice(script: Script, words: int) -> tuple[Estimate, State, Estimate, State]:
    """Two discussions in five rounds, each with its estimate before it."""

    async def main() -> tuple[Estimate, State, Estimate, State]:
        table = Table({"*": Billed(script, words=words)})
        guess = await told(table, procedure="five-round")
        first = await table.ask("Tea or coffee?", procedure="five-round")
        known = await told(table, procedure="five-round")
        return guess, first, known, await table.ask("Tea or coffee?", procedure="five-round")

    return run_in_virtual_time(main())


@pytest.mark.requirement("Z-35")
def test_a_model_that_misses_every_length_is_within_the_range_and_known_after_one_run() -> None:
    guess, first, known, second = held_twice(dutiful, 200)
    assert first.usage.calls > 2 * guess.calls, "its answers are asked for again and again"
    for estimate, state in ((guess, first), (known, second)):
        assert estimate.cost_usd is not None
        least, most = estimate.cost_usd
        assert least <= state.usage.priced_usd <= most
        assert state.usage.calls <= estimate.most.calls + 1
    assert known.likely.cost_usd is not None
    assert 0.8 < known.likely.calls / second.usage.calls < 1.2
    assert 0.67 < known.likely.cost_usd / second.usage.priced_usd < 1.5


@pytest.mark.requirement("Z-35")
def test_a_model_that_keeps_to_the_lengths_makes_the_range_narrower() -> None:
    guess, first, known, _ = held_twice(compliant, 0)
    assert first.usage.calls <= guess.calls + 1, "hardly anything is asked for again"
    assert guess.cost_usd is not None
    assert known.cost_usd is not None
    assert known.cost_usd[1] / known.cost_usd[0] < 0.7 * guess.cost_usd[1] / guess.cost_usd[0]


@pytest.mark.requirement("Z-35")
def test_what_a_limit_cut_does_not_teach_how_much_is_said() -> None:
    async def main(most: float | None) -> tuple[list[str], Lengths]:
        table = Table({"*": Billed(words=900)})
        budget = Budget(max_cost_usd=most)
        state = await table.ask("Tea or coffee?", procedure="deliberation", budget=budget)
        ends = [
            attempt.finished.finish_reason
            for turn in state.called_turns
            for attempt in turn.attempts
            if attempt.finished and attempt.started.prompt.template == TEMPLATE
        ]
        return ends, await Learned(table.ledger).lengths()

    whole, free = run_in_virtual_time(main(None))
    cut, limited = run_in_virtual_time(main(0.012))
    assert (set(whole), set(cut)) == ({"stop"}, {"length"})
    assert free.said(MODEL, TEMPLATE) > USUAL[TEMPLATE]
    assert limited.said(MODEL, TEMPLATE) >= USUAL[TEMPLATE]
