"""Where the measured data lies, and how it is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]
DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Data:
    """A folder of data sets, and the half of each that is measured."""

    root: Path = DEFAULT
    split: str = "dev"
    limit: int | None = None
    """Only so many rows of each set, for a quick look."""

    def path(self, kind: str, name: str, split: str | None = None) -> Path:
        split = split or self.split
        folder = self.root / kind
        return (folder / "train" if split == "train" else folder) / f"{name}.{split}.jsonl"

    def rows(self, kind: str, name: str, split: str | None = None) -> list[Row] | None:
        """The rows of a set, or None if it is not there."""
        path = self.path(kind, name, split)
        if not path.is_file():
            return None
        with path.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
        return rows[: self.limit]
