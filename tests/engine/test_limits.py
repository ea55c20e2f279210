"""Limits in a discussion: a run that fits comes to its end, no limit is passed, and whoever raises
one lets it go on from where it ended."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import pytest

from roundtable.core.budget import LIMITS
from roundtable.core.errors import NotAllowed, SpeakerError, used_up_in_thought
from roundtable.core.events import LimitsRaised
from roundtable.core.limits import FLAGS, Limits
from roundtable.core.state import State, fold
from roundtable.core.text import dollars
from roundtable.core.values import Budget, Material, ToCome, Usage
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.endings import to_raise
from roundtable.procedures.opening import LARGEST_LIMIT, OpenRequest
from roundtable.rehearsal.estimate import Estimate, over_budget
from roundtable.views.decision import Decision
from roundtable.views.notes import BEYOND_LIMIT, notes
from tests.covering import every_pair
from tests.rehearsal import Billed, Cast, Table, dutiful, run_in_virtual_time

NOW = datetime(2026, 1, 2, tzinfo=UTC)
PROCEDURES = ("deliberation", "council", "five-round", "adaptive", "meeting")


def held(table: Table, procedure: str, budget: Budget | None = None) -> State:
    asked = table.ask("Tea or coffee?", procedure=procedure, budget=budget or Budget())
    return run_in_virtual_time(asked)


@cache
def free_of_limits(procedure: str) -> State:
    """The same with nothing to keep to, for what it takes."""
    return held(billed(), procedure)


def billed(words: int = 200) -> Table:
    return Table({"*": Billed(words=words)})


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_limit_does_not_refuse_a_run_that_fits(procedure: str) -> None:
    free = free_of_limits(procedure)
    limit = free.usage.priced_usd * 1.2
    state = held(billed(), procedure, Budget(max_cost_usd=limit))
    assert state.exhausted is None
    assert (state.status, state.usage.calls) == (free.status, free.usage.calls)


def with_a_document(share: float | None = None, spent: float = 0.0) -> State:
    """A deliberation over a document that is most of what is read, with this share of `spent`."""
    words = " ".join(f"The machine of vendor {n} costs {n} a month." for n in range(4_000))
    asked = billed().ask(
        "Tea or coffee?",
        procedure="deliberation",
        options={"always_critique": True},
        context=(Material(source="big.md", text=words),),
        budget=Budget(max_cost_usd=share * spent if share else None),
    )
    return run_in_virtual_time(asked)


@pytest.mark.requirement("Z-35")
def test_a_run_that_reads_a_long_document_is_not_refused_with_a_third_of_the_money_left() -> None:
    free = with_a_document()
    state = with_a_document(1.04, free.usage.priced_usd)
    assert state.exhausted is None
    assert state.usage.calls == free.usage.calls


@pytest.mark.requirement("Z-35")
def test_what_all_answered_alone_is_delivered_where_a_limit_leaves_no_room_for_the_vote() -> None:
    free = with_a_document()
    state = with_a_document(0.65, free.usage.priced_usd)
    assert state.exhausted is not None
    assert "what comes next would take more than is left" in state.exhausted.detail
    assert {speech.round for speech in state.speeches} == {0, 1}
    found = Decision.of(state)
    assert found.kind == "uncounted"
    assert not found.answer.first.startswith("No answer")
    assert "budget" in [note.code for note in notes(state)]


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("share", [0.25, 0.6])
def test_a_limit_is_never_passed_however_much_models_say(procedure: str, share: float) -> None:
    usual = free_of_limits(procedure).usage.priced_usd
    state = held(billed(words=5_000), procedure, Budget(max_cost_usd=share * usual))
    assert state.usage.priced_usd <= share * usual
    assert state.exhausted is not None
    assert state.closed is not None
    assert state.closed.stop_reason == "budget"


class Heedless(Billed):
    """A voice of a server that does not heed what it is told: it is cut where nobody listens any
    longer, and counted by what came."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        text = (reply.text + " word" * 100_000)[: 4 * request.payable_tokens - 1]
        said = len(text) // 4 + 1
        cost = (reply.usage.input_tokens * 1.0 + said * 5.0) / 1_000_000
        usage = reply.usage.model_copy(update={"output_tokens": said, "priced_usd": cost})
        return Reply(text, usage, served_by=request.model, finish_reason="length")


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize(
    ("procedure", "share", "limit"),
    every_pair(PROCEDURES, [0.3, 0.6, 1.1, 3.0], ["max_cost_usd", "max_tokens"]),
)
def test_a_limit_is_not_passed_by_servers_that_do_not_heed_what_they_are_told(
    procedure: str, share: float, limit: str
) -> None:
    usual = free_of_limits(procedure).usage
    of = {"max_cost_usd": share * usual.priced_usd, "max_tokens": round(share * usual.tokens)}
    budget = Budget.model_validate({limit: of[limit]})
    spent = held(Table({"*": Heedless()}), procedure, budget).usage
    assert {"max_cost_usd": spent.priced_usd, "max_tokens": spent.tokens}[limit] <= of[limit]


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_an_answer_is_cut_no_sooner_under_a_limit_that_leaves_room(procedure: str) -> None:
    usual = free_of_limits(procedure).usage.priced_usd
    held(table := billed(), procedure, Budget(max_cost_usd=20 * usual))
    assert table.requests
    for each in table.requests:
        assert each.payable_tokens == replace(each, set_aside=None).payable_tokens


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_raised_limit_lets_it_go_on_from_where_it_ended(procedure: str) -> None:
    whole = free_of_limits(procedure)
    table = billed()
    limit = whole.usage.priced_usd * 0.6

    async def main() -> tuple[State, State, State]:
        opened = await table.service.open(
            OpenRequest("Tea or coffee?", procedure=procedure, budget=Budget(max_cost_usd=limit))
        )
        ended = await table.service.run(opened.discussion_id)
        before = fold(await table.ledger.read(opened.discussion_id))
        more = Limits.of(Budget(max_cost_usd=5), "--max-cost")
        await table.service.raise_limits(opened.discussion_id, more, by="the user")
        await table.service.run(opened.discussion_id)
        return ended, before, fold(await table.ledger.read(opened.discussion_id))

    ended, before, after = run_in_virtual_time(main())
    assert ended.closed is not None
    assert ended.closed.stop_reason == "budget"
    assert (after.status, after.exhausted) == ("concluded", None)
    assert after.verdict is not None
    assert not after.verdict.partial
    assert after.budget == Budget(max_cost_usd=5)
    in_rounds = [[s.turn_id for s in each.speeches if s.round > 0] for each in (after, whole)]
    assert sorted(in_rounds[0]) == sorted(in_rounds[1]), "every round is held in the end"
    kept = [speech for speech in before.speeches if speech.round > 0]
    assert all(speech in after.speeches for speech in kept), "what was said is not asked for again"
    assert after.usage.priced_usd >= before.usage.priced_usd
    turns = [speech.turn_id for speech in after.speeches]
    assert len(set(turns)) == len(turns)


