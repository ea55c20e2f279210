"""When a schedule is due: a cron expression in a time zone, or one time. Needs the extra
`schedules` for what recurs.

Twice a year a clock is moved. What is due at a time that is skipped comes as the clock jumps; what
is due at a time that comes twice comes the first time. What runs every hour or every few minutes
goes by real time: it neither piles up in the skipped hour nor rests in the doubled one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from zoneinfo import ZoneInfo, available_timezones

from ..core.errors import BadSetting, UnknownName, UsageError
from ..core.extras import needs
from ..core.schedule import Schedule

ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
FIELDS = 5
EXPECTED = 'minute hour day month weekday, such as "0 8 * * 1" for Mondays at eight; or @daily'
MOST_COUNTED = 200
_JUMP = timedelta(hours=3)
"""Clocks are moved back by less than that."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """The times of a cron expression. Made by `of`, which checks it."""

    cron: str
    zone: ZoneInfo

    @classmethod
    def of(cls, cron: str, zone: str) -> Timetable:
        """BadSetting or UnknownName if there is no such expression or zone, or its time never
        comes."""
        expression = ALIASES.get(cron.strip().lower(), cron.strip())
        fields = expression.split()
        # A sixth field would be seconds; by words such as H and R some mean times that are drawn.
        if len(fields) != FIELDS or not _only_names(expression):
            raise BadSetting("--cron", repr(cron), EXPECTED)
        made = cls(" ".join(fields), find_zone(zone))
        made.after(datetime.now(UTC))
        return made

    def after(self, moment: datetime) -> datetime:
        """The first time after this one, in UTC. BadSetting if there is none."""
        best: datetime | None = None
        start = moment.astimezone(self.zone).replace(tzinfo=None) - _JUMP
        for wall in self._walls(start):
            instants = self._instants(wall)
            later = [each for each in instants if each > moment]
            if later and (best is None or later[0] < best):
                best = later[0]
            # Whatever stands later on the wall is not earlier in truth than its first instant.
            if best is not None and _first(wall, self.zone) >= best:
                return best
        raise AssertionError("walls go on, or say that they do not")

    def between(self, after: datetime, until: datetime) -> int:
        """How many times there are after one moment and up to another, counted up to a bound."""
        count, moment = 0, after
        while count < MOST_COUNTED and (moment := self.after(moment)) <= until:
            count += 1
        return count

    def _walls(self, start: datetime) -> Iterator[datetime]:
        try:
            from croniter import CroniterBadCronError, CroniterBadDateError, croniter
        except ModuleNotFoundError:
            raise needs("What recurs", "schedules") from None
        try:
            times = croniter(self.cron, start)
            while True:
                yield times.get_next(datetime)
        except CroniterBadDateError:
            raise BadSetting("--cron", repr(self.cron), "a time that comes, ever") from None
        except (CroniterBadCronError, ValueError, KeyError):
            raise BadSetting("--cron", repr(self.cron), EXPECTED) from None

    @property
    def _by_real_time(self) -> bool:
        return self.cron.split()[1].startswith("*")

    def _instants(self, wall: datetime) -> list[datetime]:
        """When the clock on the wall shows this: once, twice, or never."""
        first, second = (wall.replace(tzinfo=self.zone, fold=fold) for fold in (0, 1))
        if first.utcoffset() == second.utcoffset():
            return [first.astimezone(UTC)]
        skipped = first.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None) != wall
        if skipped:
            return [] if self._by_real_time else [_jump(first, second)]
        twice = [first.astimezone(UTC), second.astimezone(UTC)]
        return twice if self._by_real_time else twice[:1]


def due_after(schedule: Schedule, moment: datetime) -> datetime | None:
    """When a schedule is due next; None if it does not come again."""
    if schedule.once:
        return None
    return Timetable.of(schedule.cron, schedule.zone).after(moment)


def find_zone(name: str) -> ZoneInfo:
    """UnknownName with what is like it, if there is no such time zone."""
    known = available_timezones()
    if name not in known:
        by_case = {each.casefold(): each for each in known}
        name = by_case.get(name.strip().casefold(), name)
    if name not in known:
        shown = [each for each in known if "/" in each or each == "UTC"]
        raise UnknownName("time zone", name, shown, remedy=_like(name, shown))
    return ZoneInfo(name)


def moment_of(given: str, zone: str, now: datetime) -> datetime:
    """A time to come, as people write it; without an offset it is the zone's. UsageError if it is
    none, is past, or does not exist there."""
    expected = "Write a time to come, such as 2026-12-01T08:00."
    try:
        at = datetime.fromisoformat(given.strip())
    except ValueError:
        raise UsageError(f"--at {given!r} is no time.", expected) from None
    if at.tzinfo is None:
        place = find_zone(zone)
        at = at.replace(tzinfo=place)
        if at.astimezone(UTC).astimezone(place).replace(tzinfo=None) != at.replace(tzinfo=None):
            raise UsageError(
                f"--at {given}: the clocks of {zone} skip that time.", "Give one before or after."
            )
    try:
        at = at.astimezone(UTC)
    except OverflowError:
        raise UsageError(f"--at {given!r} is no time.", expected) from None
    if at <= now:
        raise UsageError(f"--at {given} is past.", expected)
    return at


def _first(wall: datetime, zone: ZoneInfo) -> datetime:
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC) - _JUMP


def _jump(first: datetime, second: datetime) -> datetime:
    """The moment at which the clock skips: `first` counts by the offset before it, `second` by the
    one after, and only at the jump do the two meet."""
    low, high = sorted((first.astimezone(UTC), second.astimezone(UTC)))
    zone = first.tzinfo
    assert zone is not None, "both are of one zone"
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


def _only_names(expression: str) -> bool:
    """Whether its letters are those of months, weekdays and last days alone."""
    return all(word in _NAMES for word in re.findall(r"[^\W\d_]+|\?", expression.lower()))


_NAMES = frozenset(
    {
        *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
        *("sun", "mon", "tue", "wed", "thu", "fri", "sat", "l"),
    }
)


def _like(name: str, known: list[str]) -> str:
    last = name.rpartition("/")[2].casefold()
    near = [each for each in known if last and last in each.casefold()][:3]
    near = near or get_close_matches(name, known, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(near)}?" if near else "Write one such as Europe/Berlin."
