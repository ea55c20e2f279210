"""The caps of a process: whoever lets a discussion go on does so within those in force now,
whatever it was opened with."""

from __future__ import annotations

from ..core.events import LimitsRaised
from ..core.limits import Limits, joined
from ..core.state import State
from ..core.text import listed
from .journal import Keyed


def limits_of(state: State) -> Limits:
    """What a discussion may spend, each limit with its origin."""
    return Limits(state.budget, state.limits_from)


def within(limits: Limits, caps: Limits) -> Limits:
    """These limits, as far as no cap is lower."""
    return joined(limits, [caps])[0]


def kept_to(caps: Limits, state: State) -> list[Keyed]:
    """What makes an open discussion keep to the caps, where it could spend more. It stays so
    until somebody gives it a higher limit, as with a cap that it was opened under."""
    limits = within(limits_of(state), caps)
    if state.closed is not None or limits.budget == state.budget:
        return []
    lower = [name for name, most in limits.budget if most != getattr(state.budget, name)]
    by = listed(list(dict.fromkeys(limits.origins.get(name, "a cap") for name in lower)))
    origins = dict(limits.origins)
    return [(LimitsRaised(budget=limits.budget, by=by, limits_from=origins), None)]
