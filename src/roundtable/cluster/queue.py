"""The queue: which discussions wait for a worker, and which worker has which.

The rows and the statements that put and pick are PgQueuer's. Its own ending goes by a job's id
alone, so that a worker which was stopped and woke would end the job of its successor: giving back
and ending are therefore statements of ours, each fenced by the epoch of the lease that came with
the job. Everything happens in the database of the ledger, in one transaction with what it is about.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from pgqueuer.domain.types import QueueEntrypoint, QueueManagerId

from ..core.events import SET_ASIDE, NewEvent, NoteAdded, StoredEvent
from ..ledger.leases import holder
from ..ledger.postgres import PostgresLedger
from ..ledger.postgres_leases import ALIVE_FOR
from ..ports import Clock, Lease
from ..version import __version__
from . import statements as sql
from . import tables
from .fairness import Depth, check_depth, place_in_line
from .job import LOOK_AGAIN, Fate, Job, Picked, discussion_of, fate_of, key_of, owner_of
from .kinds import kind, understood
from .tables import CHANNEL, STATEMENTS, Connection

NEVER = timedelta(days=36_500)


class PostgresQueue:
    """Implements `roundtable.ports.Queue`, and what a worker needs beside it."""

    def __init__(self, ledger: PostgresLedger, clock: Clock, depth: Depth = Depth()) -> None:  # noqa: B008
        """`depth` is how many discussions may wait."""
        self.ledger = ledger
        self._clock = clock
        self._depth = depth
        self._made = False

    # For whoever opens

    async def open(
        self, discussion_id: str, events: Sequence[NewEvent], *, by: str = "", priority: int = 0
    ) -> list[StoredEvent]:
        async def also(connection: Connection) -> None:
            await enqueue(connection, discussion_id, by=by, priority=priority)
            await check_depth(connection, by, self._depth)

        await self.ready()
        return await self.ledger.append(discussion_id, events, expected=0, also=also)

    async def put(
        self, discussion_id: str, *, by: str = "", priority: int = 0, let_in: bool = False
    ) -> bool:
        await self.ready()
        async with self.ledger.transaction() as connection:
            joined = await enqueue(connection, discussion_id, by=by, priority=priority)
            if joined and not let_in:
                await check_depth(connection, by, self._depth)
            return joined

    async def check_room(self, by: str = "") -> None:
        await self.ready()
        async with self.ledger.transaction() as connection:
            await check_depth(connection, by, self._depth, coming=1)

    async def has_workers(self) -> bool:
        async with self.ledger.connection() as connection:
            return bool(await connection.fetchval(sql.WORKERS))

    async def ready(self) -> None:
        """Make the tables, if this is the first time that anybody needs them."""
        if self._made:
            return
        async with self.ledger.transaction() as connection:
            if not await tables.are_there(connection):
                await tables.make(connection)
        self._made = True

    # For workers

    async def prepare(self) -> None:
        """Make the tables, or bring them up to date if an older program made them."""
        await self.ready()
        if not self.ledger.pooled:  # it takes a session of its own
            async with self.ledger.connection() as connection:
                await tables.upgrade(connection)

    async def beat(self, worker: UUID, signs: Mapping[str, Any]) -> set[int]:
        """Give a sign of life for a worker and all its jobs; those that are still its own."""
        told = [signs[each] for each in ("name", "host", "pid", "version", "at_once", "leaving")]
        async with self.ledger.connection() as connection:
            return {row["id"] for row in await connection.fetch(sql.BEAT, worker, *told)}

    async def pick(
        self,
        worker: UUID,
        count: int,
        *,
        version: str = __version__,
        take_over: bool = True,
        beside_a_suspect: bool = False,
    ) -> list[Job]:
        """Up to `count` jobs that this worker understands, each with the lease that it brings.
        With `take_over` also those of workers that gave no sign of life for too long."""
        async with self.ledger.transaction() as connection:
            kinds = [row["entrypoint"] for row in await connection.fetch(sql.KINDS)]
            wanted = [QueueEntrypoint(each) for each in understood(version, kinds)]
            query = STATEMENTS.build_dequeue_query(
                batch_size=count,
                entrypoints=wanted,
                concurrency_limits=[0] * len(wanted),
                queue_manager_id=QueueManagerId(worker),
                global_concurrency_limit=None,
                heartbeat_timeout=timedelta(seconds=ALIVE_FOR) if take_over else NEVER,
            )
            rows = await connection.fetch(query.sql, *query.args)
            if not rows:
                return []
            found = await _standing(connection, rows)
            aside, jobs = await self._settle(connection, worker, version, found, beside_a_suspect)
        for each in aside:
            self.ledger.tell(each.discussion_id)
        return jobs

    async def give_back(
        self,
        job: Job,
        *,
        after: float = 0.0,
        kind: str | None = None,
        died: bool = False,
        why: str = "",
    ) -> bool:
        """Let another worker go on, in so many seconds; False if it was ours no longer. `died`: it
        ended this worker, or would have."""
        async with self.ledger.connection() as connection:
            args = (*_identity(job), after, kind, died, why)
            return bool(await connection.fetchval(sql.GIVE_BACK, *args))

    async def end(self, job: Job) -> bool:
        """Its discussion is over; False if it was ours no longer, and nothing is changed then."""
        async with self.ledger.connection() as connection:
            return bool(await connection.fetchval(sql.END, *_identity(job)))

    async def forsake(self, worker: UUID, but: Collection[int]) -> None:
        """Give back what the queue has as this worker's, and it does not drive."""
        async with self.ledger.connection() as connection:
            await connection.execute(sql.ORPHANS, worker, list(but))

    async def leave(self, worker: UUID) -> None:
        async with self.ledger.connection() as connection:
            await connection.execute(sql.LEFT, worker)

    async def _settle(
        self,
        connection: Connection,
        worker: UUID,
        version: str,
        found: Iterable[Picked],
        beside_a_suspect: bool,
    ) -> tuple[list[Picked], list[Job]]:
        """Do with each what is to become of it; those set aside, and those to be driven."""
        sorted_out: dict[Fate, list[Picked]] = {}
        for picked in found:
            fate = fate_of(picked, beside_a_suspect=beside_a_suspect)
            sorted_out.setdefault(fate, []).append(picked)
            if fate == "drive" and picked.deaths_now():
                job = Job(picked.id, picked.discussion_id, _NO_LEASE, picked.deaths_now())
                beside_a_suspect = beside_a_suspect or job.suspect
        if over := sorted_out.get("over"):
            await connection.execute(sql.OVER, [each.id for each in over])
        if later := sorted_out.get("later"):
            deaths = [each.deaths_now() for each in later]
            await connection.execute(sql.LATER, [each.id for each in later], deaths, LOOK_AGAIN)
        for each in (aside := sorted_out.get("set aside", [])):
            await connection.execute(sql.SET_ASIDE, each.id, each.deaths_now(), each.discussion_id)
            await self.ledger.append_within(connection, each.discussion_id, [self._note(each)])
        return aside, await _seize(connection, worker, version, sorted_out.get("drive", []))

    def _note(self, picked: Picked) -> NewEvent:
        note = NoteAdded(
            code=SET_ASIDE,
            text=f"Set aside: {picked.deaths_now()} workers ended while running it.",
            remedy=f"Go on by hand: roundtable resume {picked.discussion_id}",
        )
        return NewEvent(note, self._clock.now())


