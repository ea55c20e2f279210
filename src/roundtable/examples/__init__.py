"""Recorded discussions that come with the program: bundles, each with where it comes from.

To add one, put `NAME.bundle` (or `NAME.bundle.xz`) in this folder and a line in index.toml. It is
then `example:NAME` wherever the id of a discussion can be read.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from ..core.errors import UnknownName
from ..core.events import NoteAdded, StoredEvent
from ..core.values import EXAMPLE, EXAMPLE_NOTE


@dataclass(frozen=True, slots=True)
class Example:
    """A recorded discussion, as the index describes it."""

    name: str
    title: str
    language: str
    date: date
    """When it was recorded."""
    provenance: str
    """How it came about: who wrote what everybody says in it."""

    @property
    def id(self) -> str:
        return f"{EXAMPLE}{self.name}"

    def bundle(self) -> bytes:
        """The bundle, as it was exported."""
        folder = files(__name__)
        plain = folder / f"{self.name}.bundle"
        if plain.is_file():
            return plain.read_bytes()
        import lzma  # what only an example needs

        return lzma.decompress((folder / f"{self.name}.bundle.xz").read_bytes())

    def records(self) -> tuple[StoredEvent, ...]:
        """What happened, under the example's own id, and at the end a note on where it comes from:
        whatever is made of these events says so too."""
        return _records(self.name)


@cache
def examples() -> dict[str, Example]:
    """All of them by name, in the order of the index. No bundle is read for it."""
    index = tomllib.loads((files(__name__) / "index.toml").read_text("utf-8"))
    return {
        name: Example(name, provenance=index["provenance"][row.pop("provenance")], **row)
        for name, row in index["examples"].items()
    }


def is_example(discussion_id: str) -> bool:
    return discussion_id.startswith(EXAMPLE)


def find_example(called: str) -> Example:
    """The example of this name, with or without `example:`. UnknownName tells which there are."""
    name = called.removeprefix(EXAMPLE).strip()
    known = examples()
    if name not in known:
        names = ", ".join(known)
        raise UnknownName("example", name, remedy=f"There are: {names}. See: roundtable examples")
    return known[name]


@cache
def _records(name: str) -> tuple[StoredEvent, ...]:
    example = examples()[name]
    from ..bundle.reading import read_bundle  # with all that checks one

    bundle = read_bundle(example.bundle())
    recorded = [StoredEvent(example.id, r.seq, r.at, r.event, r.key) for r in bundle.records]
    last = recorded[-1]
    note = NoteAdded(
        code=EXAMPLE_NOTE,
        text=f"A recorded example ({bundle.discussion_id}, {example.date}). {example.provenance}",
    )
    return (*recorded, StoredEvent(example.id, last.seq + 1, last.at, note))
