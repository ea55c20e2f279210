"""What a discussion will take: two rehearsals, one of a table that is of one mind at once and one
of a table that differs until the end. What is most likely lies between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from ..core.agents import on_subscription
from ..core.budget import together
from ..core.decide import Procedure
from ..core.state import State
from ..core.text import about, dollars, listed
from ..core.values import OUTSIDE, Budget, Expected, SpeakerRef
from .lengths import NOTHING_HEARD, Lengths
from .play import Played, Spoken, play

SHORT = 0.75
"""Of the usual length of answers, at the low end; at the high end they are as long as is rare."""
DIFFERING = 0.7
"""How near to the longest way the likely one is, where 1 is the longest and nothing is known: most
tables differ at first."""
SYNTHESISER = "synthesiser"


@dataclass(frozen=True, slots=True)
class Takes:
    """What a number of calls takes."""

    calls: float
    tokens: float
    cost_usd: float | None
    """None where a price is unknown."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """From the shortest way through it to the longest, and what is most likely. Nobody knows before
    how much models will say, nor whether they agree."""

    likely: Takes
    least: Takes
    most: Takes
    participant_calls: tuple[int, int]
    host_calls: tuple[int, int]
    waits: bool
    """Whether somebody speaks who is no model: then it takes as long as people take."""
    whole: bool
    """Whether it comes to its end by itself; a meeting that is led from outside does not."""
    multiplier: str
    """How it compares to a single answer."""
    writer: str = ""
    """The model that writes the result, where that is not the host."""
    dearest_usd: float | None = None
    """The most that counts against a limit of cost, where a model of unknown price counts as the
    dearest; None where nobody said what that is."""

    @property
    def calls(self) -> int:
        """The most calls, where none has to be made again."""
        return self.participant_calls[1] + self.host_calls[1]

    @property
    def tokens(self) -> tuple[int, int]:
        return round(self.least.tokens), round(self.most.tokens)

    @property
    def cost_usd(self) -> tuple[float, float] | None:
        """None when a seat's price is unknown."""
        if self.least.cost_usd is None or self.most.cost_usd is None:
            return None
        return self.least.cost_usd, self.most.cost_usd

    @property
    def seconds(self) -> tuple[float, float] | None:
        """None when somebody speaks who is no model."""
        if self.waits:
            return None
        return round(self.least.seconds, 1), round(self.most.seconds, 1)

    @property
    def expected(self) -> Expected:
        """In few figures, as it is stored."""
        return Expected(
            calls=round(self.likely.calls),
            tokens=round(self.likely.tokens),
            cost_usd=_exact(self.likely.cost_usd),
            seconds=None if self.waits else round(self.likely.seconds, 1),
            fewest_calls=self.participant_calls[0] + self.host_calls[0],
            most_calls=self.calls,
            least_usd=_exact(self.least.cost_usd),
            most_usd=_exact(self.most.cost_usd),
            least_tokens=self.tokens[0],
            most_tokens=self.tokens[1],
        )


def estimate(
    state: State,
    procedure: Procedure,
    lengths: Lengths = NOTHING_HEARD,
    *,
    compares: Callable[[State], str] | None = None,
    unpriced: tuple[float, float] | None = None,
    dearest: tuple[float, float] | None = None,
) -> Estimate:
    """What is still to come in a discussion, or all of it where it has only been opened. Nobody is
    called and nothing is stored. Of a model whose price is unknown the cost is too, unless
    `unpriced` says what counts for it; `dearest` is what counts for it against a limit."""
    short = play(state, procedure, lengths, "agreeing")
    long = play(state, procedure, lengths, "differing")
    # Whoever agrees at once may have to confirm it: now and then that is the longer way.
    if _usual(short.calls).tokens > _usual(long.calls).tokens:
        short, long = long, short
    writers = {state.start.host.id, SYNTHESISER}
    seats = (*state.start.participants, state.start.host)
    host = tuple(_among(each, writers) for each in (short, long))
    rest = tuple(len(each.calls) - _among(each, writers) for each in (short, long))
    last = long.calls[-1] if long.calls else None
    chairs = max(1, len(state.start.participants))
    low, high = len(short.calls) / chairs, len(long.calls) / chairs
    far = lengths.far(state.start.procedure, low, high, DIFFERING)
    return Estimate(
        likely=_between(_usual(short.calls, unpriced), _usual(long.calls, unpriced), far),
        least=_least(short.calls, unpriced),
        most=_most(long.calls, unpriced),
        participant_calls=(min(rest), max(rest)),
        host_calls=(min(host), max(host)),
        waits=any(seat.speaker.model == OUTSIDE for seat in seats),
        whole=long.closed,
        multiplier=compares(state) if compares else _multiplier(short, long),
        writer=last.speaker.model if last and last.participant.id == SYNTHESISER else "",
        dearest_usd=_most(long.calls, dearest).cost_usd if dearest else None,
    )


