"""A purse: what somebody may spend in a month, and what of it is gone or set aside. Months are
those of UTC; what a discussion costs counts in the month in which it was opened."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import Field

from .errors import Forbidden
from .values import Value

OPENING = "opening "
"""Begins the name of what is set aside for a discussion that has no id yet."""
CENTS = 1e-9
"""Less than that is a rounding."""


class SetAside(Value):
    """For a discussion that is not over."""

    month: str
    amount: float
    before: float = 0.0
    """What it had cost before, where it is the same discussion once more."""


class Purse(Value):
    """Of one account: a token, everybody together, a schedule."""

    monthly_usd: float | None = None
    """What the owner said for this account; None: what is said for all of its kind."""
    month: str = ""
    spent: float = 0.0
    """By what is over, in this month."""
    running: dict[str, SetAside] = Field(default_factory=dict)

    def gone(self, now: datetime) -> float:
        """What is spent or set aside in this month."""
        month = month_of(now)
        spent = self.spent if self.month == month else 0.0
        return spent + sum(each.amount for each in self.running.values() if each.month == month)

    def with_set_aside(
        self, place: str, amount: float, limit: float, now: datetime, before: float = 0.0
    ) -> Purse:
        """With so much set aside under this name. Forbidden if it is more than what is left."""
        left = limit - self.gone(now)
        if left <= CENTS or amount > left + CENTS:
            raise used_up(limit, left, now)
        aside = SetAside(month=month_of(now), amount=amount, before=before)
        purse = self._at(now)
        return purse.model_copy(update={"running": {**purse.running, place: aside}})

    def renamed(self, place: str, discussion_id: str) -> Purse:
        """What was set aside turned out to be for this discussion."""
        running = dict(self.running)
        if (aside := running.pop(place, None)) is not None:
            running[discussion_id] = aside
        return self.model_copy(update={"running": running})

    def given_back(self, place: str) -> Purse:
        running = {name: each for name, each in self.running.items() if name != place}
        return self.model_copy(update={"running": running})

    def settled(self, discussion_id: str, cost: float | None, now: datetime) -> Purse:
        """It is over and cost so much in all; None: as much as was set aside."""
        aside = self.running.get(discussion_id)
        if aside is None:
            return self
        cost = aside.amount if cost is None else max(0.0, cost - aside.before)
        purse = self.given_back(discussion_id)._at(now)
        if aside.month != purse.month:
            return purse
        return purse.model_copy(update={"spent": purse.spent + cost})

    def _at(self, now: datetime) -> Purse:
        month = month_of(now)
        spent = self.spent if self.month == month else 0.0
        # What was set aside by somebody who died before it had an id ends with its month.
        kept = {
            place: each
            for place, each in self.running.items()
            if each.month == month or not place.startswith(OPENING)
        }
        return self.model_copy(update={"month": month, "spent": spent, "running": kept})


def month_of(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m")


def renews(now: datetime) -> datetime:
    """When the next month begins."""
    here = now.astimezone(UTC)
    return datetime(here.year + here.month // 12, here.month % 12 + 1, 1, tzinfo=UTC)


def used_up(limit: float, left: float, now: datetime) -> Forbidden:
    return Forbidden(
        f"The budget of this month is used up: of ${limit:.2f} ${max(0.0, left):.2f} are left. "
        f"It renews on {renews(now):%Y-%m-%d} (UTC).",
        "Wait until then, or let the owner raise it: roundtable tokens budget.",
    )
