"""One turn, decided: what to do next, given every attempt made so far.

The engine asks `next_step` after each outcome and again after a crash, so a finished call is
never made twice and nothing has to be remembered outside the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass

from .contracts import Violation
from .effects import TurnPlan
from .errors import FailureCause
from .events import AttemptFailed, AttemptFinished, Purpose
from .state import Attempt, Turn
from .values import SpeakerRef

_TRANSPORT: frozenset[FailureCause] = frozenset(["rate_limited", "unavailable", "cut"])
_AGAIN: frozenset[FailureCause] = frozenset(["timeout", "empty", "garbled"])
_UNCOUNTED: frozenset[FailureCause] = frozenset(["lost", "cancelled"])
"""The process ended, not the speaker: trying again is no retry."""

BACK_OFF_BASE = 1.0
BACK_OFF_CAP = 20.0
MAX_UNCOUNTED = 20
"""Crashes in one turn after which the turn gives up instead of crashing for ever."""

TRUNCATED = "[truncated]"
DEMONSTRATION = "[demonstration model]"


@dataclass(frozen=True, slots=True)
class Call:
    """Make attempt number `attempt` on `speaker`, after waiting."""

    attempt: int
    speaker: SpeakerRef
    purpose: Purpose
    wait: float = 0.0
    repair: tuple[Violation, ...] = ()
    broken_text: str = ""
    replaces: AttemptFailed | None = None
    """Set when another speaker of the chain takes over: why the one before gave up."""


@dataclass(frozen=True, slots=True)
class Accept:
    """The turn has its speech."""

    text: str
    model: str
    sections: dict[str, str]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The turn ends without a speech."""

    cause: FailureCause
    message: str
    remedy: str


Step = Call | Accept | GiveUp


def next_step(plan: TurnPlan, turn: Turn | None, time_left: float | None = None) -> Step:
    """What to do next in this turn. `time_left` is what remains of the turn's deadline."""
    attempts = turn.attempts if turn else []
    if not attempts:
        return Call(1, plan.participant.speakers[0], "answer")
    last = attempts[-1]
    if last.finished is not None:
        return _after_answer(plan, attempts, last.finished)
    assert last.failed is not None, "an attempt in flight must be settled before the next step"
    return _after_failure(plan, attempts, last.failed, time_left)


def _after_answer(plan: TurnPlan, attempts: list[Attempt], answer: AttemptFinished) -> Step:
    speaker = _speaker(plan, attempts[-1])
    violations = plan.task_for(speaker).contract.check(answer.text)
    repairs = sum(1 for a in attempts if a.started.purpose == "repair" and a.finished)
    if violations and repairs < plan.policy.repairs:
        return Call(
            len(attempts) + 1, speaker, "repair", repair=violations, broken_text=answer.text
        )
    return _accept(plan, speaker, answer, violations)


def as_it_stands(plan: TurnPlan, turn: Turn | None) -> Accept | None:
    """The newest answer that was given in this turn, flagged if it breaks its contract: for when
    nothing more can be asked."""
    for attempt in reversed(turn.attempts if turn else []):
        if attempt.finished is not None:
            speaker = _speaker(plan, attempt)
            violations = plan.task_for(speaker).contract.check(attempt.finished.text)
            return _accept(plan, speaker, attempt.finished, violations)
    return None


def _accept(
    plan: TurnPlan,
    speaker: SpeakerRef,
    answer: AttemptFinished,
    violations: tuple[Violation, ...],
) -> Accept:
    contract = plan.task_for(speaker).contract
    flags = []
    if violations:
        flags.append(contract.flag)
    if answer.finish_reason == "length":
        flags.append(TRUNCATED)
    if speaker.demonstration:
        flags.append(DEMONSTRATION)
    return Accept(answer.text, speaker.model, contract.parse(answer.text), tuple(flags))


def _after_failure(
    plan: TurnPlan, attempts: list[Attempt], failed: AttemptFailed, time_left: float | None
) -> Step:
    speaker = _speaker(plan, attempts[-1])
    number = len(attempts) + 1
    same = [a.failed.cause for a in attempts if a.started.model == speaker.model and a.failed]
    wait: float | None = None
    purpose: Purpose = "retry"
    if failed.cause in _UNCOUNTED and same.count(failed.cause) <= MAX_UNCOUNTED:
        wait, purpose = 0.0, attempts[-1].started.purpose
    elif failed.cause in _TRANSPORT:
        tries = sum(1 for cause in same if cause in _TRANSPORT)
        if tries <= plan.policy.transport_retries:
            wait = failed.retry_after
            if wait is None:
                wait = min(BACK_OFF_CAP, BACK_OFF_BASE * 2.0 ** (tries - 1))
    elif failed.cause in _AGAIN:
        tries = sum(1 for cause in same if cause in _AGAIN)
        if tries <= plan.policy.retries:
            wait = plan.policy.interval
    # What a failed repair was to mend: it is asked for again with it, and stands if that fails too.
    broken = next((a.finished for a in reversed(attempts) if a.finished is not None), None)
    violations = plan.task_for(speaker).contract.check(broken.text) if broken else ()
    if wait is not None and (time_left is None or wait < time_left):
        if broken is not None:
            return Call(number, speaker, "repair", wait, violations, broken.text)
        return Call(number, speaker, purpose, wait)
    if broken is not None:
        return _accept(plan, speaker, broken, violations)
    tried = {attempt.started.model for attempt in attempts}
    substitute = next((ref for ref in plan.participant.speakers if ref.model not in tried), None)
    if substitute is not None and (time_left is None or time_left > 0):
        return Call(number, substitute, "fallback", replaces=failed)
    return GiveUp(failed.cause, failed.message, failed.remedy)


def _speaker(plan: TurnPlan, attempt: Attempt) -> SpeakerRef:
    return next(
        (ref for ref in plan.participant.speakers if ref.model == attempt.started.model),
        plan.participant.speakers[0],
    )
