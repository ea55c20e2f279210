"""What the reader of a discussion should know of the project in whose folder it is held."""

from __future__ import annotations

from collections.abc import Sequence

from .core.errors import RoundtableError
from .core.events import NoteAdded
from .core.values import Participant
from .experts.expert import Expert
from .experts.library_files import own_files, read_library, read_own
from .trust import EXPERTS, Folder, ProjectFile, Trust

ODD = "It cannot be read as a file of at most 1 MB, so it does not count."
HOW = "See what it would change, and trust it if you like: roundtable trust"
_MOST_NAMES = 4


def ignored_line(ignored: Sequence[ProjectFile]) -> str:
    """Which files of the project do not count, in one sentence."""
    named = [
        f"{each.shown} (changed since)" if each.standing == "changed" else each.shown
        for each in ignored[:_MOST_NAMES]
    ]
    more = len(ignored) - len(named)
    listed = ", ".join([*named, *([f"{more} more"] if more else [])])
    return f"Ignored, because you have not trusted it: {listed}."


def project_notes(
    trust: Trust, experts: Folder, participants: Sequence[Participant]
) -> list[NoteAdded]:
    """What is ignored of the project, and who at the table is not the library's own."""
    notes = []
    if ignored := trust.ignored():
        notes.append(NoteAdded(code="project_ignored", text=ignored_line(ignored), remedy=HOW))
    notes += [NoteAdded(code="project_ignored", text=f"{each}: {ODD}") for each in trust.odd()]
    seated = {name for each in participants for name in (each.id, each.name)}
    for expert, file in replaced_experts(experts):
        if seated & {expert.id, expert.name}:
            text = f"{expert.name} is not the library's own: {EXPERTS}/{file} replaces it."
            remedy = f"Read it: roundtable experts show {expert.id}"
            notes.append(NoteAdded(code="expert_replaced", text=text, remedy=remedy))
    return notes


def replaced_experts(experts: Folder) -> list[tuple[Expert, str]]:
    """The experts of a project that stand in place of the library's, with their files."""
    try:
        files = own_files(experts)
        shipped = read_library() if files else {}
        own = [(expert, file) for file in files for expert in read_own([file]).values()]
    except RoundtableError:  # whoever needs the library is told
        return []
    return [(expert, file.path.name) for expert, file in own if expert.id in shipped]
