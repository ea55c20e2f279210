"""What a raised limit brings: nothing that was paid is lost or paid again, and what the remedy
names is enough."""

from __future__ import annotations

import asyncio
import re

import pytest

from roundtable.bundle import check_bundle, make_bundle
from roundtable.core.declaration import LIMITED
from roundtable.core.declaration_block import split_blocks
from roundtable.core.errors import SpeakerError
from roundtable.core.limits import FLAGS, Limits
from roundtable.core.state import State
from roundtable.core.values import Budget
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.views.notes import notes
from tests.covering import every_pair
from tests.declaring import by_prompt
from tests.rehearsal import Billed, Cast, Table, dutiful, run_in_virtual_time

from .test_affordable import PROCEDURES, WRITING, held, table

NONCE = re.compile(r"n0nce\d+")


def asked(request: SpeakRequest) -> str:
    """Who was asked for what, whatever the nonce."""
    turn = request.idempotency_key.split("/", 1)[1].rpartition("/")[0]
    return f"{turn} {NONCE.sub('', request.system + request.user)}"


async def raised(at: Table, discussion_id: str, **limits: float) -> State:
    more = Limits.of(Budget.model_validate(limits), "the user")
    await at.service.raise_limits(discussion_id, more, by="the user")
    return await at.service.run(discussion_id)


def found_sound(at: Table, state: State) -> None:
    """Whoever replays it comes to the same."""
    checked = check_bundle(make_bundle(run_in_virtual_time(at.records(state))))
    assert [each for each in checked.findings if each.level == "wrong"] == []


# --- what was written stands --------------------------------------------------------------------


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("share", [0.5, 0.7])
def test_a_limit_that_is_raised_bit_by_bit_loses_no_verdict_and_pays_none_twice(
    procedure: str, share: float
) -> None:
    whole = held(procedure).usage.priced_usd
    at = table(procedure)

    async def main() -> State:
        limit = share * whole
        budget = Budget(max_cost_usd=limit)
        opened = await at.service.open(OpenRequest("Tea or coffee?", procedure, budget=budget))
        before = await at.service.run(opened.discussion_id)
        assert before.verdict is not None
        assert before.verdict.method == "written"
        for more in (1.001, 1.02, 1.05, 1.1, 1.2, 1.3):
            calls = len(at.requests)
            state = await raised(at, opened.discussion_id, max_cost_usd=more * limit)
            assert state.verdict is not None
            assert state.verdict.method == "written", f"lost at {more}"
            said = [[s.turn_id for s in each.said.in_rounds] for each in (before, state)]
            new = [r.idempotency_key.split("/")[2] for r in at.requests[calls:]]
            if said[0] == said[1]:
                assert not [each for each in new if each in WRITING], f"again at {more}"
                assert state.verdict.answer == before.verdict.answer
            if state.status == "concluded":
                break
            assert state.closed is not None
            assert "roundtable resume" in state.closed.remedy
            before = state
        return state

    state = run_in_virtual_time(main())
    prompts = [asked(each) for each in at.requests]
    assert len(set(prompts)) == len(prompts), "nothing is asked twice that was answered"
    found_sound(at, state)


def voices(slow: dict[str, float], failing: set[str]) -> Billed:
    """Somebody who takes this long in a stage, or is not to be reached in it."""

    def said(request: SpeakRequest) -> str | SpeakerError | float:
        stage = request.idempotency_key.split("/")[2]
        if stage in failing:
            return SpeakerError("refused", "It does not answer.", "Ask another one.")
        return slow[stage] if stage in slow else dutiful(request)

    return Billed(said)


