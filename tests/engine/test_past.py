"""What earlier discussions tell a new one: outcomes, and which models are one voice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from roundtable.core.assessment import OUTCOMES, assessment_of, unadjusted_probability
from roundtable.core.confidence import LEAST_OUTCOMES
from roundtable.core.errors import NotAllowed, UnknownDiscussion, UnknownName
from roundtable.core.events import DiscussionOpened, OutcomeRecorded, StoredEvent
from roundtable.core.state import State, fold
from roundtable.core.track_record import independent_answers
from roundtable.core.voter_groups import TWINS, groups_of, weights_of
from roundtable.engine.past import MOST, Past
from roundtable.ports import SpeakRequest
from tests.declaring import declared, vote
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time

CHOICES = ("stay", "go", "wait")


def table(choose: Callable[[str, int], str] = lambda _model, _case: "o1") -> Table:
    """A table where each model votes as told for the number of the case."""

    def script(request: SpeakRequest) -> str:
        form = request.form
        if form is None or "votes" not in form.keys:
            return dutiful(request)
        case = int("".join(c for c in request.user.partition("Case ")[2][:3] if c.isdigit()) or 0)
        cast = [vote(choose(request.model, case), on=d.id) for d in form.decisions]
        headed = "\n\n".join(f"## {name}\nWords." for name in ("Answer", "Reasons", "Critique"))
        return f"{headed}\n\n{declared(form, request.user, votes=cast)}"

    return Table({"*": Voice(script)})


async def asked(at: Table, topic: str, **options: Any) -> State:
    own = {"choices": CHOICES, "models": ("x/a", "x/b", "x/c"), **options}
    return await at.ask(topic, procedure="deliberation", options=own)


# ----------------------------------------------------------------------------- outcomes


@pytest.mark.requirement("Z-25")
def test_outcomes_move_the_estimate_from_ten_on_and_are_kept_with_the_discussion() -> None:
    async def hold() -> list[State]:
        at = table()
        ends = []
        for number in range(LEAST_OUTCOMES + 1):
            state = await asked(at, f"Case {number}?")
            ends.append(state)
            await at.service.record_outcome(state.discussion_id, "bad", by="me")
        ends.append(fold(await at.ledger.read(ends[-1].discussion_id)))
        return ends

    *early, tenth, eleventh, read_again = run_in_virtual_time(hold())
    first = assessment_of(early[0])
    assert all(OUTCOMES not in state.start.options for state in (*early, tenth))
    kept: Any = eleventh.start.options[OUTCOMES]
    assert kept["count"] == LEAST_OUTCOMES
    assert kept["shift"] < 0
    now = assessment_of(eleventh)
    assert first.probability is not None
    assert now.probability is not None
    assert now.probability < first.probability
    assert f"{LEAST_OUTCOMES} outcomes of your own decisions counted in" in now.meaning
    assert assessment_of(read_again) == now
    assert unadjusted_probability(eleventh) == first.probability, "nothing is learned twice"


@pytest.mark.requirement("Z-25")
@pytest.mark.parametrize("procedure", ["deliberation", "council"])
def test_every_procedure_learns_from_outcomes(procedure: str) -> None:
    async def hold() -> State:
        at = table()
        for number in range(LEAST_OUTCOMES):
            state = await asked(at, f"Case {number}?")
            await at.service.record_outcome(state.discussion_id, "good", by="me")
        return await at.ask("Should we?", procedure=procedure)

    state = run_in_virtual_time(hold())
    assert state.start.options[OUTCOMES]["count"] == LEAST_OUTCOMES  # type: ignore[index,call-overload]


@pytest.mark.requirement("Z-25")
def test_a_later_word_replaces_the_first_and_the_same_twice_is_one() -> None:
    async def hold() -> tuple[State, list[OutcomeRecorded]]:
        at = table()
        id_ = (await asked(at, "Case 1?")).discussion_id
        say = at.service.record_outcome
        await say(id_, "good", note="Went live.", by="me")
        await say(id_, "good", note="Went live.", by="another")
        state = await say(id_, "Bad ", note="Taken back.", by="me")
        events = [r.event for r in await at.ledger.read(id_)]
        return state, [e for e in events if isinstance(e, OutcomeRecorded)]

    state, recorded = run_in_virtual_time(hold())
    assert [(e.outcome, e.note, e.by) for e in recorded] == [
        ("good", "Went live.", "me"),
        ("bad", "Taken back.", "me"),
    ]
    assert state.outcome == recorded[-1]
    assert state.status == "concluded"


@pytest.mark.requirement("Z-25")
def test_what_cannot_be_recorded_says_why() -> None:
    async def hold() -> None:
        at = table()
        running = await at.service.open(_request())
        over = (await asked(at, "Case 1?")).discussion_id
        say = at.service.record_outcome
        with pytest.raises(UnknownDiscussion):
            await say("rt_ffffffff", "good", by="me")
        with pytest.raises(NotAllowed, match="is not over yet"):
            await say(running.discussion_id, "good", by="me")
        with pytest.raises(UnknownName, match="great"):
            await say(over, "great", by="me")
        with pytest.raises(NotAllowed, match="2,001 characters"):
            await say(over, "good", note="x" * 2_001, by="me")
        assert (await at.service.read(over)).outcome is None

    run_in_virtual_time(hold())


def _request() -> Any:
    from roundtable.procedures.opening import OpenRequest

    return OpenRequest(topic="Now?", procedure="deliberation", options={"seats": 3})


# ----------------------------------------------------------------------------- twins


def copies(model: str, case: int) -> str:
    """Two strangers who are one model, and three who go their own ways and are often right."""
    right = case % 3
    wrong = {"x/a": 3, "x/b": 3, "y/c": 2, "y/d": 5, "y/e": 7}[model]
    seed = {"x/a": 1, "x/b": 1, "y/c": 2, "y/d": 3, "y/e": 5}[model]
    astray = (case * seed + seed) % wrong == 0
    return f"o{(right + (1 + seed % 2 if astray else 0)) % 3 + 1}"


FIVE = {"models": ("x/a", "x/b", "y/c", "y/d", "y/e"), "seats": 5}


@pytest.mark.requirement("Z-26")
def test_models_that_always_answered_alike_are_one_voter_in_the_next_discussion() -> None:
    async def hold() -> tuple[State, State]:
        at = table(copies)
        for number in range(40):
            await asked(at, f"Case {number}?", **FIVE)
        state = await asked(at, "Case 100?", **FIVE)
        return state, fold(await at.ledger.read(state.discussion_id))

    state, again = run_in_virtual_time(hold())
    kept: Any = state.start.options[TWINS]
    assert kept["merged"] == [["x/a", "x/b"]]
    for each in (state, again):
        seats = [p.id for p in each.participants]
        assert groups_of(each).of(seats[0]).seats == tuple(sorted(seats[:2]))
        assert groups_of(each).of(seats[0]).cause == "same answers"
        assert weights_of(each)[seats[0]] == pytest.approx(0.5 * weights_of(each)[seats[4]])


@pytest.mark.requirement("Z-26")
def test_without_a_past_everybody_is_a_voter_of_its_own() -> None:
    state = run_in_virtual_time(asked(table(copies), "Case 1?", **FIVE))
    assert TWINS not in state.start.options
    assert set(weights_of(state).values()) == {1.0}


@pytest.mark.requirement("Z-26")
@pytest.mark.parametrize(
    "kept",
    [
        {"merged": [["p", "q"], ["a"]], "suspects": [["a", "q", 0.7]], "unclear": [["p", "q"]]},
        {"merged": "x", "suspects": [["a"], 3, ["a", "b", "c"]], "unclear": None},
        "nonsense",
    ],
)
def test_a_stored_grouping_of_models_that_do_not_sit_here_changes_nothing(kept: Any) -> None:
    def with_kept(record: StoredEvent) -> StoredEvent:
        event = record.event
        if not isinstance(event, DiscussionOpened):
            return record
        opened = event.model_copy(update={"options": {**event.options, TWINS: kept}})
        return replace(record, event=opened)

    async def hold() -> list[StoredEvent]:
        at = table()
        return await at.records(await asked(at, "Case 1?"))

    records = run_in_virtual_time(hold())
    plain, other = fold(records), fold([with_kept(each) for each in records])
    assert other.start.options[TWINS] == kept
    assert groups_of(other) == groups_of(plain)


def test_what_was_held_before_talk_is_what_the_past_tells() -> None:
    state = run_in_virtual_time(asked(table(copies), "Case 2?", **FIVE))
    assert independent_answers(state) == {model: copies(model, 2) for model in FIVE["models"]}  # type: ignore[attr-defined]


def test_the_past_is_read_once_and_never_more_than_some_of_it() -> None:
    class Counting:
        def __init__(self, inner: Any) -> None:
            self.inner, self.reads = inner, 0

        async def read(self, discussion_id: str) -> Any:
            self.reads += 1
            return await self.inner.read(discussion_id)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    async def hold() -> list[int]:
        at = table()
        for number in range(12):
            await asked(at, f"Case {number}?")
        counting = Counting(at.ledger)
        past = Past(counting)  # type: ignore[arg-type]
        found = []
        for least in (13, 12, 12):
            await past.answers("Another?", least)
            found.append(counting.reads)
        return found

    assert run_in_virtual_time(hold()) == [0, 12, 12]
    assert MOST == 100
