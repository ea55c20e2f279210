"""Time as models need it: silence ends a call and not its length, only active time is spent, and
effort is passed on or said to be unheeded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from roundtable.core.effects import TurnPolicy
from roundtable.core.events import AttemptFailed
from roundtable.core.values import Budget, Pace, SpeakerRef, Usage
from roundtable.ports import OnWords, Reply, SpeakRequest
from tests.rehearsal import Cast, Table, Voice, dutiful, run_in_virtual_time

from .scene import Scene


class Slow(Voice):
    """Waits so many seconds before each piece; an empty piece is a thought."""

    def __init__(self, *pieces: tuple[float, str], takes_effort: bool = True) -> None:
        super().__init__()
        self.pieces = pieces
        self.takes_effort = takes_effort

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        self.requests.append(request)
        for seconds, piece in self.pieces:
            await asyncio.sleep(seconds)
            on_words(piece)
        words = "".join(piece for _, piece in self.pieces)
        ignored: Any = ("effort",) if request.effort and not self.takes_effort else ()
        return Reply(words, Usage(input_tokens=9, output_tokens=9), unheeded=ignored)


def taken(scene: Scene) -> Any:
    async def main() -> Any:
        await scene.open()
        return await scene.take()

    return run_in_virtual_time(main())


def failures(scene: Scene) -> list[tuple[str, str]]:
    records = run_in_virtual_time(scene.records())
    return [(e.cause, e.message) for r in records if isinstance(e := r.event, AttemptFailed)]


def test_who_speaks_is_not_late_however_long_it_takes() -> None:
    scene = Scene({"test/a": Slow(*((80.0, f"word {n} ") for n in range(20)))})
    turn = taken(scene)
    assert turn.speech is not None
    assert turn.attempts[0].finished.seconds == 1600.0
    assert failures(scene) == []


@pytest.mark.requirement("C-65")
def test_silence_in_the_middle_of_an_answer_ends_it() -> None:
    scene = Scene({"test/a": Slow((1.0, "First, "), (91.0, "second."))})
    assert taken(scene).speech is None
    told = "test/a fell silent for 90 s in the middle of its answer."
    assert failures(scene) == [("timeout", told)]


def test_thoughts_are_signs_of_life_and_no_words() -> None:
    scene = Scene({"test/a": Slow(*[(80.0, "")] * 10, (80.0, "Tea."))})
    assert taken(scene).speech.text == "Tea."
    assert [draft.words for draft in scene.drafts] == ["Tea."]


@pytest.mark.requirement("X-10")
@pytest.mark.parametrize(
    ("pace", "spoke"),
    [(None, False), (Pace(first_word=300), True), (Pace(silence=300), False)],
    ids=["as usual", "a model that thinks", "only between words"],
)
def test_a_model_has_the_time_to_its_first_word_that_it_needs(
    pace: Pace | None, spoke: bool
) -> None:
    scene = Scene({"test/a": Slow((200.0, "Tea."))}, facts={"pace": pace})
    assert (taken(scene).speech is not None) is spoke


def test_a_repair_is_not_late_because_the_answer_took_long() -> None:
    policy = TurnPolicy(timeout=90, deadline=90, repairs=1)
    scene = Scene({"test/a": Slow((80.0, "Tea. "), (80.0, "Yes."))}, policy=policy)
    turn = taken(scene)
    assert turn.speech is not None
    assert failures(scene) == []


@pytest.mark.parametrize(
    ("policy", "asked", "model", "limits"),
    [
        (TurnPolicy(90), None, None, (90.0, 90.0)),
        (TurnPolicy(90), None, Pace(first_word=300, silence=20), (300.0, 20.0)),
        (TurnPolicy(90), Pace(first_word=10), Pace(first_word=300, silence=20), (10.0, 20.0)),
        (TurnPolicy(60, chosen=True), None, Pace(first_word=300), (60.0, 60.0)),
        (TurnPolicy(60, chosen=True), Pace(first_word=5), Pace(first_word=300), (5.0, 60.0)),
    ],
)
def test_the_asker_comes_before_the_users_choice_the_model_and_the_procedure(
    policy: TurnPolicy,
    asked: Pace | None,
    model: Pace | None,
    limits: tuple[float, float],
) -> None:
    pace = policy.pace(asked, SpeakerRef(model="test/a", pace=model))
    assert (pace.first_word, pace.silence) == limits


def council(script: Callable[[str], Sequence[tuple[float, str]] | None]) -> Table:
    """A council in which somebody speaks slowly, by its turn."""

    class Voices(Voice):
        async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
            turn = request.idempotency_key.partition("/")[2].rpartition("/")[0]
            if pieces := script(turn):
                return await Slow(*pieces).speak(request, on_words)
            return await super().speak(request, on_words)

    return Table({"*": Voices()})


@pytest.mark.requirement("Z-09", "I-11")
def test_the_time_limit_cuts_calls_in_flight_and_the_verdict_is_what_exists() -> None:
    slow = [(1.0, "Well, "), *[(30.0, "still talking ")] * 100]
    table = council(lambda turn: slow if turn == "1/answer/muse" else None)
    state = run_in_virtual_time(table.ask(budget=Budget(max_seconds=60), search=False))
    assert state.exhausted is not None
    assert (state.exhausted.limit, state.exhausted.detail) == ("time", "60 of 60 seconds passed")
    assert [(f.participant, f.cause) for f in state.failures] == [
        ("muse", "budget"),
        ("captain", "budget"),
    ]
    cut = state.turns["1/answer/muse"].attempts[0].failed
    assert cut is not None
    assert cut.message == "The time that the discussion may take was over."
    assert state.verdict is not None
    assert (state.verdict.partial, state.closed and state.closed.stop_reason) == (True, "budget")


@pytest.mark.requirement("I-11")
def test_only_active_time_counts_not_the_night_before_it_was_resumed() -> None:
    table = Table()

    async def main() -> Any:
        opened = await table.service.open(_quick(max_seconds=30))
        driving = asyncio.create_task(table.service.run(opened.discussion_id))
        await asyncio.sleep(1.5)
        driving.cancel()
        await asyncio.gather(driving, return_exceptions=True)
        await asyncio.sleep(86_400)
        return await table.service.run(opened.discussion_id)

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    assert state.exhausted is None
    assert state.spending(state.updated_at).seconds < 10


def _quick(**budget: Any) -> Any:
    from roundtable.procedures.opening import OpenRequest

    return OpenRequest(
        "Tea or coffee?", search=False, options={"quick": True}, budget=Budget(**budget)
    )


@pytest.mark.parametrize("takes", [True, False])
def test_effort_is_passed_on_and_where_it_is_not_heeded_that_is_said_once(takes: bool) -> None:
    class Thinker(Voice):
        async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
            self.requests.append(request)
            text = dutiful(request)
            on_words(text)
            ignored: Any = () if takes else ("effort",)
            return Reply(text, Usage(input_tokens=9, output_tokens=9), unheeded=ignored)

    table = Table({"*": Thinker()}, cast=Cast(facts={"pace": Pace(effort="low")}))
    state = run_in_virtual_time(table.ask(search=False, pace=Pace(effort="high")))
    assert {request.effort for request in table.requests} == {"high"}
    assert min(request.max_tokens for request in table.requests) > 20_480, "thoughts need room"
    notes = [note.text for note in state.notes if note.code == "effort_unheeded"]
    assert len(notes) == (0 if takes else len({request.model for request in table.requests}))


def test_what_a_model_is_set_to_holds_where_the_asker_says_nothing() -> None:
    table = Table(cast=Cast(facts={"pace": Pace(effort="low", first_word=120)}))
    run_in_virtual_time(table.ask(search=False))
    assert {(r.effort, r.timeout) for r in table.requests} == {("low", 120.0)}
