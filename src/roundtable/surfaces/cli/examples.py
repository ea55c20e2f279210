"""`roundtable examples`: the recorded discussions that come with the program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import click

from ...core.text import clip
from ..recorded import Recorded, recorded_examples
from .terminal import for_screen

_QUESTION = 200


def examples_command(flags: Mapping[str, Any]) -> int:
    rows = recorded_examples()
    if flags["as_json"]:
        click.echo(json.dumps([row.model_dump() for row in rows], ensure_ascii=False, indent=2))
        return 0
    # Those that came about in the same way stand together, and it is said once.
    for provenance, of_one_kind in groupby(rows, key=lambda row: row.provenance):
        for row in of_one_kind:
            click.echo(for_screen("\n".join(_lines(row))))
        click.echo(for_screen(f"How these came about: {provenance}\n"))
    click.echo(f"Read one: roundtable show --example {rows[0].name}")
    click.echo(f"Elsewhere, for an id: roundtable export {rows[0].discussion_id} --format html")
    return 0


def _lines(row: Recorded) -> list[str]:
    return [
        f"{row.name}  ({row.procedure}, {row.date}, {row.language})",
        f"   {clip(row.question, _QUESTION)}",
        f"   → {row.answer}",
        "",
    ]
