"""Work: how a table is asked for deliverables, and shown those that are there.

One variable, `deliverable`, stands before the declaration in a template that may ask for work; it
is empty where none is asked for. The writer of a verdict gets `deliverables` in the same way: the
works with their ids, to say which of them stand and never to write them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..core.contracts import Contract
from ..core.declaration_form import Form
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


def declaring_work(
    table: Table,
    seat: Participant,
    round_: int,
    template: str,
    variables: Mapping[str, PromptValue],
    form: Form,
    contract: Contract,
    *,
    wanted: bool,
) -> Task:
    """A speech that ends with a declaration and, where work is `wanted`, may bring some. The
    template gets the variable `deliverable`."""
    shown = [v for v in current_versions(table.state) if v.round < round_] if wanted else []
    asked: PromptValue = _asked(table, seat, shown) if wanted else ""
    task = table.declaring_task(template, {**variables, "deliverable": asked}, form, contract)
    if not wanted:
        return task
    longest = max((estimate_tokens(v.work.text) for v in _writable(shown, seat)), default=0)
    room = max(WORK_TOKENS, longest * 5 // 4)
    return replace(task, work=True, max_tokens=task.max_tokens + room)


def _asked(table: Table, seat: Participant, shown: Sequence[Version]) -> PromptPlan:
    """The part of a prompt that says how a work is delivered, with the works of earlier rounds."""
    writable = _writable(shown, seat)
    return PromptPlan(
        "shared/deliverable",
        {
            "marks": "~" * MARKS,
            "label": LABEL,
            "works": _shown(table, shown, seat),
            "own": ", ".join(v.id for v in shown if v.participant == seat.id),
            "too_long": ", ".join(v.id for v in shown if v not in writable),
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
            "works": _shown(table, shown),
            "own": "",
            "too_long": "",
            "writer": True,
        },
    )


def _shown(
    table: Table, versions: Sequence[Version], reader: Participant | None = None
) -> tuple[Untrusted, ...]:
    """Works as they may stand in a prompt: fenced, with the id by which each is named, and by
    whomever the reader knows it to be."""
    return tuple(
        Untrusted(
            "deliverable",
            v.work.text or f"[{v.work.left_out:,} bytes, too large to be kept]",
            f"{_author(table, v, reader)}: {v.id}, {v.name}, version {v.number}"
            f"{'' if v.work.whole else ', its end is missing'}",
        )
        for v in versions
    )


def _author(table: Table, version: Version, reader: Participant | None) -> str:
    named = f"{table.name(version.participant)}, turn {version.turn_id}"
    if reader is None:
        return named
    if reader.id == version.participant:
        return "yourself"
    known = {seat: name for name, seat in table.peers(reader.id).items()}
    name = known.get(version.participant, "")
    # A turn says who spoke in it: whoever knows the others by letters must not see it.
    return named if name == table.name(version.participant) else f"Answer {name}"


def _writable(versions: Sequence[Version], seat: Participant) -> list[Version]:
    """The works that a seat can read beside the others and write again, the shortest first: of the
    rest it may only say what to change."""
    room = min(ref.context_window for ref in seat.speakers) // 3
    found: list[Version] = []
    for each in sorted(versions, key=lambda v: len(v.work.text)):
        room -= estimate_tokens(each.work.text)
        if room > 0 and not each.work.left_out:
            found.append(each)
    return found
