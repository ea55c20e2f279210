"""Findings: what is wrong with a verdict, in words that its reader understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FindingCode = Literal[
    "not_found",
    "number",
    "negation",
    "stitched",
    "wrong_speaker",
    "wrong_turn",
    "second_hand",
    "translation",
    "unchecked",
    "unknown_turn",
    "host_cited",
    "missing_part",
    "contradiction",
]
_MINOR: frozenset[FindingCode] = frozenset(["translation", "host_cited", "missing_part"])


@dataclass(frozen=True, slots=True)
class Finding:
    """One flaw. `excerpt` holds the words that it is about, as they were written."""

    code: FindingCode
    message: str
    excerpt: str = ""

    @property
    def serious(self) -> bool:
        """Whether the reader would believe something that is not so."""
        return self.code not in _MINOR
