"""The gates of one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from ..core.call_gate import CallGate

T = TypeVar("T")


class LocalGates:
    """Implements `Gates` in memory: for what one process calls."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._gates: dict[str, CallGate] = {}

    async def change(self, name: str, work: Callable[[CallGate, float], tuple[CallGate, T]]) -> T:
        gate, told = work(self._gates.get(name) or CallGate(), self._now())
        self._gates[name] = gate
        return told

    async def look(self) -> Mapping[str, CallGate]:
        return dict(self._gates)
