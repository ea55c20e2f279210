"""What experts and host of five rounds are shown of each other, and what becomes of a position that
came late: nobody votes on it blind, on whichever decision."""

from __future__ import annotations

import copy
import json
import re

import pytest

from roundtable.core.declaration import OWN
from roundtable.core.declaration_form import BALLOT
from roundtable.core.deliverable import block
from roundtable.core.standing import standing_of
from roundtable.ports import SpeakRequest
from roundtable.procedures.closing import POLICY
from roundtable.procedures.five_round.tasks import FiveRoundTable
from roundtable.prompts import render
from roundtable.views.five_round.report import report
from roundtable.views.five_round.standing import BY_SIDE, disputes
from tests.declaring import declared, vote

from .five_round_table import (
    AGENTS,
    Act,
    arbitration,
    critique,
    declaration,
    five_rounds,
    hold,
    prompt_of,
    proposal,
    revision,
)
from .test_five_round_own import FIRST, LEASE, SECOND, THIRD, leasing, option_of

HOST = "0/arbitration/host"
ROTA = "Friday for all but a rota of two."
DEMAND = "The contract can be bought out from year eight."


def two_decisions(_: SpeakRequest) -> str:
    decisions = [
        {
            "question": "?",
            "options": [{"text": t, "holders": []} for t in ("Buy it.", "Build it.")],
        },
        {"question": "Which day?", "options": [{"text": t, "holders": []} for t in ("Mon", "Fri")]},
    ]
    told = json.dumps({"shared": [], "decisions": decisions, "clashes": []})
    return f"```decisions\n{told}\n```"


def voting(request: SpeakRequest, *votes: dict[str, object], **fields: object) -> str:
    assert request.form is not None
    given = {"votes": list(votes), "position": "Buy it.", **fields}
    block_ = declared(request.form, request.user, **given)
    return block_ if request.form.alone else f"{revision(request)}\n\n{block_}"


def rota(request: SpeakRequest) -> str:
    own = {**vote(OWN, on="d2", before="o4"), "text": ROTA}
    return voting(request, vote("o1"), own)


def for_the_rota(request: SpeakRequest) -> str:
    chosen = option_of(request, ROTA)
    return voting(request, vote("o1"), vote(chosen, on="d2", before="o3"))


def test_own_becomes_an_option_on_every_decision_in_the_words_of_its_vote() -> None:
    turns: dict[str, Act] = {
        "clerk": two_decisions,
        f"4/revision/{FIRST}": rota,
        "4/revision": lambda r: voting(r, vote("o1"), vote("o3", on="d2")),
        "4/ballot": for_the_rota,
    }
    table = five_rounds(turns)
    state = hold(table)
    first, second = standing_of(state).decisions
    assert first.answer == "Buy it."
    assert second.answer == ROTA
    assert set(second.holders) == {FIRST, SECOND, THIRD}
    form = prompt_of(table, f"4/revision/{FIRST}").user
    assert '"text": ""' in form
    assert "own, and your text there becomes one" in form


def leasing_on_a_demand(request: SpeakRequest) -> str:
    conditions = [
        {"text": DEMAND, "kind": "demand", "otherwise": "open"},
        {"text": "An offer is there by March.", "kind": "fact", "otherwise": "o1"},
    ]
    words = revision(request).replace(
        "## Revised Proposal\n",
        "## Revised Proposal\nA lessor carries the risk of the first year. ",
    )
    return f"{words}\n\n{declaration(request, choice=OWN, position=LEASE, conditions=conditions)}"


def test_a_late_option_is_shown_with_its_reasons_and_its_demands_are_put_to_the_others() -> None:
    def ballot(request: SpeakRequest) -> str:
        assert request.form is not None
        demands = [each.id for each in request.form.listed if each.text == DEMAND]
        stances = [{"id": each, "stance": "agree", "text": "That is usual."} for each in demands]
        return declaration(request, choice=option_of(request, LEASE), stances=stances)

    turns: dict[str, Act] = {f"4/revision/{FIRST}": leasing_on_a_demand, "4/ballot": ballot}
    table = five_rounds(turns)
    state = hold(table)
    told = prompt_of(table, f"4/ballot/{SECOND}").user
    late = told.partition("New on the table, with what its author says")[2].partition("---END")[0]
    assert f"o3: {LEASE}" in late
    assert "A lessor carries the risk of the first year." in late
    assert f"(demands; otherwise open): {DEMAND}" in late
    assert "(to be found out; otherwise o1): An offer is there by March." in late
    assert re.search(rf"^\? c\d+: {re.escape(DEMAND)}", told, re.MULTILINE)
    standing = standing_of(state)
    assert [each.text for each in standing.granted] == [DEMAND]


@pytest.mark.requirement("B-16")
def test_the_host_reads_the_round_of_a_position_and_the_vote_after_it() -> None:
    turns: dict[str, Act] = {
        f"4/revision/{FIRST}": leasing,
        "4/ballot": lambda r: declaration(r, choice=option_of(r, LEASE)),
    }
    table = five_rounds(turns)
    hold(table)
    assert f"{AGENTS[1]} said in R4: Buy it.; voted last: o3" in prompt_of(table, HOST).user


