"""Budgets: what a call may cost at most is set aside before it is made, and it is told to say no
more than that. So a limit holds whatever a model does, and yet refuses nothing that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Literal

from .events import BudgetExhausted
from .text import dollars, listed
from .values import Budget, Reservation, SpeakerRef, Usage

Limit = Literal["calls", "tokens", "cost", "time"]
LIMITS: dict[Limit, str] = {
    "calls": "max_calls",
    "tokens": "max_tokens",
    "cost": "max_cost_usd",
    "time": "max_seconds",
}
"""The field of a budget that holds each limit."""


LOOSE = 0.25
"""Of what nobody needs, so much may be set aside for long answers: what is set aside cannot
be used by those who are asked again meanwhile."""


SPARE = 0.5
"""Of the tokens that an answer was granted: so much more it may seem to have, counted by its
characters, before it is cut. Some texts have more of them to a token than others."""
SHORTEST = 1_000
"""Tokens that every answer may seem to have, however few were granted."""


UNTOLD = 1.25
"""Of what a call of unknown cost seems to have used, so much is kept for it: a server that does not
count may count its words otherwise than we do, and thoughts that it does not show."""


MORE = "and what comes next would take more than is left"
"""Why something is refused although not all is spent."""
BEYOND = "because a provider counted more than it had been asked for"
"""How more can be spent than a limit allows, where all of it was told by providers."""
LONGER = "because more came, or was counted, than had been asked for"
"""The same, where nobody but us counted a part of it."""
SET_SINCE = "before that limit was set"
"""How else: it was spent under a higher limit, or under none."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What is spent or may yet turn out to be: finished calls plus all reservations held."""

    calls: int
    tokens: int
    cost_usd: float
    seconds: float
    """Active time: how long somebody was called. Neither a pause, nor people who think, nor the
    night before it was resumed count."""
    untold_usd: float = field(default=0.0, compare=False)
    """Of the cost, what is counted for calls that ended and of which no usage was told."""
    unpriced_usd: float = field(default=0.0, compare=False)
    """Of the cost, what is counted for calls that ended and of which nobody knows the price."""
    unheard_usd: float = field(default=0.0, compare=False)
    """Of the cost, what was set aside for calls that were lost or cut off, and perhaps paid."""
    uncounted: bool = field(default=False, compare=False)
    """Whether the tokens of some calls are our own count."""
    passed: frozenset[str] = field(default=frozenset(), compare=False)
    """The limits, by their fields, that were lower than what was spent when they were set."""

    @property
    def with_caution(self) -> str:
        """How much of the cost is no bill but counted with caution, and why; empty if nothing."""
        reasons = [
            *(["no usage was told of some calls"] if self.untold_usd > 0 else ()),
            *(["no price is known"] if self.unpriced_usd > 0 else ()),
            *(["a lost call counts as all that was set aside for it"] if self.unheard_usd else ()),
        ]
        if not reasons:
            return ""
        part = self.untold_usd + self.unpriced_usd + self.unheard_usd
        amount = "" if part > self.cost_usd - 1e-9 else f"{dollars(part)} of it "
        return f"{amount}with caution: {listed(reasons)}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that is to be made, or will be."""

    speaker: SpeakerRef
    tokens_in: int
    fewest_out: int
    """Tokens with which an answer is still of use."""
    usual_out: int
    long_out: int
    """Tokens beyond which an answer is rare."""
    most_out: int
    """Tokens beyond which it would not go, or would not be let."""
    seconds: float = 0.0
    """How long it usually takes."""
    unasked_out: int = 0
    """Tokens out that its provider bills beside those that it is asked for."""
    step: int = 0
    """Calls of the same step are made side by side, others one after another."""


@dataclass(frozen=True, slots=True)
class Granted:
    """A call that may be made, and how many tokens it may say."""

    max_tokens: int
    reserved: Reservation
    short: bool = False
    """Whether that is less than is usual, so that it may be cut."""


