"""A purse: what somebody may spend in a month, and what of it is gone or set aside. Months are
those of UTC; what a discussion costs counts in the month in which it was opened."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import Field

from .errors import Forbidden, MoneySetAside, NotAllowed
from .text import dollars
from .values import Value

OPENING = "opening "
"""Begins the name of what is set aside for a discussion that has no id yet."""
STALLED = timedelta(minutes=10)
"""Whoever has not opened it after that has died meanwhile."""
CENTS = 1e-9
"""Less than that is a rounding."""


MARGIN = 3.0
"""So many times the most that a discussion was expected to cost is set aside for it."""
LEAST_SHARE = 0.1
"""Of what is left so much in any case: a seat may fall back on a dearer model."""


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

    def spent_in(self, now: datetime) -> float:
        """By what is over, in the month that it is now."""
        return self.spent if self.month == month_of(now) else 0.0

    def gone(self, now: datetime) -> float:
        """What is spent or set aside in this month."""
        month = month_of(now)
        aside = sum(each.amount for each in self.running.values() if each.month == month)
        return self.spent_in(now) + aside

    def with_set_aside(
        self,
        place: str,
        amount: float,
        limit: float,
        now: datetime,
        before: float = 0.0,
        *,
        raised: str = "",
    ) -> Purse:
        """With so much set aside under this name, beyond what it had cost `before`. For one that is
        not over the two together take the place of what was set aside: what it cost since then
        still counts. Refused if it is more than what is left; `raised` says how a limit is."""
        purse = self._at(now)
        earlier = purse.running.get(place)
        if earlier is not None and earlier.month == purse.month:
            amount, before = amount + before - earlier.before, earlier.before
            purse = purse.given_back(place)
        purse.check(amount, limit, now, raised)
        aside = SetAside(month=purse.month, amount=amount, before=before)
        return purse.model_copy(update={"running": {**purse.running, place: aside}})

    def check(self, amount: float, limit: float, now: datetime, raised: str) -> None:
        """Forbidden if so much is not left in this month; MoneySetAside if it may be once those
        that are under way have ended."""
        left = max(0.0, limit - self.gone(now))
        if left > CENTS and amount <= left + CENTS:
            return
        raise _refusal(amount, limit, left, self.spent_in(now), now, raised)

    def renamed(self, place: str, discussion_id: str, aside: SetAside | None = None) -> Purse:
        """What was set aside turned out to be for this discussion. If it was given back meanwhile,
        `aside` is what it was."""
        running = dict(self.running)
        found = running.pop(place, aside)
        if found is not None:
            running.setdefault(discussion_id, found)
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
        # What was set aside by somebody who died before it had an id ends with its month.
        kept = {
            place: each
            for place, each in self.running.items()
            if each.month == month or not place.startswith(OPENING)
        }
        return self.model_copy(
            update={"month": month, "spent": self.spent_in(now), "running": kept}
        )


def month_of(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m")


def renews(now: datetime) -> datetime:
    """When the next month begins."""
    here = now.astimezone(UTC)
    return datetime(here.year + here.month // 12, here.month % 12 + 1, 1, tzinfo=UTC)


def share_of(left: float, most: float | None) -> float:
    """What is set aside for a discussion that nobody limited, if it is expected to cost `most` at
    the most; None: nobody knows, and it may take everything that is left."""
    return left if most is None else min(left, max(MARGIN * most, LEAST_SHARE * left))


def opening_place(key: str, now: datetime) -> str:
    """The name of what is set aside for a discussion that is about to be opened with this key."""
    return f"{OPENING}{int(now.timestamp())} {key}"


def stalled_key(place: str, now: datetime) -> str | None:
    """The key with which somebody who has died since was about to open a discussion; None for
    everything else."""
    if not place.startswith(OPENING):
        return None
    since, _, key = place.removeprefix(OPENING).partition(" ")
    if not key or not since.isdecimal():  # of a version that noted neither: it ends with its month
        return None
    return key if now.timestamp() - int(since) > STALLED.total_seconds() else None


def _refusal(
    amount: float, limit: float, left: float, spent: float, now: datetime, raised: str
) -> NotAllowed:
    unspent = max(0.0, limit - spent)
    budget = f"{dollars(limit)} of this month's budget"
    aside = "set aside by discussions that are under way"
    if unspent > CENTS and amount <= unspent + CENTS:
        if left <= CENTS:
            return MoneySetAside(f"What is left of the {budget} is {aside}.")
        return MoneySetAside(
            f"Of the {budget} {dollars(left)} are free and the rest is spent or {aside}; this may "
            f"cost {dollars(amount)}."
        )
    when = f"It renews on {renews(now):%Y-%m-%d} (UTC)."
    owner = f"or let the owner raise it{f': {raised}' if raised else ''}."
    if unspent <= CENTS:
        return Forbidden(f"The {budget} are used up. {when}", f"Wait until then, {owner}")
    return Forbidden(
        f"Of the {budget} {dollars(unspent)} are left, and this may cost {dollars(amount)}. {when}",
        f"Ask for less, {owner}",
    )
