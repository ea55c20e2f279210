"""Making a schedule, showing and stopping it, with what a caller holds: for every surface."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ...bootstrap import App
from ...core.errors import NotAllowed, UnknownName, UsageError
from ...core.events import NoteAdded
from ...core.schedule import Schedule
from ...core.text import clip
from ...core.values import Budget, Material
from ...ledger.memory import MemoryLedger
from ...ledger.schedules import too_new
from ...procedures.checking import checked as checked_values
from ...procedures.opening import OpenRequest, checked_budget
from ...procedures.options import Surface
from ...schedules.timetable import Timetable, due_after, find_zone, moment_of
from ..limits import stored_limits
from ..opening import open_request
from ..tokens.capability import OWNER, Capability
from ..tokens.opening import in_reach

KEPT = (
    *("procedure", "options", "context", "language", "budget", "search"),
    *("news", "confidential", "secrets"),
)
"""What a schedule keeps of a request; the rest belongs to the surface that shows a discussion."""
MOST = 1_000
"""Schedules in one database."""
MOST_OF_ONE = 100
"""Of whoever holds a token."""


GONE = "The token that made it was ended or has run out."


class OwnerGone(NotAllowed):
    """The token that made a schedule stands no longer."""


@dataclass(frozen=True, slots=True)
class WantedSchedule:
    """What somebody wants to be asked later."""

    question: str
    cron: str = ""
    zone: str = "UTC"
    at: str = ""
    monthly_usd: float | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    """What is in KEPT, as `open_request` takes it."""


async def add_schedule(
    app: App, held: Capability, wanted: WantedSchedule, *, surface: Surface, made_by: str
) -> Schedule:
    """Keep it, once everything about it is found to be in order: its table is seated in memory, and
    nobody is called. What is wrong is said as it is when a discussion is opened."""
    held.check("open")
    if bool(wanted.cron) == bool(wanted.at):
        raise UsageError(
            "A schedule recurs, or comes once.",
            'Say when: --cron "0 8 * * 1" (and --zone), or --at 2026-12-01T08:00.',
        )
    if wanted.monthly_usd is not None:
        monthly = {"max_cost_usd": wanted.monthly_usd}
        checked_budget(checked_values(Budget, monthly, "the month's budget"))
    now = datetime.now(UTC)
    zone = find_zone(wanted.zone).key
    if wanted.cron:
        timetable = Timetable.of(wanted.cron, zone)
        cron, due = timetable.cron, timetable.after(now)
    else:
        cron, due = "", moment_of(wanted.at, zone, now)
    schedule = Schedule(
        id=f"sc_{secrets.token_hex(4)}",
        question=wanted.question,
        request=_stored(wanted.request),
        surface=surface,
        cron=cron,
        zone=zone,
        owner=held.id,
        made_by=made_by,
        made_at=now,
        monthly_usd=wanted.monthly_usd,
        next_due=due,
    )
    await _check_number(app, held)
    request = await in_reach(app, held, request_of(app, schedule))
    await app.service.with_ledger(MemoryLedger()).open(request)
    await (await app.schedules()).add(schedule)
    return schedule


async def list_schedules(app: App, held: Capability) -> list[Schedule]:
    """Those that a caller may see: its own, for the owner all. One whose token has ended is paused,
    also before its next run would have come and nothing is opened."""
    found = [each for each in await (await app.schedules()).all() if _may(held, each)]
    gone = {each.owner for each in found if each.enabled} - {"", *_owners(app, found)}
    return [each.paused(GONE) if each.owner in gone and each.enabled else each for each in found]


async def unreadable_schedules(app: App, held: Capability) -> list[str]:
    """The ids of those that a newer Roundtable wrote, for the owner: nobody here knows whose they
    are."""
    return await (await app.schedules()).unreadable() if held.owns else []


async def find_schedule(app: App, held: Capability, called: str) -> Schedule:
    """The one that is meant by an id or the beginning of one. UnknownName if there is none, or it
    is somebody else's."""
    own = await list_schedules(app, held)
    if called in await unreadable_schedules(app, held):
        raise too_new(called)
    found = [each for each in own if each.id.startswith(called)] if called else []
    exact = [each for each in found if each.id == called]
    if len(exact or found) != 1:
        ids = [each.id for each in own]
        raise UnknownName(
            "schedule", called, ids, remedy=None if ids else "There are no schedules here."
        )
    return (exact or found)[0]


