"""Minutes: where a speech declares nothing, the host reads it as a clerk, and then rules do."""

from __future__ import annotations

import pytest

from roundtable.core.events import StanceTaken
from roundtable.core.points import points_of
from roundtable.core.state import State
from roundtable.procedures.minutes import ROUGH
from roundtable.procedures.opening import OpenRequest
from roundtable.views.deliberation import deliberation_estimate
from roundtable.views.estimate import estimate_line
from roundtable.views.meeting import document, meeting_estimate
from tests.rehearsal import Table, run_in_virtual_time

from . import deliberation_table as of_experts
from . import meeting_table as of_people

Act = of_people.Act
SILENT = f"## Speech\nWe must keep the old database. {of_people.words()}"
DISSENT = f"## Speech\nThe old database has to go this year. {of_people.words(mark='other')}"
DECLARED = of_people.said("NEW: nightly backups are needed")


def meeting(turns: dict[str, Act], **options: object) -> tuple[Table, State]:
    at = of_people.meeting(turns)
    options.setdefault("max_rounds", 1)
    return at, of_people.hold(at, 3, options=options)


def minutes_calls(at: Table) -> list[str]:
    return [turn for turn in of_people.asked(at) if "minutes" in turn]


def by_source(state: State) -> dict[str, list[StanceTaken]]:
    found: dict[str, list[StanceTaken]] = {}
    for stance in state.stances:
        found.setdefault(stance.source, []).append(stance)
    return found


@pytest.mark.requirement("D-22", "Z-02")
def test_a_meeting_in_which_all_declare_makes_no_call_for_minutes() -> None:
    at, state = meeting({}, max_rounds=2)
    assert minutes_calls(at) == []
    assert len(of_people.participants_turns(at)) == 6
    assert set(by_source(state)) == {"declared"}


@pytest.mark.requirement("D-69", "Z-02")
def test_the_host_reads_silent_speeches_in_one_call_and_must_quote_them() -> None:
    clerk = (
        'SPEECH A\nDISAGREE p1: "We must keep the old database"\n'
        'NEW: The old database stays. "We must keep the old database"\n'
        'SPEECH B\nNEW: The old database goes this year. "The old database has to go this year"\n'
        'AGREE p1: "nobody at this table said these words"'
    )
    turns: dict[str, Act] = {"arch": DECLARED, "back": SILENT, "prod": DISSENT, "minutes": clerk}
    at, state = meeting(turns)
    assert minutes_calls(at) == ["0/minutes-1/coordinator"]
    read = by_source(state)
    assert [(s.participant, s.point_id, s.position) for s in read["clerk"]] == [
        ("back", "p1", "disagree"),
        ("back", "p2", "agree"),
        ("prod", "p3", "agree"),
    ]
    assert read["clerk"][0].quote == "We must keep the old database"
    assert "extracted" not in read
    assert [p.text for p in points_of(state).issues][1:] == [
        "The old database stays.",
        "The old database goes this year.",
    ]
    assert ROUGH not in of_people.codes(state)


@pytest.mark.requirement("D-69", "Z-02")
@pytest.mark.parametrize(
    "act", [of_people.DEAD, "I would rather not.", 'SPEECH A\nAGREE p1: "boat"']
)
def test_a_clerk_that_fails_or_shows_nothing_gives_way_to_rules_which_say_so(act: Act) -> None:
    at, state = meeting({"arch": DECLARED, "back": SILENT, "prod": DECLARED, "minutes": act})
    assert minutes_calls(at)[:1] == ["0/minutes-1/coordinator"]
    read = by_source(state)
    assert "clerk" not in read
    assert {stance.participant for stance in read["extracted"]} == {"back"}
    assert of_people.codes(state).count(ROUGH) == 1
    [note] = [note for note in state.notes if note.code == ROUGH]
    assert "roughly" in note.text
    assert state.status == "concluded"


@pytest.mark.requirement("D-69")
def test_without_minutes_rules_read_at_once_and_nobody_is_called() -> None:
    at, state = meeting({"arch": DECLARED, "back": SILENT}, minutes=False)
    assert minutes_calls(at) == []
    assert {stance.participant for stance in by_source(state)["extracted"]} == {"back"}
    assert ROUGH not in of_people.codes(state)


@pytest.mark.requirement("D-92")
def test_minutes_are_for_code_and_stand_in_no_prompt_and_no_document() -> None:
    clerk = 'SPEECH A\nNEW: CANARY claim stays. "We must keep the old database"\nCANARY-REST'
    at, state = meeting({"1/discussion/back": SILENT, "minutes-1": clerk}, max_rounds=2)
    assert state.points
    for request in at.requests:
        assert "CANARY-REST" not in request.user
    assert "CANARY-REST" not in document(state, of_people.AT)