@pytest.mark.requirement("Z-35")
def test_only_what_ended_for_want_of_budget_can_go_on_with_more() -> None:
    table = billed()
    state = held(table, "council")

    async def more(limits: Budget) -> None:
        await table.service.raise_limits(
            state.discussion_id, Limits.of(limits, "--max-cost"), by="the user"
        )

    with pytest.raises(NotAllowed, match="was not ended by a limit"):
        run_in_virtual_time(more(Budget(max_cost_usd=5)))
    stopped = held(table, "council", Budget(max_calls=4))

    async def wrong(limits: Budget) -> None:
        await table.service.raise_limits(
            stopped.discussion_id, Limits.of(limits, "--max-cost"), by="the user"
        )

    with pytest.raises(NotAllowed, match="calls limit ended it"):
        run_in_virtual_time(wrong(Budget(max_calls=4, max_cost_usd=9)))
    records = run_in_virtual_time(table.records(stopped))
    assert not any(isinstance(each.event, LimitsRaised) for each in records)


@pytest.mark.requirement("Z-35")
def test_the_limit_that_ends_a_run_is_named_with_its_origin() -> None:
    table = billed()

    async def main() -> State:
        origin = {"max_calls": "the project's roundtable.toml"}
        opened = await table.service.open(
            OpenRequest("Tea?", budget=Budget(max_calls=4), limits_from=origin)
        )
        return await table.service.run(opened.discussion_id)

    state = run_in_virtual_time(main())
    assert state.closed is not None
    assert "limited by the project's roundtable.toml" in state.closed.detail
    assert f"roundtable resume {state.discussion_id} --max-calls" in state.closed.remedy


