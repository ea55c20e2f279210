"""Questions for later: put again and again, or once."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ...core.errors import UsageError
from ...core.numbers import NUMBER
from ...core.values import Material
from ..opening import BriefOptionValues
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
from .base import ToolsetBase
from .operations import operation
from .results import Result

Action = Literal["list", "show", "add", "pause", "resume", "remove"]


class Scheduled(Result):
    """The schedules that were asked for, or what became of one."""

    schedules: list[ScheduleRow]


class SchedulingTools(ToolsetBase):
    """Schedules: visible and stoppable by whoever may make them."""

    @operation("schedule", "Ask later, or again and again")
    async def schedule(
        self,
        action: Action = "list",
        schedule_id: Annotated[str, Field(description="For all but list and add.")] = "",
        question: str = "",
        cron: Annotated[str, Field(description="minute hour day month weekday.")] = "",
        at: Annotated[str, Field(description="Once: 2026-12-01T08:00.")] = "",
        zone: Annotated[str, Field(description="Such as Europe/Berlin.")] = "UTC",
        procedure: str | None = None,
        context: str = "",
        options: BriefOptionValues | None = None,
        max_cost: Annotated[float | None, Field(ge=0, description="Of each run."), NUMBER] = None,
        monthly_usd: Annotated[float | None, Field(ge=0, description="Of a month."), NUMBER] = None,
        max_calls: Annotated[int | None, Field(ge=1), NUMBER] = None,
        max_tokens: Annotated[int | None, Field(ge=1), NUMBER] = None,
        max_time: Annotated[float | None, Field(gt=0), NUMBER] = None,
    ) -> Scheduled:
        """List, add, pause, resume or remove questions that are put to a table at set times, or
        once later."""
        app, held = self.app, self.access.held
        if action not in ("list", "add") and not schedule_id:
            raise UsageError(f"{action} needs schedule_id.", "action list tells the ids.")
        hint = ""
        match action:
            case "list":
                found = await list_schedules(app, held)
                if unreadable := await unreadable_schedules(app, held):
                    hint = f"A newer Roundtable wrote, and opens: {', '.join(unreadable)}."
            case "show":
                found = [await find_schedule(app, held, schedule_id)]
            case "pause":
                by = held.label or self._created_by
                found = [await pause_schedule(app, held, schedule_id, by=by)]
            case "resume":
                found = [await resume_schedule(app, held, schedule_id)]
            case "remove":
                found = [await remove_schedule(app, held, schedule_id)]
            case "add":
                material = [Material(source="context", text=context)] if context.strip() else []
                wanted = WantedSchedule(
                    question=question,
                    cron=cron,
                    at=at,
                    zone=zone,
                    monthly_usd=monthly_usd,
                    request={
                        "procedure": procedure,
                        "options": options,
                        "context": material,
                        "budget": {
                            "max_cost": max_cost,
                            "max_calls": max_calls,
                            "max_tokens": max_tokens,
                            "max_time": max_time,
                        },
                    },
                )
                by = held.label or self._created_by
                found = [await add_schedule(app, held, wanted, surface="tools", made_by=by)]
                hint = "roundtable serve or a worker opens them."
        return Scheduled(schedules=[schedule_row(each) for each in found], hint=hint)
