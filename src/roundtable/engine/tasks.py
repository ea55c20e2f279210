"""After the verdict: a comment on the linked task, and tasks made of the action items."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from ..core.errors import NotAllowed, RoundtableError
from ..core.events import TaskLinked, TaskWritten
from ..core.headline import headline
from ..core.naming import with_names
from ..core.state import State
from ..core.text import clip, counted, first_sentences, redact
from ..ports import TaskBoard
from ..views.action_items import NOBODY, action_items, by_owner
from ..views.emphasis import meant
from ..views.outgoing import outgoing
from .service import Service

Dispatch = Callable[[str, str], Awaitable[None]]
"""Sends a message to a channel by its name."""
_MAX_TITLE = 120


@dataclass(frozen=True, slots=True)
class Owner:
    """Who an owner is on the board, and which channel hears of its tasks."""

    account: str = ""
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Reported:
    """What a report left on the board, and what it could not do."""

    written: tuple[TaskWritten, ...]
    problems: tuple[str, ...] = ()


class TaskReporter:
    """Reports a closed discussion to a board. Each part is written once: what the ledger says was
    written is not written again, and the board knows each part by its mark."""

    def __init__(
        self,
        service: Service,
        board: TaskBoard,
        *,
        owners: Mapping[str, Owner] | None = None,
        dispatch: Dispatch | None = None,
    ) -> None:
        self._service = service
        self._board = board
        self._owners = {name.casefold(): owner for name, owner in (owners or {}).items()}
        self._dispatch = dispatch

    async def link(self, discussion_id: str, task: str, *, by: str) -> None:
        """Let a discussion that is under way belong to a task."""
        event = TaskLinked(board=self._board.name, task=task, by=by)
        await self._service.record(discussion_id, event, key=f"link/{self._board.name}/{task}")

    async def report(
        self, discussion_id: str, *, document: str = "", create: bool = True
    ) -> Reported:
        """Comment on the linked task, with the place of the conclusion's `document`, and make a
        task for each owner of action items. A part that fails leaves the others alone."""
        state = await self._service.read(discussion_id)
        if state.closed is None:
            raise NotAllowed(
                f"{discussion_id} has not ended.", "Report it when it has a conclusion."
            )
        problems: list[str] = []
        if state.task is not None and state.task.board == self._board.name:
            await self._attempt(problems, self._comment(state, state.task.task, document))
        groups = by_owner(action_items(state)) if create else {}
        for owner, items in groups.items():
            await self._attempt(problems, self._create(state, owner, items))
        state = await self._service.read(discussion_id)
        return Reported(tuple(state.tasks_written), tuple(problems))

    async def _attempt(self, problems: list[str], part: Awaitable[None]) -> None:
        try:
            await part
        except RoundtableError as error:
            problems.append(redact(str(error)))

    async def _comment(self, state: State, task: str, document: str) -> None:
        mark = f"{state.discussion_id}/comment/{task}"
        if any(w.kind == "comment" and w.task == task for w in state.tasks_written):
            return
        there = await self._board.comment(task, _conclusion(state, document), mark=mark)
        written = TaskWritten(board=self._board.name, task=task, kind="comment", url=there.url)
        await self._service.record(state.discussion_id, written, key=f"task/{mark}")

    async def _create(self, state: State, owner: str, items: tuple[str, ...]) -> None:
        mark = f"{state.discussion_id}/task/{owner.casefold()}"
        if any(w.kind == "task" and w.owner == owner for w in state.tasks_written):
            return
        who = self._owners.get(owner.casefold(), Owner())
        title = clip(f"{owner}: {' '.join(state.start.topic.split())}", _MAX_TITLE)
        lines = [f"From the discussion {state.discussion_id}:", ""]
        lines += [f"- [ ] {item}" for item in items]
        there = await self._board.create(
            outgoing(title), outgoing("\n".join(lines)), owner=who.account, mark=mark
        )
        written = TaskWritten(
            board=self._board.name,
            task=there.id,
            kind="task",
            title=title,
            owner=owner,
            items=items,
            url=there.url,
        )
        await self._service.record(state.discussion_id, written, key=f"task/{mark}")
        if who.channel and self._dispatch is not None:
            told = [f"📋 {title}", *(f"• {item}" for item in items), there.url]
            await self._dispatch(who.channel, "\n".join(line for line in told if line))


def _conclusion(state: State, document: str) -> str:
    answer = state.verdict.answer if state.verdict else ""
    ended = state.closed.status if state.closed else ""
    lines = [f"The discussion {state.discussion_id} ended ({ended})."]
    if answer:
        told = with_names(state, first_sentences(redact(answer), 3, 1000))
        lines += ["", meant(headline(state)), "", told]
    if document:
        lines += ["", f"Conclusion: {document}"]
    open_items = [item for item in action_items(state) if not item.owner]
    if open_items:
        lines += ["", f"Without an owner ({NOBODY}): {counted(len(open_items), 'action item')}."]
    return outgoing("\n".join(lines))
