"""`roundtable procedures`: the rules by which a table can be held, the user's own among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.errors import RoundtableError, UsageError
from ...procedures import PROCEDURES, procedure_spec
from ...procedures.custom.model import Definition
from ...procedures.options import described
from ...user_procedures import ProcedureFiles
from .ask_options import spelled, told
from .columns import echo_options, echo_rows
from .here import settings_here
from .terminal import echo_fitted, print_json


def procedures_command(flags: Mapping[str, Any]) -> int:
    settings = settings_here()
    own = ProcedureFiles(settings.procedure_folders)
    words: Sequence[str] = flags["words"]
    if not words:
        return _list(own, as_json=flags["as_json"])
    if len(words) != 2 or words[0] != "show":
        raise UsageError(
            f"procedures does not know {' '.join(words)!r}.",
            "Use: roundtable procedures, or: roundtable procedures show NAME",
        )
    return _show(words[1], own, as_json=flags["as_json"])


def _list(own: ProcedureFiles, *, as_json: bool) -> int:
    rows = [
        {"name": spec.name, "summary": spec.summary, "built_in": True}
        for spec in PROCEDURES.values()
    ]
    broken: dict[str, str] = {}
    for name in own.names():
        row: dict[str, Any] = {"name": name, "built_in": False, "file": str(own.place(name))}
        try:
            definition = own.find(name)
            row["summary"] = definition.summary if definition else _NO_NAME
        except RoundtableError as error:
            row["summary"], row["error"] = "", str(error)
            broken[name] = str(error)
        rows.append(row)
    if as_json:
        print_json(rows)
        return 0
    table = []
    for row in rows:
        mark = "" if row["built_in"] else " (own)"
        told = f"cannot be used: {row['error']}" if "error" in row else row["summary"]
        table.append((str(row["name"]), f"{told}{mark}"))
    echo_rows(table)
    echo_fitted("\nOne of them: roundtable procedures show NAME")
    echo_fitted('Hold one: roundtable "Should we …?" --procedure NAME')
    return 0


_NO_NAME = "cannot be used: its file's name is not one of small letters, digits and dashes"


def _show(name: str, own: ProcedureFiles, *, as_json: bool) -> int:
    spec = procedure_spec(name, own)
    definition = own.find(name)
    known = [each for each in described(spec.options) if "cli" not in each.closed]
    flags = [each.flag for each in known]
    if as_json:
        document: dict[str, Any] = {"name": name, "summary": spec.summary, "flags": flags}
        if definition is not None:
            document |= {
                "file": str(own.place(name)),
                "definition": definition.model_dump(mode="json"),
            }
        print_json(document)
        return 0
    lines = [f"{name}: {spec.summary}"]
    if definition is not None:
        lines += ["", *_described(definition), "", f"From: {own.place(name)}"]
    echo_fitted("\n".join(lines))
    echo_options({"Flags of its own": [(spelled(each), told(each)) for each in known]})
    return 0


def _described(definition: Definition) -> list[str]:
    lines = [f"Version {definition.version}"]
    if definition.panel is not None:
        lines.append(f"Seats: {definition.panel.count} experts, chosen for the question")
    else:
        seats = ", ".join(seat.name or seat.expert or seat.id for seat in definition.participants)
        lines.append(f"Seats: {seats}")
    lines.append("Stages:")
    for number, stage in enumerate(definition.stages, 1):
        who = stage.who if isinstance(stage.who, str) else ", ".join(stage.who)
        told = [f"{who}, {stage.order}" if stage.who != "host" else "host"]
        told.append(f"sees {', '.join(stage.sees)}{' without names' if stage.anonymous else ''}")
        if stage.aggregate:
            told.append(f"counted by {stage.aggregate}")
        if stage.repeat > 1:
            since = f" from {stage.repeat_from} on" if stage.repeat_from else ""
            told.append(f"up to {stage.repeat} times{since}")
        if stage.until is not None:
            joined = " and " if stage.until.all else " or "
            rules = (rule.rule for rule in (*stage.until.any, *stage.until.all))
            told.append(f"until {joined.join(rules)}")
        lines.append(f"  {number}. {stage.name}: {'; '.join(told)}")
    return [*lines, f"Verdict: by {definition.verdict.by}"]
