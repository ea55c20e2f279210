"""What a limit can afford: the same question in every procedure, with limits from a tenth of what
it costs to more than that. Whoever speaks says as much as is usual at its place, and is billed for
it; nobody knows that before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from roundtable.core.declaration_block import split_blocks
from roundtable.core.doubts import doubtful_votes
from roundtable.core.events import AttemptStarted
from roundtable.core.limits import Limits
from roundtable.core.standing import standing_of
from roundtable.core.state import State, lost_to_limit
from roundtable.core.turns import TRUNCATED
from roundtable.core.values import Budget, Material
from roundtable.engine.learned import Learned
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.rehearsal.estimate import Estimate
from roundtable.rehearsal.lengths import AGAIN, Lengths
from roundtable.views.notes import notes
from tests.covering import every_pair
from tests.declaring import by_prompt
from tests.procedures.five_round_table import compliant
from tests.rehearsal import Billed, Table, dutiful, run_in_virtual_time

PROCEDURES = ("deliberation", "council", "five-round", "adaptive", "meeting")
USUAL: Mapping[str, int] = {
    "answer": 640,
    "critique": 600,
    "synthesis": 690,
    "clerk": 290,
    "briefing": 270,
    "summary": 750,
    "cross-examination": 740,
    "meta-panel": 400,
    "proposal": 1620,
    "cross-reference": 1620,
    "revision": 1950,
    "arbitration": 2700,
    "opening": 280,
    "discussion": 540,
    "conclusion": 700,
}
OTHERWISE: Mapping[str, Mapping[str, int]] = {
    "council": {"synthesis": 1000},
    "adaptive": {"answer": 1050, "critique": 850, "synthesis": 1000},
    "five-round": {"critique": 1350},
    "meeting": {"summary": 400},
}
WRITING = ("synthesis", "arbitration", "conclusion")


class AsUsual(Billed):
    """Says as much as is usual at each stage, every time in other words; or so many times that,
    where it writes the verdict."""

    def __init__(self, procedure: str, *, verdict: float = 1.0) -> None:
        super().__init__(self._said)
        self.form = compliant if procedure == "five-round" else dutiful
        self.usual = {**USUAL, **OTHERWISE.get(procedure, {})}
        self.verdict = verdict

    def _said(self, request: SpeakRequest) -> str:
        text = self.form(request)
        if request.schema is not None:
            return text
        stage = re.sub(r"-\d+$", "", request.idempotency_key.split("/")[2])
        wanted = self.usual.get(stage, 0) * (self.verdict if stage in WRITING else 1.0)
        more = max(0, round(4 * wanted) - len(text))
        mark = f"w{len(request.idempotency_key)}{stage[:2]}{len(request.user)}x"
        filler = " ".join(f"{mark}{n}" for n in range(more // len(mark)))[:more]
        return f"{filler}\n\n{text}"


def table(procedure: str, *, verdict: float = 1.0) -> Table:
    return Table({"*": AsUsual(procedure, verdict=verdict)})


@cache
def held(procedure: str, limit: float | None = None) -> State:
    asked = table(procedure).ask(procedure=procedure, budget=Budget(max_cost_usd=limit))
    return run_in_virtual_time(asked)


def estimated(procedure: str) -> Estimate:
    async def main() -> Estimate:
        at = table(procedure)
        return await at.service.estimate(await at.service.open(OpenRequest("Tea?", procedure)))

    return run_in_virtual_time(main())


def cut(state: State) -> list[str]:
    return [speech.turn_id for speech in state.speeches if TRUNCATED in speech.flags]


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_each_limit_brings_the_best_that_it_can_pay(procedure: str) -> None:
    free = held(procedure)
    cost = free.usage.priced_usd
    ends = estimated(procedure).cost_usd
    assert ends is not None
    assert ends[0] <= cost <= ends[1], "the range holds the bill"
    for share in (0.3, 0.5, 0.7, 0.9, 1.05, 1.25, 1.5):
        state = held(procedure, share * cost)
        at = f"{share} of {cost}"
        assert state.usage.priced_usd <= share * cost, f"passed at {at}"
        assert state.verdict is not None, f"nothing at {at}"
        heard = {speech.participant for speech in state.speeches if speech.round > 0}
        assert heard, f"nobody was heard at {at}"
        if share >= 0.5:
            assert state.verdict.method == "written", f"no words at {at}"
            assert state.speeches[-1].turn_id not in cut(state), f"cut at {at}"
        if share < 0.9:
            assert state.closed is not None
            assert state.closed.stop_reason == "budget"
            assert "budget" in [note.code for note in notes(state)]
        if share >= 1.05:
            assert (state.exhausted, state.status) == (None, "concluded"), f"refused at {at}"
            assert not cut(state)
        if share >= 1.25:
            assert state.usage.calls == free.usage.calls


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_limit_that_pays_one_answer_brings_that_and_says_that_not_all_were_asked(
    procedure: str,
) -> None:
    free = held(procedure)
    first = next(s for s in free.speeches if s.round > 0)
    turn = free.turn(first.turn_id)
    assert turn is not None
    assert turn.attempts[0].finished is not None
    one = turn.attempts[0].finished.usage.priced_usd
    state = held(procedure, 1.25 * one)
    assert [speech.round for speech in state.speeches] == [1]
    assert state.verdict is not None
    assert (state.verdict.partial, state.verdict.method) == (True, "extractive")
    assert any(failure.cause == "budget" for failure in state.failures)
    assert state.closed is not None
    assert state.closed.stop_reason == "budget"


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_what_the_table_can_do_without_is_left_out_before_anybody_is(procedure: str) -> None:
    """A verdict with everybody's first answer needs no casting, briefing or opening, and no clerk
    without a vote: each is given up before an answer is."""
    free = held(procedure)
    seats = {s.participant for s in free.speeches if s.round > 0}
    needed = [
        attempt.finished.usage.priced_usd
        for turn in free.called_turns
        for attempt in turn.attempts
        if attempt.finished
        and (turn.id.startswith("1/") or attempt.started.stage in WRITING)
        and attempt.started.purpose == "answer"
    ]
    state = held(procedure, 1.3 * sum(needed))
    assert {s.participant for s in state.speeches if s.round > 0} == seats
    assert state.verdict is not None
    assert state.verdict.method == "written"


def ended_and_raised(procedure: str, share: float, verdict: float) -> tuple[State, State, Table]:
    """Held with this share of its cost, and then with more than enough."""
    whole = held(procedure).usage.priced_usd
    at = table(procedure, verdict=verdict)

    async def main() -> tuple[State, State]:
        request = OpenRequest(
            "Tea or coffee?", procedure, budget=Budget(max_cost_usd=share * whole)
        )
        opened = await at.service.open(request)
        ended = await at.service.run(opened.discussion_id)
        more = Limits.of(Budget(max_cost_usd=5), "--max-cost")
        await at.service.raise_limits(opened.discussion_id, more, by="the user")
        return ended, await at.service.run(opened.discussion_id)

    ended, raised = run_in_virtual_time(main())
    return ended, raised, at


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_verdict_that_a_limit_cut_is_no_verdict_and_is_written_anew(procedure: str) -> None:
    ended, raised, at = ended_and_raised(procedure, share=1.06, verdict=3.0)
    assert ended.closed is not None
    assert (ended.status, ended.closed.stop_reason) == ("stopped", "budget")
    assert ended.verdict is not None
    assert ended.verdict.partial
    [writing] = [each for each in cut(ended) if each.startswith("0/")]
    assert (raised.status, raised.exhausted) == ("concluded", None)
    assert raised.verdict is not None
    assert (raised.verdict.partial, raised.verdict.method) == (False, "written")
    assert writing not in cut(raised)
    later = [each.idempotency_key.split("/", 1)[1] for each in at.requests[ended.usage.calls :]]
    assert {each.rpartition("/")[0] for each in later} == {writing}, "no answer is paid again"


class Rebated(AsUsual):
    """Is charged less for what it read than was set aside, where it writes the verdict: so there is
    money left for something short when that has been cut."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        stage = request.idempotency_key.split("/")[2]
        if stage not in WRITING:
            return reply
        usage = reply.usage.model_copy(
            update={"priced_usd": reply.usage.output_tokens * 5 / 1_000_000}
        )
        return replace(reply, usage=usage)


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_nothing_is_declared_for_a_verdict_that_a_limit_cut(procedure: str) -> None:
    report = Material(source="report.md", text="A line of the report that is read. " * 1_000)
    whole = 0.0
    found = []

    def written(state: State) -> list[str]:
        return [each for each in cut(state) if each.split("/")[1] in WRITING]

    for share in (None, 0.95, 1.02, 1.06):
        verdict = 1.0 if share is None else 3.0 if procedure == "five-round" else 4.0
        voice = AsUsual if share is None else Rebated
        at = Table({"*": voice(procedure, verdict=verdict)})
        limit = share * whole if share else None

        async def main(at: Table = at, limit: float | None = limit) -> tuple[State, State]:
            budget = Budget(max_cost_usd=limit)
            ended = await at.ask(procedure=procedure, context=(report,), budget=budget)
            if not written(ended):
                return ended, ended
            more = Limits.of(Budget(max_cost_usd=9), "--max-cost")
            await at.service.raise_limits(ended.discussion_id, more, by="the user")
            return ended, await at.service.run(ended.discussion_id)

        ended, raised = run_in_virtual_time(main())
        whole = whole or ended.usage.priced_usd
        for writing in written(ended):
            found.append(writing)
            turn = ended.turn(writing)
            assert turn is not None
            assert "declare" not in [each.started.purpose for each in turn.attempts]
            assert (ended.status, ended.closed and ended.closed.stop_reason) == (
                "stopped",
                "budget",
            )
            assert ended.verdict is not None
            assert ended.verdict.partial
            assert (raised.status, raised.verdict and raised.verdict.partial) == (
                "concluded",
                False,
            )
            assert writing not in cut(raised), "it is written anew"
    assert found


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6])
def test_the_advised_limit_suffices_at_once_and_is_in_proportion(
    procedure: str, share: float
) -> None:
    whole = held(procedure).usage.priced_usd
    at = table(procedure)

    async def main() -> tuple[float, State]:
        request = OpenRequest(
            "Tea or coffee?", procedure, budget=Budget(max_cost_usd=share * whole)
        )
        opened = await at.service.open(request)
        ended = await at.service.run(opened.discussion_id)
        assert ended.closed is not None
        found = re.search(r"--max-cost (?P<more>[\d.]+)", ended.closed.remedy)
        assert found is not None, ended.closed.remedy
        more = float(found["more"])
        limits = Limits.of(Budget(max_cost_usd=more), "--max-cost")
        await at.service.raise_limits(opened.discussion_id, limits, by="the user")
        return more, await at.service.run(opened.discussion_id)

    more, state = run_in_virtual_time(main())
    assert (state.status, state.exhausted) == ("concluded", None)
    assert state.verdict is not None
    assert state.verdict.method == "written"
    assert state.usage.priced_usd <= more
    ends = estimated(procedure).cost_usd
    assert ends is not None
    assert more <= 1.6 * ends[1], "it is told from what is still to come, and does not double"