@pytest.mark.requirement("Z-35")
def test_with_nothing_to_spend_free_models_hold_the_table_and_paid_ones_are_not_called() -> None:
    free = Cast(facts={"usd_per_million_in": 0.0, "usd_per_million_out": 0.0})
    state = held(Table(cast=free), "deliberation", Budget(max_cost_usd=0))
    assert state.status == "concluded"
    paid = billed()
    state = held(paid, "deliberation", Budget(max_cost_usd=0))
    assert paid.requests == []
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("failed", "budget")


@pytest.mark.requirement("Z-35")
def test_a_call_is_told_to_say_no_more_than_is_left_for_it() -> None:
    table = Table({"*": Billed(dutiful)})
    usual = held(billed(), "council").usage.priced_usd
    held(table, "council", Budget(max_cost_usd=usual * 0.7))
    plenty = held(loose := billed(), "council", Budget(max_cost_usd=100))
    assert plenty.exhausted is None
    tight, wide = (max(r.max_tokens for r in each.requests) for each in (table, loose))
    assert tight < wide


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("share", [0.05, 0.6])
def test_what_is_told_at_the_end_is_what_was_spent_by_then(procedure: str, share: float) -> None:
    limit = share * free_of_limits(procedure).usage.priced_usd
    state = held(billed(), procedure, Budget(max_cost_usd=limit))
    assert state.closed is not None
    assert state.closed.stop_reason == "budget"
    told = f"{dollars(state.usage.priced_usd)} of {dollars(limit)} spent or set aside"
    assert told in state.closed.detail
    assert any(told in note.text for note in notes(state))


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize(
    ("procedure", "limit", "share"),
    every_pair(PROCEDURES, ["max_cost_usd", "max_tokens", "max_calls"], [0.0, 0.05, 0.5]),
)
def test_the_remedy_for_a_spent_budget_can_be_typed_as_it_stands(
    procedure: str, limit: str, share: float
) -> None:
    free = free_of_limits(procedure).usage
    used = {"max_cost_usd": free.priced_usd, "max_tokens": free.tokens, "max_calls": free.calls}
    most = used[limit] * share if limit == "max_cost_usd" else round(used[limit] * share) or 1
    state = held(billed(), procedure, Budget.model_validate({limit: most}))
    assert state.closed is not None
    assert state.closed.stop_reason == "budget"
    command = f"roundtable resume {state.discussion_id} {FLAGS[limit]} "
    found = re.search(rf"{command}(?P<more>[\d.]+)$", state.closed.remedy)
    assert found is not None, state.closed.remedy
    assert float(found["more"]) > most


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("limit", ["max_cost_usd", "max_tokens", "max_calls"])
def test_no_limit_is_advised_that_would_be_refused(limit: str) -> None:
    state = held(billed(), "deliberation", Budget(max_calls=2))
    assert state.exhausted is not None
    assert "roundtable resume" in to_raise(state)
    much = LARGEST_LIMIT + 1
    rest = ToCome(calls=much, tokens=much, cost_usd=much, seconds=1.0)
    name = {field: word for word, field in LIMITS.items()}[limit]
    state.exhausted = state.exhausted.model_copy(update={"limit": name, "to_come": rest})
    assert "No limit that can be set is enough" in to_raise(state)
    assert "--max-" not in to_raise(state)


class Pensive(Billed):
    """Thinks until its tokens are used up, and is billed for that."""

    def __init__(self, *, tells: bool) -> None:
        super().__init__()
        self.tells = tells
        self.read = self.said = 0

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        read, said = reply.usage.input_tokens, min(800, request.max_tokens)
        cost = (read * 1.0 + said * 5.0) / 1_000_000
        self.read, self.said = self.read + read, self.said + said
        used = Usage(calls=1, input_tokens=read, output_tokens=said, priced_usd=cost)
        if self.tells:
            return replace(reply, text="", usage=used, finish_reason="length")
        raise SpeakerError("empty", "It used up its tokens.", used_up=True, usage=used)


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("limit", [Budget(max_cost_usd=0.02), Budget(max_tokens=12_000)])
def test_what_was_thought_and_not_said_is_counted_and_one_sum_is_told(
    procedure: str, tells: bool, limit: Budget
) -> None:
    voice = Pensive(tells=tells)
    state = held(Table({"*": voice}), procedure, limit)
    assert (state.usage.input_tokens, state.usage.output_tokens) == (voice.read, voice.said)
    cost = (voice.read * 1.0 + voice.said * 5.0) / 1_000_000
    assert state.cost_usd == pytest.approx(cost)
    spent = state.spending(state.updated_at or NOW)
    assert spent.tokens == state.usage.tokens
    assert spent.cost_usd == pytest.approx(cost)
    if state.exhausted is not None and limit.max_tokens:
        assert f"{state.usage.tokens:,} of 12,000" in (state.closed.detail if state.closed else "")


