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
from ..core.effects import OwnTemplate, PromptPlan, PromptValue, Task, Untrusted
from ..core.text import estimate_tokens
from ..core.values import Participant
from ..core.versions import Version, current_versions
from .table import SPEECH_TOKENS, Table

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
    template: str | OwnTemplate,
    variables: Mapping[str, PromptValue],
    form: Form | None,
    contract: Contract,
    *,
    wanted: bool,
    max_tokens: int = SPEECH_TOKENS,
    repeats: bool = False,
    peers: Mapping[str, str] | None = None,
    alone: bool = False,
) -> Task:
    """A speech that ends with a declaration, if there is a form for one, and may bring work where
    that is `wanted`. The template gets the variable `deliverable`, with the works of the rounds
    before `round_`: all of them, or its own where it may know nothing of the others (`alone`).
    `peers` are the others as it knows them, where the table itself would name them otherwise."""
    shown = _before(table, round_) if wanted else []
    if alone:
        shown = [each for each in shown if each.participant == seat.id]
    known = table.peers(seat.id) if peers is None else peers
    asked: PromptValue = _asked(table, seat, shown, known) if wanted else ""
    filled = {**variables, "deliverable": asked}
    task = (
        Task(PromptPlan(template, filled, repeats), contract, max_tokens=max_tokens)
        if form is None
        else table.declaring_task(
            template, filled, form, contract, max_tokens=max_tokens, repeats=repeats
        )
    )
    if not wanted:
        return task
    longest = max((estimate_tokens(v.work.text) for v in _writable(shown, seat)), default=0)
    room = max(WORK_TOKENS, longest * 5 // 4)
    return replace(task, work=True, max_tokens=task.max_tokens + room)


def works_to_read(table: Table, seat: Participant, round_: int) -> PromptPlan | str:
    """The part of a prompt that shows the works of earlier rounds to a seat that examines them and
    writes none; empty where there are none."""
    shown = _before(table, round_)
    return _part(_shown(table, shown, seat, table.peers(seat.id))) if shown else ""


def works_to_judge(table: Table, *, declares: bool = True) -> PromptPlan | str:
    """The part of the writer's prompt that shows the works; empty where there are none. `declares`
    is whether it can say in a declaration which of them stand."""
    shown = current_versions(table.state)
    return _part(_shown(table, shown), writer=True, declares=declares) if shown else ""


def _before(table: Table, round_: int) -> list[Version]:
    return [each for each in current_versions(table.state) if each.round < round_]


def _part(
    works: tuple[Untrusted, ...], *, writer: bool = False, declares: bool = False
) -> PromptPlan:
    return PromptPlan(
        "shared/deliverable",
        {
            "marks": "",
            "label": LABEL,
            "works": works,
            "own": "",
            "too_long": "",
            "writer": writer,
            "declares": declares,
        },
    )


def _asked(
    table: Table, seat: Participant, shown: Sequence[Version], peers: Mapping[str, str]
) -> PromptPlan:
    """The part of a prompt that says how a work is delivered, with the works of earlier rounds."""
    writable = _writable(shown, seat)
    return PromptPlan(
        "shared/deliverable",
        {
            "marks": "~" * MARKS,
            "label": LABEL,
            "works": _shown(table, shown, seat, peers),
            "own": ", ".join(v.id for v in shown if v.participant == seat.id),
            "too_long": ", ".join(v.id for v in shown if v not in writable),
            "writer": False,
            "declares": False,
        },
    )


def _shown(
    table: Table,
    versions: Sequence[Version],
    reader: Participant | None = None,
    peers: Mapping[str, str] | None = None,
) -> tuple[Untrusted, ...]:
    """Works as they may stand in a prompt: fenced, with the id by which each is named, and by
    whomever the reader knows it to be."""
    return tuple(
        Untrusted(
            "deliverable",
            v.work.text or f"[{v.work.left_out:,} bytes, too large to be kept]",
            f"{_author(table, v, reader, peers or {})}: {v.id}, {v.name}, version {v.number}"
            f"{'' if v.work.whole else ', its end is missing'}",
        )
        for v in versions
    )


def _author(
    table: Table, version: Version, reader: Participant | None, peers: Mapping[str, str]
) -> str:
    named = f"{table.name(version.participant)}, turn {version.turn_id}"
    if reader is None:
        return named
    if reader.id == version.participant:
        return "yourself"
    known = {seat: name for name, seat in peers.items()}
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
