"""After the verdict: the linked task hears of it, and action items become tasks by owner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from roundtable.core.errors import BoardError, NotAllowed
from roundtable.core.events import TaskLinked
from roundtable.engine.tasks import Owner, TaskReporter
from roundtable.ports import BoardTask
from roundtable.procedures.opening import OpenRequest
from tests.procedures.meeting_table import among_themselves, meeting, said
from tests.rehearsal import Table, run_in_virtual_time

LINES = (
    "ACTION: Measure the load - Owner: Backend",
    "ACTION: Write the plan - Owner: Product",
    "ACTION: Copy the data - Owner: backend",
    "ACTION: Tell the shops - Owner: Product",
    "ACTION: Rehearse the move - Owner: Backend",
)


@dataclass
class Board:
    """Remembers what was written, and fails as often as it is told to."""

    name: str = "board"
    comments: list[tuple[str, str]] = field(default_factory=list)
    created: list[tuple[str, str, str]] = field(default_factory=list)
    fails: int = 0

    async def comment(self, task: str, body: str, *, mark: str) -> BoardTask:
        self._maybe_fail()
        self.comments.append((task, body))
        return BoardTask(mark, "http://127.0.0.1/c")

    async def create(self, title: str, body: str, *, owner: str, mark: str) -> BoardTask:
        self._maybe_fail()
        self.created.append((title, body, owner))
        return BoardTask(f"T-{len(self.created)}", mark)

    def _maybe_fail(self) -> None:
        if self.fails:
            self.fails -= 1
            raise BoardError("The board is down.", "Try again.")


async def _held(table: Table, task: TaskLinked | None = None, **options: Any) -> str:
    """A meeting that ended with five action items for two owners."""
    id_ = await among_themselves(table, count=2, max_rounds=1, **options)
    if task is not None:
        await table.service.record(id_, task)
    await table.service.speak(id_, "arch", said(*LINES))
    await table.service.speak(id_, "back", said("NEW: it can be done"))
    await table.service.conclude(id_, "It can be done.")
    return id_


@pytest.mark.requirement("D-96", "D-97")
def test_five_items_of_two_owners_become_two_tasks_a_comment_and_two_messages() -> None:
    table, board, told = meeting(), Board(), []

    async def dispatch(channel: str, text: str) -> None:
        told.append((channel, text))

    async def main() -> None:
        id_ = await _held(table, TaskLinked(board="board", task="7"))
        owners = {"Backend": Owner("bob", "slack:#backend"), "product": Owner("", "slack:#product")}
        reporter = TaskReporter(table.service, board, owners=owners, dispatch=dispatch)
        for _ in range(2):  # a repeated report writes nothing twice
            reported = await reporter.report(id_, document="docs/conclusion.md")
            assert reported.problems == ()
            assert [(w.kind, w.owner, w.items) for w in reported.written] == [
                ("comment", "", ()),
                ("task", "Backend", ("Measure the load", "Copy the data", "Rehearse the move")),
                ("task", "Product", ("Write the plan", "Tell the shops")),
            ]

    run_in_virtual_time(main())
    ((task, body),) = board.comments
    assert task == "7"
    assert "Conclusion: docs/conclusion.md" in body
    assert [owner for _, _, owner in board.created] == ["bob", ""]
    assert [channel for channel, _ in told] == ["slack:#backend", "slack:#product"]
    assert "• Tell the shops" in told[1][1]


@pytest.mark.requirement("D-97")
def test_a_board_that_fails_leaves_the_rest_and_the_next_report_fills_the_gap() -> None:
    table, board = meeting(), Board(fails=2)

    async def main() -> None:
        id_ = await _held(table, TaskLinked(board="board", task="7"))
        reporter = TaskReporter(table.service, board)
        first = await reporter.report(id_)
        assert first.problems == ("The board is down. Try again.",) * 2
        assert [w.owner for w in first.written] == ["Product"]
        second = await reporter.report(id_)
        assert second.problems == ()
        assert len(second.written) == 3

    run_in_virtual_time(main())
    assert len(board.comments) == 1
    assert len(board.created) == 2


def test_a_discussion_that_goes_on_is_not_reported_and_other_boards_are_left_alone() -> None:
    table, board = meeting(), Board()

    async def main() -> None:
        id_ = await among_themselves(table)
        with pytest.raises(NotAllowed, match="has not ended"):
            await TaskReporter(table.service, board).report(id_)
        other = await _held(table, TaskLinked(board="elsewhere", task="7"))
        await TaskReporter(table.service, board).report(other, create=False)

    run_in_virtual_time(main())
    assert (board.comments, board.created) == ([], [])


@pytest.mark.requirement("D-96")
def test_a_task_can_be_linked_at_the_opening_or_later() -> None:
    table, board = meeting(), Board()

    async def main() -> None:
        request = OpenRequest(topic="Tea?", search=False, task=TaskLinked(board="board", task="1"))
        state = await table.service.open(request)
        assert state.task == TaskLinked(board="board", task="1")
        id_ = await _held(table)
        await TaskReporter(table.service, board).link(id_, "9", by="ada")
        await TaskReporter(table.service, board).report(id_, create=False)

    run_in_virtual_time(main())
    assert [task for task, _ in board.comments] == ["9"]