class Thinker(Billed):
    """Thinks for so many tokens before its first word, and is billed for them."""

    def __init__(self, thoughts: int, *, tells: bool = False) -> None:
        """`tells`: its server says that it used up its tokens instead of sending nothing."""
        super().__init__()
        self.thoughts, self.tells = thoughts, tells

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        read = reply.usage.input_tokens
        said = min(self.thoughts + reply.usage.output_tokens, request.max_tokens)
        cost = (read * 1.0 + said * 5.0) / 1_000_000
        usage = Usage(calls=1, input_tokens=read, output_tokens=said, priced_usd=cost)
        if request.max_tokens > self.thoughts:
            return replace(reply, usage=usage)
        if self.tells:
            raise used_up_in_thought("The server", usage)
        return replace(reply, text="", usage=usage, finish_reason="length")


def allowances(voice: Thinker) -> dict[str, list[int]]:
    """The tokens that each turn was allowed, call by call."""
    found: dict[str, list[int]] = {}
    for each in voice.requests:
        turn = each.idempotency_key.split("/", 1)[1].rpartition("/")[0]
        found.setdefault(turn, []).append(each.max_tokens)
    return found


def raised_as_named(at: Table, procedure: str) -> list[State]:
    """A discussion with far too low a limit, and again as often as it names a higher one and that
    is set: how it ended each time."""

    async def main() -> list[State]:
        opened = await at.service.open(
            OpenRequest("Tea or coffee?", procedure, budget=Budget(max_cost_usd=0.02))
        )
        ended = [await at.service.run(opened.discussion_id)]
        while (closed := ended[-1].closed) and "--max-cost" in closed.remedy and len(ended) < 4:
            found = re.search(r"--max-cost (?P<more>[\d.]+)$", closed.remedy)
            assert found is not None, closed.remedy
            more = Limits.of(Budget(max_cost_usd=float(found["more"])), "--max-cost")
            await at.service.raise_limits(opened.discussion_id, more, by="the user")
            ended.append(await at.service.run(opened.discussion_id))
        return ended

    return run_in_virtual_time(main())


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize(("procedure", "tells"), every_pair(PROCEDURES, [True, False]))
def test_whom_a_limit_cuts_while_it_thinks_is_heard_with_the_limit_that_is_named(
    procedure: str, tells: bool
) -> None:
    # Within what every task of it allows, a declaration alone among them.
    thoughts = 1_400 if procedure == "deliberation" else 1_900
    voice = Thinker(thoughts, tells=tells)
    ended, *raised = raised_as_named(Table({"*": voice}), procedure)
    assert ended.closed is not None
    assert ended.closed.stop_reason == "budget"
    assert any("thought, before the first word" in each.text for each in notes(ended))
    assert {each.cause for each in ended.failures} == {"budget"}
    assert ended.usage.priced_usd <= 0.02
    assert len(raised) == 1, f"{[each.closed for each in raised]}"
    assert raised[-1].status == "concluded"
    assert raised[-1].verdict is not None
    assert raised[-1].verdict.method == "written"
    for turn, allowed in allowances(voice).items():
        again = allowed[1:] if allowed[0] <= thoughts else []
        assert all(each > thoughts for each in again), f"{turn}: {allowed}"


@pytest.mark.requirement("Z-35")
def test_who_thinks_past_what_its_task_allows_fails_itself_and_is_told_what_gives_it_room() -> None:
    state = held(Table({"*": Thinker(50_000)}), "deliberation", Budget())
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("failed", "too_few_answers")
    assert {each.cause for each in state.failures} == {"empty"}
    assert "--effort medium or high" in state.closed.remedy


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("procedure", ["adaptive", "council", "deliberation", "five-round"])
def test_no_limit_that_is_named_buys_thoughts_again_that_all_of_a_task_could_not_end(
    procedure: str,
) -> None:
    voice = Thinker(50_000)
    ended = raised_as_named(Table({"*": voice}), procedure)
    last = ended[-1].closed
    # Where other models can take over, each of them may be cut once, too.
    assert len(ended) <= (3 if procedure == "adaptive" else 2), [each.closed for each in ended]
    assert last is not None
    assert "--effort medium or high" in last.remedy
    assert "--max-" not in last.remedy
    asked: dict[str, list[int]] = {}
    for each in voice.requests:
        turn = each.idempotency_key.rpartition("/")[0]
        asked.setdefault(f"{turn} {each.model}", []).append(each.max_tokens)
    for whom, allowed in asked.items():
        assert all(each < 0.9 * max(allowed) for each in allowed[:-1]), f"{whom}: {allowed}"