def estimate_line(told: Estimate, state: State) -> str:
    """An estimate in one line."""
    cost = _cost_words(told)
    seats = (*state.start.participants, state.start.host)
    if any(on_subscription(seat.speaker.model) for seat in seats):
        cost = "your subscription" if cost == "free" else f"{cost} and your subscription"
    maybe = " if round 2 is held" if state.start.options.get("round2") == "ask" else ""
    written = f"; {told.writer} writes the result" if told.writer else ""
    so_far = "" if told.whole else "; how it ends is for whoever leads it"
    host = state.start.host
    leads = f"the {host.name} ({host.speaker.model})"
    calls = [(told.participant_calls, "experts"), (told.host_calls, leads)]
    named = [
        f"{_range(count)} {'call' if count[1] == 1 else 'calls'} to {whom}"
        for count, whom in calls
        if count[1]
    ]
    return (
        f"📊 Estimate: {listed(named) or 'no calls'}, "
        f"{about(told.tokens[0])}–{about(told.tokens[1])} tokens, {cost}; "
        f"{told.multiplier} a single answer{maybe}{written}{so_far}"
    )


def over_budget(told: Estimate, budget: Budget) -> list[str]:
    """Which limits it will most likely not fit into, in words."""
    found = []
    likely = told.likely
    if (
        budget.max_calls is not None
        and told.host_calls[0] + told.participant_calls[0] > budget.max_calls
    ):
        found.append(f"calls: about {round(likely.calls)} expected, {budget.max_calls} allowed")
    if budget.max_tokens is not None and likely.tokens > budget.max_tokens:
        found.append(
            f"tokens: about {round(likely.tokens):,} expected, {budget.max_tokens:,} allowed"
        )
    if budget.max_cost_usd is not None:
        most = told.dearest_usd
        if likely.cost_usd is None and most is not None and most > budget.max_cost_usd:
            found.append(
                f"cost: unknown; at the highest known price up to {dollars(most)}, "
                f"{dollars(budget.max_cost_usd)} allowed"
            )
        elif likely.cost_usd is not None and likely.cost_usd > budget.max_cost_usd:
            found.append(
                f"cost: about {dollars(likely.cost_usd)} expected, "
                f"{dollars(budget.max_cost_usd)} allowed; {_what_then(told, budget.max_cost_usd)}"
            )
    if budget.max_seconds is not None and not told.waits and likely.seconds > budget.max_seconds:
        found.append(
            f"time: about {likely.seconds:.0f} seconds expected, {budget.max_seconds:.0f} allowed"
        )
    return found


def _what_then(told: Estimate, limit: float) -> str:
    least = told.least.cost_usd or 0.0
    if limit >= least:
        return "it may end with less"
    # Who is heard shows when it is admitted: answers may well be shorter than is usual.
    return (
        f"even the shortest way usually takes {dollars(least)}, so steps or seats may be left out"
    )


def price_of(speaker: SpeakerRef) -> tuple[float, float] | None:
    """Dollars per million tokens in and out; None where one of them is unknown."""
    if speaker.usd_per_million_in is None or speaker.usd_per_million_out is None:
        return None
    return speaker.usd_per_million_in, speaker.usd_per_million_out


