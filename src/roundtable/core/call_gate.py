"""The gate of a provider: which calls may begin, by how many run, by how many began in the last
minute and by what the provider said, fairly between all who use it. Whoever keeps the gate (one
process, or a database for many) hands in its own time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil

from pydantic import Field

from .throttle import Throttle
from .values import Value

HOLDS = 15.0
"""Seconds after which calls of somebody who was not heard of are taken for ended."""
RENEWS = 5.0
"""Seconds between two signs of life of somebody who has calls under way."""
LOOKS = 0.1
"""Seconds after which somebody who waits for others' calls to end looks again."""
ASKED = 1.0
"""Seconds for which somebody who wanted to call is thought to want it still."""
LONGEST_PAUSE = 60.0
"""Seconds that a call waits because its provider wants it so. If it is to be longer, the call is
refused, so that another speaker can take its place."""
MINUTE = 60.0
BURST = 10
"""A tenth of a minute's calls may begin at once."""


class CallLimits(Value):
    """What may be asked of a provider, or of one model."""

    at_once: int | None = Field(default=None, ge=1, le=10_000)
    """Calls under way; None: any number."""
    per_minute: float | None = Field(default=None, gt=0, le=10_000_000, allow_inf_nan=False)
    """Calls that begin in any minute; None: any number."""
    first: int | None = None
    """Calls at once before anything was learnt; None: all of them."""

    @property
    def none(self) -> bool:
        return self.at_once is None and self.per_minute is None

    @property
    def burst(self) -> int:
        return max(1, int((self.per_minute or 0.0) / BURST))

    @property
    def interval(self) -> float:
        """Seconds from one call to the next, so that with a burst before them no minute has more
        calls than it may have."""
        assert self.per_minute is not None, "only a rate has an interval"
        if self.per_minute < 1:
            return MINUTE / self.per_minute
        return MINUTE / (int(self.per_minute) - self.burst + 1)


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody who calls: a process."""

    held: int
    until: float
    wants: int = 0
    since: float = 0.0
    """From when on it wants more than it has; whoever ends a call waits anew for the next."""
    asked: float = 0.0


@dataclass(frozen=True, slots=True)
class Asking:
    """What a process says at the gate: absolute, so that saying it twice changes nothing."""

    who: str
    held: int
    """Its calls under way."""
    wants: int = 0
    """Further calls that wait."""
    answered: int = 0
    """Calls that succeeded since it was last here."""
    refused: tuple[tuple[float, float | None], ...] = ()
    """When the calls began that the provider was too busy for, and for how long it wants rest."""


@dataclass(frozen=True, slots=True)
class Granted:
    calls: int
    wait: float
    """Seconds after which it is worth to ask again."""
    at: float
    """The gate's time."""
    paused: float = 0.0
    """Seconds for which the provider wants no calls."""


