"""Writers of verdicts who say something else than the table did, in every procedure: the reader
learns it first, and what was counted stands in place of what was claimed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from roundtable.core.state import State
from roundtable.core.values import Verdict
from roundtable.ports import SpeakRequest
from roundtable.procedures.verdicts import CONTRADICTS
from roundtable.views.adaptive_meta import meta_lines
from roundtable.views.decision import Decision
from roundtable.views.delivery import Delivery
from tests.agreement.test_scripts import PROCEDURES, SEATS, options_for
from tests.declaring import block, filled, vote
from tests.rehearsal import FENCED, HEADINGS, Table, Voice, run_in_virtual_time

BUILT_IN = [name for name in PROCEDURES if name != "own"]
REFUSAL = "I'm sorry, but I can't help with that."


def held(
    procedure: str,
    votes: Sequence[str],
    *,
    prose: str = "As it was counted.",
    sections: dict[str, str] | None = None,
    **declared: Any,
) -> tuple[Table, State]:
    """A table that votes so on a yes-or-no question, and a host that writes so. A seat without a
    vote refuses to answer."""
    seats = SEATS[procedure][: len(votes)]

    def speak(request: SpeakRequest) -> str:
        who = request.idempotency_key.rsplit("/", 2)[1]
        form = request.form
        fields: dict[str, Any] = declared
        told = sections or {}
        said = prose
        if who in seats:
            choice = votes[seats.index(who)]
            if not choice:
                return REFUSAL
            said, told = "It is a matter of cost.", {}
            cast = [vote(choice, on=each.id) for each in form.decisions] if form else []
            fields = {"position": f"My answer is {choice}.", "votes": cast, "end": True}
        headings = HEADINGS.findall(FENCED.sub("", request.user))
        words = "\n\n".join(f"## {name}\n{told.get(name, said)}" for name in headings) or said
        if form is None:
            return words
        made = block(filled(form, request.user, **fields))
        return made if form.alone else f"{words}\n\n{made}"

    table = Table({"*": Voice(speak)})
    state = run_in_virtual_time(
        table.ask(
            "Should we rewrite billing?",
            procedure=procedure,
            options=options_for(procedure, len(votes)),
        )
    )
    return table, state


def verdict_of(state: State) -> Verdict:
    assert state.verdict is not None
    return state.verdict


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("procedure", BUILT_IN)
@pytest.mark.parametrize(
    "answer",
    [
        "No, do not rewrite billing; all three said so.",
        "We should not rewrite billing.",
        "Absolutely not.",
        "The answer is a clear no.",
    ],
)
def test_a_declared_answer_against_the_count_never_reaches_the_first_screen(
    procedure: str, answer: str
) -> None:
    table, state = held(procedure, ("o1", "o1", "o2"), delivers="o1", answer=answer)
    verdict = verdict_of(state)
    assert any("The declared answer contradicts the count" in r.user for r in table.requests)
    assert CONTRADICTS in verdict.flags
    assert verdict.findings[0].code == "contradiction"
    assert verdict.brief == "Yes"
    opening = Delivery.of(state).opening
    assert opening[0].startswith("⚠ The written answer contradicts the count. Yes, 2 of 3")
    assert answer not in opening


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("procedure", BUILT_IN)
def test_an_impasse_is_not_written_up_as_an_agreement(procedure: str) -> None:
    claim = "All experts agree on a yes."
    _, state = (
        held(procedure, ("o1", "o2"), delivers="none", answer=claim)
        if (procedure != "council")
        else held(procedure, ("o1", "o2", "any"), delivers="none", answer=claim)
    )
    verdict = verdict_of(state)
    assert CONTRADICTS in verdict.flags
    assert "claims an agreement" in verdict.findings[0].message
    assert claim not in Delivery.of(state).opening
    assert verdict.brief.startswith("Impasse")


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("procedure", ["deliberation", "council", "adaptive", "meeting"])
def test_a_claim_that_nobody_dissents_is_not_put_beside_the_count(procedure: str) -> None:
    told = "All three agree unanimously, and nobody dissents."
    parts = {"Agreement": told}
    _, state = held(
        procedure, ("o1", "o1", "o2"), sections=parts, delivers="o1", answer="Yes, rewrite it."
    )
    verdict = verdict_of(state)
    assert told not in verdict.agreement
    assert verdict.findings[0].excerpt == told
    assert verdict.brief == "Yes, rewrite it."
    _, agreed = held(
        procedure, ("o1", "o1", "o1"), sections=parts, delivers="o1", answer="Yes, rewrite it."
    )
    assert told in verdict_of(agreed).agreement
    assert CONTRADICTS not in verdict_of(agreed).flags


@pytest.mark.requirement("Z-08")
@pytest.mark.parametrize("key", ["why", "would_change", "answer"])
def test_every_part_is_checked_before_findings_are_told(key: str) -> None:
    lie = "One said “nobody at this table ever said these words”."
    parts: dict[str, Any] = {"answer": "Yes, rewrite it.", key: lie if key == "answer" else [lie]}
    _, state = held("deliberation", ("o1", "o1", "o1"), delivers="o1", **parts)
    verdict = verdict_of(state)
    assert "[not found]" in verdict.flags
    assert [each.code for each in verdict.findings] == ["not_found"]


@pytest.mark.requirement("Z-27", "X-13")
@pytest.mark.parametrize("procedure", BUILT_IN)
@pytest.mark.parametrize("answer", ["It is a matter of cost.", "Rewrite it, in stages."])
def test_an_answer_that_does_not_name_the_choice_stands_behind_it(
    procedure: str, answer: str
) -> None:
    _, state = held(procedure, ("o1", "o1", "o2"), delivers="o1", answer=answer)
    first = Decision.of(state).answer
    assert (first.first, first.second) == ("Yes.", answer)


@pytest.mark.requirement("Z-27")
def test_a_heading_below_the_answer_is_no_part_of_it() -> None:
    prose = "Yes, in stages\n## Reasons\n1. It pays."
    _, state = held("council", ("o1", "o1", "o2"), prose=prose, delivers="o1", answer="")
    assert "#" not in verdict_of(state).brief
    assert Decision.of(state).answer.first.startswith("Yes")


@pytest.mark.requirement("X-13", "A-84")
@pytest.mark.parametrize("procedure", ["adaptive", "five-round"])
def test_who_refused_is_called_absent_where_a_single_answer_suffices(procedure: str) -> None:
    _, state = held(procedure, ("o1", "", ""), delivers="none", answer="One answer only.")
    assert state.status == "concluded"
    told = Delivery.of(state)
    assert len(told.absent) == 2
    assert all(name in told.opening[0] for name in told.absent)
    assert "absent" in told.opening[0]
    assert not verdict_of(state).meaningful
    if procedure == "adaptive":
        meta = "\n".join(meta_lines(state))
        assert all(f"{name}: seat skipped" in meta for name in told.absent)
        assert "The answer was a refusal" in meta


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("procedure", BUILT_IN)
def test_a_claim_that_all_agree_is_not_told_as_another_answer(procedure: str) -> None:
    claim = "Yes: all experts agree to rewrite billing."
    _, state = held(procedure, ("o1", "o1", "o2"), delivers="o1", answer=claim)
    decision = Decision.of(state)
    assert decision.answer.first == "Yes."
    flag = decision.flags[0]
    assert flag.code == "false_agreement"
    assert flag.text == "The written answer claims more agreement than was counted."
    assert "contradiction" not in [each.code for each in decision.flags]
    # The first line of every other surface calls it what it is, too.
    assert Delivery.of(state).headline.startswith(f"⚠ {flag.text} ")


@pytest.mark.requirement("Z-27")
def test_where_nothing_was_chosen_an_answer_is_not_told_as_another_than_the_chosen_one() -> None:
    _, state = held("deliberation", ("o1", "o2"), delivers="o1", answer="Yes, rewrite it.")
    flags = [each.text for each in Decision.of(state).flags]
    assert "The written answer differs from what the table chose." not in flags
    assert "The written answer claims an answer, but the table chose none." in flags
