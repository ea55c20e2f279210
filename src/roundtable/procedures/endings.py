"""How discussions end, the same in every procedure: with a verdict, early, or without one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil, floor, log10

from ..core.budget import LIMITS, spending
from ..core.cut_short import cut_in_thought
from ..core.effects import Effect, Record
from ..core.events import BudgetExhausted, DiscussionClosed, Event, TurnFailed, VerdictReached
from ..core.limits import FLAGS, is_cap
from ..core.state import State
from ..core.stopping import Stop, budget_exhausted
from ..core.text import listed
from ..core.values import Verdict
from .opening import LARGEST_LIMIT


def with_verdict(state: State, verdict: Verdict, *notes: Event, finish: str) -> tuple[Effect, ...]:
    """Close with a verdict. Where the budget ended it, the verdict is partial, and `finish` says
    what a higher limit would let finish; where it only did not allow asking again, all stands as
    it did before."""
    spent = budget_exhausted(state)
    if (before := state.unchanged) is not None:
        return (Record((*notes, VerdictReached(verdict=before.verdict), before.closed)),)
    closed = DiscussionClosed(status="concluded", stop_reason="verdict")
    if spent is not None:
        verdict = verdict.model_copy(update={"partial": True})
        closed = DiscussionClosed(
            status="stopped",
            stop_reason="budget",
            detail=f"Stopped by {spent.detail}.",
            remedy=to_let_finish(state, finish),
        )
    return (Record((*notes, VerdictReached(verdict=verdict), closed)),)


def with_what_exists(verdict: Verdict | None, stop: Stop) -> tuple[Effect, ...]:
    """Close because somebody asked for it, with a partial verdict if enough was said for one."""
    events: list[Event] = []
    if verdict is not None:
        events.append(VerdictReached(verdict=verdict.model_copy(update={"partial": True})))
    events.append(DiscussionClosed(status="stopped", stop_reason=stop.reason, detail=stop.detail))
    return (Record(tuple(events)),)


def without_verdict(
    state: State, *, needs: int, detail: str, remedy: str, before: str
) -> tuple[Effect, ...]:
    """Close as failed, because fewer than it `needs` answered: `detail` and `remedy` say so, unless
    the budget is what ended it, `before` something had happened. It is not, where too many failed
    whom no higher limit helps."""
    failed = [each for each in state.failures if each.round > 0 and each.cause != "budget"]
    lost = {each.participant for each in failed}
    left = sum(1 for each in state.participants if each.id not in lost)
    spent = budget_exhausted(state) if left >= needs else None
    if spent is not None:
        cut = cut_in_thought(state)
        detail = f"The budget ended {before}: {spent.detail}.{' ' * bool(cut)}{cut}"
        # What helps them is told with them: the limit is raised for the others.
        detail = " ".join(filter(None, (detail + _told(state, failed), _common(failed))))
        remedy = to_raise(state)
    else:
        remedy = " ".join(filter(None, (_common(failed), remedy)))
    closed = DiscussionClosed(
        status="failed",
        stop_reason="budget" if spent else "too_few_answers",
        detail=detail,
        remedy=remedy,
    )
    return (Record((closed,)),)


def to_let_finish(state: State, finish: str) -> str:
    """What lets something come to its end that the budget cut short."""
    return _remedy(state, f" to let {finish} finish")


def to_ask_again(state: State, stage: str) -> str:
    """What lets the last stage be asked again that a limit did not allow."""
    return _remedy(state, " to ask it again", f" --again {stage}")


def to_raise(state: State) -> str:
    """What lets something begin that the budget did not allow."""
    return _remedy(state, "")


def _remedy(state: State, why: str, how: str = "") -> str:
    """What helps, with the command at its end, where it can be copied."""
    names = _too_low(state)
    limits = "limits" if len(names) > 1 else "limit"
    origins = (state.limits_from.get(name, "") for name in names)
    caps = list(dict.fromkeys(each for each in origins if is_cap(each)))
    # It may be long gone when this is read, and then the higher limit is enough.
    hold = "they still hold" if len(caps) > 1 else "it still holds"
    first = f"First raise {listed(caps)}, if {hold}. Then raise" if caps else "Raise"
    enough = {name: _enough(state, name) for name in names}
    if any(float(value) > LARGEST_LIMIT for value in enough.values()):
        return f"{_unpriced(state)}{_BEYOND_LIMITS}"
    values = " ".join(f"{FLAGS[name]} {value}" for name, value in enough.items())
    command = f"roundtable resume {state.discussion_id}{how} {values}"
    return f"{_unpriced(state)}{first} the {limits}{why}: {command}"


_BEYOND_LIMITS = (
    "No limit that can be set is enough for the rest: a server seems to have reported numbers of "
    "tokens that cannot be. Check the servers of the models that spoke, and ask again."
)
_LEAST_USD = 0.0001
"""A smaller limit is no advice: no call is that cheap."""
_MORE = 1.1
"""A limit that is raised by less is no advice either."""


def _spent(state: State) -> BudgetExhausted | None:
    """The limit that is to be raised."""
    return state.exhausted or state.kept_by


def _too_low(state: State) -> list[str]:
    """The limits that what was still to come does not fit into: the one that ended it first, for
    whoever raises that alone may come to the next."""
    spent = _spent(state)
    ended = LIMITS[spent.limit if spent else "cost"]
    budget = state.budget
    others = [
        name
        for name in LIMITS.values()
        if name != ended
        and (limit := getattr(budget, name)) is not None
        and (_needed(state, name) or 0.0) > limit
    ]
    return [ended, *others]


def _needed(state: State, name: str) -> float | None:
    """What is spent or set aside by now and what was still to come at most; None where nobody knows
    that."""
    spent = _spent(state)
    rest = spent.to_come if spent else None
    if rest is None:
        return None
    used = state.spending(state.updated_at or _LONG_AGO)
    match name:
        case "max_cost_usd":
            return used.cost_usd + rest.cost_usd
        case "max_calls":
            return used.calls + rest.calls
        case "max_tokens":
            return used.tokens + rest.tokens
        case _:
            return used.seconds + rest.seconds * _MORE


_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def _enough(state: State, name: str) -> str:
    """What is needed; where nobody knows that, what it was expected to take at most, or twice of
    what was allowed."""
    limit = getattr(state.budget, name) or 0
    needed, foreseen = _needed(state, name), state.expected
    used = spending(state.usage, list(state.reservations.values()), 0.0)
    match name:
        case "max_cost_usd":
            if needed is not None:
                enough = needed
            else:
                most = (foreseen.most_usd if foreseen else None) or 0.0
                enough = most if most > limit else 2 * max(limit, used.cost_usd) or 1.0
            enough = max(enough, limit * _MORE, _LEAST_USD)
            places = max(2, 1 - floor(log10(enough)))
            return f"{ceil(round(enough * 10**places, 6)) / 10**places:.{places}f}"
        case "max_calls":
            most = ceil(needed) if needed is not None else foreseen.most_calls if foreseen else 0
            return str(most if most > limit else 2 * max(limit, used.calls) or 1)
        case "max_tokens":
            # Of those that were foreseen only the likely ones are known.
            most = ceil(needed) if needed is not None else 2 * foreseen.tokens if foreseen else 0
            return str(most if most > limit else 2 * max(limit, used.tokens) or 1)
        case _:
            return f"{ceil(max(needed, limit * _MORE) if needed is not None else 2 * limit)}"


def _unpriced(state: State) -> str:
    """What else helps where a limit of cost met models whose price nobody knows."""
    spent = _spent(state)
    if spent is None or spent.limit != "cost":
        return ""
    speakers = (seat.speaker for seat in (*state.participants, state.start.host))
    unknown = dict.fromkeys(ref.model for ref in speakers if ref.usd_per_million_in is None)
    if not unknown:
        return ""
    one = len(unknown) == 1
    return (
        f"The {'price' if one else 'prices'} of {listed(list(unknown))} {'is' if one else 'are'} "
        f"unknown, so the highest known price was assumed. Set {'it' if one else 'them'} in "
        "models.toml (0 for a model of your own), or limit tokens with --max-tokens instead. "
    )


def reasons(state: State) -> str:
    """Why those who did not answer did not, each reason once."""
    return _told(state, [each for each in state.failures if each.round > 0])


def _told(state: State, failures: Sequence[TurnFailed]) -> str:
    whose: dict[str, dict[str, None]] = {}
    for failure in failures:
        whose.setdefault(failure.message, {})[state.name_of(failure.participant)] = None
    told = (f"{listed(list(names))}: {message}" for message, names in whose.items())
    return "".join(f" {each}" for each in told)


def _common(failures: Sequence[TurnFailed]) -> str:
    """What would help all of them; empty if it differs."""
    remedies = {failure.remedy for failure in failures}
    return remedies.pop() if len(remedies) == 1 else ""


def may_open(state: State, stage: str, round_: int) -> bool:
    """A spent budget opens nothing new, but lets what is open come to its end."""
    return (stage, round_) in state.stages or not budget_exhausted(state)
