"""What a discussion cost, told the same everywhere: what providers told, what only we counted, and
how many calls nobody knows the cost of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..core.agents import on_subscription
from ..core.state import Attempt, State
from ..core.text import dollars, likely_tokens
from ..core.values import Reservation, Usage

Known = Literal["exact", "about", "at_least", "unknown"]
"""`about`: some of it is our own count of the words that came. `at_least`: more is not known."""
SUBSCRIPTION = "your subscription"


@dataclass(frozen=True, slots=True)
class Cost:
    """Of some calls, or of all."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    told_usd: float = 0.0
    """What providers told, at the prices that are known."""
    counted_usd: float = 0.0
    """What the rest comes to by our own count of the words."""
    counted_calls: int = 0
    """Calls of which no usage was told, but all words came: our own count stands for it."""
    unknown_calls: int = 0
    """Calls of which less is known: without a price, under way, or lost before an answer came."""
    own_tokens: bool = False
    """Whether some of the tokens are our own count."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.told_usd + other.told_usd,
            self.counted_usd + other.counted_usd,
            self.counted_calls + other.counted_calls,
            self.unknown_calls + other.unknown_calls,
            self.own_tokens or other.own_tokens,
        )

    @classmethod
    def of(cls, state: State) -> Cost:
        """All of it, with what is under way."""
        return state.derived("cost", lambda at: _whole(at, under_way=True))

    @classmethod
    def so_far(cls, state: State) -> Cost:
        """What was spent by now: what is under way is not paid yet, and makes nothing unknown."""
        return state.derived("cost so far", lambda at: _whole(at, under_way=False))

    @classmethod
    def of_attempt(cls, state: State, attempt: Attempt) -> Cost:
        """Of one call."""
        held = state.reservations.get((attempt.started.turn_id, attempt.started.attempt))
        usage = attempt.usage
        if usage is None:
            return _unheard(attempt, held) if held is not None else Cost()
        by_words = usage.unpriced_calls if usage.counted_usd else 0
        return replace(
            _used(usage),
            counted_calls=by_words,
            unknown_calls=usage.unpriced_calls - by_words,
        )

    @property
    def calls_of_unknown_cost(self) -> int:
        return self.counted_calls + self.unknown_calls

    @property
    def usd(self) -> float | None:
        """The whole cost; None as soon as it was not told of one call."""
        return None if self.calls_of_unknown_cost else self.told_usd

    @property
    def known_usd(self) -> float:
        """As much of it as is known, or was counted by us."""
        return self.told_usd + self.counted_usd

    @property
    def known(self) -> Known:
        if self.unknown_calls:
            return "at_least" if self.known_usd else "unknown"
        return "about" if self.counted_calls else "exact"

    @property
    def tokens(self) -> str:
        """“6,898 tokens”, and “about” where some of them are our own count."""
        about = "about " if self.own_tokens else ""
        return f"{about}{self.input_tokens + self.output_tokens:,} tokens"

    def amount(self, places: int | None = None) -> str:
        """“$0.03”, “about $0.03”, “at least $0.03” or “unknown”."""
        usd = dollars(self.known_usd) if places is None else f"${self.known_usd:,.{places}f}"
        match self.known:
            case "exact":
                return usd
            case "about":
                return f"about {usd}"
            case "at_least":
                return f"at least {usd}"
            case "unknown":
                return "unknown"

    @property
    def why(self) -> str:
        """Why it is not told as what it is; empty if it is."""
        match self.known:
            case "exact" | "unknown":
                return ""
            case "about":
                return f"{_calls(self.counted_calls)} by word count"
            case "at_least":
                return f"{_calls(self.calls_of_unknown_cost)} of unknown cost"

    @property
    def document(self) -> dict[str, Any]:
        """The fields of it that go beside `cost_usd` in documents for programs."""
        return {
            "known_cost_usd": round(self.known_usd, 8),
            "counted_cost_usd": round(self.counted_usd, 8),
            "calls_of_unknown_cost": self.calls_of_unknown_cost,
        }


def in_words(cost: Cost, *, why: bool = True, places: int | None = None) -> str:
    """The amount, with how much of it is not told where that is wanted."""
    told = cost.amount(places)
    return f"{told} ({cost.why})" if why and cost.why else told


def with_subscription(told: str, cost: Cost, models: Iterable[str]) -> str:
    """With what no price stands for: agents that somebody has a subscription for."""
    if not any(map(on_subscription, models)):
        return told
    return SUBSCRIPTION if cost.usd == 0 else f"{told} + {SUBSCRIPTION}"


def _calls(number: int) -> str:
    return f"{number:,} call{'s' if number != 1 else ''}"


def _whole(state: State, *, under_way: bool) -> Cost:
    whole, unknown, by_words = _used(state.usage), state.usage.unpriced_calls, 0
    # Whatever nobody told the cost of has still something set aside for it.
    for (turn_id, number), held in state.reservations.items():
        attempt = state.turns[turn_id].attempts[number - 1]
        if attempt.usage is not None:
            by_words += attempt.usage.unpriced_calls if attempt.usage.counted_usd else 0
        elif under_way or not attempt.in_flight:
            unheard = _unheard(attempt, held)
            whole += replace(unheard, unknown_calls=0)
            unknown += unheard.unknown_calls if attempt.in_flight else 0
    return replace(whole, counted_calls=by_words, unknown_calls=unknown - by_words)


def _used(usage: Usage) -> Cost:
    """What was told, or counted."""
    return Cost(
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.priced_usd,
        usage.counted_usd,
        own_tokens=usage.counted_calls > 0,
    )


def _unheard(attempt: Attempt, held: Reservation) -> Cost:
    """Of a call of which no answer was heard, so much is known: what it was asked."""
    unknown = Cost(unknown_calls=1 if held.cost_usd > 0 else 0)
    started = attempt.started
    asked, reserved = started.prompt, started.reserved
    read = int(likely_tokens(asked.system) + likely_tokens(asked.user)) + 1
    read = min(read, reserved.input_tokens)
    # What was set aside before the part of the answer was told cannot be taken apart.
    known = reserved.priced and reserved.answer_usd > 0 and reserved.input_tokens > 0
    per_in = (reserved.cost_usd - reserved.answer_usd) / reserved.input_tokens if known else 0.0
    return replace(unknown, input_tokens=read, counted_usd=read * per_in, own_tokens=True)