@pytest.mark.requirement("B-16")
def test_a_demand_that_not_all_who_decide_grant_is_a_dispute_and_their_agreement_is_none() -> None:
    def ballot(request: SpeakRequest) -> str:
        assert request.form is not None
        demands = [each.id for each in request.form.listed if each.text == DEMAND]
        unsure = [{"id": each, "stance": "unsure", "text": ""} for each in demands]
        return declaration(request, choice=option_of(request, LEASE), stances=unsure)

    turns: dict[str, Act] = {f"4/revision/{FIRST}": leasing_on_a_demand, "4/ballot": ballot}
    state = hold(five_rounds(turns))
    found = disputes(state)
    assert not [each for each in found if each.kind == "decision"], "all three hold the same"
    (demand,) = [each for each in found if each.kind == "demand"]
    assert (demand.text, demand.for_it, demand.against) == (DEMAND, (FIRST,), (SECOND, THIRD))
    assert "not granted by: Product Expert, Architecture Expert" in demand.told(state.name_of)
    assert all(each.sides or (each.for_it and each.against) for each in found)


@pytest.mark.requirement("B-16")
def test_a_decision_that_nothing_won_names_who_holds_which_option() -> None:
    state = hold(five_rounds(), agents=AGENTS[:2])
    (decision,) = [each for each in disputes(state) if each.kind == "decision"]
    assert decision.sides == (("o1", (SECOND,)), ("o2", (FIRST,)))
    assert decision.told(state.name_of) == "o1: Product Expert; o2: Engineering Expert"
    assert "o1: Product Expert; o2: Engineering Expert" in report(state)


@pytest.mark.requirement("B-16")
def test_disputes_of_earlier_discussions_keep_the_numbers_under_which_was_ruled() -> None:
    turns: dict[str, Act] = {f"4/revision/{FIRST}": leasing_on_a_demand}
    state = hold(five_rounds(turns))
    assert state.start.options["disputes"] == BY_SIDE
    options = {key: each for key, each in state.start.options.items() if key != "disputes"}
    earlier = copy.copy(state)
    earlier.opened = state.start.model_copy(update={"options": options})
    before = disputes(earlier)
    assert before[0].kind == "decision"
    assert before[0].sides == ()


@pytest.mark.requirement("B-13")
def test_a_long_challenge_reaches_its_target_whole() -> None:
    long = " ".join(f"reason{n} holds." for n in range(90))

    def critical(request: SpeakRequest) -> str:
        return critique(request).replace("Support: ", f"Support: {long} ", 1)

    table = five_rounds({f"3/critique/{FIRST}": critical})
    hold(table)
    assert any(long in prompt_of(table, f"4/revision/{each}").user for each in (SECOND, THIRD))


@pytest.mark.requirement("B-13")
def test_experts_hear_what_is_said_to_their_points_and_where_the_others_stand() -> None:
    table = five_rounds()
    hold(table)
    third = prompt_of(table, f"3/critique/{SECOND}").user
    assert f"{AGENTS[0]} stands now: Build it." in third
    assert f"{AGENTS[1]} stands now" not in third
    fourth = prompt_of(table, f"4/revision/{SECOND}").user
    answers = fourth.partition("What the others say to your points")[2].partition("---END")[0]
    assert f"  against: {AGENTS[0]}: It follows." in answers
    assert "before is where" not in fourth, "the declaration says it once"


@pytest.mark.requirement("B-13")
def test_what_must_be_answered_is_of_every_author_first() -> None:
    table = five_rounds()
    hold(table)
    asked_of = prompt_of(table, f"2/cross-reference/{FIRST}").user
    marked = re.findall(r"^\? (p\d+):", asked_of, re.MULTILINE)
    assert marked[:2] == ["p4", "p7"], "one claim of each of the two others"


@pytest.mark.requirement("Z-31")
def test_who_writes_again_is_told_the_names_of_its_blocks() -> None:
    def short(request: SpeakRequest) -> str:
        words = 900 if "does not keep to its form" in request.user else 300
        return f"{proposal('x', words=words)}\n\n{block('plan.md', 'Step one.')}"

    table = five_rounds({f"1/proposal/{FIRST}": short})
    state = hold(table, topic="Write a plan for the move")
    again = [r for r in table.requests if f"1/proposal/{FIRST}" in r.idempotency_key][1].user
    assert "write them again as `deliverable` and `declaration`." in again
    assert "### plan.md\n\n```md\nStep one." in report(state)


@pytest.mark.requirement("B-16")
def test_a_missing_ruling_alone_is_asked_for_again() -> None:
    def host(request: SpeakRequest) -> str:
        if "does not keep to its form" in request.user:
            rulings = arbitration(request).partition("## Rulings")[2].partition("\n## ")[0]
            return f"## Rulings{rulings}"
        return re.sub(r"(?m)^- X1: .*", "- X1: Deferred.", arbitration(request))

    table = five_rounds({HOST: host})
    state = hold(table)
    calls = [r.user for r in table.requests if HOST in r.idempotency_key]
    assert len(calls) == 2
    assert "Write only “## Rulings”" in calls[1]
    assert state.verdict is not None
    assert "## Plan" in state.verdict.answer
    assert "Deferred" not in state.verdict.answer


def test_a_seat_that_the_host_described_is_described_in_its_ballot_too() -> None:
    state = hold(five_rounds())
    keeper = state.participants[0].model_copy(
        update={"described": True, "name": "Beekeeper", "perspective": "what it does to the bees"}
    )
    table = FiveRoundTable(state, "five-round")
    form = table.form(keeper, BALLOT, alone=True, only=())
    plan = table.ballot_turn(keeper, "ballot", 4, form, POLICY)
    told = render(plan.task.prompt, nonce="c0de00", limit_tokens=100_000).prompt
    assert told.system.startswith("You are the expert whose seat is described below")
    assert "Name: Beekeeper\nSees it from here: what it does to the bees" in told.user