def test_the_end_of_a_meeting_leaves_no_speech_unread() -> None:
    """Everybody votes for the end in the round in which somebody declared nothing."""
    ending = of_people.said("END: yes")
    _, state = meeting({"back": f"{SILENT}\n\n## Points\n- END: yes", "discussion": ending})
    assert state.status == "concluded"
    assert any(stance.participant == "back" for stance in state.stances)


@pytest.mark.requirement("D-69")
def test_estimates_count_the_minutes_that_may_come_on_top() -> None:
    async def opened(options: dict[str, object]) -> State:
        at = of_people.meeting()
        request = of_people.asked_for(3, options={"max_rounds": 3, **options})
        return await at.service.open(OpenRequest(topic="Tea?", **request))

    state = run_in_virtual_time(opened({}))
    estimate = meeting_estimate(state)
    assert (estimate.participant_calls, estimate.host_calls, estimate.maybe_calls) == (9, 4, 3)
    assert "4 to the Coordinator (up to 3 more)" in estimate_line(estimate, state).replace(
        state.start.host.name, "Coordinator"
    )
    off = meeting_estimate(run_in_virtual_time(opened({"minutes": False})))
    assert off.maybe_calls == 0
    assert off.tokens[0] == estimate.tokens[0]
    assert off.tokens[1] < estimate.tokens[1]


# The deliberation

NO_STANCES = of_experts.review(of_experts.TWO, "o2", Stances="none", Critique="The price is wrong.")


@pytest.mark.requirement("Z-02")
def test_a_deliberation_in_which_all_declare_makes_seven_calls() -> None:
    at = of_experts.table()
    of_experts.hold(at)
    assert of_experts.asked(at).count("0/minutes-2/host") == 0
    assert len(at.requests) == 7


@pytest.mark.requirement("Z-02")
def test_stances_that_a_critique_does_not_declare_are_read_by_the_clerk() -> None:
    clerk = (
        'SPEECH A\nDISAGREE p1: "The price is wrong."\nAGREE p3: "made up from thin air"\n'
        'NEW: Something new stands. "The price is wrong"'
    )
    at = of_experts.table(turns={f"2/critique/{of_experts.TWO}": NO_STANCES, "minutes-2": clerk})
    state = of_experts.hold(at)
    assert len(at.requests) == 8
    assert [(s.participant, s.point_id, s.position) for s in by_source(state)["clerk"]] == [
        (of_experts.TWO, "p1", "disagree")
    ]
    assert len(state.points) == 6
    assert ROUGH not in of_experts.codes(state)


@pytest.mark.requirement("Z-02")
def test_reasons_that_an_answer_does_not_list_are_read_by_the_clerk_before_the_critique() -> None:
    bare = of_experts.answer(
        of_experts.ONE, "o1", Reasons="none", Answer="It costs too much to keep."
    )
    clerk = 'SPEECH A\nNEW: Keeping it costs too much. "It costs too much to keep"'
    at = of_experts.table(turns={f"1/answer/{of_experts.ONE}": bare, "minutes-1": clerk})
    state = of_experts.hold(at)
    assert of_experts.asked(at).index("0/minutes-1/host") == 3
    raised = [p for p in state.points.values() if p.turn_id == f"1/answer/{of_experts.ONE}"]
    assert [p.text for p in raised] == ["Keeping it costs too much."]
    assert "Keeping it costs too much." in of_experts.prompt_of(at, of_experts.ROUND_2[0]).user


@pytest.mark.requirement("Z-02")
def test_a_dead_clerk_leaves_a_deliberation_to_rules_with_a_note() -> None:
    plain = of_experts.answer(
        of_experts.ONE, "o1", Reasons="none", Answer="We must never rewrite a system that works."
    )
    turns: dict[str, of_experts.Act] = {
        f"1/answer/{of_experts.ONE}": plain,
        "minutes": of_experts.DEAD,
    }
    state = of_experts.deliberate(turns=turns)
    assert of_experts.codes(state).count(ROUGH) == 1
    assert {s.participant for s in by_source(state)["extracted"]} == {of_experts.ONE}
    assert state.status == "concluded"


def test_a_deliberation_without_minutes_calls_no_clerk() -> None:
    at = of_experts.table(turns={f"2/critique/{of_experts.TWO}": NO_STANCES})
    state = of_experts.hold(at, options={"minutes": False})
    assert len(at.requests) == 7
    assert state.status == "concluded"
    assert deliberation_estimate(state).maybe_calls == 0