async def pause_schedule(app: App, held: Capability, called: str, *, by: str) -> Schedule:
    """It opens nothing until it is resumed. What it has opened goes on."""
    found = await find_schedule(app, held, called)
    return await (await app.schedules()).change(
        found.id, lambda each: each if not each.enabled else each.paused(f"Paused by {by}.")
    )


async def resume_schedule(app: App, held: Capability, called: str) -> Schedule:
    """It goes on with the next time that comes; what fell out meanwhile is not made up for."""
    found = await find_schedule(app, held, called)
    if found.over:
        raise NotAllowed(f"{found.id} came once, and is over.", "Add another one.")
    owner_of(app, found)
    now = datetime.now(UTC)

    def resumed(each: Schedule) -> Schedule:
        if each.enabled:
            return each
        following = due_after(each, now)
        if following is None:
            raise NotAllowed(f"The time of {each.id} is past.", "Add another one.")
        return each.resumed(following)

    return await (await app.schedules()).change(found.id, resumed)


async def remove_schedule(app: App, held: Capability, called: str) -> Schedule:
    """It is gone; what it has opened stays."""
    found = await find_schedule(app, held, called)
    return await (await app.schedules()).change(found.id, lambda _: None)


def owner_of(app: App, schedule: Schedule) -> Capability:
    """What whoever made it holds now. OwnerGone if that has ended."""
    if not schedule.owner:
        return OWNER
    found = _owners(app, [schedule]).get(schedule.owner)
    if found is None:
        raise OwnerGone(GONE, "Add it anew.")
    return found


def request_of(app: App, schedule: Schedule, notes: Sequence[NoteAdded] = ()) -> OpenRequest:
    """What a schedule asks for, by the settings of now."""
    given = dict(schedule.request)
    context = [Material.model_validate(each) for each in given.pop("context", ())]
    return open_request(
        app.settings,
        schedule.question,
        surface=schedule.surface,  # type: ignore[arg-type]  # it was one when it was stored
        context=context,
        created_by=f"schedule {schedule.id}",
        notes=notes,
        **given,
    )


def told(schedule: Schedule) -> str:
    """A schedule in one line."""
    when = f"{schedule.cron} ({schedule.zone})" if schedule.cron else "once"
    parts = [schedule.id, when]
    if schedule.next_due is not None and schedule.waits:
        due = shown_time(schedule.next_due, schedule.zone)
        parts.append(f"due since {due}, put off: {schedule.waits}")
    elif schedule.next_due is not None:
        parts.append(f"next {shown_time(schedule.next_due, schedule.zone)}")
    elif schedule.over:
        parts.append("over")
    else:
        parts.append(f"paused: {schedule.why}" if schedule.why else "paused")
    if schedule.last_discussion:
        parts.append(f"last {schedule.last_discussion}")
    if schedule.last_problem:
        parts.append(f"last run not opened: {schedule.last_problem}")
    return f"{'  '.join(parts)}  {clip(schedule.question, 80)}"


def shown_time(moment: datetime, zone: str) -> str:
    return f"{moment.astimezone(find_zone(zone)):%Y-%m-%d %H:%M} {zone}"


def _stored(request: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in request if name not in KEPT]
    assert not unknown, f"a schedule does not keep {unknown}"
    given = dict(request)
    if (budget := given.get("budget")) is not None:
        given["budget"] = stored_limits(budget)
    stored = {name: value for name, value in given.items() if value not in (None, "", {}, [], ())}
    if "context" in stored:
        stored["context"] = [each.model_dump() for each in stored["context"]]
    return stored


def _owners(app: App, schedules: Sequence[Schedule]) -> dict[str, Capability]:
    """The tokens that stand, by their ids; not loaded where all belongs to the owner."""
    if not any(each.owner for each in schedules):
        return {}
    from ..tokens.store import tokens_of

    return {each.capability.id: each.capability for each in tokens_of(app.settings).listed()}


def _may(held: Capability, schedule: Schedule) -> bool:
    return held.owns or (held.id != "" and schedule.owner == held.id)


async def _check_number(app: App, held: Capability) -> None:
    everything = await (await app.schedules()).all()
    own = [each for each in everything if held.id and each.owner == held.id]
    if len(everything) >= MOST or len(own) >= MOST_OF_ONE:
        raise NotAllowed("There are too many schedules already.", "Remove some first.")
