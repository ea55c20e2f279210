"""`roundtable tasks`: report a discussion to a task board, after its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...bootstrap import App
from ...core.errors import UsageError
from ...core.events import TaskLinked
from ...core.text import counted
from .terminal import echo, echo_error, print_json
from .with_app import with_app

if TYPE_CHECKING:
    from ...engine.tasks import Reported


def tasks_command(flags: Mapping[str, Any]) -> int:
    id_ = flags["discussion_id"]

    async def work(app: App) -> Reported | None:
        state = await app.service.read(id_)
        linked = flags["link"] or (f"{state.task.board}:{state.task.task}" if state.task else "")
        name = flags["board"] or linked.partition(":")[0] or _only(app)
        reporter = app.reporter(name)
        if flags["link"]:
            await reporter.link(id_, linked_task(flags["link"]).task, by="the user")
            if state.closed is None:
                return None
        return await reporter.report(
            id_, document=flags["document"] or "", create=not flags["comment_only"]
        )

    reported = with_app(work)
    if reported is None:
        echo_error(f"Linked. Its task hears of the end: roundtable tasks {id_}")
        return 0
    if flags["as_json"]:
        rows = [written.model_dump(mode="json") for written in reported.written]
        document = {"written": rows, "problems": list(reported.problems)}
        print_json(document)
    else:
        for written in reported.written:
            what = f"{written.kind} {written.task}"
            who = (
                f" for {written.owner}, {counted(len(written.items), 'item')}"
                if written.owner
                else ""
            )
            echo(f"{written.board}: {what}{who} {written.url}".rstrip())
        if not reported.written and not reported.problems:
            echo_error("Nothing to report: it is linked to no task and left no action items.")
    for problem in reported.problems:
        echo_error(f"Error: {problem}")
    return 1 if reported.problems else 0


def linked_task(text: str) -> TaskLinked:
    """`BOARD:TASK` as a link."""
    board, colon, task = text.partition(":")
    if not (board and colon and task.strip()):
        raise UsageError(f"{text!r} names no task.", "Write BOARD:TASK, such as github:7.")
    return TaskLinked(board=board, task=task.strip(), by="the user")


def _only(app: App) -> str:
    boards = list(app.settings.choices.boards)
    if len(boards) != 1:
        known = f"Name one of: {', '.join(boards)}." if boards else (
            'Describe one in config.toml: [boards.NAME] with kind = "github", "webhook" or '
            '"command".'
        )  # fmt: skip
        raise UsageError("No task board was named.", known)
    return boards[0]