def grant(
    budget: Budget,
    spending: Spending,
    wanted: Wanted,
    dearest: tuple[float, float],
    *,
    beside: Sequence[Wanted] = (),
    ending: Sequence[Wanted] = (),
    whole_round: bool = False,
) -> Granted | BudgetExhausted:
    """The call, with as many tokens as can be paid; or which limit it would break.

    `beside` are calls of the same stage that wait for their turn: they get their share, and with
    `whole_round` their fewest tokens are kept back: then nothing is spent that they may need.
    `ending` is what has to come after them, up to the verdict: it is kept back, of the time too. An
    unknown price counts as the dearest known one.
    """
    if not _is_in_time(budget, spending, (wanted, *(beside if whole_round else ()), *ending)):
        return BudgetExhausted(limit="time", detail=told(budget, "time", spending))
    needed = 1 + len(ending)
    if budget.max_calls is not None and spending.calls + needed > budget.max_calls:
        return BudgetExhausted(limit="calls", detail=told(budget, "calls", spending))
    out = wanted.most_out
    room = float("inf")
    if budget.max_tokens is not None:
        left = budget.max_tokens - spending.tokens
        fits = _fits(left, wanted, beside, ending, _by_tokens, whole_round=whole_round)
        if fits is None:
            return BudgetExhausted(limit="tokens", detail=told(budget, "tokens", spending))
        out, room = min(out, fits[0]), min(room, fits[1])
    if budget.max_cost_usd is not None:
        money = budget.max_cost_usd - spending.cost_usd

        def price(each: Wanted) -> tuple[float, float]:
            per_in, per_out = _prices(each.speaker, dearest)
            return per_in / 1_000_000, per_out / 1_000_000

        fits = _fits(money, wanted, beside, ending, price, whole_round=whole_round)
        if fits is None:
            return BudgetExhausted(limit="cost", detail=told(budget, "cost", spending))
        out, room = min(out, fits[0]), min(room, fits[1])
    reserved = reserve(wanted, out, dearest)
    if is_paid_by_tokens(budget):
        spare = int(max(0, min(full_spare(out), room - out)))
        per_out = _prices(wanted.speaker, dearest)[1]
        more = {"spare_tokens": spare, "spare_usd": spare * per_out / 1_000_000}
        reserved = reserved.model_copy(update=more)
    return Granted(out, reserved, short=out < min(wanted.usual_out, wanted.most_out))


def covers(
    budget: Budget, spending: Spending, calls: Sequence[Wanted], dearest: tuple[float, float]
) -> bool:
    """Whether all of these calls can still be paid, each with the fewest tokens of use, and have
    the time that they usually take."""
    if not _is_in_time(budget, spending, calls):
        return False
    if budget.max_calls is not None and spending.calls + len(calls) > budget.max_calls:
        return False
    tokens = sum(_total(each, each.fewest_out, _by_tokens) for each in calls)
    if budget.max_tokens is not None and spending.tokens + tokens > budget.max_tokens:
        return False
    cost = sum(reserve(each, each.fewest_out, dearest).cost_usd for each in calls)
    return budget.max_cost_usd is None or spending.cost_usd + cost <= budget.max_cost_usd + 1e-12


def together(calls: Iterable[tuple[int, float]]) -> float:
    """How long calls take, each of a step and so many seconds: those of a step side by side."""
    slowest: dict[int, float] = {}
    for step, seconds in calls:
        slowest[step] = max(slowest.get(step, 0.0), seconds)
    return sum(slowest.values())


def _is_in_time(budget: Budget, spending: Spending, calls: Iterable[Wanted]) -> bool:
    if budget.max_seconds is None:
        return True
    left = budget.max_seconds - spending.seconds
    return left > 0 and together((each.step, each.seconds) for each in calls) <= left


def told(budget: Budget, limit: Limit, spending: Spending) -> str:
    """How much of a limit is used up; empty where there is no such limit."""
    most = getattr(budget, LIMITS[limit])
    if most is None:
        return ""
    match limit:
        case "calls":
            return f"{spending.calls} of {most} calls made"
        case "time":
            why = "" if spending.seconds >= most else f", {MORE}"
            return f"{spending.seconds:.0f} of {most:.0f} seconds passed{why}"
        case "tokens":
            why = _why(limit, spending, over=is_beyond(budget, limit, spending))
            return f"{spending.tokens:,} of {most:,} tokens spent or set aside{why}"
        case "cost":
            spent, allows = dollars(spending.cost_usd), dollars(most)
            over = is_beyond(budget, limit, spending)
            why, of = _why(limit, spending, over=over), f"{spent} of {allows}"
            if careful := spending.with_caution:
                return f"{of} counted ({careful}){why}"
            return f"{of} spent or set aside{why}"


