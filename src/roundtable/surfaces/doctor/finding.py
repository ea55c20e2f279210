"""A finding: one thing that was looked at, how it is, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "doubtful", "broken"]
"""Missing is something more that could be had; doubtful works, but should be looked at."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`area` is one word, such as database or channels."""

    area: str
    state: State
    text: str
    remedy: str = ""


def healthy(findings: Iterable[Finding]) -> bool:
    return all(finding.state != "broken" for finding in findings)
