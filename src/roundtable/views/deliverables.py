"""Deliverables as they are handed over: told in a line, as files, as data, and whole in a text.

A work is handed over as it was written, byte for byte. Unlike reports it is not searched for what
looks like a key: `token = make_session_token()` is a line of code.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.deliverable import block, safe_name
from ..core.events import SpeechGiven
from ..core.naming import name_of
from ..core.state import State
from ..core.text import slug
from ..core.versions import Version, current_versions, delivered, versions_of
from .outgoing import Verbatim
from .output_file import OutputFile

_FENCES = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)
_LANGUAGE = re.compile(r"[a-z0-9+]{1,10}")


@dataclass(frozen=True, slots=True)
class WorkTold:
    """One work that stands at the end, or an earlier version of it."""

    id: str
    name: str
    file: str
    """Its name among the others: two works of one name bear their authors' names too."""
    by: str
    participant: str
    turn_id: str
    version: int
    replaces: tuple[str, ...]
    lines: int
    size: int
    whole: bool
    left_out: bool
    text: str

    @property
    def in_short(self) -> str:
        return f"{self.name} (version {self.version} by {self.by})"

    @property
    def told(self) -> str:
        about = f"version {self.version} by {self.by}, turn {self.turn_id}"
        if self.left_out:
            return (
                f"{self.name} ({about}): {self.size:,} bytes, too large to be kept as a file; it "
                "stands whole in the answer of that turn"
            )
        cut = "; its end is missing" if not self.whole else ""
        return f"{self.file} ({about}; {self.lines:,} lines, {self.size:,} bytes{cut})"


@dataclass(frozen=True, slots=True)
class Works:
    """All works of a discussion."""

    standing: tuple[WorkTold, ...]
    earlier: tuple[WorkTold, ...]
    chosen: bool
    """Whether the verdict's writer named those that stand."""
    passed_over: tuple[str, ...] = ()
    """Ids of those among the earlier ones that nothing took the place of, and whose name nothing
    bears that stands: the writer left them out."""

    def told(self) -> list[str]:
        """A line for each that stands, and who else delivered what."""
        lines = [each.told for each in self.standing]
        if len(self.standing) > 1 and not self.chosen:
            lines.append("Nobody chose among these: all that nothing replaced are handed over.")
        missed = [each.in_short for each in self.earlier if each.id in self.passed_over]
        if missed:
            told = "The verdict leaves out what nothing took the place of"
            lines.append(f"{told}: {', '.join(missed)}.")
        rivals = [each.in_short for each in self.earlier if each.id not in self.passed_over]
        if rivals:
            lines.append(f"Also delivered on the way: {', '.join(rivals)}.")
        return lines


def works_of(state: State) -> Works:
    """The works of a discussion that may still be going on."""
    return state.derived("works", _works)


def _works(state: State) -> Works:
    found = delivered(state)
    names = _files(found.versions)
    standing = {each.id for each in found.versions}
    earlier = [each for each in versions_of(state) if each.id not in standing]
    taken = {each.name.casefold() for each in found.versions}
    left = [each for each in current_versions(state) if each.id not in standing]
    return Works(
        tuple(_told(state, each, names[each.id]) for each in found.versions),
        tuple(_told(state, each, each.name) for each in earlier),
        found.chosen,
        tuple(each.id for each in left if each.name.casefold() not in taken),
    )


def _files(versions: tuple[Version, ...]) -> dict[str, str]:
    # Made safe once more: a ledger may come from elsewhere.
    safe = {each.id: safe_name(each.name) for each in versions}
    taken = Counter(name.casefold() for name in safe.values())
    used: set[str] = set()
    names: dict[str, str] = {}
    for each in versions:
        name = safe[each.id]
        stem, ending = _parts(name)
        if taken[name.casefold()] > 1:
            name = f"{stem}-{slug(each.participant)}{ending}"
        if name.casefold() in used:
            name = f"{stem}-{each.id}{ending}"
        used.add(name.casefold())
        names[each.id] = name
    return names


def _parts(name: str) -> tuple[str, str]:
    """A file's name without its ending, and the ending with its dot."""
    stem, dot, ending = name.rpartition(".")
    return (stem, f".{ending}") if dot and stem else (name, "")


def _told(state: State, version: Version, file: str) -> WorkTold:
    work = version.work
    return WorkTold(
        id=version.id,
        name=work.name,
        file=file,
        by=name_of(state, version.participant),
        participant=version.participant,
        turn_id=version.turn_id,
        version=version.number,
        replaces=version.replaces,
        lines=work.lines,
        size=work.size,
        whole=work.whole,
        left_out=bool(work.left_out),
        text=work.text,
    )


def deliverable_files(state: State, folder: str) -> tuple[OutputFile, ...]:
    """A file for each work that stands, in a folder of its own."""
    return tuple(
        OutputFile(f"{folder}/{each.file}", each.text)
        for each in works_of(state).standing
        if not each.left_out
    )


def deliverables_document(state: State) -> list[dict[str, Any]]:
    """Every version for programs; those that stand first, and with their text."""
    works = works_of(state)
    return [
        *(_document(each, stands=True, chosen=works.chosen) for each in works.standing),
        *(_document(each, stands=False, chosen=False) for each in works.earlier),
    ]


def _document(each: WorkTold, *, stands: bool, chosen: bool) -> dict[str, Any]:
    return {
        "id": each.id,
        "name": each.name,
        "file": each.file if stands and not each.left_out else None,
        "stands": stands,
        "chosen": chosen,
        "version": each.version,
        "replaces": list(each.replaces),
        "participant": each.participant,
        "turn_id": each.turn_id,
        "bytes": each.size,
        "lines": each.lines,
        "whole": each.whole,
        "left_out": each.left_out,
        "sha256": None if each.left_out else _sha256(each.text),
        "text": Verbatim(each.text) if stands and not each.left_out else None,
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def words_and_works(state: State, speech: SpeechGiven) -> str:
    """A speech with the works that it brought behind it, under the ids by which they are named."""
    if not speech.deliverables:
        return speech.text
    brought = [each for each in versions_of(state) if each.turn_id == speech.turn_id]
    works = [f"{v.id}:\n{block(v.name, v.work.text)}" for v in brought if not v.work.left_out]
    return "\n\n".join([speech.text, *works])


def with_works(text: str, state: State) -> str:
    """A delivered text with the works behind it, each whole, for those who get no files."""
    return "\n\n".join([text, *_shown(state)])


def _shown(state: State) -> Iterator[str]:
    for each in works_of(state).standing:
        if not each.left_out:
            yield f"### {each.file}\n\n{fenced(each)}"


def fenced(work: WorkTold) -> str:
    """A work in a block of code that nothing in it can end."""
    longest = max((len(mark) for mark in _FENCES.findall(work.text)), default=2)
    mark = "`" * max(3, longest + 1)
    ending = _parts(work.name)[1].removeprefix(".").lower()
    language = ending if _LANGUAGE.fullmatch(ending) else ""
    body = work.text if work.text.endswith("\n") or not work.text else f"{work.text}\n"
    return f"{mark}{language}\n{body}{mark}"


def work_named(state: State, name: str) -> WorkTold | None:
    """The work that a person means: by the name of its file, its own name or its id."""
    works = works_of(state)
    wanted = name.strip().casefold()
    by: Mapping[str, WorkTold] = {
        **{each.id: each for each in (*works.earlier, *works.standing)},
        **{each.name.casefold(): each for each in reversed(works.standing)},
        **{each.file.casefold(): each for each in works.standing},
    }
    return by.get(wanted)