def is_beyond(budget: Budget, limit: Limit, spending: Spending) -> bool:
    """Whether more was charged than a limit allows, by more than anybody would see."""
    if limit == "cost":
        most, spent = budget.max_cost_usd, spending.cost_usd
        return most is not None and spent > most and dollars(spent) != dollars(most)
    return (
        limit == "tokens" and budget.max_tokens is not None and spending.tokens > budget.max_tokens
    )


def _why(limit: Limit, spending: Spending, *, over: bool) -> str:
    if over and LIMITS[limit] in spending.passed:
        return f" {SET_SINCE}"
    if not over:
        return f", {MORE}"
    return f", {LONGER if spending.uncounted else BEYOND}"


LEFT_OUT = "All that the limit allowed"
"""How it is told that a step was left out."""


def left_out(budget: Budget, limit: Limit) -> str:
    """Why something was left out that the table could do without, under the limit of then."""
    return f"{LEFT_OUT} ({allowed(budget, limit)}) was needed for the answers and the verdict."


def allowed(budget: Budget, limit: Limit) -> str:
    """How much a limit allows; empty where there is no such limit."""
    most = getattr(budget, LIMITS[limit])
    if most is None:
        return ""
    match limit:
        case "cost":
            return dollars(most)
        case "calls":
            return "1 call" if most == 1 else f"{most:,} calls"
        case "tokens":
            return f"{most:,} tokens"
        case "time":
            return f"{most:.0f} seconds"


def passed(budget: Budget, spending: Spending) -> frozenset[str]:
    """The limits, by their fields, that are lower than what is spent or set aside."""
    used: dict[Limit, float] = {
        "calls": spending.calls,
        "tokens": spending.tokens,
        "cost": spending.cost_usd,
        "time": spending.seconds,
    }
    limits = ((name, getattr(budget, name), used[limit]) for limit, name in LIMITS.items())
    return frozenset(name for name, most, gone in limits if most is not None and gone > most)


def none_left(budget: Budget, spending: Spending) -> Limit | None:
    """The limit under which no call can be made any more, be it free."""
    over = passed(budget, spending)
    for limit, name in LIMITS.items():
        if name in over:
            return limit
    if budget.max_calls is not None and spending.calls >= budget.max_calls:
        return "calls"
    if budget.max_seconds is not None and spending.seconds >= budget.max_seconds:
        return "time"
    return None


def is_paid_by_tokens(budget: Budget) -> bool:
    """Whether every token counts against a limit."""
    return budget.max_tokens is not None or budget.max_cost_usd is not None


def full_spare(out: int) -> int:
    """Tokens beyond those granted that an answer may seem to have where they can be paid."""
    return max(SHORTEST - out, ceil(out * SPARE))


_Price = Callable[[Wanted], tuple[float, float]]
"""What a token in and a token out of a call count."""


def reserve(wanted: Wanted, tokens_out: int, dearest: tuple[float, float]) -> Reservation:
    """The most that one call may cost. An unknown price counts as the dearest known one. What is
    billed unasked counts with what is read: its speaker cannot say it."""
    speaker, unasked = wanted.speaker, wanted.unasked_out
    per_in, per_out = _prices(speaker, dearest)
    return Reservation(
        input_tokens=wanted.tokens_in + unasked,
        output_tokens=tokens_out,
        cost_usd=(wanted.tokens_in * per_in + (unasked + tokens_out) * per_out) / 1_000_000,
        answer_usd=tokens_out * per_out / 1_000_000,
        priced=speaker.usd_per_million_in is not None and speaker.usd_per_million_out is not None,
    )


def kept_of(reserved: Reservation, usage: Usage) -> Reservation:
    """What stays set aside for a call that came to its end and of which nobody knows the cost: no
    tokens, for those are counted or estimated, and of the money what they come to at the prices it
    was set aside at. Unknown is not zero, nor is it all that the call might have said."""
    used = ceil(usage.output_tokens * UNTOLD)
    if reserved.answer_usd and reserved.output_tokens and used <= reserved.output_tokens:
        answer = reserved.answer_usd * used / reserved.output_tokens
        cost = reserved.cost_usd - reserved.answer_usd + answer
    else:  # an answer that was not as short, or one of before its part was told
        cost = reserved.cost_usd
    spare = 0.0 if usage.output_tokens <= reserved.output_tokens else reserved.spare_usd
    return Reservation(
        input_tokens=0,
        output_tokens=0,
        cost_usd=max(cost, _words_usd(reserved, usage) - spare),
        priced=reserved.priced,
        spare_usd=spare,
    )


