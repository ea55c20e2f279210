"""The gates of a fleet, in the PostgreSQL database that holds the ledger. Its time is the only one
that counts, so a machine's clock does not matter."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from ..core.call_gate import CallGate
from ..core.errors import LedgerError

if TYPE_CHECKING:
    from ..ledger.postgres import PostgresLedger

T = TypeVar("T")
Work = Callable[[CallGate, float], tuple[CallGate, T]]

PATIENCE = 5.0
"""Seconds for a visit to the database; a call must not wait longer for leave to begin."""
AWAY = 5.0
"""Seconds for which a database that did not answer is left alone."""
_NOW = "extract(epoch FROM clock_timestamp())::float8"
_LOCKED = f"SELECT state, {_NOW} FROM call_gates WHERE name = $1 FOR UPDATE"  # noqa: S608
_NEW = "INSERT INTO call_gates (name, state) VALUES ($1, '') ON CONFLICT DO NOTHING"
_KEEP = "UPDATE call_gates SET state = $2 WHERE name = $1"
_ALL = "SELECT name, state FROM call_gates"
log = logging.getLogger(__name__)


class PostgresGates:
    """Implements `Gates` for all that share a database. While it is away, each process goes on with
    its share of what was known last, and says so."""

    def __init__(
        self,
        ledger: PostgresLedger,
        who: str,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`who` is what this process calls itself at the gates."""
        self._ledger = ledger
        self._who = who
        self._now = now
        self._known: dict[str, tuple[CallGate, float]] = {}
        """Each gate as it was last seen, and by how much the database's clock is ahead of ours."""
        self._alone: dict[str, CallGate] = {}
        self._away_until = 0.0

    @property
    def alone(self) -> bool:
        """Whether the others cannot be seen now."""
        return self._now() < self._away_until

    async def change(self, name: str, work: Work[T]) -> T:
        if self.alone:
            return self._by_itself(name, work)
        try:
            async with asyncio.timeout(PATIENCE):
                gate, now, told = await self._shared(name, work)
        except (LedgerError, TimeoutError) as error:
            if isinstance(error, LedgerError) and not error.temporary:
                raise
            if not self._alone:
                log.warning(
                    "The database does not answer: until it does, this process keeps to its share "
                    "of each provider's limits."
                )
            self._away_until = self._now() + AWAY
            return self._by_itself(name, work)
        if self._alone:
            log.warning("The database answers again: providers' limits are shared.")
            self._alone.clear()
        self._known[name] = (gate, now - self._now())
        return told

    async def look(self) -> Mapping[str, CallGate]:
        async with self._ledger.transaction() as connection:
            rows = await connection.fetch(_ALL)
        return {row["name"]: CallGate.read(row["state"]) for row in rows}

    async def _shared(self, name: str, work: Work[T]) -> tuple[CallGate, float, T]:
        async with self._ledger.transaction() as connection:
            row = await connection.fetchrow(_LOCKED, name)
            if row is None:
                await connection.execute(_NEW, name)
                row = await connection.fetchrow(_LOCKED, name)
            assert row is not None, "it was made just now"
            gate, told = work(CallGate.read(row[0]), row[1])
            await connection.execute(_KEEP, name, gate.dumped())
        return gate, row[1], told

    def _by_itself(self, name: str, work: Work[T]) -> T:
        before, ahead = self._known.get(name, (CallGate(), 0.0))
        gate = self._alone.get(name) or before.alone(self._who)
        gate, told = work(gate, self._now() + ahead)
        self._alone[name] = gate
        return told
