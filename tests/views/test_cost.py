"""What a discussion cost: exactly what was told, what only we counted, and what nobody knows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roundtable.core.events import Event
from roundtable.core.state import State, fold
from roundtable.core.values import Budget, Reservation, Usage
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.views.cost import Cost, in_words
from roundtable.views.report_md import markdown_report
from roundtable.views.result import result
from tests.core.samples import failed, finished, opened, recorded, started
from tests.rehearsal import Billed, Table, Voice, run_in_virtual_time

pytestmark = pytest.mark.requirement("Z-09")

TWO = "1/answer/critic"
HELD = Reservation(input_tokens=100, output_tokens=400, cost_usd=0.5, answer_usd=0.4)
COUNTED = Usage(
    input_tokens=90, output_tokens=60, unpriced_calls=1, counted_usd=0.15, counted_calls=1
)


def told(*events: Event) -> Cost:
    return Cost.of(fold(recorded(opened(), started(), finished(), *events)))


def second(*events: Event, reserved: Reservation = HELD) -> Cost:
    """A call of which the cost was told, $0.10, and another."""
    return told(started(TWO, reserved=reserved), *events)


def test_what_was_told_of_every_call_is_exact() -> None:
    cost = second(finished(TWO))
    assert (cost.known, cost.usd) == ("exact", 0.2)
    assert (in_words(cost), cost.tokens) == ("$0.20", "300 tokens")


def test_what_only_we_counted_of_a_call_is_told_as_about_so_much() -> None:
    cost = second(finished(TWO, usage=COUNTED))
    assert (cost.known, cost.usd) == ("about", None)
    assert in_words(cost) == "about $0.25 (1 call by word count)"
    assert in_words(cost, why=False, places=4) == "about $0.2500"
    assert cost.tokens == "about 300 tokens"
    assert cost.document == {
        "known_cost_usd": pytest.approx(0.25),
        "counted_cost_usd": 0.15,
        "calls_of_unknown_cost": 1,
    }


@pytest.mark.parametrize("ended", [(), (failed("lost", TWO),), (failed("timeout", TWO),)])
def test_of_a_call_that_was_not_heard_to_its_end_its_prompt_is_known(
    ended: tuple[Event, ...],
) -> None:
    cost = second(*ended)
    assert (cost.known, cost.usd) == ("at_least", None)
    assert cost.input_tokens == 91
    assert cost.counted_usd == pytest.approx(0.1 / 100)
    assert in_words(cost) == "at least $0.10 (1 call of unknown cost)"


def test_what_is_under_way_makes_nothing_unknown_that_was_spent_so_far() -> None:
    state = fold(recorded(opened(), started(), finished(), started(TWO, reserved=HELD)))
    assert Cost.so_far(state).known == "exact"
    assert Cost.of(state).known == "at_least"


def test_a_call_without_a_price_is_of_unknown_cost_whatever_was_counted() -> None:
    unpriced = Usage(input_tokens=90, output_tokens=60, unpriced_calls=1, counted_calls=1)
    cost = second(finished(TWO, usage=unpriced), reserved=HELD.model_copy(update={"priced": False}))
    assert in_words(cost) == "at least $0.10 (1 call of unknown cost)"
    alone = Cost.of(fold(recorded(opened(), started(), finished(usage=unpriced))))
    assert (alone.known, in_words(alone)) == ("unknown", "unknown")


def test_a_call_that_reached_nobody_or_was_refused_costs_nothing() -> None:
    assert in_words(second(failed("auth", TWO))) == "$0.10"


def test_calls_add_up_to_the_whole() -> None:
    events: list[Event] = [opened(), started(), finished()]
    events += [started(TWO, reserved=HELD), finished(TWO, usage=COUNTED)]
    state = fold(recorded(*events, started("2/answer/critic", reserved=HELD)))
    each = [Cost.of_attempt(state, a) for turn in state.called_turns for a in turn.attempts]
    assert sum(each, Cost()) == Cost.of(state)


class Uncounted(Billed):
    """Its server reports no usage: its words are counted."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        used = reply.usage
        own = used.model_copy(
            update={
                "priced_usd": 0.0,
                "unpriced_calls": 1,
                "counted_usd": used.priced_usd,
                "counted_calls": 1,
            }
        )
        return replace(reply, usage=own)


def held(budget: Budget, voice: Voice) -> State:
    async def main() -> State:
        table = Table({"*": voice})
        request = OpenRequest("Tea or coffee?", procedure="council", budget=budget)
        begun = await table.service.open(request)
        return await table.service.run(begun.discussion_id)

    return run_in_virtual_time(main())


@pytest.mark.requirement("Z-35")
def test_every_document_says_the_same_of_what_was_only_counted() -> None:
    state = held(Budget(), Uncounted())
    usage, cost = result(state)["usage"], Cost.of(state)
    assert usage["cost_usd"] is None
    assert usage["calls_of_unknown_cost"] == usage["calls"]
    assert usage["known_cost_usd"] == usage["counted_cost_usd"] == round(cost.known_usd, 8) > 0
    report = markdown_report(state, "")
    assert f"Cost: {in_words(cost, places=4)}" in report
    assert "unknown" not in report


@pytest.mark.requirement("Z-35")
def test_a_limit_that_our_own_count_passed_is_not_laid_at_a_providers_door() -> None:
    class Flooding(Uncounted):
        async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
            reply = await super().speak(request, on_words)
            more = {"output_tokens": 9_000, "counted_usd": 0.045}
            return replace(reply, usage=reply.usage.model_copy(update=more))

    state = held(Budget(max_cost_usd=0.02), Flooding())
    assert state.closed is not None
    assert state.updated_at is not None
    assert "because more came, or was counted, than had been asked for" in state.closed.detail
    assert "a provider counted" not in state.closed.detail
    spent = state.spending(state.updated_at).cost_usd
    assert spent >= Cost.of(state).known_usd, "no less is kept than the words come to"
