"""Whatever seats declare in whatever round, and whatever may be spent: it comes to an end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from roundtable.core.errors import SpeakerError
from roundtable.core.record import record_of
from roundtable.core.standing import standing_of
from roundtable.core.state import State
from roundtable.core.values import Budget
from roundtable.ports import SpeakRequest
from roundtable.views.decision import Decision
from roundtable.views.delivery import Delivery
from tests.covering import every_pair
from tests.declaring import spoken, vote
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time

from .council_table import turn_of

MOST_CALLS = 60
"""More than any of these discussions may ever need; beyond it something goes round in circles."""

Act = Callable[[SpeakRequest], str | SpeakerError]


def _all(choice: str, **fields: Any) -> Act:
    def said(request: SpeakRequest) -> str:
        form = request.form
        votes = [vote(choice, on=d.id, before="silent") for d in form.decisions] if form else []
        who = turn_of(request).rpartition("/")[2]
        told = {"position": f"What {who} holds in {turn_of(request)[0]}.", **fields}
        return spoken(f"Words of {who}.", request, votes=votes, **told)

    return said


def _conditional(request: SpeakRequest) -> str:
    who = turn_of(request).rpartition("/")[2]
    demand = {"text": f"{who} gets a budget.", "kind": "demand", "otherwise": "oppose"}
    stances = [
        {"id": each.id, "stance": "disagree", "text": "No."}
        for each in (request.form.listed if request.form else ())
        if not each.own
    ]
    return spoken("Only if.", request, conditions=[demand], stances=stances)


def _changing(request: SpeakRequest) -> str:
    """Another option in every round, without a word why."""
    form = request.form
    number = int(turn_of(request)[0]) + ("ballot" in turn_of(request))
    votes = []
    for decision in form.decisions if form else ():
        known = decision.option_ids or ("own",)
        votes.append(vote(known[number % len(known)], on=decision.id, before="silent"))
    return spoken("I see it differently now.", request, votes=votes)


ACTS: dict[str, Act] = {
    "garbage": lambda _: "}{ asdf ```declaration\n{{{",
    "refusing": lambda _: "I'm sorry, but I can't help with that.",
    "undeclared": lambda request: f"Words of {turn_of(request)} and no block.",
    "own": _all("own"),
    "any": _all("any"),
    "abstaining": lambda request: spoken(
        "I pass.", request, votes=[], position="", new_points=[], abstain="I know nothing of it."
    ),
    "conditional": _conditional,
    "changing": _changing,
    "dead": lambda _: SpeakerError("auth", "The key was refused.", "Check the key."),
    "dutiful": dutiful,
}
STAGES = {
    "council": ("answer", "cross-examination"),
    "deliberation": ("answer", "critique"),
}
TOPICS = {"open": "Which database fits a small team?", "yes or no": "Should we rewrite billing?"}


def held(
    procedure: str, topic: str, first: Act, second: Act, host: Act = dutiful, **request: Any
) -> tuple[State, int]:
    def script(asked: SpeakRequest) -> str | SpeakerError:
        round_, stage, _ = turn_of(asked).split("/")
        calls.append(stage)
        assert len(calls) <= MOST_CALLS, f"it goes round in circles: {calls[-12:]}"
        if round_ == "0":
            return host(asked)
        return (first if stage in ("answer", "confirm") else second)(asked)

    calls: list[str] = []
    table = Table({"*": Voice(script)})
    state = run_in_virtual_time(table.ask(topic, procedure=procedure, **request))
    return state, len(calls)


def sound(state: State) -> None:
    assert state.closed is not None
    if state.verdict is None:
        assert state.status == "failed"
        assert state.closed.detail
        assert state.closed.remedy
        return
    assert state.verdict.answer.strip()
    first, given = Decision.of(state).answer.first, Delivery.of(state).answer
    assert first.startswith("No answer") is (given == ""), "all surfaces know whether there is one"
    standing = standing_of(state)
    assert (standing.end is not None) is state.verdict.meaningful
    question = standing.question
    if question is None or question.delivered is None:
        assert state.verdict.confidence is None


@pytest.mark.requirement("Z-22", "X-13")
@pytest.mark.parametrize(
    ("procedure", "topic", "one", "two"), every_pair(STAGES, TOPICS, ACTS, ACTS)
)
def test_every_seat_alike_in_each_round(procedure: str, topic: str, one: str, two: str) -> None:
    state, _ = held(procedure, TOPICS[topic], ACTS[one], ACTS[two])
    sound(state)
    if one in ("dead", "refusing"):
        assert (state.status, state.verdict) == ("failed", None)
    if one in ("garbage", "undeclared", "refusing") and two in ("garbage", "undeclared"):
        assert record_of(state).statements == ()


@pytest.mark.requirement("Z-09", "I-11")
@pytest.mark.parametrize(
    ("procedure", "act", "calls"),
    every_pair(STAGES, [name for name in ACTS if name not in ("dead", "refusing")], range(1, 16)),
)
def test_with_a_budget_of_every_size(procedure: str, act: str, calls: int) -> None:
    topic = list(TOPICS.values())[calls % len(TOPICS)]
    state, made = held(procedure, topic, ACTS[act], ACTS[act], budget=Budget(max_calls=calls))
    sound(state)
    assert made <= calls


@pytest.mark.requirement("X-14")
@pytest.mark.parametrize(
    ("procedure", "topic", "act", "host"),
    every_pair(
        STAGES,
        TOPICS,
        ["own", "any", "changing", "conditional", "dutiful"],
        ["garbage", "refusing", "undeclared", "dead"],
    ),
)
def test_with_a_host_who_cannot(procedure: str, topic: str, act: str, host: str) -> None:
    state, _ = held(procedure, TOPICS[topic], ACTS[act], ACTS[act], ACTS[host])
    sound(state)
    assert state.verdict is not None
    assert state.verdict.method == "extractive" or host == "undeclared"
