"""`roundtable doctor`: what is broken, what is missing, and how to mend it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..doctor.examine import Examination, examine
from ..doctor.finding import State, healthy
from ..doctor.set_up import MINIMUM
from .exits import FAILED
from .here import workspace_here
from .terminal import echo, print_json

_MARKS: dict[State, str] = {"ok": "✓", "missing": "○", "doubtful": "!", "broken": "✗"}


def doctor_command(flags: Mapping[str, Any]) -> int:
    seen = asyncio.run(examine(os.environ, workspace_here(), reach=flags["reach"]))
    if flags["as_json"]:
        document = {
            "healthy": healthy(seen.findings),
            "findings": [asdict(each) for each in seen.findings],
            "minimum_set_up": MINIMUM,
            "full_set_up": list(seen.full_set_up),
        }
        print_json(document)
    else:
        _show(seen)
    return 0 if healthy(seen.findings) else FAILED


def _show(seen: Examination) -> None:
    for each in seen.findings:
        echo(f"{_MARKS[each.state]} {each.area}: {each.text}")
        if each.remedy:
            echo(f"    {each.remedy}")
    echo(f"\nThe least that is needed: {MINIMUM}")
    if seen.full_set_up:
        echo("\nFor a full set-up:")
        for line in seen.full_set_up:
            echo(f"  {line}")
    broken = [each.area for each in seen.findings if each.state == "broken"]
    told = f"Broken: {', '.join(dict.fromkeys(broken))}." if broken else "Nothing is broken."
    echo(f"\n{told}")