@dataclass(frozen=True, slots=True)
class CallGate:
    """Everything that is known at one gate."""

    throttle: Throttle | None = None
    full_at: float = 0.0
    """By how much the calls of late have used up the rate: its theoretical arrival time."""
    parties: Mapping[str, Party] = field(default_factory=dict)
    seen: float = 0.0
    """The latest time that was heard here: it never goes back."""
    among: int = 1
    """By how many everything is shared whom this gate cannot see."""

    def ask(self, asking: Asking, limits: CallLimits, now: float) -> tuple[CallGate, Granted]:
        """The gate afterwards, and how many of the wanted calls may begin."""
        now = max(now, self.seen)
        throttle = _learnt(self.throttle, asking, limits, now)
        parties = {name: each for name, each in self.parties.items() if each.until > now}
        before = parties.get(asking.who)
        waited = before is not None and before.wants and asking.held >= before.held
        since = before.since if before and waited else now
        parties[asking.who] = mine = Party(asking.held, now + HOLDS, asking.wants, since, now)
        paused = max(0.0, throttle.paused_until - now) if throttle else 0.0
        calls, wait, full_at = 0, paused, self.full_at
        if asking.wants and not paused:
            room = max(1, throttle.room // self.among) if throttle else None
            calls = _share(parties, asking.who, room)
            calls, wait, full_at = _rated(calls, limits, full_at, now, self.among)
            wait = wait or LOOKS
        held, left = asking.held + calls, asking.wants - calls
        if held or left:
            waits_from = now if calls else since
            parties[asking.who] = replace(mine, held=held, wants=left, since=waits_from)
        else:
            del parties[asking.who]
        after = replace(self, throttle=throttle, full_at=full_at, parties=parties, seen=now)
        return after, Granted(calls, wait, now, paused)

    def alone(self, who: str) -> CallGate:
        """What one who cannot see the others any more may take for granted: its own calls, and its
        share of what was known."""
        others = sum(1 for name in self.parties if name != who)
        own = {name: each for name, each in self.parties.items() if name == who}
        return replace(self, parties=own, among=1 + others)

    def dumped(self) -> str:
        t = self.throttle
        return json.dumps(
            {
                "v": 1,
                "throttle": [t.most, t.window, t.paused_until, max(t.cut_at, 0.0)] if t else None,
                "full_at": self.full_at,
                "seen": self.seen,
                "parties": {
                    name: [p.held, p.until, p.wants, p.since, p.asked]
                    for name, p in self.parties.items()
                },
            },
            separators=(",", ":"),
        )

    @classmethod
    def read(cls, text: str) -> CallGate:
        """From `dumped`; an empty text is a gate where nobody was."""
        if not text:
            return cls()
        told = json.loads(text)
        return cls(
            Throttle(*told["throttle"]) if told["throttle"] else None,
            told["full_at"],
            {name: Party(*each) for name, each in told["parties"].items()},
            told["seen"],
        )


def _learnt(
    throttle: Throttle | None, asking: Asking, limits: CallLimits, now: float
) -> Throttle | None:
    if limits.at_once is None:
        return None
    known = throttle or Throttle.starting(limits.at_once, limits.first)
    known = known.bounded(limits.at_once).answered(asking.answered)
    for begun, wait in asking.refused:
        known = known.refused(now, begun=begun, wait=wait)
    return known


def _share(parties: Mapping[str, Party], who: str, room: int | None) -> int:
    """How many of the free places are this one's: each goes to whoever has the fewest, and of
    those to whoever has waited the longest."""
    mine = parties[who]
    if room is None:
        return mine.wants
    free = room - sum(each.held for each in parties.values())
    waiting = {
        name: [each.held, each.since, each.wants]
        for name, each in parties.items()
        if each.wants and each.asked > mine.asked - ASKED
    }
    if len(waiting) == 1:
        return max(0, min(free, mine.wants))
    given = 0
    for _ in range(free):
        name = min(waiting, key=lambda each: (*waiting[each][:2], each), default=None)
        if name is None:
            break
        given += name == who
        waiting[name][0] += 1
        waiting[name][2] -= 1
        if not waiting[name][2]:
            del waiting[name]
    return given


def _rated(
    calls: int, limits: CallLimits, full_at: float, now: float, among: int
) -> tuple[int, float, float]:
    """How many of these calls the rate allows now, the seconds until it allows one more if it is
    what holds them back, and what it is used up to then. (GCRA, with a burst.)"""
    if limits.per_minute is None or not calls:
        return calls, 0.0, full_at
    interval = limits.interval * among
    tolerance = interval * (max(1, limits.burst // among) - 1)
    full_at = max(full_at, now)
    allowed = 0
    while allowed < calls and full_at - now <= tolerance + 1e-9:
        full_at += interval
        allowed += 1
    wait = 0.0 if allowed == calls else full_at - now - tolerance
    return allowed, wait, full_at


def slots_told(gate: CallGate) -> str:
    """A gate in words, for whoever looks after it."""
    held = sum(each.held for each in gate.parties.values())
    waiting = sum(each.wants for each in gate.parties.values())
    told = f"{held} under way"
    if gate.throttle:
        told += f" of {gate.throttle.room}"
    if waiting:
        told += f", {waiting} waiting"
    if gate.throttle and (rest := gate.throttle.paused_until - gate.seen) > 0:
        told += f", paused for {ceil(rest)} s"
    return told