@pytest.mark.requirement("Z-35")
def test_whoever_was_charged_beyond_a_limit_is_told_so_and_why() -> None:
    class Thoughtful(Billed):
        """Its provider counts thoughts that are no part of the answer."""

        async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
            reply = await super().speak(request, on_words)
            usage = reply.usage.model_copy(update={"output_tokens": 9_000, "priced_usd": 0.045})
            return replace(reply, usage=usage)

    state = held(Table({"*": Thoughtful()}), "deliberation", Budget(max_cost_usd=0.02))
    assert state.closed is not None
    assert state.usage.priced_usd > 0.02
    assert "because a provider counted more than it had been asked for" in state.closed.detail


class Surcharged(Billed):
    """Bills thoughts that nobody asked for and nobody sees beside each answer of these turns."""

    def __init__(self, unasked: int, *stages: str) -> None:
        super().__init__(words=200)
        self.unasked, self.stages = unasked, stages

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        if self.stages and request.idempotency_key.split("/")[2] not in self.stages:
            return reply
        more = {
            "output_tokens": reply.usage.output_tokens + self.unasked,
            "priced_usd": reply.usage.priced_usd + self.unasked * 5 / 1_000_000,
        }
        return replace(reply, usage=reply.usage.model_copy(update=more))


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_what_is_billed_unasked_is_set_aside_for_the_rest_and_the_amount_named_holds_it(
    procedure: str,
) -> None:
    at = Table({"*": Surcharged(9_000)})

    async def main() -> tuple[State, float, State]:
        budget = Budget(max_cost_usd=0.03)
        opened = await at.service.open(OpenRequest("Tea or coffee?", procedure, budget=budget))
        ended = await at.service.run(opened.discussion_id)
        assert ended.closed is not None
        found = re.search(r"--max-cost (?P<more>[\d.]+)$", ended.closed.remedy)
        assert found is not None, ended.closed.remedy
        more = float(found["more"])
        limits = Limits.of(Budget(max_cost_usd=more), "--max-cost")
        await at.service.raise_limits(opened.discussion_id, limits, by="the user")
        return ended, more, await at.service.run(opened.discussion_id)

    ended, more, raised = run_in_virtual_time(main())
    assert ended.usage.priced_usd > 0.03, "nobody could know before the first was billed"
    assert (raised.status, raised.exhausted) == ("concluded", None)
    assert raised.usage.priced_usd <= more
    assert BEYOND_LIMIT not in [each.code for each in notes(raised)]


@pytest.mark.requirement("Z-35")
def test_a_discussion_that_concludes_beyond_its_limit_says_so_once() -> None:
    free = held(Table({"*": Surcharged(0)}), "deliberation", Budget()).usage.priced_usd
    limit = 1.6 * free
    host = Table({"*": Surcharged(9_000, "synthesis")})
    state = held(host, "deliberation", Budget(max_cost_usd=limit))
    assert (state.status, state.exhausted) == ("concluded", None)
    assert state.usage.priced_usd > limit
    [told] = [each.text for each in notes(state) if each.code == BEYOND_LIMIT]
    assert f"of {dollars(limit)} spent" in told
    assert "because a provider counted more than it had been asked for" in told


@pytest.mark.requirement("Z-35")
def test_an_unknown_price_is_told_to_be_over_the_limit_only_where_the_dearest_would_be() -> None:
    unknown = Cast(facts={"usd_per_million_in": None, "usd_per_million_out": None})

    async def told(limit: float) -> tuple[Estimate, list[str]]:
        at = Table(cast=unknown)
        request = OpenRequest("Tea or coffee?", budget=Budget(max_cost_usd=limit))
        state = await at.service.open(request)
        found = await at.service.estimate(state)
        return found, over_budget(found, state.budget)

    found, over = run_in_virtual_time(told(100.0))
    assert over == []
    most = found.dearest_usd
    assert most is not None
    assert run_in_virtual_time(told(most))[1] == []
    [line] = run_in_virtual_time(told(0.9 * most))[1]
    assert f"up to {dollars(most)}, {dollars(0.9 * most)} allowed" in line
