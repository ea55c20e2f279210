"""A schedule as every surface shows it: what it asks for, without the texts of its material."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from ...core.schedule import Schedule
from ...core.text import clip, redact
from ...core.visible import shown

QUESTION = 500
"""Characters of it that are shown."""


class ScheduleRow(BaseModel):
    """Times are in UTC, in ISO form."""

    model_config = ConfigDict(extra="forbid")

    id: str
    question: str
    cron: str
    zone: str
    enabled: bool
    why: str
    """Why it is paused."""
    next_due: str | None
    last_due: str | None
    last_discussion: str
    last_problem: str
    waits: str
    """Why the run that is due was put off."""
    runs: int
    missed: int
    monthly_usd: float | None
    made_by: str
    made_at: str
    request: dict[str, Any]


def schedule_row(schedule: Schedule) -> ScheduleRow:
    request = dict(schedule.request)
    if context := request.pop("context", None):
        request["context"] = [each["source"] for each in context]
    return ScheduleRow(
        id=schedule.id,
        question=shown(redact(clip(schedule.question, QUESTION))),
        cron=schedule.cron,
        zone=schedule.zone,
        enabled=schedule.enabled,
        why=shown(redact(schedule.why)),
        next_due=schedule.next_due.isoformat() if schedule.next_due else None,
        last_due=schedule.last_due.isoformat() if schedule.last_due else None,
        last_discussion=schedule.last_discussion,
        last_problem=shown(redact(schedule.last_problem)),
        waits=shown(redact(schedule.waits)),
        runs=schedule.runs,
        missed=schedule.missed,
        monthly_usd=schedule.monthly_usd,
        made_by=shown(schedule.made_by),
        made_at=schedule.made_at.isoformat(),
        request=request,
    )
