"""Limits: how often, and how many at once: for each link or token, each address, and in all.

How often is counted by all processes at one database together, for it protects discussions and
passwords; how many at once by each for itself, for it protects that process.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.errors import LedgerError
from .refusal import Refused

if TYPE_CHECKING:
    from ...ledger.postgres import PostgresLedger

WRITES_PER_MINUTE = 30
BURST = 10
_REMEMBERED = 10_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Rate:
    """So many writes a minute for each link or token, and so many at once."""

    def __init__(
        self,
        per_minute: float = WRITES_PER_MINUTE,
        burst: int = BURST,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_second = per_minute / 60
        self._burst = burst
        self._monotonic = monotonic
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait(self, by: str) -> float:
        """0 if one more may come now, otherwise the seconds until one may."""
        now = self._monotonic()
        bucket = self._buckets.setdefault(by, _Bucket(self._burst, now))
        self._buckets.move_to_end(by)
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        bucket.left = min(self._burst, bucket.left + (now - bucket.at) * self._per_second)
        bucket.at = now
        if bucket.left < 1:
            return (1 - bucket.left) / self._per_second
        bucket.left -= 1
        return 0.0

    async def until(self, by: str) -> float:
        """The same, for whoever can wait for the answer."""
        return self.wait(by)


class SharedRate(Rate):
    """The same for all processes at one database: what was done through one of them counts in all.
    While the database is away each counts for itself."""

    def __init__(self, name: str, per_minute: float, burst: int, server: PostgresLedger) -> None:
        super().__init__(per_minute, burst)
        self._name = name
        self._server = server

    async def until(self, by: str) -> float:
        try:
            return await self._server.waits(self._name, by, 1 / self._per_second, self._burst)
        except LedgerError:
            return self.wait(by)


class Places:
    """So many at once through one link or token, from one address, and in all."""

    def __init__(self, what: str, *, link: int, address: int, in_all: int) -> None:
        """`what` they are, in the plural, for whoever is refused."""
        self._what = what
        self._most = {
            "through this link or token": link,
            "from your address": address,
            "here": in_all,
        }
        self._taken: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def one(self, by: str, address: str) -> Iterator[None]:
        """Hold one place, by the id of a link or a token. Refused if there is none."""
        wanted = list(zip(self._most, (by, address, ""), strict=True))
        for where in wanted:
            if self._taken[where] >= self._most[where[0]]:
                raise Refused(
                    429,
                    f"Too many {self._what} are open {where[0]}: {self._most[where[0]]} are the "
                    "most.",
                    "Close some, or try again in 10 s.",
                    headers={"retry-after": "10"},
                )
        self._taken.update(wanted)
        try:
            yield
        finally:
            self._taken.subtract(wanted)
            for where in wanted:
                if not self._taken[where]:
                    del self._taken[where]