@pytest.mark.requirement("Z-35")
def test_a_verdict_stands_where_more_was_said_and_no_other_could_be_written() -> None:
    failing: set[str] = set()
    at = Table({"*": voices({}, failing)})

    async def main() -> tuple[State, State, State]:
        budget = Budget(max_calls=2)
        opened = await at.service.open(OpenRequest("Tea or coffee?", "deliberation", budget=budget))
        before = await at.service.run(opened.discussion_id)
        failing.add("synthesis")
        after = await raised(at, opened.discussion_id, max_calls=5)
        failing.clear()
        return before, after, await raised(at, opened.discussion_id, max_calls=40)

    before, after, whole = run_in_virtual_time(main())
    assert before.verdict is not None
    assert after.verdict is not None
    assert before.verdict.method == after.verdict.method == "written"
    assert after.verdict.answer == before.verdict.answer
    assert len(after.said.in_rounds) > len(before.said.in_rounds)
    [note] = [each for each in notes(after) if each.code.startswith("stands/")]
    assert "It was given before" in note.text
    assert (whole.status, whole.exhausted) == ("concluded", None)
    assert whole.verdict is not None
    writing = [r for r in at.requests if r.idempotency_key.split("/")[2] == "synthesis"]
    assert len(writing) == 3, "once for each time that there was more to write of"
    found_sound(at, whole)


@pytest.mark.requirement("Z-35")
def test_a_verdict_stands_where_more_time_is_not_enough_for_anything_new() -> None:
    slow: dict[str, float] = {}
    calls = 0
    at = Table({"*": voices(slow, set())})

    async def main() -> tuple[State, State]:
        nonlocal calls
        options = {"choices": ["Tea", "Coffee"], "always_critique": True}
        budget = Budget(max_calls=4)
        request = OpenRequest("Tea or coffee?", "deliberation", options=options, budget=budget)
        opened = await at.service.open(request)
        before = await at.service.run(opened.discussion_id)
        slow["critique"] = 30.0
        await raised(at, opened.discussion_id, max_calls=40, max_seconds=6)
        calls = len(at.requests)
        return before, await raised(at, opened.discussion_id, max_calls=40, max_seconds=7)

    before, after = run_in_virtual_time(main())
    assert before.verdict is not None
    assert after.verdict is not None
    assert after.exhausted is not None
    assert after.exhausted.limit == "time"
    assert len(at.requests) == calls, "who was cut is not asked with less time than it had"
    assert (after.verdict.method, after.verdict.answer) == ("written", before.verdict.answer)
    writing = [r for r in at.requests if r.idempotency_key.split("/")[2] == "synthesis"]
    assert len(writing) == 1
    found_sound(at, after)


# --- what the remedy names is enough ------------------------------------------------------------


def advised(state: State) -> dict[str, float]:
    """The limits of the command with which a remedy ends."""
    assert state.closed is not None
    command = rf"roundtable resume {state.discussion_id}(?P<flags>( --max-[a-z]+ [\d.]+)+)$"
    found = re.search(command, state.closed.remedy)
    assert found is not None, state.closed.remedy
    names = {flag: name for name, flag in FLAGS.items()}
    told = re.findall(r"(--max-[a-z]+) ([\d.]+)", found["flags"])
    kinds = Budget.model_fields
    return {
        names[flag]: float(n) if "." in n else int(n) for flag, n in told if names[flag] in kinds
    }


async def pasted(at: Table, state: State) -> State:
    """Gone on with what the remedy says, where what it does not name stays as it was."""
    limits = {**state.budget.model_dump(exclude_none=True), **advised(state)}
    return await raised(at, state.discussion_id, **limits)


TWO: dict[str, Budget] = {
    "cost and calls": Budget(max_cost_usd=0.01, max_calls=3),
    "tokens and calls": Budget(max_tokens=4000, max_calls=3),
    "cost and tokens": Budget(max_cost_usd=0.01, max_tokens=4000),
    "time and calls": Budget(max_seconds=1.5, max_calls=3),
    "all": Budget(max_cost_usd=0.01, max_tokens=4000, max_calls=3, max_seconds=1.5),
}


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("budget", TWO.values(), ids=TWO)
def test_the_remedy_names_every_limit_that_the_rest_does_not_fit_into(
    procedure: str, budget: Budget
) -> None:
    at = table(procedure)

    async def main() -> tuple[State, State]:
        state = await at.ask(procedure=procedure, budget=budget)
        return state, await pasted(at, state)

    before, after = run_in_virtual_time(main())
    assert (after.status, after.exhausted) == ("concluded", None)
    assert set(advised(before)) == set(budget.model_dump(exclude_none=True))