async def enqueue(
    connection: Connection,
    discussion_id: str,
    *,
    by: str = "",
    priority: int = 0,
    after: float = 0.0,
    version: str = __version__,
) -> bool:
    """Queue a discussion within the transaction of this connection, not before so many seconds, at
    the end of the line of whose it is; False if it has a job already. One that was set aside is
    tried again."""
    key = key_of(discussion_id)
    if await connection.fetchval(sql.REVIVE, key):
        await connection.execute("SELECT pg_notify($1, '')", CHANNEL)
        return True
    rows = await connection.fetch(
        STATEMENTS.build_enqueue_query("skip"),
        [await place_in_line(connection, by, priority)],
        [kind(version)],
        [None],
        [timedelta(seconds=after)],
        [key],
        [json.dumps({"by": by})],
    )
    return bool(rows)


_NO_LEASE = Lease("", "", 0)


async def _standing(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[Picked]:
    """The jobs that were picked, with how their discussions stand; these are locked."""
    found: dict[str, Picked] = {}
    for row in rows:
        id_ = discussion_of(row["dedupe_key"])
        headers = json.loads(row["headers"] or "{}")
        found[id_] = Picked(row["id"], id_, row["attempts"], headers.get("from"), locked=True)
    for row in await connection.fetch(sql.STANDING, list(found)):
        found[row["id"]] = replace(
            found[row["id"]],
            locked=False,
            running=row["status"] == "running",
            last_seq=row["last_seq"],
            owner=holder(row["owner"], unexpired=row["runs"]),
        )
    if locked := [id_ for id_, each in found.items() if each.locked]:
        there = {row["id"] for row in await connection.fetch(sql.THERE, locked)}
        for id_ in locked:
            found[id_] = replace(found[id_], there=id_ in there)
    if died := [id_ for id_, each in found.items() if each.died]:
        for id_, seq in await connection.fetch(sql.HEARD, died):
            found[id_] = replace(found[id_], heard_at=seq)
    return list(found.values())


async def _seize(
    connection: Connection, worker: UUID, version: str, picked: Sequence[Picked]
) -> list[Job]:
    if not picked:
        return []
    rows = await connection.fetch(
        sql.SEIZE,
        [each.id for each in picked],
        [each.discussion_id for each in picked],
        [owner_of(each.id, worker) for each in picked],
        [each.deaths_now() for each in picked],
        [each.last_seq for each in picked],
        kind(version),
    )
    leases = {
        row["discussion_id"]: Lease(row["discussion_id"], row["owner"], row["epoch"], lasting=True)
        for row in rows
    }
    return [
        Job(each.id, each.discussion_id, leases[each.discussion_id], each.deaths_now())
        for each in picked
    ]


def _identity(job: Job) -> tuple[int, str, str, int]:
    return job.id, job.discussion_id, job.lease.owner, job.lease.epoch