# --- what a limit teaches -----------------------------------------------------------------------


@pytest.mark.requirement("Z-35")
def test_how_often_somebody_was_asked_again_under_a_limit_teaches_nothing() -> None:
    async def main(limit: float | None) -> tuple[State, Lengths]:
        at = Table({"*": Billed(words=900)})
        budget = Budget(max_cost_usd=limit)
        state = await at.ask(procedure="five-round", budget=budget)
        return state, await Learned(at.ledger).lengths()

    free, known = run_in_virtual_time(main(None))
    model = free.start.host.speaker.model
    assert known.again(model, "repair") > 2 * AGAIN, "it misses its lengths again and again"
    limited, distorted = run_in_virtual_time(main(0.4 * free.usage.priced_usd))
    assert limited.exhausted is not None
    purposes = [a.started.purpose for turn in limited.called_turns for a in turn.attempts]
    assert "repair" in purposes
    assert distorted.heard[model], "how much was said and counted is known"
    assert distorted.again(model, "repair") == AGAIN
    assert distorted.again(model, "declare") == AGAIN


# --- who finds no end ---------------------------------------------------------------------------


class Endless(Billed):
    """Finds no end, and its server does not heed what it was told: it is heard as far as it is
    listened to, and billed for that."""

    def __init__(self, *seats: str) -> None:
        super().__init__()
        self.seats = seats

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        if self.seats and request.idempotency_key.split("/")[3] not in self.seats:
            return reply
        text = ("All work and no play. " * 50_000)[: 4 * request.payable_tokens - 1]
        said = len(text) // 4 + 1
        cost = (reply.usage.input_tokens * 1.0 + said * 5.0) / 1_000_000
        usage = reply.usage.model_copy(update={"output_tokens": said, "priced_usd": cost})
        return Reply(text, usage, served_by=request.model, finish_reason="length")


