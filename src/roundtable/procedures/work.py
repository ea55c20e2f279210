"""Work: how a table is asked for deliverables, and shown those that are there.

One variable, `deliverable`, stands before the declaration in a template that may ask for work; it
is empty where none is asked for. The writer of a verdict gets `deliverables` in the same way: the
works with their ids, to say which of them stand and never to write them again.
"""

from __future__ import annotations

from dataclasses import replace

from ..core.deliverable import LABEL, MARKS, asks_for_work
from ..core.effects import PromptPlan, PromptValue, Task, Untrusted
from ..core.text import estimate_tokens
from ..core.values import Participant
from ..core.versions import Version, current_versions
from .table import Table

WORK_TOKENS = 12_000
"""For a work and the speech around it: some nine hundred lines."""


def wants_work(table: Table, *, always: bool = False) -> bool:
    """Whether the seats are told how to deliver a work: where the question asks for one, or the
    procedure says so."""
    return always or asks_for_work(table.state.start.topic)


def work_asked(table: Table, seat: Participant, *, before: int) -> PromptPlan:
    """The part of a prompt that says how a work is delivered, with the works of earlier rounds."""
    shown = [v for v in current_versions(table.state) if v.round < before]
    return PromptPlan(
        "shared/deliverable",
        {
            "marks": "~" * MARKS,
            "label": LABEL,
            "works": shown_works(table, shown, seat),
            "own": ", ".join(v.id for v in shown if v.participant == seat.id),
            "too_long": ", ".join(v.id for v in shown if not _fits(v, seat)),
            "writer": False,
        },
    )


def works_to_judge(table: Table) -> PromptPlan | str:
    """The part of the writer's prompt that shows the works; empty where there are none."""
    shown = current_versions(table.state)
    if not shown:
        return ""
    return PromptPlan(
        "shared/deliverable",
        {
            "marks": "",
            "label": LABEL,
            "works": shown_works(table, shown),
            "own": "",
            "too_long": "",
            "writer": True,
        },
    )


def shown_works(
    table: Table, versions: list[Version] | tuple[Version, ...], reader: Participant | None = None
) -> tuple[Untrusted, ...]:
    """Works as they may stand in a prompt: fenced, with the id by which each is named."""
    return tuple(
        Untrusted(
            "deliverable",
            v.work.text or f"[{v.work.left_out:,} bytes, too large to be kept]",
            f"{'yourself' if reader and reader.id == v.participant else table.name(v.participant)}"
            f", turn {v.turn_id}: {v.id}, {v.name}, version {v.number}"
            f"{'' if v.work.whole else ', its end is missing'}",
        )
        for v in versions
    )


def working(table: Table, task: Task, seat: Participant, *, before: int) -> Task:
    """The task of a speech that may bring works, with room for them."""
    shown = [v for v in current_versions(table.state) if v.round < before and _fits(v, seat)]
    longest = max((estimate_tokens(v.work.text) for v in shown), default=0)
    room = max(WORK_TOKENS, longest * 5 // 4)
    return replace(task, work=True, max_tokens=task.max_tokens + room)


def asked_for(table: Table, seat: Participant, *, before: int, wanted: bool) -> PromptValue:
    """The variable `deliverable` of a template."""
    return work_asked(table, seat, before=before) if wanted else ""


def _fits(version: Version, seat: Participant) -> bool:
    """Whether a seat can read a work and write it again: else it may only say what to change."""
    window = min(ref.context_window for ref in seat.speakers)
    return not version.work.left_out and estimate_tokens(version.work.text) * 5 // 2 < window
