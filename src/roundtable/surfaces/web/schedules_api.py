"""Schedules over HTTP: list, add, pause, resume and remove them. Each caller sees its own, the
owner all."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from ...core.numbers import NUMBER
from ...core.values import Material
from ...settings import OnSecrets
from ..limits import LimitValues
from ..opening import OptionValues
from ..schedules.making import (
    WantedSchedule,
    add_schedule,
    find_schedule,
    list_schedules,
    pause_schedule,
    remove_schedule,
    resume_schedule,
    unreadable_schedules,
)
from ..schedules.rows import ScheduleRow, schedule_row
from . import bodies
from .access import Held, Here


class AddSchedule(bodies.Body):
    """A question, the table that it is for, and when it is put to it."""

    topic: str
    procedure: bodies.Short | None = None
    context: list[Material] = Field(default_factory=list, max_length=bodies.MOST_DOCUMENTS)
    options: OptionValues = Field(default_factory=dict)
    language: bodies.Short | None = None
    budget: LimitValues | None = None
    """Of each run."""
    search: bool = True
    secrets: OnSecrets | None = None
    cron: bodies.Short = ""
    zone: bodies.Short = "UTC"
    at: bodies.Short = ""
    """Once, in ISO form; without an offset in the time of `zone`."""
    monthly_usd: Annotated[float | None, Field(ge=0), NUMBER] = None
    """What all its runs of a month may cost."""

    def wanted(self) -> WantedSchedule:
        return WantedSchedule(
            question=self.topic,
            cron=self.cron,
            zone=self.zone,
            at=self.at,
            monthly_usd=self.monthly_usd,
            request={
                "procedure": self.procedure,
                "options": self.options,
                "context": self.context,
                "language": self.language,
                "budget": self.budget.given if self.budget else None,
                "search": self.search,
                "secrets": self.secrets,
            },
        )


class ScheduleList(BaseModel):
    schedules: list[ScheduleRow]
    unreadable: list[str] = Field(default_factory=list)
    """The ids of those that a newer Roundtable wrote: it alone opens them."""


@cache
def router() -> APIRouter:
    routes = APIRouter(prefix="/api/schedules", responses=bodies.REFUSALS, tags=["schedules"])

    @routes.get("")
    async def listed(here: Here, held: Held) -> ScheduleList:
        """The schedules that this caller may see."""
        found = await list_schedules(here.app, held)
        return ScheduleList(
            schedules=[schedule_row(each) for each in found],
            unreadable=await unreadable_schedules(here.app, held),
        )

    @routes.post("", status_code=201)
    async def add(body: AddSchedule, here: Here, held: Held) -> ScheduleRow:
        """Have a question put to a table at set times (`cron`, `zone`), or once (`at`)."""
        by = held.label or "the page"
        made = await add_schedule(here.app, held, body.wanted(), surface="http", made_by=by)
        return schedule_row(made)

    @routes.get("/{schedule_id}")
    async def shown(schedule_id: str, here: Here, held: Held) -> ScheduleRow:
        """One of them."""
        return schedule_row(await find_schedule(here.app, held, schedule_id))

    @routes.post("/{schedule_id}/pause")
    async def pause(schedule_id: str, here: Here, held: Held) -> ScheduleRow:
        """Open nothing until it is resumed."""
        by = held.label or "the owner"
        return schedule_row(await pause_schedule(here.app, held, schedule_id, by=by))

    @routes.post("/{schedule_id}/resume")
    async def resume(schedule_id: str, here: Here, held: Held) -> ScheduleRow:
        """Go on with the next time that comes."""
        return schedule_row(await resume_schedule(here.app, held, schedule_id))

    @routes.delete("/{schedule_id}")
    async def remove(schedule_id: str, here: Here, held: Held) -> ScheduleRow:
        """Remove it; what it has opened stays."""
        return schedule_row(await remove_schedule(here.app, held, schedule_id))

    return routes
