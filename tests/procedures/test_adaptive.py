"""The adaptive procedure: who is asked what and when, in each workflow."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from roundtable.core.errors import UsageError
from roundtable.core.events import (
    AttemptFinished,
    AttemptStarted,
    ParticipantsSeated,
    SearchFailed,
    SearchFinished,
    StageClosed,
    StageOpened,
    WorkflowChosen,
)
from roundtable.core.standing import standing_of
from roundtable.core.state import State
from roundtable.core.values import Budget, SearchHit
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.adaptive.panels import SEARCH_SECONDS, SECONDS
from roundtable.procedures.adaptive.table import DERIVED, digest
from roundtable.procedures.opening import OpenRequest
from roundtable.search.cached import Cached
from tests.rehearsal import Cast, Table, Voice, run_in_virtual_time

from .adaptive_table import (
    CODEX,
    DEAD,
    DEBATE,
    DEBATERS,
    GEMINI,
    GROK,
    NAMES,
    OPUS,
    SONNET,
    adaptive,
    calls,
    codes,
    critique,
    design,
    dutiful_panelist,
    events_of,
    hold,
    labels,
    meta_section,
    note,
    panelist,
)
from .council_table import Finder, asked, prompt_of, sections, turn_of

META = [f"rt-meta-{letter}" for letter in "ABCD"]
ROUND_1 = [f"rt-r1-{who}" for who in DEBATERS]
ROUND_2 = [f"rt-r2-{who}" for who in DEBATERS]
HIT = SearchHit(title="Tea", url="https://example.org/tea", text="Tea sold 7 % more in 2025.")


# The course of a run


@pytest.mark.requirement("A-02", "A-27", "A-28", "A-43", "X-18")
def test_a_full_run_makes_four_meta_four_answers_four_critiques_and_one_synthesis() -> None:
    table = adaptive(search=Finder(HIT))
    state = hold(table)
    assert labels(table, state) == [*META, *ROUND_1, *ROUND_2, "rt-synthesis"]
    assert state.usage.calls == 13
    phases = [
        event.stage if isinstance(event, StageOpened) else event.type
        for event in events_of(table, state)
        if isinstance(event, StageOpened | SearchFinished | WorkflowChosen | ParticipantsSeated)
    ]
    assert phases == [
        "SearchFinished",
        "ParticipantsSeated",
        "meta-panel",
        "WorkflowChosen",
        "ParticipantsSeated",
        "answer",
        "critique",
        "synthesis",
    ]
    assert state.status == "concluded"


@pytest.mark.requirement("A-05", "X-21")
def test_a_quick_run_makes_three_answers_and_one_synthesis() -> None:
    table = adaptive()
    state = hold(table, options={"quick": True})
    assert labels(table, state) == [*ROUND_1[:3], "rt-synthesis"]
    assert state.workflow is not None
    assert (state.workflow.workflow, state.workflow.rounds) == ("parallel_debate", 1)


@pytest.mark.requirement("A-42")
@pytest.mark.parametrize(
    ("options", "held"),
    [
        ({}, True),
        ({"quick": True}, False),
        ({"panel": f"{OPUS},{GROK}"}, False),
        ({"quick": True, "panel": f"{OPUS},{GROK}"}, False),
        ({"debate": True}, True),
    ],
)
def test_the_meta_panel_is_skipped_by_quick_and_by_panel_only(
    options: dict[str, object], held: bool
) -> None:
    table = adaptive()
    state = hold(table, options=options)
    assert any(label.startswith("rt-meta-") for label in labels(table, state)) is held


@pytest.mark.requirement("A-43", "A-54", "X-03")
def test_each_group_speaks_side_by_side() -> None:
    table = adaptive()
    state = hold(table)
    assert table.voices["*"].most_at_once == 4
    kinds = [
        event.type
        for event in events_of(table, state)
        if isinstance(event, AttemptStarted | AttemptFinished) and event.turn_id[:2] != "0/s"
    ]
    assert kinds[:24] == (["AttemptStarted"] * 4 + ["AttemptFinished"] * 4) * 3


@pytest.mark.requirement("A-03")
def test_debate_forces_the_mode_and_the_parallel_workflow() -> None:
    recommending = design("sequential", second=[("Reviewer", OPUS)])
    table = adaptive({"meta-panel": recommending})
    state = hold(table, "Build, design, implement and code it", options={"debate": True})
    assert state.start.options["task_mode"] == "debate"
    assert state.workflow is not None
    assert state.workflow.workflow == "parallel_debate"
    assert not any("stage2" in label for label in labels(table, state))


@pytest.mark.requirement("A-04")
@pytest.mark.parametrize(
    ("flag", "contrary"),
    [
        ("build", "Should we? Pros and cons, tradeoff, ethics, opinion, compare, better"),
        ("redteam", "Which one to choose, decide, select, best option"),
        ("vote", "Attack vulnerability failure risk break threat exploit"),
    ],
)
def test_a_forced_mode_beats_the_words_of_the_question(flag: str, contrary: str) -> None:
    state = hold(adaptive(), contrary, options={flag: True, "quick": True})
    assert state.start.options["task_mode"] == flag


@pytest.mark.requirement("A-13")
def test_two_forced_modes_are_an_error() -> None:
    with pytest.raises(UsageError, match="--debate and --vote exclude each other"):
        hold(adaptive(), options={"debate": True, "vote": True})


@pytest.mark.requirement("A-52")
def test_a_neutral_question_has_a_panel_too() -> None:
    state = hold(adaptive({"meta-panel": DEAD}), "What is tea?")
    assert state.start.options["task_mode"] == "default"
    names = [p.name for p in state.participants]
    assert names == ["Generalist", "Sceptic", "Analyst", "Pragmatist", "Synthesiser"]
    assert state.status == "concluded"


@pytest.mark.requirement("A-24")
def test_the_orchestrator_is_asked_nothing_and_holds_no_seat() -> None:
    table = adaptive(cast=Cast(default="test/orchestrator"))
    state = hold(table, options={"validate": True})
    assert "test/orchestrator" not in {call.model for call in calls(table, state)}
    assert state.start.host.id not in {call.participant for call in calls(table, state)}


@pytest.mark.requirement("A-24")
def test_the_orchestrators_model_comes_from_panels_json() -> None:
    state = hold(adaptive(defaults={"orchestrator": "my/own"}), options={"quick": True})
    assert state.start.host.speaker.model == "my/own"


@pytest.mark.requirement("A-26", "X-46")
def test_every_call_is_a_fresh_one_and_nothing_is_left_running() -> None:
    table = adaptive()

    async def main() -> tuple[State, int]:
        before = len(asyncio.all_tasks())
        state = await table.ask(DEBATE, procedure="adaptive")
        return state, len(asyncio.all_tasks()) - before

    state, left = run_in_virtual_time(main())
    assert left == 0
    keys = [request.idempotency_key for request in table.requests]
    assert len(set(keys)) == len(keys) == state.usage.calls
    assert not any(hasattr(request, "tools") for request in table.requests)


@pytest.mark.requirement("A-29", "X-10")
def test_the_time_of_each_phase_is_data() -> None:
    assert SECONDS == {
        "meta": 90,
        "round1": 120,
        "round2": 120,
        "stage2": 120,
        "validation": 60,
        "synthesis": 180,
    }
    assert SEARCH_SECONDS == 10


@pytest.mark.requirement("A-29", "A-80")
@pytest.mark.parametrize(
    ("turn", "stage", "seconds"),
    [
        ("meta-panel/meta-b", "meta-panel", 90),
        ("answer/analyst", "answer", 120),
        ("critique/analyst", "critique", 120),
        ("second-stage", "second-stage", 120),
        ("validation/analyst", "validation", 60),
        ("synthesis/synthesiser", "synthesis", 180),
    ],
)
def test_a_phase_ends_at_its_limit(turn: str, stage: str, seconds: int) -> None:
    recommending = design("sequential", second=[("Reviewer", OPUS)])
    table = adaptive({turn: None, "meta-panel/meta-a": recommending, "meta-panel": recommending})
    state = hold(table, options={"validate": True})
    records = run_in_virtual_time(table.records(state))
    (begun,) = [
        r.at for r in records if isinstance(r.event, StageOpened) and r.event.stage == stage
    ]
    (ended,) = [
        r.at for r in records if isinstance(r.event, StageClosed) and r.event.stage == stage
    ]
    assert ended - begun == timedelta(seconds=seconds)
    assert state.verdict is not None


@pytest.mark.requirement("X-10")
def test_times_can_be_set_for_a_phase_and_for_a_model() -> None:
    own = {"timeouts": {"round1": 30, "models": {GROK: 300}}}
    table = adaptive(defaults=own)
    hold(table, options={"panel": f"{OPUS},{GROK}", "quick": True})
    times = {r.model: r.timeout for r in table.requests if "/answer/" in r.idempotency_key}
    assert times == {OPUS: 30, GROK: 300}


# The web search


class Stub:
    """A search that notes what it was asked, and when."""

    name = "stub"

    def __init__(self, *hits: SearchHit) -> None:
        self.asked: list[tuple[str, int]] = []
        self.hits = hits

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        self.asked.append((query, count))
        await asyncio.sleep(0.5)
        return self.hits


class Hanging(Stub):
    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        self.asked.append((query, count))
        await asyncio.Event().wait()
        return ()


@pytest.mark.requirement("A-36")
def test_the_search_gets_the_question_and_five_and_comes_first() -> None:
    search = Stub()
    table = adaptive(search=search)
    state = hold(table)
    assert search.asked == [(DEBATE, 5)]
    kinds = [event.type for event in events_of(table, state)]
    assert kinds.index("SearchFinished") < kinds.index("AttemptStarted")


@pytest.mark.requirement("A-37", "A-86", "X-19")
def test_a_search_that_hangs_delays_ten_seconds_and_every_prompt_says_so() -> None:
    table = adaptive(search=Hanging())
    state = hold(table)
    assert isinstance(state.searches[0], SearchFailed)
    records = run_in_virtual_time(table.records(state))
    (failed,) = [r.at for r in records if isinstance(r.event, SearchFailed)]
    assert failed - records[0].at == timedelta(seconds=10)
    for request in table.requests:
        if "/synthesis/" not in request.idempotency_key:
            assert "CURRENT_CONTEXT:\nNo real-time data" in request.user
    assert any("No real-time data" in line for line in meta_section(state))


@pytest.mark.requirement("A-40")
def test_a_search_without_results_is_noted_and_the_run_goes_on() -> None:
    table = adaptive(search=Stub())
    state = hold(table)
    assert "found nothing useful" in prompt_of(table, "1/answer/analyst").user
    assert sum("found nothing useful" in line for line in meta_section(state)) == 1


@pytest.mark.requirement("A-09", "A-86", "X-30")
def test_no_search_asks_nobody_and_says_so() -> None:
    search = Stub()
    table = adaptive(search=search)
    state = hold(table, search=False)
    assert search.asked == []
    assert state.searches == []
    assert "CURRENT_CONTEXT:\nNo real-time data" in prompt_of(table, "1/answer/analyst").user
    assert "abstract" in note(state, "no_search").remedy


@pytest.mark.requirement("A-38", "X-49")
@pytest.mark.parametrize(("sessions", "searches"), [(("s", "s"), 1), (("s", "t"), 2)])
def test_a_session_searches_for_the_same_question_once(
    sessions: tuple[str, str], searches: int
) -> None:
    search = Stub(HIT)
    table = adaptive(search=Cached(search))

    async def main() -> list[State]:
        return [
            await table.ask(DEBATE, procedure="adaptive", options={"quick": True, "session": each})
            for each in sessions
        ]

    first, second = run_in_virtual_time(main())
    assert len(search.asked) == searches
    assert isinstance(first.searches[0], SearchFinished)
    assert first.searches[0] == second.searches[0]


# Parallel debate


@pytest.mark.requirement("A-54", "X-04")
def test_in_round_one_prompts_differ_only_in_the_role_and_hold_no_peers_words() -> None:
    table = adaptive({f"answer/{who}": f"SECRET OF {who}" for who in DEBATERS})
    hold(table)
    users = set()
    for who in DEBATERS:
        request = prompt_of(table, f"1/answer/{who}")
        nonce = request.user.split("[fence ")[1].split("]")[0]
        users.add(request.user.replace(nonce, "NONCE"))
        assert "SECRET OF" not in request.user
        assert request.system.startswith(f"You are the {NAMES[who]} on a panel")
    assert len(users) == 1


@pytest.mark.requirement("A-55", "A-56", "X-26")
def test_round_two_gets_the_own_digest_and_all_others_and_the_full_answers() -> None:
    table = adaptive()
    hold(table)
    for who in DEBATERS:
        user = prompt_of(table, f"2/critique/{who}").user
        answers, rest = user.split("Your own digest:")
        own, others = rest.split("The digests of the others:")
        assert f"Digest of 1/answer/{who}." in own
        for other in DEBATERS:
            assert f"Reasoning in 1/answer/{other}." in answers
            assert (f"Digest of 1/answer/{other}." in others) is (other != who)
            assert (f"from {NAMES[other]}, turn 1/answer/{other}" in others) is (other != who)


@pytest.mark.requirement("A-55")
@pytest.mark.parametrize(
    ("text", "expected", "flagged"),
    [
        ("## Position\nTea.\n\n## SELF-DIGEST\nTea, in short.", "Tea, in short.", False),
        ("Tea.\n\n**SELF-DIGEST:**\nTea, in short.", "Tea, in short.", False),
        ("Tea.\n\nSELF-DIGEST: Tea, in short.", "Tea, in short.", False),
        ("## Position\nTea it is. Always tea.", "Tea it is. Always tea.", True),
        ("Tea it is.\n\n## SELF-DIGEST\n", "Tea it is.", True),
    ],
)
def test_a_missing_digest_is_derived_and_flagged(text: str, expected: str, flagged: bool) -> None:
    table = adaptive({"answer/analyst": text})
    state = hold(table)
    speech = state.speech("1/answer/analyst")
    assert speech is not None
    assert speech.text == text.strip()
    assert digest(speech) == expected
    assert speech.flags == ((DERIVED,) if flagged else ())
    assert (
        expected in prompt_of(table, "2/critique/advocate").user.split("digests of the others")[1]
    )


@pytest.mark.requirement("A-86")
def test_who_leaves_nothing_to_digest_leaves_round_two() -> None:
    table = adaptive({"answer/analyst": "## !!!\n***"})
    state = hold(table)
    assert "2/critique/analyst" not in asked(table)
    assert "Analyst left the cross-critique" in note(state, "no_digest").text
    assert {row.participant for row in state.scores} == set(DEBATERS) - {"analyst"}


@pytest.mark.requirement("A-86")
def test_without_peers_to_examine_the_synthesis_comes_at_once() -> None:
    acts = {f"answer/{who}": "## !!!\n***" for who in DEBATERS[1:]}
    table = adaptive(acts)
    state = hold(table)
    assert not any("critique" in turn for turn in asked(table))
    assert "no_cross_critique" in codes(state)
    assert state.verdict is not None


@pytest.mark.requirement("A-57", "A-62", "A-63")
def test_every_critic_scores_every_peer() -> None:
    table = adaptive(
        {
            "critique/advocate": lambda r: critique(r, 5),
            "critique/analyst": lambda r: critique(r, 1),
        }
    )
    state = hold(table)
    assert sum(len(row.scores) for row in state.scores) == 4 * 3
    assert {row.participant: set(row.scores.values()) for row in state.scores} == {
        "advocate": {5},
        "devils-advocate": {4},
        "analyst": {1},
        "contrarian": {4},
    }
    # (3 × 5 + 3 × 4 + 3 × 1 + 3 × 4) of 60
    assert meta_section(state)[0] == "Consensus: 70 %"


@pytest.mark.requirement("X-06", "X-07", "A-46")
def test_three_debate_rounds_and_the_validation_are_both_held() -> None:
    table = adaptive({"meta-panel": design(rounds=7)})
    state = hold(table, options={"validate": True})
    assert state.workflow is not None
    assert state.workflow.rounds == 3
    third = [f"rt-r3-{who}" for who in DEBATERS]
    checks = [f"rt-r3-validate-{who}" for who in DEBATERS]
    expected = [*META, *ROUND_1, *ROUND_2, *third, "rt-synthesis", *checks]
    assert labels(table, state) == expected
    assert "New digest of 2/critique/analyst." in prompt_of(table, "3/critique/advocate").user
    # Only the last round's scores count.
    assert {row.round for row in state.scores} == {2, 3}


# Sequential and hybrid


SECOND = [("Reviewer", OPUS), ("Editor", GROK)]
SEQUENTIAL = design(
    "sequential", rounds=1, first=[("Writer", CODEX), ("Researcher", GEMINI)], second=SECOND
)


@pytest.mark.requirement("A-58", "A-59", "A-64")
def test_in_a_sequential_run_new_agents_take_up_the_whole_output_of_the_first() -> None:
    long = "## Position\n" + "Tea is good for you. " * 300 + "\n\n## SELF-DIGEST\nTea."
    table = adaptive({"meta-panel": SEQUENTIAL, "answer/writer": long})
    state = hold(table)
    assert labels(table, state)[4:] == [
        "rt-r1-writer",
        "rt-r1-researcher",
        "rt-stage2-reviewer",
        "rt-stage2-editor",
        "rt-synthesis",
    ]
    written = state.speech("1/answer/writer")
    assert written is not None
    for who in ("reviewer", "editor"):
        user = prompt_of(table, f"2/second-stage/{who}").user
        assert f"STAGE 1 OUTPUT from Writer:\n{long}" in user
        assert "STAGE 1 OUTPUT from Researcher:\n## Position" in user
        assert "Review it, validate" in prompt_of(table, f"2/second-stage/{who}").system
        assert f"Second task of {who.title()}." in user.split("---SUB-TASK (untrusted)---")[1]
        speech = state.speech(f"2/second-stage/{who}")
        assert speech is not None
        assert speech.sections["SELF-DIGEST"] == f"Digest of 2/second-stage/{who}."
    assert "Digest of 2/second-stage/editor." in prompt_of(table, "0/synthesis/synthesiser").user
    assert meta_section(state)[0] == "Consensus: N/A"


@pytest.mark.requirement("A-58")
def test_a_sequential_run_of_two_rounds_has_an_inner_critique() -> None:
    table = adaptive({"meta-panel": SEQUENTIAL.replace("## Rounds\n1", "## Rounds\n2")})
    state = hold(table)
    assert labels(table, state)[4:] == [
        "rt-r1-writer",
        "rt-r1-researcher",
        "rt-r2-writer",
        "rt-r2-researcher",
        "rt-stage2-reviewer",
        "rt-stage2-editor",
        "rt-synthesis",
    ]
    assert meta_section(state)[0] == "Consensus: 80 %"


@pytest.mark.requirement("X-45", "A-64")
@pytest.mark.parametrize(
    ("block", "expected"),
    [("", "N/A"), ("\n\nSCORES:\n- Writer: 5/5\n- Researcher: 4/5", "90 %")],
)
def test_scores_of_stage_two_count_if_there_are_any(block: str, expected: str) -> None:
    answer = f"Tea.\n\n## SELF-DIGEST\nTea.{block}"
    table = adaptive({"meta-panel": SEQUENTIAL, "second-stage/editor": answer})
    state = hold(table)
    assert meta_section(state)[0] == f"Consensus: {expected}"


HYBRID = design(
    "hybrid",
    first=[("Economist", CODEX), ("Chemist", GEMINI), ("Historian", GROK)],
    second=[("Integrator", OPUS), ("Second Integrator", GROK), ("Third", CODEX)],
)


@pytest.mark.requirement("A-60", "A-61")
def test_in_a_hybrid_run_everybody_has_its_own_task_and_two_integrate() -> None:
    table = adaptive({"meta-panel": HYBRID})
    state = hold(table)
    tasks = set()
    for who in ("economist", "chemist", "historian"):
        user = prompt_of(table, f"1/answer/{who}").user
        tasks.add(user.split("---SUB-TASK (untrusted)---")[1].split("---END")[0].split("]\n")[1])
    assert len(tasks) == 3
    second = [turn for turn in asked(table) if "second-stage" in turn]
    assert second == ["2/second-stage/integrator", "2/second-stage/second-integrator"]
    for turn in second:
        request = prompt_of(table, turn)
        assert "Integrate the parts and synthesise them into one result" in request.system
        for role in ("Economist", "Chemist", "Historian"):
            assert f"STAGE 1 OUTPUT from {role}:\n" in request.user
    assert {p.speaker.model for p in state.participants if p.role == "Stage 2"} == {OPUS, GROK}
    assert all("SELF-DIGEST" in s.sections for s in state.spoken_in("answer", 1))
    assert meta_section(state)[0] == "Consensus: N/A"


@pytest.mark.requirement("A-61")
def test_a_hybrid_for_which_nobody_named_an_integrator_gets_a_premium_one() -> None:
    first = [("Economist", SONNET), ("Chemist", SONNET)]
    table = adaptive({"meta-panel": design("hybrid", first=first)})
    state = hold(table)
    (integrator,) = [p for p in state.participants if p.role == "Stage 2"]
    assert integrator.speaker.model in {OPUS, CODEX, GEMINI, GROK}


# Panels that are chosen


@pytest.mark.requirement("A-06")
def test_a_listed_panel_is_exactly_these_models() -> None:
    table = adaptive()
    state = hold(table, options={"panel": "one/a, two/b ,one/a"})
    first = [c for c in calls(table, state) if c.stage == "answer"]
    assert [c.model for c in first] == ["one/a", "two/b", "one/a"]
    assert labels(table, state)[0] == "rt-r1-advocate"
    assert state.workflow is not None
    assert state.workflow.workflow == "parallel_debate"


@pytest.mark.requirement("A-06")
def test_one_listed_model_is_one_seat_and_that_is_said() -> None:
    table = adaptive()
    state = hold(table, options={"models": "one/a"})
    assert [c.model for c in calls(table, state) if c.stage == "answer"] == ["one/a"]
    assert [n.code for n in state.notes].count("one_seat") == 1
    shared = hold(adaptive(), options={"models": "one/a", "seats": 3})
    assert "one_seat" not in [n.code for n in shared.notes]


@pytest.mark.requirement("A-07")
def test_the_profile_budget_is_two_panelists() -> None:
    table = adaptive()
    state = hold(table, options={"panel": "budget"})
    assert [c.model for c in calls(table, state) if c.stage == "answer"] == [OPUS, CODEX]
    assert labels(table, state)[-1] == "rt-synthesis"


@pytest.mark.requirement("A-08", "A-70")
def test_validation_is_held_only_on_request_and_before_the_verdict() -> None:
    table = adaptive()
    assert not any("validate" in label for label in labels(table, hold(table)))
    table = adaptive()
    state = hold(table, options={"validate": True, "quick": True})
    checks = [f"rt-r3-validate-{who}" for who in DEBATERS[:3]]
    assert labels(table, state)[-4:] == ["rt-synthesis", *checks]
    models = {c.participant: c.model for c in calls(table, state) if c.stage == "answer"}
    assert {
        c.participant: c.model for c in calls(table, state) if c.stage == "validation"
    } == models
    kinds = [(e.type, getattr(e, "stage", "")) for e in events_of(table, state)]
    last_check = max(n for n, kind in enumerate(kinds) if kind == ("SpeechGiven", "validation"))
    assert kinds.index(("VerdictReached", "")) > last_check


# Resuming, budgets, stops, demonstration


@pytest.mark.requirement("I-11", "Z-09")
@pytest.mark.parametrize(
    ("limit", "answers", "critics"), [(2, 1, 0), (4, 3, 0), (5, 4, 0), (7, 4, 2), (9, 4, 4)]
)
def test_a_limit_of_calls_leaves_out_the_meta_panel_and_keeps_the_synthesis(
    limit: int, answers: int, critics: int
) -> None:
    table = adaptive()
    state = hold(table, budget=Budget(max_calls=limit))
    assert state.usage.calls == limit
    assert "meta_skipped" in codes(state)
    assert len(state.spoken_in("answer", 1)) == answers
    assert len(state.spoken_in("critique", 2)) == critics
    assert state.verdict is not None
    assert state.verdict.method == "written"
    assert state.verdict.partial is (limit < 9)


@pytest.mark.requirement("I-11", "A-87")
def test_a_limit_that_allows_no_answer_makes_nothing_up() -> None:
    state = hold(adaptive(), budget=Budget(max_tokens=10))
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason, state.verdict) == ("failed", "budget", None)


class Slow(Voice):
    """Each call takes ten seconds."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        await asyncio.sleep(9)
        return await super().speak(request, on_words)


