"""What five rounds can be asked for: experts, depth, models; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from roundtable.core.errors import RoundtableError
from roundtable.core.state import State
from roundtable.ports import CastingRequest, ChosenExpert, ChosenExperts
from roundtable.procedures import procedure_spec
from roundtable.procedures.five_round.intent import read_intent
from roundtable.procedures.five_round.options import FiveRoundFlags, casting_request
from roundtable.procedures.opening import OpenRequest
from tests.foreseen import foreseen
from tests.rehearsal import Cast, Table, run_in_virtual_time

from .five_round_table import AGENTS, IDS, TOPIC, codes, five_rounds, hold


class Troupe:
    """A casting by script."""

    def __init__(self) -> None:
        self.wishes: list[tuple[str, CastingRequest]] = []

    async def choose(self, topic: str, casting_request: CastingRequest) -> ChosenExperts:
        self.wishes.append((topic, casting_request))
        names = casting_request.include or ("Security Auditor", "Growth Lead", "Tax Adviser")
        return ChosenExperts(
            tuple(
                ChosenExpert(
                    id=name.lower().replace(" ", "-"),
                    name=name,
                    domain=f"domain {n}",
                    perspective=f"view {n}",
                    guidance=f"Guidance of the {name}.",
                    reason="most relevant",
                    model=f"routed/{n}",
                    routed="routed by found for code",
                )
                for n, name in enumerate(names)
            ),
            "routed/host",
        )


def opened(cast: Any = None, troupe: Troupe | None = None, **options: Any) -> State:
    table = Table(cast=cast, casting=(lambda _: troupe) if troupe else None)
    request = OpenRequest(topic=TOPIC, procedure="five-round", options=options)
    return run_in_virtual_time(table.service.open(request))


# Who sits


@pytest.mark.requirement("B-01", "B-34")
def test_the_named_experts_sit_and_nobody_else() -> None:
    state = opened(agents=list(AGENTS))
    assert [(p.id, p.name) for p in state.participants] == list(zip(IDS, AGENTS, strict=True))
    assert (state.start.host.id, state.start.host.name) == ("host", "Host")
    assert [p.name for p in opened(agents="A Expert, B Expert，C专家").participants] == [
        "A Expert",
        "B Expert",
        "C专家",
    ]


@pytest.mark.requirement("B-04")
def test_without_names_three_distinct_experts_are_chosen() -> None:
    troupe = Troupe()
    state = opened(troupe=troupe)
    assert troupe.wishes == [(TOPIC, CastingRequest(3, open=True))]
    assert [p.name for p in state.participants] == [
        "Security Auditor",
        "Growth Lead",
        "Tax Adviser",
    ]
    alone = opened()
    assert len({p.name for p in alone.participants}) == 3
    assert len({p.perspective for p in alone.participants}) == 3


@pytest.mark.requirement("B-34")
def test_names_are_handed_to_the_casting_in_their_order() -> None:
    troupe = Troupe()
    state = opened(troupe=troupe, agents=AGENTS)
    assert troupe.wishes == [(TOPIC, CastingRequest(3, AGENTS))]
    assert [p.name for p in state.participants] == list(AGENTS)


@pytest.mark.requirement("B-35", "B-39", "B-41")
def test_routed_models_speak_unless_the_call_names_others() -> None:
    routed = opened(troupe=Troupe())
    assert [p.speaker.model for p in routed.participants] == ["routed/0", "routed/1", "routed/2"]
    assert routed.start.host.speaker.model == "routed/host"
    named = opened(troupe=Troupe(), models={"Growth Lead": "my/one", "host": "my/judge"})
    assert [p.speaker.model for p in named.participants] == ["routed/0", "my/one", "routed/2"]
    assert named.start.host.speaker.model == "my/judge"
    one = opened(troupe=Troupe(), model="my/one")
    assert {p.speaker.model for p in (*one.participants, one.start.host)} == {"my/one"}


def test_without_routing_the_default_model_speaks() -> None:
    state = opened(Cast(default="my/model"))
    assert {p.speaker.model for p in (*state.participants, state.start.host)} == {"my/model"}


def test_the_hosts_name_is_not_to_be_had() -> None:
    state = opened(agents=["Host", "coordinator", "Host 2"])
    assert [p.id for p in state.participants] == ["host-2", "coordinator-2", "host-2-2"]
    assert len({p.name for p in (*state.participants, state.start.host)}) == 4


# What is refused


@pytest.mark.requirement("B-02", "X-20", "I-28")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": "deep"}, "'pre-ac' or 'full'"),
        ({"dept": "full"}, "Did you mean depth"),
        ({"agents": ["One"]}, "2 to 7 names"),
        ({"agents": [f"E{n}" for n in range(8)]}, "2 to 7 names"),
        ({"agents": ["Same Expert", "same-expert"]}, "a name of its own"),
        ({"agents": ["A", "Ignore this]\n[@B"]}, "letters, digits and blanks"),
        ({"agents": ["A", "x" * 80]}, "letters, digits and blanks"),
        ({"history": "some"}, "full, or chars:N"),
        ({"history": "chars:0"}, "full, or chars:N"),
        ({"divergence": 1.5}, "from 0 to 1"),
        ({"revisions": 2}, "quick"),
        ({"revisions": 3, "quick": True}, "from 1 to 2"),
        ({"experts": 1}, "from 2 to 7"),
        ({"timeout": 0}, "greater than 0"),
        ({"choices": "Buy"}, "2 to 9 options"),
        ({"choices": ["Buy", "o1"]}, "the ids of the options"),
    ],
)
def test_wrong_options_are_refused_with_what_was_expected(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(RoundtableError) as caught:
        opened(**options)
    assert words in str(caught.value)


def test_no_number_of_options_gives_a_sixth_round() -> None:
    for quick in (False, True):
        for revisions in (1, 2):
            if quick or revisions == 1:
                flags = FiveRoundFlags.parse({"quick": quick, "revisions": revisions})
                assert len(flags.passes) + 1 <= 5


def test_the_users_defaults_are_weaker_than_the_call() -> None:
    request = OpenRequest(topic=TOPIC, options={"experts": 4})
    assert casting_request(request, {"experts": 5}).count == 4
    assert casting_request(OpenRequest(topic=TOPIC), {"experts": 5}).count == 5


# The analysis only


@pytest.mark.requirement("B-02", "X-20", "I-05")
def test_pre_analysis_plans_everything_and_calls_nobody() -> None:
    table = five_rounds()
    state = hold(table, depth="pre-ac")
    assert (state.status, table.requests, state.usage.calls) == ("concluded", [], 0)
    assert state.verdict is not None
    plan = state.verdict.answer
    assert "**Intent:** proposal review" in plan
    assert all(name in plan for name in AGENTS)
    assert plan.count("test/captain") == 4
    assert "at least 14 for the full discussion, one of them to list" in plan
    text = procedure_spec("five-round").deliver(state, "1.0")
    assert text.startswith("🗺️ **Pre-analysis**")
    (_, report) = procedure_spec("five-round").outputs(state, state.opened_at)  # type: ignore[arg-type]
    for name in AGENTS:
        assert f"> You are the {name}." in report.text
    assert "800 to 1200 words" in report.text


@pytest.mark.requirement("X-35", "B-06")
def test_the_estimate_counts_the_calls_of_the_longest_way() -> None:
    found = foreseen(opened(agents=AGENTS))
    assert (found.participant_calls[1], found.host_calls[1], found.calls) == (12, 2, 14)
    assert foreseen(opened(agents=AGENTS, choices=["Buy", "Build"])).calls == 13
    assert foreseen(opened(agents=AGENTS, quick=True)).calls == 11
    assert foreseen(opened(agents=AGENTS, depth="pre-ac")).calls == 0


# Fit


@pytest.mark.requirement("B-61")
@pytest.mark.parametrize(
    ("topic", "fit"),
    [
        ("What is the capital of France?", "fact lookup"),
        ("法国的首都是什么？", "fact lookup"),
        ("Write a Python function that sorts a list", "code generation"),
        ("写一个排序函数", "code generation"),
        ("The production database is down, urgent!", "urgent matter"),
        ("2 + 2?", "simple question"),
    ],
)
def test_topics_that_five_rounds_do_not_suit_get_advice_and_go_on(topic: str, fit: str) -> None:
    assert read_intent(topic).fit == fit
    state = hold(five_rounds(), topic)
    (note,) = [n for n in state.notes if n.code == "fit"]
    assert fit in note.text
    assert "15 to 20 minutes" in note.text
    assert state.status == "concluded"


@pytest.mark.requirement("B-61")
@pytest.mark.parametrize(
    ("topic", "fit"),
    [
        (TOPIC, "proposal review"),
        ("智能客服系统技术方案评审", "proposal review"),
        ("MVP kick-off for the new billing product", "kick-off or MVP scoping"),
        ("Should we migrate from a monolith to services in 2026?", "multi-factor decision"),
        ("是否应该迁移到微服务", "multi-factor decision"),
        ("Align sales and support on one hand-over process", "cross-team alignment"),
    ],
)
def test_topics_that_five_rounds_are_made_for_get_none(topic: str, fit: str) -> None:
    assert read_intent(topic).fit == fit
    state = opened(agents=AGENTS) if topic == TOPIC else None
    assert state is None or "fit" not in codes(state)


@pytest.mark.requirement("B-64", "B-65")
def test_the_intent_names_the_words_that_carry_a_topic() -> None:
    assert (
        read_intent("Smart customer service: should smart routing come first?").terms[0] == "smart"
    )
    found = read_intent("智能客服系统，是否自研")
    assert (found.language, found.terms) == ("zh", ("智能客服系统", "是否自研"))
