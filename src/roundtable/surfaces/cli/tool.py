"""`roundtable tool`: one call of a tool, for scripts and for agents that have a shell only."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ...bootstrap import App
from ...core.errors import UsageError
from ..toolset.access import access
from ..toolset.driving import Detached
from ..toolset.results import Result
from ..toolset.toolset import OPERATIONS, Toolset, find_operation
from .terminal import echo, print_json, read_text
from .with_app import with_app


def tool_command(flags: Mapping[str, Any]) -> int:
    name = flags["name"]
    if name is None:
        for each in OPERATIONS.values():
            echo(f"{each.name:<10} {each.title}")
        echo("\nIts arguments: roundtable tool NAME --schema")
        return 0
    described = find_operation(name)
    if flags["schema"]:
        schemas = {"input": described.input_schema, "output": described.output_schema}
        print_json(schemas)
        return 0
    arguments = _arguments(flags["arguments"])
    for pair in flags["texts"]:
        key, sign, place = pair.partition("=")
        if not sign:
            raise UsageError(f"--text {pair!r} names no file.", "Write --text content=FILE, or =-.")
        arguments[key] = read_text(place)

    async def call(app: App) -> Result:
        held = access(app.settings.choices, flags["profile"] or "", flags["toolset"])
        settings = app.settings
        driving = Detached(os.environ, settings.workspace, settings.home / "driving.log")
        toolset = Toolset(app, driving, access=held, created_by="command line")
        return await toolset.call(name, arguments)

    print_json(with_app(call, opens=True).wire())
    return 0


def _arguments(given: str | None) -> dict[str, Any]:
    text = read_text("-") if given == "-" else given or "{}"
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UsageError(f"The arguments are no JSON: {error}.", _FORM) from None
    if not isinstance(values, dict):
        raise UsageError("The arguments are no JSON object.", _FORM)
    return values


_FORM = """Write them as roundtable tool status '{"discussion_id": "rt_…"}', or - for stdin."""
