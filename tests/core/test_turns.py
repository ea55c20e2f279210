"""One turn, decided: what follows from every outcome of every attempt."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat

import pytest

from roundtable.core.contracts import Contract, Violation
from roundtable.core.declaration import Decision, Option
from roundtable.core.declaration_form import BALLOT, OPENING, Form
from roundtable.core.effects import PromptPlan, TurnPlan, TurnPolicy
from roundtable.core.errors import FAILURE_CAUSES, FailureCause
from roundtable.core.events import AttemptFailed, AttemptFinished, AttemptStarted
from roundtable.core.state import Turn, fold
from roundtable.core.turns import (
    BACK_OFF_CAP,
    DEMONSTRATION,
    MAX_UNCOUNTED,
    TRUNCATED,
    UNDECLARED,
    Accept,
    Call,
    GiveUp,
    answered_whole,
    as_it_stands,
    next_step,
    without_missing,
)
from roundtable.core.values import Reservation, SpeakerRef

from .samples import A, B, C, failed, finished, opened, plan, recorded, seat, started

TURN = "1/answer/scholar"
STRICT = Contract(sections=("Findings",))
GOOD, BAD = "## Findings\nTea.", "Tea."
MISSING = Violation("section", "The section “## Findings” is missing or empty.")
UNAVAILABLE: FailureCause = "unavailable"
LOST: FailureCause = "lost"
NO_PATIENCE = TurnPolicy(timeout=90, transport_retries=0)


def turn_after(*events: AttemptStarted | AttemptFinished | AttemptFailed) -> Turn:
    """The turn as these attempts leave it."""
    turn = fold(recorded(opened(), *events)).turn(TURN)
    assert turn is not None
    return turn


def failures(*causes: FailureCause, model: str = A.model) -> Turn:
    """A turn in which one attempt after the other failed on the same model."""
    pairs = [
        (started(attempt=n, model=model), failed(cause, attempt=n))
        for n, cause in enumerate(causes, 1)
    ]
    return turn_after(*(event for pair in pairs for event in pair))


def chain(*speakers: SpeakerRef, policy: TurnPolicy = NO_PATIENCE) -> TurnPlan:
    return plan(seat("scholar", *speakers), policy)


def test_a_new_turn_calls_the_first_speaker_of_the_chain() -> None:
    assert next_step(chain(A, B), None) == Call(1, A, "answer")
    assert next_step(chain(A, B), Turn(TURN)) == Call(1, A, "answer")


def test_an_attempt_under_way_must_be_settled_first() -> None:
    with pytest.raises(AssertionError, match="settled"):
        next_step(chain(A), turn_after(started()))


def test_an_answer_that_keeps_its_contract_is_accepted_with_its_sections() -> None:
    turn = turn_after(started(), finished(text=GOOD))
    step = next_step(plan(contract=STRICT), turn)
    assert step == Accept(GOOD, A.model, {"Findings": "Tea."}, ())


@pytest.mark.requirement("C-68", "X-32")
def test_an_answer_that_breaks_its_contract_is_used_and_flagged() -> None:
    turn = turn_after(started(), finished(text=BAD))
    step = next_step(plan(contract=STRICT), turn)
    assert step == Accept(BAD, A.model, {}, ("[unstructured response]",))


@pytest.mark.requirement("I-30")
def test_an_answer_that_was_cut_at_its_length_is_flagged() -> None:
    turn = turn_after(started(), finished(text=GOOD, finish_reason="length"))
    step = next_step(plan(contract=STRICT), turn)
    # It was granted less than its task allows: so it was a limit that cut it.
    assert step == Accept(GOOD, A.model, {"Findings": "Tea."}, (TRUNCATED,), limited=True)


@pytest.mark.requirement("I-30", "I-02")
def test_an_answer_of_the_demonstration_model_is_flagged_and_held_to_the_small_task() -> None:
    small = SpeakerRef(model=A.model, demonstration=True)
    full = plan(seat("scholar", small), contract=STRICT)
    task = replace(full.task, contract=Contract(sections=("View",)))
    turn = turn_after(started(), finished(text="## View\nTea."))
    step = next_step(replace(full, demo_task=task), turn)
    assert step == Accept("## View\nTea.", A.model, {"View": "Tea."}, (DEMONSTRATION,))


# Failure causes


@pytest.mark.requirement("X-11")
@pytest.mark.parametrize("cause", FAILURE_CAUSES)
def test_every_cause_ends_the_turn_when_there_is_no_patience_and_no_substitute(
    cause: FailureCause,
) -> None:
    step = next_step(chain(A), failures(*[cause] * (MAX_UNCOUNTED + 1)))
    assert step == GiveUp(cause, f"It was {cause}.", f"Mend {cause}.")


@pytest.mark.requirement("X-11")
@pytest.mark.parametrize("cause", FAILURE_CAUSES)
def test_what_each_cause_allows(cause: FailureCause) -> None:
    policy = TurnPolicy(timeout=90, retries=2, interval=5, transport_retries=3)
    step = next_step(chain(A, policy=policy), failures(cause))
    match cause:
        case "rate_limited" | "unavailable" | "cut":
            assert step == Call(2, A, "retry", wait=1.0)
        case "timeout" | "empty" | "garbled":
            assert step == Call(2, A, "retry", wait=5)
        case "lost" | "cancelled":
            assert step == Call(2, A, "answer")
        case _:
            assert isinstance(step, GiveUp)


@pytest.mark.requirement("I-12", "X-11")
def test_the_back_off_doubles_up_to_its_cap_and_ends() -> None:
    policy = TurnPolicy(timeout=90, transport_retries=7)
    waits = []
    for count in range(1, 8):
        step = next_step(chain(A, policy=policy), failures(*repeat(UNAVAILABLE, count)))
        assert isinstance(step, Call)
        waits.append(step.wait)
    assert waits == [1, 2, 4, 8, 16, BACK_OFF_CAP, BACK_OFF_CAP]
    last = next_step(chain(A, policy=policy), failures(*repeat(UNAVAILABLE, 8)))
    assert isinstance(last, GiveUp)


@pytest.mark.requirement("I-12")
def test_a_server_that_says_when_to_come_back_is_obeyed() -> None:
    turn = turn_after(started(), failed("rate_limited", retry_after=12.5))
    step = next_step(chain(A, policy=TurnPolicy(timeout=90)), turn, time_left=60)
    assert step == Call(2, A, "retry", wait=12.5)
    turn = turn_after(started(), failed("rate_limited", retry_after=0))
    step = next_step(chain(A, policy=TurnPolicy(timeout=90)), turn, time_left=60)
    assert step == Call(2, A, "retry", wait=0)


@pytest.mark.requirement("I-12", "X-11")
def test_nobody_waits_beyond_the_deadline_of_the_turn() -> None:
    turn = turn_after(started(), failed("rate_limited", retry_after=60))
    policy = TurnPolicy(timeout=90, deadline=90)
    assert isinstance(next_step(chain(A, policy=policy), turn, time_left=60), GiveUp)
    substitute = next_step(chain(A, B, policy=policy), turn, time_left=60)
    assert isinstance(substitute, Call)
    assert (substitute.speaker, substitute.purpose) == (B, "fallback")


def test_time_outs_and_broken_connections_are_counted_apart() -> None:
    policy = TurnPolicy(timeout=90, retries=1, interval=5, transport_retries=1)
    plan_ = chain(A, policy=policy)
    assert next_step(plan_, failures("timeout", "cut")) == Call(3, A, "retry", wait=1.0)
    assert next_step(plan_, failures("cut", "timeout")) == Call(3, A, "retry", wait=5)
    assert isinstance(next_step(plan_, failures("cut", "timeout", "cut")), GiveUp)
    assert isinstance(next_step(plan_, failures("cut", "timeout", "empty")), GiveUp)


# Fallback


@pytest.mark.requirement("X-12")
def test_the_next_speaker_of_the_chain_takes_over_and_says_for_what() -> None:
    turn = failures("auth")
    step = next_step(chain(A, B, C), turn)
    assert step == Call(2, B, "fallback", replaces=failed("auth"))
    turn = turn_after(
        started(),
        failed("auth"),
        started(attempt=2, model=B.model, purpose="fallback"),
        failed("not_found", attempt=2),
    )
    assert next_step(chain(A, B, C), turn) == Call(
        3, C, "fallback", replaces=failed("not_found", attempt=2)
    )
    assert next_step(chain(A, B), turn) == GiveUp(
        "not_found", "It was not_found.", "Mend not_found."
    )


@pytest.mark.requirement("X-12")
def test_a_substitute_has_its_own_retries() -> None:
    policy = TurnPolicy(timeout=90, transport_retries=1)
    turn = turn_after(
        started(),
        failed("cut"),
        started(attempt=2, purpose="retry"),
        failed("cut", attempt=2),
        started(attempt=3, model=B.model, purpose="fallback"),
        failed("cut", attempt=3),
    )
    assert next_step(chain(A, B, policy=policy), turn) == Call(4, B, "retry", wait=1.0)


@pytest.mark.requirement("C-65")
def test_a_turn_without_time_has_no_substitute() -> None:
    assert isinstance(next_step(chain(A, B), failures("timeout"), time_left=0), GiveUp)


@pytest.mark.parametrize("speakers", [(A, A), (A, B, A), (A, A, B)])
def test_a_model_that_stands_twice_in_a_chain_is_not_tried_for_ever(
    speakers: tuple[SpeakerRef, ...],
) -> None:
    events: list[AttemptStarted | AttemptFailed] = []
    step = next_step(chain(*speakers), None)
    while isinstance(step, Call):
        events += [
            started(attempt=step.attempt, model=step.speaker.model, purpose=step.purpose),
            failed("auth", attempt=step.attempt),
        ]
        assert len(events) <= 6, "it tries for ever"
        step = next_step(chain(*speakers), turn_after(*events))
    assert len(events) == 2 * len(set(speakers))


# Interrupted


@pytest.mark.requirement("Z-01", "I-08")
def test_a_call_that_was_lost_is_made_again_and_is_no_retry() -> None:
    turn = failures(*repeat(LOST, MAX_UNCOUNTED))
    assert next_step(chain(A), turn) == Call(MAX_UNCOUNTED + 1, A, "answer")
    policy = TurnPolicy(timeout=90, transport_retries=1)
    step = next_step(chain(A, policy=policy), failures("lost", "cut"))
    assert step == Call(3, A, "retry", wait=1.0)


@pytest.mark.requirement("Z-01")
def test_a_lost_fallback_is_made_again_on_the_same_speaker() -> None:
    turn = turn_after(
        started(),
        failed("auth"),
        started(attempt=2, model=B.model, purpose="fallback"),
        failed("cancelled", attempt=2),
    )
    assert next_step(chain(A, B, C), turn) == Call(3, B, "fallback")


@pytest.mark.requirement("Z-01")
def test_a_turn_that_crashes_its_process_again_and_again_gives_up() -> None:
    step = next_step(chain(A), failures(*repeat(LOST, MAX_UNCOUNTED + 1)))
    assert step == GiveUp("lost", "It was lost.", "Mend lost.")


# Repairs

REPAIRING = plan(contract=STRICT, policy=TurnPolicy(timeout=90, repairs=2, transport_retries=1))
FIRST = (started(), finished(text=BAD))


@pytest.mark.requirement("X-32")
def test_a_broken_contract_is_asked_to_be_mended_with_what_is_wrong() -> None:
    step = next_step(REPAIRING, turn_after(*FIRST))
    assert step == Call(2, A, "repair", repair=(MISSING,), broken_text=BAD)


@pytest.mark.requirement("X-32")
def test_a_mended_answer_is_accepted_without_a_flag() -> None:
    turn = turn_after(*FIRST, started(attempt=2, purpose="repair"), finished(attempt=2, text=GOOD))
    assert next_step(REPAIRING, turn) == Accept(GOOD, A.model, {"Findings": "Tea."}, ())


@pytest.mark.requirement("X-32")
def test_repairs_end_and_the_last_answer_is_used_and_flagged() -> None:
    turn = turn_after(
        *FIRST,
        started(attempt=2, purpose="repair"),
        finished(attempt=2, text="Coffee."),
        started(attempt=3, purpose="repair"),
        finished(attempt=3, text="Milk."),
    )
    step = next_step(REPAIRING, turn)
    assert step == Accept("Milk.", A.model, {}, ("[unstructured response]",))


@pytest.mark.requirement("X-32", "Z-01")
@pytest.mark.parametrize(("cause", "wait"), [("lost", 0.0), ("cancelled", 0.0), ("cut", 1.0)])
def test_a_repair_that_did_not_come_through_is_asked_again_with_the_same_answer(
    cause: FailureCause, wait: float
) -> None:
    turn = turn_after(*FIRST, started(attempt=2, purpose="repair"), failed(cause, attempt=2))
    step = next_step(REPAIRING, turn)
    assert step == Call(3, A, "repair", wait, (MISSING,), BAD)


@pytest.mark.requirement("X-32")
def test_an_answer_that_nobody_could_mend_is_better_than_none() -> None:
    turn = turn_after(*FIRST, started(attempt=2, purpose="repair"), failed("refused", attempt=2))
    step = next_step(REPAIRING, turn)
    assert step == Accept(BAD, A.model, {}, ("[unstructured response]",))


@pytest.mark.requirement("X-32", "Z-01")
def test_a_repair_that_was_lost_uses_up_none_of_the_repairs() -> None:
    turn = turn_after(
        *FIRST,
        started(attempt=2, purpose="repair"),
        failed("lost", attempt=2),
        started(attempt=3, purpose="repair"),
        finished(attempt=3, text="Coffee."),
    )
    step = next_step(REPAIRING, turn)
    assert step == Call(4, A, "repair", repair=(MISSING,), broken_text="Coffee.")


# Declarations

PATIENT = TurnPolicy(timeout=90, repairs=1, transport_retries=1)
BLOCK = '```declaration\n{"position": "Drink tea.", "confidence": 70}\n```'
AGAIN = started(attempt=2, purpose="declare")
REFUSAL = "I'm sorry, but I can't help with that."


def declaring(*, alone: bool = False, contract: Contract = STRICT) -> TurnPlan:
    """A turn whose speech ends with a declaration."""
    whole = plan(contract=contract, policy=PATIENT)
    form = Form(OPENING, alone=alone)
    task = replace(whole.task, form=form, again=PromptPlan("shared/declare-again"))
    return replace(whole, task=task)


@pytest.mark.requirement("Z-22")
def test_a_speech_with_its_declaration_is_accepted_as_prose_and_declaration() -> None:
    step = next_step(declaring(), turn_after(started(), finished(text=f"{GOOD}\n\n{BLOCK}")))
    assert isinstance(step, Accept)
    assert (step.text, step.sections, step.flags) == (GOOD, {"Findings": "Tea."}, ())
    assert step.declaration is not None
    assert step.declaration.position == "Drink tea."


@pytest.mark.requirement("Z-22")
def test_a_missing_declaration_is_asked_for_alone_and_never_the_speech() -> None:
    step = next_step(declaring(), turn_after(started(), finished(text=GOOD)))
    assert isinstance(step, Call)
    assert (step.purpose, step.attempt, step.broken_text) == ("declare", 2, GOOD)
    assert [v.message for v in step.repair] == ["The block labelled `declaration` is missing."]


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize("text", [BLOCK, '{"position": "Drink tea.", "confidence": 70}'])
def test_a_declaration_given_on_asking_joins_the_speech_as_it_was(text: str) -> None:
    turn = turn_after(started(), finished(text=GOOD), AGAIN, finished(attempt=2, text=text))
    step = next_step(declaring(), turn)
    assert isinstance(step, Accept)
    assert (step.text, step.flags) == (GOOD, ())
    assert step.declaration is not None


@pytest.mark.requirement("Z-22")
def test_whoever_declares_nothing_twice_is_heard_and_not_counted() -> None:
    turn = turn_after(started(), finished(text=GOOD), AGAIN, finished(attempt=2, text="No."))
    step = next_step(declaring(), turn)
    assert step == Accept(GOOD, A.model, {"Findings": "Tea."}, (UNDECLARED,))


VOTE = '{"votes": [{"on": "d1", "choice": "o1"}], "adopted": [{"from": "Z", "what": "joins"}]}'


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize("again", [VOTE, "No.", '{"votes": []}'])
def test_a_side_field_that_stays_wrong_is_asked_about_once_and_costs_no_vote(again: str) -> None:
    options = (Option(id="o1", text="Tea"), Option(id="o2", text="Coffee"))
    form = Form(BALLOT, (Decision(id="d1", question="Which?", options=options),), peers={"A": "a"})
    whole = declaring()
    plan_ = replace(whole, task=replace(whole.task, form=form))
    text = f"{GOOD}\n\n```declaration\n{VOTE}\n```"
    step = next_step(plan_, turn_after(started(), finished(text=text)))
    assert isinstance(step, Call)
    assert [each.message for each in step.repair] == ["adopted.from must be one of A."]
    turn = turn_after(started(), finished(text=text), AGAIN, finished(attempt=2, text=again))
    spoken = next_step(plan_, turn)
    assert isinstance(spoken, Accept)
    assert spoken.declaration is not None
    assert spoken.declaration.votes[0].choice == "o1"
    assert (spoken.declaration.adopted, spoken.flags) == ((), ())


@pytest.mark.requirement("Z-22")
def test_a_refusal_is_asked_for_its_declaration_and_is_then_no_answer() -> None:
    plan_ = declaring(contract=Contract())
    step = next_step(plan_, turn_after(started(), finished(text=REFUSAL)))
    assert isinstance(step, Call)
    assert step.purpose == "declare"
    turn = turn_after(started(), finished(text=REFUSAL), AGAIN, finished(attempt=2, text=REFUSAL))
    given_up = next_step(plan_, turn)
    assert isinstance(given_up, GiveUp)
    assert given_up.cause == "refused"
    # Who declines in words and yet declares takes part.
    turn = turn_after(started(), finished(text=REFUSAL), AGAIN, finished(attempt=2, text=BLOCK))
    assert isinstance(next_step(plan_, turn), Accept)


def test_the_speech_is_repaired_first_and_then_its_declaration_asked_for() -> None:
    first = next_step(declaring(), turn_after(started(), finished(text=BAD)))
    assert isinstance(first, Call)
    assert first.purpose == "repair"
    mended = (started(attempt=2, purpose="repair"), finished(attempt=2, text=GOOD))
    second = next_step(declaring(), turn_after(started(), finished(text=BAD), *mended))
    assert isinstance(second, Call)
    assert (second.purpose, second.attempt, second.broken_text) == ("declare", 3, GOOD)


LONG = Reservation(input_tokens=100, output_tokens=20_000, cost_usd=0.5)


@pytest.mark.requirement("X-32", "Z-35")
@pytest.mark.parametrize("reserved", [None, LONG], ids=["by a limit", "at its own length"])
@pytest.mark.parametrize("text", [GOOD, f"{GOOD}\n\n{BLOCK}", "Tea. Tea. Tea."])
def test_a_repair_that_was_cut_takes_the_place_of_no_answer_that_is_whole(
    text: str, reserved: Reservation | None
) -> None:
    cut = finished(attempt=2, text=text, finish_reason="length")
    repair = started(attempt=2, purpose="repair", reserved=reserved)
    declared = turn_after(started(), finished(text=f"{BAD}\n\n{BLOCK}"), repair, cut)
    step = next_step(declaring(), declared)
    assert isinstance(step, Accept)
    assert (step.text, step.flags, step.limited) == (BAD, ("[unstructured response]",), False)
    assert step.declaration is not None
    # With a higher limit it is not asked for again, though a call of it was cut.
    asked_anew = replace(declared, answered=0, before=len(declared.attempts))
    assert answered_whole(declaring(), asked_anew) == declared.attempts


@pytest.mark.requirement("Z-01")
@pytest.mark.parametrize(("cause", "wait"), [("lost", 0.0), ("cancelled", 0.0), ("cut", 1.0)])
def test_a_call_for_a_declaration_that_did_not_come_through_is_made_again(
    cause: FailureCause, wait: float
) -> None:
    turn = turn_after(started(), finished(text=GOOD), AGAIN, failed(cause, attempt=2))
    step = next_step(declaring(), turn)
    assert isinstance(step, Call)
    assert (step.purpose, step.wait, step.broken_text) == ("declare", wait, GOOD)


def test_a_call_for_a_declaration_that_fails_for_good_leaves_the_speech_uncounted() -> None:
    turn = turn_after(started(), finished(text=GOOD), AGAIN, failed("auth", attempt=2))
    step = next_step(declaring(), turn)
    assert step == Accept(GOOD, A.model, {"Findings": "Tea."}, (UNDECLARED,))


def test_a_declaration_that_was_asked_for_alone_is_the_whole_answer() -> None:
    plan_ = declaring(alone=True)
    step = next_step(plan_, turn_after(started(), finished(text=f"Here: \n{BLOCK}")))
    assert isinstance(step, Accept)
    assert (step.text, step.flags) == ("Drink tea.", ())
    turn = turn_after(started(), finished(text="x"), AGAIN, finished(attempt=2, text="y"))
    given_up = next_step(plan_, turn)
    assert isinstance(given_up, GiveUp)
    assert given_up.cause == "garbled"


def test_where_nothing_more_can_be_asked_the_speech_stands_uncounted() -> None:
    turn = turn_after(
        started(),
        finished(text=f"{GOOD}"),
        AGAIN,
        finished(attempt=2, text="?"),
    )
    assert as_it_stands(declaring(), turn) == Accept(
        GOOD, A.model, {"Findings": "Tea."}, (UNDECLARED,)
    )


SPARE = SpeakerRef(model="m/spare", family="m", spare=True)


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    "cause",
    [c for c in FAILURE_CAUSES if c not in ("lost", "cancelled", "timeout", "empty", "garbled")],
)
def test_a_spare_speaker_takes_over_only_from_one_that_does_not_exist(cause: FailureCause) -> None:
    step = next_step(chain(A, SPARE), failures(cause))
    if cause == "not_found":
        assert isinstance(step, Call)
        assert (step.speaker, step.purpose) == (SPARE, "fallback")
    else:
        assert isinstance(step, GiveUp)


@pytest.mark.requirement("Z-36")
def test_whoever_does_not_exist_is_left_out_of_later_turns() -> None:
    held = without_missing(chain(A, B, SPARE), [A.model]).participant.speakers
    assert held == (B, SPARE)
    [only] = without_missing(chain(A, SPARE), [A.model]).participant.speakers
    assert (only.model, only.spare) == (SPARE.model, False)
    alone = chain(A)
    assert without_missing(alone, [A.model]) is alone
    assert without_missing(alone, [B.model]) is alone


@pytest.mark.requirement("Z-36")
def test_whoever_was_heard_at_the_same_place_speaks_where_the_whole_chain_is_missing() -> None:
    heard = [SpeakerRef(model="m/real", family="m"), SpeakerRef(model="other/real", family="o")]
    held = without_missing(chain(A, SPARE), [A.model, SPARE.model], heard).participant.speakers
    assert [ref.model for ref in held] == ["m/real"]


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("held", "first"),
    [
        ({}, "m/one"),
        ({"b": "m/one"}, "m/two"),
        ({"b": "m/one", "c": "m/two"}, "m/three"),
        ({"b": "m/one", "c": "m/two", "host": "m/three"}, "m/three"),
        ({"b": "m/one", "c": "m/two", "d": "m/three", "host": "m/three"}, "m/one"),
        ({**dict.fromkeys("bc", "m/one"), "d": "m/three", "host": "m/two"}, "m/two"),
        ({"arch": "m/two", "c": "m/two", "d": "m/two"}, "m/two"),
    ],
)
def test_a_seat_without_its_model_gets_the_one_that_holds_the_fewest(
    held: dict[str, str], first: str
) -> None:
    spares = [SpeakerRef(model=f"m/{name}", family=name, spare=True) for name in SPARES]
    plan = chain(A, *spares)
    held = {plan.participant.id if who == "arch" else who: model for who, model in held.items()}
    found = without_missing(plan, [A.model], held=held, host="host").participant.speakers
    assert found[0].model == first
    assert {ref.model for ref in found} == {f"m/{name}" for name in SPARES}


SPARES = ("one", "two", "three")
