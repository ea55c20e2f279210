"""`roundtable doctor`: what is broken, what is missing, and how to mend it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..doctor.examine import Examination, examine
from ..doctor.finding import Finding, State, healthy
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
        _show(seen, proxy=flags["proxy"])
    return 0 if healthy(seen.findings) else FAILED


def _show(seen: Examination, *, proxy: bool) -> None:
    for each in seen.findings:
        _tell(each)
    if not seen.set_up:
        echo(f"\n{MINIMUM}")
    if seen.full_set_up and (proxy or not seen.set_up):
        echo("\nFor a full setup:")
        for line in seen.full_set_up:
            echo(f"  {line}")
    elif seen.full_set_up:
        echo("To use many vendors' models at one address: roundtable doctor --proxy")
    broken = [each for each in seen.findings if each.state == "broken"]
    if not broken:
        echo("\nNothing is broken.")
        return
    echo(f"\nBroken: {', '.join(dict.fromkeys(each.area for each in broken))}.")
    for each in broken:  # the end is what one sees
        _tell(each)


def _tell(finding: Finding) -> None:
    echo(f"{_MARKS[finding.state]} {finding.area}: {finding.text}")
    if finding.remedy:
        echo(f"    {finding.remedy}")
