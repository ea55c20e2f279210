"""`roundtable schedule`: what is asked again and again, or later."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from ...bootstrap import App
from ...core.schedule import Schedule
from ...core.text import counted, redact
from ...core.visible import shown
from ...documents.gather import gather
from ...ledger.leases import this_owner
from ...schedules.timetable import Timetable
from ..limits import LIMIT_WORDS
from ..schedules.making import (
    WantedSchedule,
    add_schedule,
    find_schedule,
    list_schedules,
    pause_schedule,
    remove_schedule,
    resume_schedule,
    shown_time,
    told,
    unreadable_schedules,
)
from ..schedules.rows import schedule_row
from ..schedules.runner import Runner
from ..tokens.capability import OWNER
from ..web.running import Running
from .ask_options import given
from .here import settings_here
from .interruption import Left, interruptible
from .stray_words import refuse_stray_words
from .terminal import echo, echo_error, print_json, read_text
from .with_app import with_app

_TIMES_SHOWN = 3


def add_command(flags: Mapping[str, Any]) -> int:
    refuse_stray_words(flags, settings_here(tell=False))
    words = " ".join(flags["question"])
    documents = gather(flags["context"], lambda: read_text("-"))
    request = {
        "procedure": flags["procedure"],
        "options": given(flags),
        "context": list(documents.materials),
        "language": flags["language"],
        "budget": {word: flags[word] for word in LIMIT_WORDS},
        "search": not flags["no_search"],
        "news": list(flags["notify"]),
        "confidential": flags["confidential"],
        "secrets": flags["secrets"],
    }
    wanted = WantedSchedule(
        question=read_text("-") if words == "-" else words,
        cron=flags["cron"] or "",
        at=flags["at"] or "",
        zone=flags["zone"] or local_zone(),
        monthly_usd=flags["monthly"],
        request=request,
    )

    async def add(app: App) -> Schedule:
        return await add_schedule(app, OWNER, wanted, surface="cli", made_by="command line")

    made = with_app(add, opens=True)
    for note in documents.notes:
        echo_error(f"Note: {note.text}")
    echo(made.id)
    echo_error("Due " + "; ".join(_times(made)) + ".")
    echo_error("It is opened by `roundtable serve`, a worker, or `roundtable schedule run`.")
    return 0


def list_command(flags: Mapping[str, Any]) -> int:
    async def look(app: App) -> tuple[list[Schedule], list[str]]:
        return await list_schedules(app, OWNER), await unreadable_schedules(app, OWNER)

    found, unreadable = with_app(look)
    if unreadable:
        ids = ", ".join(unreadable)
        echo_error(f"Written by a newer Roundtable, which alone opens them: {ids}.")
    if flags["as_json"]:
        print_json([schedule_row(each).model_dump(mode="json") for each in found])
    else:
        for each in found:
            echo(shown(redact(told(each))))
        if not found and not unreadable:
            echo_error("There are no schedules. Add one: roundtable schedule add --help")
    return 0


def show_command(flags: Mapping[str, Any]) -> int:
    found = with_app(lambda app: find_schedule(app, OWNER, flags["schedule_id"]))
    row = schedule_row(found)
    if flags["as_json"]:
        print_json(row.model_dump(mode="json"))
        return 0
    echo(shown(redact(told(found))))
    if found.next_due is not None:
        echo(f"due {'; '.join(_times(found))}")
    for name, value in row.request.items():
        echo(shown(redact(f"{name}: {value}")))
    if found.monthly_usd is not None:
        echo(f"at most ${found.monthly_usd:g} a month")
    echo(f"{counted(found.runs, 'run')}, {found.missed} missed; made by {shown(found.made_by)}")
    return 0


def pause_command(schedule_id: str) -> int:
    done = with_app(lambda app: pause_schedule(app, OWNER, schedule_id, by="the user"))
    echo_error(f"{done.id} is paused.")
    return 0


def resume_command(schedule_id: str) -> int:
    done = with_app(lambda app: resume_schedule(app, OWNER, schedule_id))
    echo_error(f"{done.id} is due {'; '.join(_times(done))}.")
    return 0


def remove_command(schedule_id: str) -> int:
    done = with_app(lambda app: remove_schedule(app, OWNER, schedule_id))
    echo_error(f"{done.id} is gone; what it has opened stays.")
    return 0


def run_command(*, once: bool) -> int:
    async def run(left: Left) -> int:
        from ...bootstrap import start
        from ..files import WorkspaceFiles
        from .here import settings_here

        settings = settings_here(tell=False)
        delivery = WorkspaceFiles(settings.workspace)
        async with start(settings, delivery=delivery, progress=echo_error) as app:
            running = Running(app.service, on_notice=left.telling(lambda _: None))

            def drive(discussion_id: str) -> None:
                echo(discussion_id)
                running.drive(discussion_id)

            runner = Runner(app, drive, who=f"{this_owner()} schedule run")
            try:
                if not once:
                    await runner.keep()
                for opened in await runner.run_due():
                    await running.over(opened)
            finally:
                await running.close()
        return 0

    return interruptible(run, "resume what it drove: `roundtable list` shows it")


def local_zone() -> str:
    """The time zone of this machine, by its name; UTC where that cannot be told."""
    known = available_timezones()
    if (named := os.environ.get("TZ", "").lstrip(":")) in known and named:
        return named
    with suppress(OSError):
        parts = Path("/etc/localtime").resolve().parts
        for start in range(1, len(parts)):
            if (name := "/".join(parts[start:])) in known:
                return name.removeprefix("Etc/")
    return "UTC"


def _times(schedule: Schedule) -> list[str]:
    """The next times at which it is due."""
    due = schedule.next_due
    if due is None:
        return ["never again"]
    times = [due]
    if schedule.cron:
        timetable = Timetable.of(schedule.cron, schedule.zone)
        while len(times) < _TIMES_SHOWN:
            times.append(timetable.after(times[-1]))
    now = datetime.now(UTC)
    return [shown_time(each, schedule.zone) for each in times if each > now] or ["now"]
