"""Opens what schedules have due: in a server, in a worker, or by itself. Any number may run side by
side; each run is claimed, and opened under a key of its own, so that there is one of it whoever
dies when."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from ...bootstrap import App
from ...core.errors import (
    BadSetting,
    LedgerError,
    RoundtableError,
    TooBusy,
    UnknownName,
)
from ...core.events import NoteAdded
from ...core.schedule import Schedule
from ...core.text import redact
from ...schedules.timetable import Timetable, due_after
from ..tokens.monthly import Allowance
from ..tokens.opening import open_as
from .making import OwnerGone, owner_of, request_of, shown_time

LOOKS = 15.0
"""Seconds after which it is looked whether somebody has added or changed a schedule."""
CLAIM = 120.0
"""Seconds within which whoever claimed a run has opened it; after them somebody else does."""
SOONEST = 1.0
"""Seconds after which what was put off is tried again, at least."""
LATE = timedelta(minutes=2)
"""A run that comes later than that says so."""
log = logging.getLogger(__name__)


class Runner:
    """`drive` is told of each discussion that was opened; without it workers drive them, also where
    none is there yet. `who` claims."""

    def __init__(self, app: App, drive: Callable[[str], None] | None, *, who: str) -> None:
        self._app = app
        self._drive = drive
        self._who = who
        self._told: set[str] = set()

    async def keep(self) -> None:
        """Open what is due, until it is cancelled. A database that is away is waited for, and a
        defect is logged: the rest goes on."""
        while True:
            wait = LOOKS
            try:
                await self.run_due()
                schedules = await self._app.schedules()
                self._tell_of(await schedules.unreadable(due=True))
                due = await schedules.due_in()
                wait = min(LOOKS, LOOKS if due is None else due + 0.01)
            except RoundtableError as error:
                log.warning("Schedules wait: %s", redact(str(error)))
            except Exception:
                log.exception("Schedules wait because of a defect")
            await asyncio.sleep(max(wait, 0.05))

    def _tell_of(self, unreadable: Sequence[str]) -> None:
        for each in unreadable:
            if each not in self._told:
                log.warning("%s is due; a newer Roundtable wrote it, and must open it", each)
        self._told = set(unreadable)

    async def run_due(self) -> list[str]:
        """Open everything that is due now; the ids of the discussions."""
        schedules = await self._app.schedules()
        opened = []
        while (claimed := await schedules.claim(self._who, ttl=CLAIM)) is not None:
            schedule, now = claimed
            try:
                after, rests = await self._tried(schedule, now)
            except LedgerError:
                raise  # whoever comes when the claim has run out opens it
            except BaseException:  # told to end: whoever is there opens it, and at once
                with suppress(LedgerError):
                    await asyncio.shield(schedules.settle(schedule, self._who))
                raise
            await schedules.settle(after, self._who, rests=rests)
            if after.runs > schedule.runs:
                opened.append(after.last_discussion)
        return opened

    async def _tried(self, schedule: Schedule, now: datetime) -> tuple[Schedule, float]:
        """How it stands after its run was opened, or was not; and for how many seconds it rests."""
        try:
            following = due_after(schedule, now)
        except (BadSetting, UnknownName) as error:  # a newer list of zones may lack it
            return schedule.paused(redact(error.message)), 0.0
        try:
            discussion_id = await self._open(schedule, now)
        except LedgerError:
            raise
        except RoundtableError as error:
            problem = redact(error.message)
            if isinstance(error, TooBusy):
                log.info("%s is put off: %s", schedule.id, problem)
                return schedule.put_off(problem), max(error.retry_after, SOONEST)
            log.warning("%s could not be opened: %s", schedule.id, problem)
            for_good = isinstance(error, OwnerGone)
            return schedule.failed(problem, following, for_good=for_good), 0.0
        except Exception as error:
            log.exception("%s could not be opened because of a defect", schedule.id)
            return schedule.put_off(f"A defect ({type(error).__name__}); the log has it."), CLAIM
        if self._drive is not None:
            self._drive(discussion_id)
        return schedule.ran(discussion_id, following, _missed(schedule, now)), 0.0

    async def _open(self, schedule: Schedule, now: datetime) -> str:
        notes = []
        assert schedule.next_due is not None, "it was claimed because it is due"
        if now - schedule.next_due > LATE:
            notes.append(_late(schedule, _missed(schedule, now)))
        held = owner_of(self._app, schedule)
        purses = []
        if schedule.monthly_usd is not None:
            purses.append(Allowance(f"schedule {schedule.id}", schedule.monthly_usd))
        request = request_of(self._app, schedule, notes)
        queued = None if self._drive else True
        state, _ = await open_as(
            self._app, held, request, key=schedule.key, queued=queued, purses=purses
        )
        # Somebody else may have opened it to drive it, and died before.
        if self._drive is None and not await self._app.service.is_driven(state.discussion_id):
            await self._app.service.enqueue(state.discussion_id)
        return state.discussion_id


def _missed(schedule: Schedule, now: datetime) -> int:
    """The runs after the one that is due now which were due too, and are not made up for."""
    if schedule.once or schedule.next_due is None:
        return 0
    return Timetable.of(schedule.cron, schedule.zone).between(schedule.next_due, now)


def _late(schedule: Schedule, missed: int) -> NoteAdded:
    assert schedule.next_due is not None, "it is late for something"
    due = shown_time(schedule.next_due, schedule.zone)
    if schedule.waits:
        return NoteAdded(
            code="schedule_late", text=f"This was due at {due}, and was put off: {schedule.waits}"
        )
    more = f" {missed} further run{'s' if missed != 1 else ''} fell out." if missed else ""
    return NoteAdded(
        code="schedule_late",
        text=f"This was due at {due}; nobody was there to open it then.{more}",
        remedy="`roundtable serve`, `roundtable schedule run` or a worker must run at such times.",
    )