# --- what calls take -------------------------------------------------------------------------


_Unpriced = tuple[float, float] | None
"""Dollars per million tokens in and out that count for a model of unknown price."""


def _usual(calls: Sequence[Spoken], unpriced: _Unpriced = None) -> Takes:
    def usual(each: Spoken) -> tuple[float, float, float]:
        again = each.again
        read, said = each.tokens_in + again.tokens_in, each.tokens_out + again.tokens_out
        return read, said, again.calls

    return _taken(calls, usual, unpriced)


def _least(calls: Sequence[Spoken], unpriced: _Unpriced) -> Takes:
    def least(each: Spoken) -> tuple[float, float, float]:
        return each.tokens_in * each.counting[0], each.tokens_out * SHORT, 0.0

    return _taken(calls, least, unpriced)


def _most(calls: Sequence[Spoken], unpriced: _Unpriced) -> Takes:
    total = sum(each.again.calls for each in calls)
    # Rare things come in any number: twice the deviation beyond what is usual is rarely passed.
    times = 1 + 2 / sqrt(total) if total else 1.0

    def most(each: Spoken) -> tuple[float, float, float]:
        again, top = each.again, each.again_at_most
        unasked = each.unasked_at_most * (1 + max(again.calls * times, top.calls))
        return (
            each.tokens_in * each.counting[1] + max(again.tokens_in * times, top.tokens_in),
            each.uncut_out + unasked + max(again.tokens_out * times, top.tokens_out),
            max(again.calls * times, top.calls),
        )

    return _taken(calls, most, unpriced, at_most=True)


def _taken(
    calls: Sequence[Spoken],
    counted: Callable[[Spoken], tuple[float, float, float]],
    unpriced: _Unpriced,
    *,
    at_most: bool = False,
) -> Takes:
    """What calls take, each of so many tokens in and out, with so many that are made again. With
    `at_most` none is faster than the slowest one so far: a short one may take as long to begin."""
    cost: float | None = 0.0
    tokens, made = 0.0, float(len(calls))
    steps: list[tuple[int, float]] = []
    for each in calls:
        read, said, again = counted(each)
        tokens, made = tokens + read + said, made + again
        price = price_of(each.speaker) or unpriced
        if price is None or cost is None:
            cost = None
        else:
            cost += (read * price[0] + said * price[1]) / 1_000_000
        share = said / each.tokens_out if each.tokens_out else 1.0
        seconds = each.seconds * share
        if at_most:
            seconds = max(seconds, each.longest * (1 + again))
        steps.append((each.step, seconds))
    return Takes(made, tokens, cost, together(steps))


def _between(one: Takes, other: Takes, far: float) -> Takes:
    """So far from one to the other, by ratio."""

    def mean(low: float, high: float) -> float:
        return float(low ** (1 - far) * high**far)

    cost = None
    if one.cost_usd is not None and other.cost_usd is not None:
        cost = mean(one.cost_usd, other.cost_usd)
    return Takes(
        mean(one.calls, other.calls),
        mean(one.tokens, other.tokens),
        cost,
        mean(one.seconds, other.seconds),
    )


def _among(played: Played, writers: Iterable[str]) -> int:
    return sum(1 for each in played.calls if each.participant.id in writers)


def _multiplier(short: Played, long: Played) -> str:
    low, high = sorted((len(short.calls), len(long.calls)))
    return f"~{low}x" if low == high else f"~{low}-{high}x"


def _range(ends: tuple[int, int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}–{ends[1]}"


def _cost_words(told: Estimate) -> str:
    ends = told.cost_usd
    if ends is None or told.likely.cost_usd is None:
        return "cost unknown (not every model has a known price)"
    if ends[1] == 0:
        return "free"
    return f"about {dollars(told.likely.cost_usd)} ({dollars(ends[0])}–{dollars(ends[1])})"


def _exact(usd: float | None) -> float | None:
    return None if usd is None else round(usd, 8)