@pytest.mark.requirement("Z-35")
def test_the_remedy_does_not_name_a_limit_that_is_high_enough() -> None:
    at = table("council")
    budget = Budget(max_cost_usd=0.01, max_calls=100, max_tokens=1_000_000)
    state = run_in_virtual_time(at.ask(procedure="council", budget=budget))
    assert list(advised(state)) == ["max_cost_usd"]


@pytest.mark.requirement("Z-35")
def test_the_command_of_a_remedy_stands_at_its_end_whatever_else_helps() -> None:
    unknown = Cast(facts={"usd_per_million_in": None, "usd_per_million_out": None})
    at = Table({"*": Billed(words=200)}, cast=unknown)

    async def main() -> State:
        request = OpenRequest(
            "Tea or coffee?",
            budget=Budget(max_cost_usd=0.01),
            limits_from={"max_cost_usd": "ROUNDTABLE_MAX_COST"},
        )
        opened = await at.service.open(request)
        return await at.service.run(opened.discussion_id)

    state = run_in_virtual_time(main())
    assert list(advised(state)) == ["max_cost_usd"]
    assert state.closed is not None
    assert "unknown, so the highest known price was assumed" in state.closed.remedy
    assert (
        "First raise ROUNDTABLE_MAX_COST, if it still holds. Then raise the limit: "
        in state.closed.remedy
    )


class LastDissents(Billed):
    """Of those who answer, whoever is asked last is for another option than all others."""

    def __init__(self, seats: int, choices: tuple[str, str]) -> None:
        super().__init__(self._said, words=250)
        self.seats, self.choices = seats, choices
        self.heard: list[str] = []

    def _said(self, request: SpeakRequest) -> str:
        _, round_, _, seat, _ = request.idempotency_key.split("/")
        if round_ == "0":
            return dutiful(request)
        if seat not in self.heard:
            self.heard.append(seat)
        last = self.heard.index(seat) == self.seats - 1
        words, _ = split_blocks(dutiful(request))
        choice = self.choices[1] if last else self.choices[0]
        return by_prompt(words, request.user, choice=choice)


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize(
    ("procedure", "limit", "choices"),
    every_pair(
        ["deliberation", "council", "adaptive"],
        ["max_cost_usd", "max_tokens", "max_calls"],
        [("o1", "o2"), ("o2", "o1")],
    ),
)
def test_what_the_remedy_names_is_enough_though_whoever_was_not_asked_may_disagree(
    procedure: str, limit: str, choices: tuple[str, str]
) -> None:
    options = {"choices": ["Tea", "Coffee"]}

    async def free() -> State:
        at = Table({"*": LastDissents(3, choices)})
        return await at.ask(procedure=procedure, options=options)

    whole = run_in_virtual_time(free())
    used = whole.usage
    of = {"max_cost_usd": used.priced_usd, "max_tokens": used.tokens, "max_calls": used.calls}
    two_heard = 0
    for share in (0.2, 0.3, 0.4, 0.5):
        most = of[limit] * share if limit == "max_cost_usd" else round(of[limit] * share)
        at = Table({"*": LastDissents(3, choices)})

        async def main(at: Table = at, most: float = most) -> tuple[State, State]:
            budget = Budget.model_validate({limit: most})
            state = await at.ask(procedure=procedure, options=options, budget=budget)
            return state, await pasted(at, state)

        before, after = run_in_virtual_time(main())
        heard = {speech.participant for speech in before.said.in_rounds}
        two_heard += len(heard) == 2
        assert (after.status, after.exhausted) == ("concluded", None), f"too low at {share}"
    assert two_heard