def flooded(procedure: str, *seats: str) -> tuple[Estimate, State, Table]:
    at = Table({"*": Endless(*seats)})

    async def main() -> tuple[Estimate, State]:
        opened = await at.service.open(OpenRequest("Tea or coffee?", procedure))
        told = await at.service.tell_estimate(opened)
        return told, await at.service.run(opened.discussion_id)

    told, state = run_in_virtual_time(main())
    return told, state, at


SEAT = {
    "deliberation": "precedent",
    "council": "scholar",
    "five-round": "product-expert",
    "adaptive": "sceptic",
    "meeting": "product-manager",
}


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_who_finds_no_end_is_shown_its_beginning_and_asked_again_once(procedure: str) -> None:
    _, state, at = flooded(procedure, SEAT[procedure])
    assert state.status == "concluded"
    started = [
        attempt.started
        for turn in state.called_turns
        for attempt in turn.attempts
        if attempt.started.participant == SEAT[procedure]
    ]
    assert started
    assert sum(each.purpose == "repair" for each in started) <= 1
    shown = [each for each in at.requests if "All work and no play." in each.user]
    assert all(each.user.count("All work and no play.") < 1_200 for each in shown)
    declares = [each for each in started if each.purpose == "declare"]
    assert all(each.reserved.output_tokens <= 1_500 for each in declares)


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_the_bill_of_who_finds_no_end_is_in_proportion_to_the_range(procedure: str) -> None:
    told, one, _ = flooded(procedure, SEAT[procedure])
    _, everybody, _ = flooded(procedure)
    assert told.cost_usd is not None
    assert one.usage.priced_usd <= 2.5 * told.cost_usd[1]
    assert everybody.usage.priced_usd <= 8 * told.cost_usd[1]
    assert everybody.usage.calls <= 2 * told.most.calls


