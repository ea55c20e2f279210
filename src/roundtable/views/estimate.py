"""What a discussion will cost, before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.state import State

TOKENS_IN = (600, 2_500)
TOKENS_OUT = (400, 1_500)
"""The usual range of one council call."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A range, because nobody knows how much models will say."""

    specialist_calls: int
    captain_calls: int
    tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None
    """None when a seat's price is unknown."""
    multiplier: str

    @property
    def calls(self) -> int:
        return self.specialist_calls + self.captain_calls


def estimate(state: State) -> Estimate:
    """The estimate for a council that has just been opened."""
    rounds = 2 if state.start.options.get("round2") else 1
    host = state.start.host
    captain_calls = 0 if host.speaker.demonstration else rounds + 1
    seats = [*state.start.participants * rounds, *[host] * captain_calls]
    low = high = 0.0
    known = True
    for seat in seats:
        per_in, per_out = seat.speaker.usd_per_million_in, seat.speaker.usd_per_million_out
        if per_in is None or per_out is None:
            known = False
            continue
        low += (TOKENS_IN[0] * per_in + TOKENS_OUT[0] * per_out) / 1_000_000
        high += (TOKENS_IN[1] * per_in + TOKENS_OUT[1] * per_out) / 1_000_000
    return Estimate(
        specialist_calls=len(state.start.participants) * rounds,
        captain_calls=captain_calls,
        tokens=(
            len(seats) * (TOKENS_IN[0] + TOKENS_OUT[0]),
            len(seats) * (TOKENS_IN[1] + TOKENS_OUT[1]),
        ),
        cost_usd=(low, high) if known else None,
        multiplier="~6-10x" if rounds == 2 else "~3x",
    )


def estimate_line(state: State) -> str:
    """The estimate in one line."""
    e = estimate(state)
    if e.cost_usd is None:
        cost = "cost unknown (no price for every model)"
    elif e.cost_usd[1] == 0:
        cost = "no cost"
    else:
        cost = f"${e.cost_usd[0]:.2f}–${e.cost_usd[1]:.2f}"
    maybe = " if round 2 is held" if state.start.options.get("round2") == "ask" else ""
    return (
        f"📊 Estimate: {e.specialist_calls} specialist calls and {e.captain_calls} by the Captain, "
        f"{e.tokens[0]:,}–{e.tokens[1]:,} tokens, {cost}; {e.multiplier} a single answer{maybe}"
    )