class OneIsWordy(Billed):
    """One seat says far more than the others."""

    def __init__(self, seat: str) -> None:
        super().__init__(words=100)
        self.seat = seat

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        self.words = 900 if f"/{self.seat}/" in request.idempotency_key else 100
        return await super().speak(request, on_words)


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", ["deliberation", "council", "adaptive"])
@pytest.mark.parametrize("share", [0.6, 0.8])
def test_what_the_remedy_names_is_enough_to_hear_those_out_whom_the_limit_cut(
    procedure: str, share: float
) -> None:
    seat = held(procedure).participants[-1].id
    free = run_in_virtual_time(Table({"*": OneIsWordy(seat)}).ask(procedure=procedure))
    at = Table({"*": OneIsWordy(seat)})

    async def main() -> tuple[State, State]:
        budget = Budget(max_cost_usd=share * free.usage.priced_usd)
        state = await at.ask(procedure=procedure, budget=budget)
        return state, await pasted(at, state)

    before, after = run_in_virtual_time(main())
    assert after.exhausted is None
    assert before.updated_at is not None
    spoken = zip(after.speeches, after.spoken_at, strict=True)
    later = [speech for speech, at in spoken if at > before.updated_at]
    assert later
    assert not [each.turn_id for each in later if LIMITED in each.flags]


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_the_amount_that_the_remedy_names_is_enough_where_answers_are_longer_than_before(
    procedure: str,
) -> None:
    voice = Billed(words=100)
    at = Table({"*": voice})

    async def main() -> tuple[State, State]:
        for _ in range(5):
            await at.ask(procedure=procedure)
        voice.words = 600
        state = await at.ask(procedure=procedure, budget=Budget(max_cost_usd=0.006))
        return state, await pasted(at, state)

    before, after = run_in_virtual_time(main())
    assert before.exhausted is not None
    assert (after.status, after.exhausted) == ("concluded", None)
    assert advised(before)["max_cost_usd"] < 4 * after.usage.priced_usd, "in proportion"


class Paced(Billed):
    """Takes so many seconds for each call."""

    def __init__(self, seconds: float) -> None:
        super().__init__(words=250)
        self.seconds = seconds

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        await asyncio.sleep(self.seconds - 1)
        return await super().speak(request, on_words)


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("limit", [8, 15, 25, 35])
def test_the_time_that_the_remedy_names_is_enough_where_all_is_slower_than_before(
    procedure: str, limit: float
) -> None:
    voice = Paced(1.2)
    at = Table({"*": voice})

    async def main() -> tuple[State, State]:
        for _ in range(2):
            await at.ask(procedure=procedure)
        voice.seconds = 12.0
        state = await at.ask(procedure=procedure, budget=Budget(max_seconds=limit))
        return state, await pasted(at, state)

    before, after = run_in_virtual_time(main())
    assert before.exhausted is not None
    assert before.exhausted.limit == "time"
    assert (after.status, after.exhausted) == ("concluded", None)
    assert advised(before)["max_seconds"] < 60 * limit, "in proportion"


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize(
    ("limit", "amount", "allowed"),
    [("max_cost_usd", 0.021, "$0.021"), ("max_calls", 4, "4 calls"), ("max_tokens", 7000, "7,000")],
)
def test_a_step_that_was_left_out_says_why_and_that_the_limit_is_another_one_now(
    limit: str, amount: float, allowed: str
) -> None:
    at = table("council")

    def said(state: State) -> str:
        [found] = [each.text for each in notes(state) if each.code == "briefing_failed"]
        return found

    async def main() -> tuple[str, str]:
        budget = Budget.model_validate({limit: amount})
        opened = await at.service.open(OpenRequest("Tea or coffee?", "council", budget=budget))
        before = await at.service.run(opened.discussion_id)
        return said(before), said(await raised(at, opened.discussion_id, **{limit: amount * 50}))

    before, after = run_in_virtual_time(main())
    why = before.partition("standing task: ")[2]
    assert re.fullmatch(
        rf"All that the limit allowed \({re.escape(allowed)}.*\) was needed for the answers and "
        r"the verdict\.",
        why,
    ), before
    assert after == f"{before} The limit has been raised since."
