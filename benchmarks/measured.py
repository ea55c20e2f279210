"""One measured number, its goal, and the table in which all of them are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """A number with its unit. `goal` is the most that it may be; None: it is only told."""

    name: str
    value: float
    unit: str = ""
    goal: float | None = None
    detail: str = ""

    @property
    def ok(self) -> bool:
        return self.goal is None or self.value <= self.goal

    @property
    def shown(self) -> str:
        number = f"{self.value:.2f}" if self.value % 1 else f"{self.value:,.0f}"
        return f"{number} {self.unit}".rstrip()


def print_table(rows: Sequence[Measured]) -> None:
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        goal = "" if row.goal is None else f"≤ {row.goal:g}"
        verdict = "" if row.goal is None else "ok" if row.ok else "MISSED"
        line = f"{row.name:{width}}  {row.shown:>12}  {goal:>7}  {verdict:6}  {row.detail}"
        print(line.rstrip())
