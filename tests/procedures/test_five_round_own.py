"""What an expert finally holds can be chosen by the others, also where the host, who listed the
options from R1, could not know of it."""

from __future__ import annotations

from roundtable.core.declaration import OWN
from roundtable.core.standing import standing_of
from roundtable.ports import SpeakRequest

from .five_round_table import (
    Act,
    asked,
    declaration,
    five_rounds,
    hold,
    prompt_of,
    proposal,
    revision,
    stage_of,
)

LEASE = "Lease it for a year."
FIRST, SECOND, THIRD = "engineering-expert", "product-expert", "architecture-expert"


def leasing(request: SpeakRequest) -> str:
    return f"{revision(request)}\n\n{declaration(request, choice=OWN, position=LEASE)}"


def option_of(request: SpeakRequest, text: str) -> str:
    assert request.form is not None
    found = [o.id for d in request.form.decisions for o in d.options if o.text == text]
    return found[0] if found else OWN


def for_the_lease(request: SpeakRequest) -> str:
    return declaration(
        request,
        choice=option_of(request, LEASE),
        adopted=[
            {"from": asked_name(request), "what": "Engineering claims step one.", "moved": True}
        ],
    )


def asked_name(request: SpeakRequest) -> str:
    assert request.form is not None
    return next(iter(request.form.peers))


def test_a_position_that_is_reached_in_r4_can_be_voted_for() -> None:
    turns: dict[str, Act] = {f"4/revision/{FIRST}": leasing, "4/ballot": for_the_lease}
    table = five_rounds(turns)
    state = hold(table)
    question = standing_of(state).question
    assert question is not None
    assert question.answer == LEASE
    assert len(question.holders) == 3
    assert not [turn for turn in asked(table) if "ballot-again" in turn]
    # What they voted for before stays what it was.
    said = [s.declaration for s in state.spoken_in("revision", 4) if s.declaration]
    assert {vote.choice for each in said for vote in each.votes} == {OWN, "o1"}


def test_nobody_is_asked_again_where_nobody_held_anything_of_its_own() -> None:
    table = five_rounds()
    hold(table)
    assert not [turn for turn in asked(table) if "ballot-again" in turn]


def ends_after_r2(ballot: Act, again: Act) -> dict[str, Act]:
    """R2 repeats R1, so that the debate ends there and the ballot is the first vote. The first
    expert comes to something of its own in R2."""

    def repeated(request: SpeakRequest) -> str:
        who = stage_of(request)[2]
        moved = who == FIRST and stage_of(request)[0] == 2
        declared = declaration(request, position=LEASE) if moved else declaration(request)
        return f"{proposal(who, words=1000)}\n\n{declared}"

    return {
        "1/proposal": repeated,
        "2/cross-reference": repeated,
        f"2/ballot/{FIRST}": ballot,
        "2/ballot-again": again,
    }


def of_its_own(request: SpeakRequest) -> str:
    return declaration(request, choice=OWN)


def test_a_position_that_comes_up_in_the_ballot_is_put_to_the_others_once_more() -> None:
    table = five_rounds(ends_after_r2(of_its_own, for_the_lease))
    state = hold(table)
    again = [turn for turn in asked(table) if "ballot-again" in turn]
    assert sorted(again) == [f"2/ballot-again/{THIRD}", f"2/ballot-again/{SECOND}"]
    user = prompt_of(table, again[0]).user
    assert LEASE in user
    assert "New on the table: o3. Say how you stand to it." in user
    question = standing_of(state).question
    assert question is not None
    assert (question.answer, len(question.holders)) == (LEASE, 3)
    assert state.status == "concluded"


def test_once_more_is_once() -> None:
    def never(request: SpeakRequest) -> str:
        return declaration(request, choice=OWN)

    table = five_rounds(ends_after_r2(of_its_own, never))
    state = hold(table)
    assert state.status == "concluded"
    assert len([turn for turn in asked(table) if "ballot-again" in turn]) == 2


def test_a_first_ballot_without_anything_new_is_the_last() -> None:
    table = five_rounds(ends_after_r2(lambda request: declaration(request), of_its_own))
    hold(table)
    assert [turn for turn in asked(table) if turn.startswith("2/ballot/")]
    assert not [turn for turn in asked(table) if "ballot-again" in turn]
