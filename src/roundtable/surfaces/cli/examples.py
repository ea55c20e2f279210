"""`roundtable examples`: the recorded discussions that come with the program."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from ...core.text import clip
from ..recorded import Recorded, recorded_examples
from .terminal import echo, print_json

_QUESTION = 200


def examples_command(flags: Mapping[str, Any]) -> int:
    rows = recorded_examples()
    if flags["as_json"]:
        print_json([row.model_dump() for row in rows])
        return 0
    # Those that came about in the same way stand together, and it is said once.
    for provenance, of_one_kind in groupby(rows, key=lambda row: row.provenance):
        for row in of_one_kind:
            echo("\n".join(_lines(row)))
        echo(f"How these came about: {provenance}\n")
    echo(f"Read one: roundtable show --example {rows[0].name}")
    echo(f"Elsewhere, for an id: roundtable export {rows[0].discussion_id} --format html")
    return 0


def _lines(row: Recorded) -> list[str]:
    return [
        f"{row.name}  ({row.procedure}, {row.date}, {row.language})",
        f"   {clip(row.question, _QUESTION)}",
        f"   → {row.answer}",
        "",
    ]
