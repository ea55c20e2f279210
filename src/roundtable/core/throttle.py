"""How many calls to a provider may run at once, learnt from what it says: many fewer as soon as it
asks for that, one more after each window of answers. All times are the caller's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from .errors import SpeakerError

AN_HOUR = 3600.0
FEWER = 0.5
"""What is left of the window when a provider refuses."""
PAUSE = 1.0
"""Seconds for which nobody calls a provider that asks us to slow down and does not say for how
long."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """A window of calls between one and `most`."""

    most: int
    window: float
    paused_until: float = 0.0
    """Nobody calls before: the provider said so."""
    cut_at: float = float("-inf")
    """When the window was last made smaller."""

    @classmethod
    def starting(cls, most: int, first: int | None = None) -> Throttle:
        """A window of `first` calls that can grow to `most`."""
        return cls(most, float(min(most, first or most)))

    @property
    def room(self) -> int:
        """How many may run at once now."""
        return max(1, int(self.window))

    def bounded(self, most: int) -> Throttle:
        """The same with another end to its growth; what was learnt stays."""
        return self if most == self.most else replace(self, most=most, window=self._kept(most))

    def answered(self, calls: int = 1) -> Throttle:
        """So many calls succeeded: after as many as fit into the window it is wider by one."""
        window = self.window
        for _ in range(calls):
            if window >= self.most:
                break
            window += 1 / window
        return replace(self, window=min(float(self.most), window))

    def refused(self, now: float, *, begun: float, wait: float | None) -> Throttle:
        """A call that began then was refused, with the seconds to wait if the provider said any. It
        speaks for all: those that began before the window was last cut tell nothing new."""
        paused_until = max(self.paused_until, now + (wait or 0.0))
        if begun <= self.cut_at:
            return replace(self, paused_until=paused_until)
        window = max(1.0, self.window * FEWER)
        return replace(self, window=window, paused_until=paused_until, cut_at=now)

    def _kept(self, most: int) -> float:
        # One that had grown to its end, or began there, was never told that this is too much.
        return float(most) if self.window >= self.most else min(self.window, float(most))


def too_much(error: SpeakerError) -> bool:
    """Whether a failed call says that the provider has too much to do."""
    return error.cause in ("rate_limited", "unavailable")


def seconds_of(error: SpeakerError) -> float | None:
    """For how long nobody should call. Who is merely unwell and names no time may be asked at
    once."""
    if error.retry_after is None and error.cause == "rate_limited":
        return PAUSE
    return error.retry_after


def span(seconds: float) -> str:
    """How long to leave a provider alone, in words. More than an hour is not told apart."""
    if seconds >= AN_HOUR:
        return "an hour or more"
    return f"{ceil(seconds)} s" if seconds <= 120 else f"{ceil(seconds / 60)} min"
