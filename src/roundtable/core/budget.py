"""Budgets by reservation: what a call may cost at most is set aside before it is made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .events import BudgetExhausted
from .text import estimate_tokens
from .values import Budget, Reservation, SpeakerRef, Usage

Limit = Literal["calls", "tokens", "cost", "time"]


@dataclass(frozen=True, slots=True)
class Spending:
    """What is spent or may yet turn out to be: finished calls plus all reservations held."""

    calls: int
    tokens: int
    cost_usd: float
    seconds: float
    """Active time: how long somebody was called. Neither a pause, nor people who think, nor the
    night before it was resumed count."""


@dataclass(frozen=True, slots=True)
class HoldBack:
    """A later call that must stay affordable, so that the verdict can still be written."""

    speaker: SpeakerRef
    input_tokens: int
    output_tokens: int


def reserve(
    speaker: SpeakerRef, prompt: str, max_tokens: int, dearest: tuple[float, float]
) -> Reservation:
    """The most that one call may cost. An unknown price counts as the dearest known one."""
    return _reservation(speaker, estimate_tokens(prompt), max_tokens, dearest)


def _reservation(
    speaker: SpeakerRef, tokens_in: int, tokens_out: int, dearest: tuple[float, float]
) -> Reservation:
    priced = speaker.usd_per_million_in is not None and speaker.usd_per_million_out is not None
    per_in = speaker.usd_per_million_in if speaker.usd_per_million_in is not None else dearest[0]
    per_out = speaker.usd_per_million_out if speaker.usd_per_million_out is not None else dearest[1]
    return Reservation(
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=(tokens_in * per_in + tokens_out * per_out) / 1_000_000,
        priced=priced,
    )


def admit(
    budget: Budget,
    spending: Spending,
    wanted: Reservation,
    hold_back: HoldBack | None,
    dearest: tuple[float, float],
) -> BudgetExhausted | None:
    """None if the call fits beside what is spent and held back, else which limit it would break."""
    kept = _NOTHING
    if hold_back is not None:
        kept = _reservation(
            hold_back.speaker, hold_back.input_tokens, hold_back.output_tokens, dearest
        )
    calls = spending.calls + 1 + (1 if hold_back is not None else 0)
    if budget.max_calls is not None and calls > budget.max_calls:
        return _exhausted("calls", f"{spending.calls} of {budget.max_calls} calls made")
    tokens = spending.tokens + _tokens(wanted) + _tokens(kept)
    if budget.max_tokens is not None and tokens > budget.max_tokens:
        return _exhausted("tokens", f"{spending.tokens:,} of {budget.max_tokens:,} tokens spent")
    cost = spending.cost_usd + wanted.cost_usd + kept.cost_usd
    if budget.max_cost_usd is not None and cost > budget.max_cost_usd:
        return _exhausted(
            "cost", f"${spending.cost_usd:.4f} of ${budget.max_cost_usd:.4f} spent or reserved"
        )
    if budget.max_seconds is not None and spending.seconds >= budget.max_seconds:
        return _exhausted(
            "time", f"{spending.seconds:.0f} of {budget.max_seconds:.0f} seconds passed"
        )
    return None


def active_seconds(calls: Iterable[tuple[float, float]]) -> float:
    """How long at least one of these calls, each from its beginning to its end, was under way."""
    total, until = 0.0, float("-inf")
    for begun, ended in sorted(calls):
        total += max(0.0, ended - max(begun, until))
        until = max(until, ended)
    return total


_NOTHING = Reservation(input_tokens=0, output_tokens=0, cost_usd=0.0)


def _tokens(reserved: Reservation) -> int:
    return reserved.input_tokens + reserved.output_tokens


def _exhausted(limit: Limit, detail: str) -> BudgetExhausted:
    return BudgetExhausted(limit=limit, detail=detail)


def spending(usage: Usage, held: list[Reservation], seconds: float) -> Spending:
    """Usage and reservations as one figure; a held reservation counts in full."""
    return Spending(
        calls=usage.calls,
        tokens=usage.tokens + sum(_tokens(reserved) for reserved in held),
        cost_usd=usage.priced_usd + sum(reserved.cost_usd for reserved in held),
        seconds=seconds,
    )
