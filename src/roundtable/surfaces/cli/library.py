"""The commands about discussions that exist: list, show, export, stop, speak, delete. Each brings
the views that it shows: a list needs none of them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ...bootstrap import App
from ...core.declaration_block import BrokenJson, parse_json
from ...core.errors import NotAllowed, UnknownName, UsageError
from ...core.state import State
from ...core.text import redact
from ...engine.external import Heard
from ...ports import DiscussionSummary
from ...procedures import procedure_spec
from ...version import __version__
from ..files import STANDARD, write_chosen, write_deliverables
from .columns import echo_rows
from .terminal import (
    confirmed,
    echo_document,
    echo_error,
    echo_key,
    is_terminal,
    on_one_line,
    pipe_bytes,
    print_json,
    print_markdown,
    read_text,
)
from .with_app import nothing_collected, with_app


def list_command(flags: Mapping[str, Any]) -> int:
    rows = with_app(lambda app: app.service.summaries(limit=flags["limit"], search=flags["search"]))
    if flags["as_json"]:
        print_json([_row(row) for row in rows])
        return 0
    if not rows:
        if flags["search"]:
            echo_error(f"No question contains {flags['search']!r}. All of them: roundtable list")
        else:
            echo_error('No discussions yet. Start one: roundtable "Should we …?"')
            echo_error("Read a recorded one: roundtable examples")
        return 0
    echo_rows([_columns(row) for row in rows])
    if waiting := [row for row in rows if _status(row) == "interrupted"]:
        echo_error(f"Go on with an interrupted one: roundtable resume {waiting[0].discussion_id}")
    if aside := [row for row in rows if row.standing == "set_aside"]:
        echo_error(
            "Set aside after it ended its workers three times; to go on by hand: "
            f"roundtable resume {aside[0].discussion_id}"
        )
    return 0


@nothing_collected()
def show_command(flags: Mapping[str, Any]) -> int:
    async def read(app: App) -> State:
        return await app.service.read(flags["discussion_id"])

    async def seen_to(app: App) -> tuple[bool, bool]:
        service, id_ = app.service, flags["discussion_id"]
        return await service.is_driven(id_), await service.is_queued(id_)

    if flags["follow"]:
        from .watching import watched

        state = with_app(partial(watched, flags["discussion_id"], verbose=flags["verbose"]))
    else:
        state = with_app(read)
    if flags["deliverable"]:
        _print_work(_work(state, flags["deliverable"]))
        return 0
    if flags["as_json"]:
        from ...views.result import result

        print_json(result(state))
    elif flags["full"]:
        from ...views.report_md import markdown_report

        text = markdown_report(state, _delivered(state))
        if is_terminal(sys.stdout):
            print_markdown(text)
        else:
            echo_document(f"{text}\n")
    else:
        interrupted = False
        if state.closed is None:
            from ...views.driving import needs_driver

            if needs_driver(state):
                driven, queued = with_app(seen_to)
                interrupted = not driven
                if queued:
                    echo_error("It waits for a worker: roundtable fleet")
        from .verdict import Verdict, print_verdict

        print_verdict(Verdict.of(state, interrupted=interrupted), question=True)
    return 0


@nothing_collected()
def export_command(flags: Mapping[str, Any]) -> int:
    from ..exports import exported_text

    records = with_app(lambda app: app.service.records(flags["discussion_id"]))
    text = exported_text(records, flags["form"], datetime.now(UTC))
    if flags["output"] in (None, STANDARD):
        echo_document(text)
        return 0
    path = Path(flags["output"])
    write_chosen(path, text.encode("utf-8"))
    echo_error(f"Written: {path}")
    return 0


def export_deliverables(flags: Mapping[str, Any]) -> int:
    from ...views.deliverables import works_of

    state = with_app(lambda app: app.service.read(flags["discussion_id"]))
    if not works_of(state).standing:
        raise NotAllowed(NO_WORKS, ASK_FOR_WORK)
    for path in write_deliverables(state, Path(flags["deliverables"]).expanduser()):
        echo_error(f"Written: {path}")
    return 0


NO_WORKS = "This discussion brought no deliverables."
ASK_FOR_WORK = "Ask for a text, code or a plan; its speeches: roundtable show ID."


def _print_work(text: str) -> None:
    if is_terminal(sys.stdout):  # where control characters would act
        echo_key(text, nl=False)
        return
    # In bytes: what a platform makes of line ends is not part of the work.
    pipe_bytes(text.encode("utf-8"))


def _work(state: State, name: str) -> str:
    """The text of a work. UnknownName or NotAllowed says which there are."""
    from ...views.deliverables import work_named, works_of

    works = works_of(state)
    found = work_named(state, name)
    if found is None and not works.standing:
        raise NotAllowed(NO_WORKS, ASK_FOR_WORK)
    if found is None:
        raise UnknownName("deliverable", name, [each.file for each in works.standing])
    if found.left_out:
        raise NotAllowed(f"{found.told}.", "Read it in the attempts of that turn, in a bundle.")
    return found.text


def stop_command(flags: Mapping[str, Any]) -> int:
    state = with_app(
        lambda app: app.service.stop(flags["discussion_id"], by="the user", reason=flags["reason"])
    )
    if state.closed is None:
        echo_error("Asked it to stop; the process that drives it will close it.")
    else:
        echo_error(f"Stopped. Read it with: roundtable show {state.discussion_id}")
    return 0


def speak_command(flags: Mapping[str, Any]) -> int:
    text = read_text("-") if flags["text"] == "-" else flags["text"]
    declaration = _fields(flags["declaration"]) if flags["declaration"] else None

    async def speak(app: App) -> tuple[Heard, State]:
        said = await app.service.hear(
            flags["discussion_id"], flags["participant"], text, declaration, key=flags["key"]
        )
        return said, await app.service.read(flags["discussion_id"])

    said, state = with_app(speak)
    echo_error(f"Recorded as turn {said.speech.turn_id}.")
    if said.speech.round:
        from ...views.outside_form import recorded_of

        echo_error(recorded_of(state, said.speech))
    for remark in said.remarks:
        echo_error(remark)
    return 0


def _fields(text: str) -> Mapping[str, Any]:
    """The fields of a declaration as JSON; UsageError says what is wrong with it."""
    try:
        return parse_json(text)[0]
    except BrokenJson as broken:
        raise UsageError(
            f"The declaration is no JSON: {broken}", 'Such as {"position": "Wait a month."}'
        ) from None


def delete_command(flags: Mapping[str, Any]) -> int:
    from ..tokens.removing import remove

    discussion_id = flags["discussion_id"]
    state = with_app(lambda app: app.service.read(discussion_id))
    asked = f"Delete {discussion_id} for good? It asks: {on_one_line(state.start.topic, 60)}"
    if not flags["yes"] and not asyncio.run(confirmed(asked)):
        echo_error("Nothing was deleted.")
        return 0
    with_app(lambda app: remove(app, discussion_id))
    echo_error(f"Deleted {discussion_id}.")
    return 0


def _status(row: DiscussionSummary) -> str:
    """For people: what is queued waits for a worker."""
    return "waiting" if row.queued else row.standing.replace("_", " ")


def _columns(row: DiscussionSummary) -> tuple[str, ...]:
    topic = on_one_line(row.topic, 60)
    turned_out = f"  [turned out {row.outcome}]" if row.outcome else ""
    return (
        row.discussion_id,
        _local(row.updated_at),
        f"{_status(row):<11}",
        row.procedure,
        f"{topic}{turned_out}",
    )


def _row(row: DiscussionSummary) -> dict[str, Any]:
    return {
        "discussion_id": row.discussion_id,
        "topic": redact(row.topic),
        "procedure": row.procedure,
        "status": row.standing,
        "opened_at": row.opened_at.isoformat(),
        "updated_at": row.updated_at.isoformat(),
        "events": row.last_seq,
        "outcome": row.outcome,
    }


def _local(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M %Z")


def _delivered(state: State) -> str:
    """The verdict in its procedure's words."""
    return procedure_spec(state.start.procedure).deliver(state, __version__)