def test_every_attempt_is_in_the_ledger_whole_where_its_speech_is_shortened() -> None:
    _, state, at = flooded("deliberation", "precedent")
    turn = state.turn("1/answer/precedent")
    assert turn is not None
    assert turn.speech is not None
    assert turn.attempts[0].finished is not None
    assert TRUNCATED in turn.speech.flags
    assert len(turn.speech.text) <= 6_000 < len(turn.attempts[0].finished.text)
    records = run_in_virtual_time(at.records(state))
    assert any(isinstance(each.event, AttemptStarted) for each in records)


# --- more money is never a worse answer ---------------------------------------------------------


class Divided(Billed):
    """One seat for another answer than the rest, from the first word to the last; all say as much
    in a later round as in the first, whatever is usual there."""

    def __init__(self, words: int, *, later: int = 0) -> None:
        """`later` are words that are added in a further round."""
        super().__init__(self._said, words=words)
        self.seats: list[str] = []
        self.later = later

    def _said(self, request: SpeakRequest) -> str:
        seat = request.idempotency_key.split("/")[3]
        if request.idempotency_key.split("/")[1] == "0":
            return dutiful(request)
        if seat not in self.seats:
            self.seats.append(seat)
        other = self.seats.index(seat) == 1
        words, _ = split_blocks(dutiful(request))
        if request.schema is None and request.idempotency_key.split("/")[1] != "1":
            words = f"{'more ' * self.later}{words}"
        position, choice = ("Buy coffee.", "o2") if other else ("Buy tea.", "o1")
        return by_prompt(words, request.user, position=position, choice=choice)


def divided(
    procedure: str, words: int, limit: float | None = None, *, choices: bool = False
) -> State:
    at = Table({"*": Divided(words)})
    options = {"choices": ["Tea", "Coffee"]} if choices else {}
    budget = Budget(max_cost_usd=limit)
    return run_in_virtual_time(at.ask(procedure=procedure, budget=budget, options=options))