@pytest.mark.requirement("I-07")
@pytest.mark.parametrize(("seconds", "cites"), [(5, 0), (15, 0), (25, 4), (35, 4)])
def test_a_stop_at_any_stage_keeps_what_was_said(seconds: float, cites: int) -> None:
    table = Table({"*": Slow(dutiful_panelist)})

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic=DEBATE, procedure="adaptive"))
        run = asyncio.create_task(table.service.run(state.discussion_id))
        await asyncio.sleep(seconds)
        await table.service.stop(state.discussion_id, by="anna")
        return await run

    state = run_in_virtual_time(main())
    assert state.status == "stopped"
    assert (len(state.verdict.cites) if state.verdict else 0) == cites
    assert state.verdict is None or state.verdict.partial


@pytest.mark.requirement("I-08", "Z-01")
def test_a_run_that_is_interrupted_goes_on_without_repeating_a_call() -> None:
    table = adaptive()

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic=DEBATE, procedure="adaptive"))
        for _ in range(4):
            run = asyncio.create_task(table.service.run(state.discussion_id))
            await asyncio.sleep(1.2)
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)
        return await table.service.run(state.discussion_id)

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    finished = [turn for turn in state.turns.values() if turn.speech]
    assert len(finished) == 13
    done = [a for turn in state.turns.values() for a in turn.attempts if a.finished]
    assert len(done) == 13