def _words_usd(reserved: Reservation, usage: Usage) -> float:
    """What the words of a call come to at the prices it was set aside at: what came beyond all that
    was set aside is charged, too."""
    if not reserved.output_tokens:
        return 0.0
    per_out = reserved.answer_usd / reserved.output_tokens
    return reserved.cost_usd - reserved.answer_usd + per_out * usage.output_tokens


def _fits(
    left: float,
    wanted: Wanted,
    beside: Sequence[Wanted],
    ending: Sequence[Wanted],
    price: _Price,
    *,
    whole_round: bool,
) -> tuple[int, float] | None:
    """How many tokens the call may say, of what is left, and how many could be paid before others
    would have less for it; None if not even the fewest."""
    per_in, per_out = price(wanted)
    read = _total(wanted, 0, price)
    if per_in == per_out == 0:
        return wanted.most_out, float("inf")
    others = sum(_total(each, each.fewest_out, price) for each in beside) if whole_round else 0.0
    kept = sum(_total(each, each.fewest_out, price) for each in ending)
    if read + wanted.fewest_out * per_out + others + kept > left:
        return None
    if per_out == 0:
        return wanted.most_out, float("inf")
    most = (left - kept - others - read) / per_out
    # Whoever is asked beside others gets its share by what each usually says: up to what is rare
    # with a verdict of the usual length behind it, and more only of what nobody needs.
    weights = [each.usual_out * price(each)[1] for each in (wanted, *beside)]
    part = weights[0] / sum(weights) / per_out if sum(weights) > 0 else 1.0
    over = left - read - sum(_total(each, 0, price) for each in beside)
    usual = over - sum(_total(each, each.usual_out, price) for each in ending)
    room = min(wanted.long_out, usual * part)
    share = (over - sum(_total(each, each.long_out, price) for each in ending)) * part * LOOSE
    if not beside and not ending:
        share = most  # nothing comes after it that could need the rest
    out = int(min(wanted.most_out, most, max(wanted.fewest_out, room, share)) + 1e-6)
    return out, min(most, usual * part)


def _total(each: Wanted, out: int, price: _Price) -> float:
    per_in, per_out = price(each)
    return each.tokens_in * per_in + (each.unasked_out + out) * per_out


def _prices(speaker: SpeakerRef, dearest: tuple[float, float]) -> tuple[float, float]:
    per_in, per_out = speaker.usd_per_million_in, speaker.usd_per_million_out
    return (
        dearest[0] if per_in is None else per_in,
        dearest[1] if per_out is None else per_out,
    )


def _by_tokens(_: Wanted) -> tuple[float, float]:
    return 1.0, 1.0


def active_seconds(calls: Iterable[tuple[float, float]]) -> float:
    """How long at least one of these calls, each from its beginning to its end, was under way."""
    total, until = 0.0, float("-inf")
    for begun, ended in sorted(calls):
        total += max(0.0, ended - max(begun, until))
        until = max(until, ended)
    return total


def spending(
    usage: Usage,
    held: list[Reservation],
    seconds: float,
    passed: frozenset[str] = frozenset(),
    unheard_usd: float = 0.0,
) -> Spending:
    """Usage and reservations as one figure; a held reservation counts in full. `unheard_usd` are
    those of calls that ended and of which nothing was heard."""
    ended = [each for each in held if each.is_kept]
    return Spending(
        calls=usage.calls,
        tokens=usage.tokens
        + sum(each.input_tokens + each.output_tokens + each.spare_tokens for each in held),
        cost_usd=usage.priced_usd + sum(each.cost_usd + each.spare_usd for each in held),
        seconds=seconds,
        untold_usd=sum(each.cost_usd + each.spare_usd for each in ended if each.priced),
        unpriced_usd=sum(each.cost_usd + each.spare_usd for each in ended if not each.priced),
        unheard_usd=unheard_usd,
        uncounted=usage.counted_calls > 0,
        passed=passed,
    )