SHARES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.1, 1.2)


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize(
    ("procedure", "words", "choices"),
    every_pair(["deliberation", "council", "adaptive"], [200, 330], [True, False]),
)
def test_no_vote_is_lost_to_a_limit_and_more_money_is_no_worse(
    procedure: str, words: int, choices: bool
) -> None:
    cost = divided(procedure, words, choices=choices).usage.priced_usd
    answered = False
    for share in SHARES:
        state = divided(procedure, words, share * cost, choices=choices)
        question = standing_of(state).question
        at = f"{share} of {cost}: {cut(state)}"
        assert not [each for each in cut(state) if each.startswith("2/")], at
        answers = question is not None and question.delivered == "o1"
        assert answers or not answered or not choices, f"more money, and no answer at {at}"
        answered = answered or answers
    assert answered


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("words", [200, 300])
def test_no_list_of_options_is_bought_with_the_money_for_the_votes_on_it(words: int) -> None:
    """All hold the same from the start: what counts it are confirmations, and a list of options
    that leaves nothing for them is worth nothing."""

    def united(limit: float | None) -> State:
        at = Table({"*": Billed(words=words)})
        budget = Budget(max_cost_usd=limit)
        return run_in_virtual_time(at.ask(procedure="deliberation", budget=budget))

    cost = united(None).usage.priced_usd
    counted = 0
    for share in range(84, 126, 2):
        state = united(share / 100 * cost)
        question = standing_of(state).question
        votes = question.counts.get("o1", 0) if question is not None else 0
        assert votes >= counted, f"more money, and fewer votes at {share} % of {cost}"
        counted = votes
        listed = any(turn.id == "0/clerk/host" and turn.speech for turn in state.called_turns)
        assert votes or not listed, f"a list that nobody could vote on at {share} % of {cost}"
    assert counted == 3


def cut_and_raised(procedure: str) -> tuple[State, State, Table]:
    """Held by seats who say far more in the second round than anybody could expect, with a limit
    that cuts them there, and then with the limit that is advised."""
    at = Table({"*": Divided(200, later=900)})
    expected = divided(procedure, 200, choices=True).usage.priced_usd

    async def main() -> tuple[State, State]:
        request = OpenRequest(
            "Tea or coffee?",
            procedure,
            options={"choices": ["Tea", "Coffee"]},
            budget=Budget(max_cost_usd=1.2 * expected),
        )
        opened = await at.service.open(request)
        ended = await at.service.run(opened.discussion_id)
        more = Limits.of(Budget(max_cost_usd=5), "--max-cost")
        await at.service.raise_limits(opened.discussion_id, more, by="the user")
        return ended, await at.service.run(opened.discussion_id)

    ended, raised = run_in_virtual_time(main())
    return ended, raised, at


@pytest.mark.requirement("Z-35", "Z-09")
@pytest.mark.parametrize("procedure", ["deliberation", "council", "adaptive"])
def test_what_a_limit_cuts_off_takes_no_vote_back_and_is_asked_anew_with_more(
    procedure: str,
) -> None:
    ended, raised, at = cut_and_raised(procedure)
    lost = [s.turn_id for s in ended.speeches if s.round > 0 and lost_to_limit(s)]
    assert lost, "they were cut before their declarations"
    before, after = standing_of(ended).question, standing_of(raised).question
    assert before is not None
    assert after is not None
    seats = len(before.seats)
    assert (before.delivered, before.counts) == ("o1", {"o1": seats - 1, "o2": 1})
    told = [each.message for each in doubtful_votes(ended)]
    assert len(told) == len(lost)
    assert all("the limit cut it off before its declaration" in each for each in told)
    assert not standing_of(ended).record.lapsed
    # With more money they are heard, and nobody else is paid again.
    assert (raised.status, raised.exhausted, cut(raised)) == ("concluded", None, [])
    assert (after.delivered, after.counts) == (before.delivered, before.counts)
    assert not doubtful_votes(raised)
    later = [each.idempotency_key.split("/", 1)[1] for each in at.requests[ended.usage.calls :]]
    asked = {each.rpartition("/")[0] for each in later}
    assert {each for each in asked if not each.startswith("0/")} == set(lost)
