"""The topics by which selection is judged, and when a panel serves one."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TUNED, MORE, HELD_OUT = "topics", "topics_more", "topics_held_out"
EVERYDAY, FIT, FRESH = "topics_everyday", "topics_fit", "topics_fresh"


@dataclass(frozen=True)
class Topic:
    """A question, and the domains that a good panel must cover: of each group at least one."""

    language: str
    text: str
    covers: tuple[tuple[str, ...], ...]
    fits: tuple[str, ...] = ()
    """All domains with something to say, where the file names them."""

    def covered_by(self, domains: Iterable[str]) -> bool:
        present = set(domains)
        return all(present.intersection(group) for group in self.covers)


def read_topics(name: str = TUNED) -> list[Topic]:
    path = Path(__file__).with_name(f"{name}.toml")
    return [
        Topic(
            row["language"],
            row["text"],
            tuple(tuple(group) for group in row["covers"]),
            tuple(row.get("fits", ())),
        )
        for row in tomllib.loads(path.read_text("utf-8"))["topic"]
    ]


def read_seating(data: Path | None = None) -> list[Topic]:
    """The topics of data/seating, which are not part of the project; none where they are absent."""
    from benchmarks.evals.data import DEFAULT

    path = (data or DEFAULT) / "seating" / "topics.json"
    if not path.is_file():
        return []
    rows = json.loads(path.read_text("utf-8"))
    return [
        Topic(
            row["language"],
            row["topic"],
            tuple(tuple(group) for group in row["needs_one_of_each"]),
            (*(name for group in row["needs_one_of_each"] for name in group), *row["also_fit"]),
        )
        for row in rows
    ]
