"""What a discussion will cost, before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from ..core.agents import on_subscription
from ..core.state import State
from ..core.values import OUTSIDE, Participant, SpeakerRef

TOKENS_IN = (600, 2_500)
TOKENS_OUT = (400, 1_500)
"""The usual range of one call of a council; longer procedures say their own."""
_SECONDS_PER_CALL = (4.0, 45.0)
"""The usual range of a call to a large model."""
_SECONDS_PER_SMALL_CALL = (1.0, 10.0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A range, because nobody knows how much models will say."""

    participant_calls: int
    host_calls: int
    tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None
    """None when a seat's price is unknown."""
    multiplier: str
    """How it compares to a single answer."""
    maybe_calls: int = 0
    """Calls to the host that come on top where speeches declare no positions."""
    writer: str = ""
    """The model that writes the result, where that is not the host."""

    @property
    def calls(self) -> int:
        return self.participant_calls + self.host_calls


def estimate_calls(
    participants: Sequence[Participant],
    hosts: Sequence[Participant],
    multiplier: str,
    tokens_in: tuple[int, int] = TOKENS_IN,
    tokens_out: tuple[int, int] = TOKENS_OUT,
    maybe: Sequence[Participant] = (),
) -> Estimate:
    """The estimate for these calls: a participant stands in the list once for each of its calls.
    Those in `maybe` may not be made, so they count for the upper end alone."""
    seats = [*participants, *hosts]
    low = high = 0.0
    known = True
    for seat in seats:
        per_in, per_out = seat.speaker.usd_per_million_in, seat.speaker.usd_per_million_out
        if per_in is None or per_out is None:
            known = False
            continue
        low += (tokens_in[0] * per_in + tokens_out[0] * per_out) / 1_000_000
        high += (tokens_in[1] * per_in + tokens_out[1] * per_out) / 1_000_000
    for seat in maybe:
        per_in, per_out = seat.speaker.usd_per_million_in, seat.speaker.usd_per_million_out
        if per_in is not None and per_out is not None:
            high += (tokens_in[1] * per_in + tokens_out[1] * per_out) / 1_000_000
    return Estimate(
        participant_calls=len(participants),
        host_calls=len(hosts),
        tokens=(
            len(seats) * (tokens_in[0] + tokens_out[0]),
            (len(seats) + len(maybe)) * (tokens_in[1] + tokens_out[1]),
        ),
        cost_usd=(low, high) if known else None,
        multiplier=multiplier,
        maybe_calls=len(maybe),
    )


def with_call(
    estimate: Estimate, host: Participant, tokens_in: tuple[int, int], tokens_out: tuple[int, int]
) -> Estimate:
    """The estimate with one call to the host more, of another size than the rest."""
    one = estimate_calls((), [host], estimate.multiplier, tokens_in, tokens_out)
    cost = None
    if estimate.cost_usd is not None and one.cost_usd is not None:
        cost = (estimate.cost_usd[0] + one.cost_usd[0], estimate.cost_usd[1] + one.cost_usd[1])
    return replace(
        estimate,
        host_calls=estimate.host_calls + 1,
        tokens=(estimate.tokens[0] + one.tokens[0], estimate.tokens[1] + one.tokens[1]),
        cost_usd=cost,
    )


def council_estimate(state: State) -> Estimate:
    """The estimate for a council that has just been opened."""
    rounds = 2 if state.start.options.get("round2") else 1
    host = state.start.host
    host_calls = 0 if host.speaker.demonstration else rounds + 1
    return estimate_calls(
        state.start.participants * rounds, [host] * host_calls, "~6-10x" if rounds == 2 else "~3x"
    )


def estimate_line(estimate: Estimate, state: State) -> str:
    """An estimate in one line."""
    if estimate.cost_usd is None:
        cost = "cost unknown (no price for every model)"
    elif estimate.cost_usd[1] == 0:
        cost = "no cost"
    else:
        cost = f"${estimate.cost_usd[0]:.2f}–${estimate.cost_usd[1]:.2f}"
    seats = (*state.start.participants, state.start.host)
    if any(on_subscription(seat.speaker.model) for seat in seats):
        cost = "your subscription" if cost == "no cost" else f"{cost} and your subscription"
    maybe = " if round 2 is held" if state.start.options.get("round2") == "ask" else ""
    more = f" (up to {estimate.maybe_calls} more)" if estimate.maybe_calls else ""
    written = f"; {estimate.writer} writes the result" if estimate.writer else ""
    return (
        f"📊 Estimate: {estimate.participant_calls} calls to experts and {estimate.host_calls} to "
        f"the {state.start.host.name}{more}, {estimate.tokens[0]:,}–{estimate.tokens[1]:,} tokens, "
        f"{cost}; {estimate.multiplier} a single answer{maybe}{written}"
    )


def estimate_seconds(state: State, estimate: Estimate) -> tuple[float, float] | None:
    """How long it may take: experts of a round speak side by side, unless they speak in turn. None
    when somebody speaks who is no model."""
    seats = (*state.start.participants, state.start.host)
    if any(seat.speaker.model == OUTSIDE for seat in seats):
        return None
    in_turn = state.start.options.get("speech_order") == "fixed"
    rounds = ceil(estimate.participant_calls / max(1, len(state.start.participants)))
    steps = estimate.calls if in_turn else rounds + estimate.host_calls
    low, high = zip(*(_usual(seat.speaker) for seat in seats), strict=True)
    return round(steps * max(low), 1), round(steps * max(high), 1)


def _usual(speaker: SpeakerRef) -> tuple[float, float]:
    if speaker.model.startswith("scripted/"):
        return 0.0, 0.1
    return _SECONDS_PER_SMALL_CALL if speaker.demonstration else _SECONDS_PER_CALL