@pytest.mark.requirement("I-02", "I-30", "A-20")
def test_the_demonstration_model_debates_on_its_own_and_its_words_mean_nothing() -> None:
    def small(request: SpeakRequest) -> str:
        return "\n".join(f"## {shape.heading}\nWords." for shape in request.shape)

    table = Table({"*": Voice(small)}, cast=Cast(facts={"demonstration": True}))
    state = hold(table, options={"validate": True})
    three = DEBATERS[:3]
    assert asked(table) == [
        *(f"1/answer/{who}" for who in three),
        *(f"2/critique/{who}" for who in three),
    ]
    assert codes(state).count("demonstration") == 1
    assert sum("demonstration model speaks" in line for line in meta_section(state)) == 1
    assert not any("bias" in line for line in meta_section(state))
    assert state.scores == []
    assert standing_of(state).record.demonstration == three
    assert standing_of(state).end is None
    assert state.verdict is not None
    assert (state.verdict.method, state.verdict.meaningful) == ("extractive", False)
    assert "validation_skipped" in codes(state)
    assert meta_section(state)[0] == "Consensus: N/A"
    assert all(request.shape for request in table.requests)


@pytest.mark.requirement("A-80", "X-48")
def test_somebody_from_outside_can_take_a_panelists_turn() -> None:
    table = Table({"*": panelist({"answer/analyst": None})})

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic=DEBATE, procedure="adaptive"))
        run = asyncio.create_task(table.service.run(state.discussion_id))
        await asyncio.sleep(5)
        words = sections(Position="Water.", **{"SELF-DIGEST": "Water, from outside."})
        await table.service.speak(state.discussion_id, "analyst", words)
        return await run

    state = run_in_virtual_time(main())
    speech = state.speech("1/answer/analyst")
    assert speech is not None
    assert speech.model == "outside"
    assert "Water, from outside." in prompt_of(table, "2/critique/advocate").user
    assert "2/critique/analyst" in {turn_of(r) for r in table.requests}
