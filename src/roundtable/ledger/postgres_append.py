"""An append in PostgreSQL: in one statement where nothing is in its way, which is nearly always.

Between the arrival of an answer and its commit lies what a crash costs, so there is one round trip
in it. Where the statement writes nothing, whatever the reason, the same append is made step by step
in a transaction, and that one knows the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from ..core.events import DiscussionOpened, NewEvent, StoredEvent, dump
from ..ports import Lease
from .append import IndexChange, Plan, index_change, keys_of, plan_append, stored_event
from .leases import lost
from .postgres_connection import Connection

# The row of the discussion is the lock under which its events are numbered. How long it is waited
# for is said in the same breath, and for this transaction only: a pooler may give the session to
# somebody else after it.
# A process that is stopped while it holds the row must not keep others from taking over.
_LOCK = """
    SELECT last_seq
    FROM discussions, (
        SELECT set_config('lock_timeout', $2, true),
            set_config('idle_in_transaction_session_timeout', '3000', true)
    ) AS patience (said, idle)
    WHERE id = $1 AND patience.said IS NOT NULL AND patience.idle IS NOT NULL
    FOR UPDATE OF discussions
"""
_BY_KEY = """
    SELECT seq, at, key, data FROM events WHERE discussion_id = $1 AND key = ANY ($2::text[])
"""
_FENCE = """
    SELECT true FROM leases
    WHERE discussion_id = $1 AND owner = $2 AND epoch = $3 AND expires_at IS NOT NULL
"""
_INSERT_DISCUSSION = """
    INSERT INTO discussions
        (id, topic, search_text, procedure, status, opened_at, updated_at, last_seq)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
"""
# One round trip for both: the index and the events.
_WRITE = """
    WITH moved AS (
        UPDATE discussions SET status = coalesce($2, status), updated_at = $3, last_seq = $4
        WHERE id = $1
    )
    INSERT INTO events (discussion_id, seq, at, type, v, key, data)
    SELECT $1, seq, at, type, v, key, data
    FROM unnest($5::bigint[], $6::timestamptz[], $7::text[], $8::int[], $9::text[], $10::text[])
        AS new (seq, at, type, v, key, data)
"""
_SET_OUTCOME = "UPDATE discussions SET outcome = $2 WHERE id = $1"
# A statement sees what was there when it began, and may then wait for the row of the discussion. So
# whatever others may have changed meanwhile is locked as well, and thereby looked at anew: the
# lease, after the discussion, as everybody does (a weaker lock would not look again). Of two with
# one key an index refuses the second.
AT_ONCE = f"""
    WITH locked AS MATERIALIZED ({_LOCK}), fence AS MATERIALIZED (
        SELECT true FROM leases, locked
        WHERE discussion_id = $1 AND owner = $3 AND epoch = $4 AND expires_at IS NOT NULL
        FOR SHARE OF leases
    ), free AS MATERIALIZED (
        SELECT last_seq FROM locked
        WHERE ($5::bigint IS NULL OR last_seq = $5)
            AND ($3::text IS NULL OR EXISTS (SELECT FROM fence))
            AND NOT EXISTS (SELECT FROM events WHERE discussion_id = $1 AND key = ANY ($11))
    ), moved AS (
        UPDATE discussions SET status = coalesce($6, status), outcome = coalesce($7, outcome),
            updated_at = $8, last_seq = free.last_seq + cardinality($9::bigint[])
        FROM free WHERE id = $1
    ), written AS (
        INSERT INTO events (discussion_id, seq, at, type, v, key, data)
        SELECT $1, free.last_seq + seq, at, type, v, key, data
        FROM free, unnest(
            $9::bigint[], $10::timestamptz[], $12::text[], $13::int[], $11::text[], $14::text[]
        ) AS new (seq, at, type, v, key, data)
    )
    SELECT last_seq FROM free
"""  # noqa: S608


_SLOWEST = 15.0
"""Seconds for a statement that may have to wait for a lock: after that there is no network, and
what is to be stored is kept elsewhere."""


async def locked(connection: Connection, discussion_id: str, patience: str) -> int | None:
    """The number of its last event, which stays so until the transaction ends; None if there is no
    such discussion. `patience` is for how many milliseconds it is waited for."""
    last_seq: int | None = await connection.fetchval(_LOCK, discussion_id, patience)
    return last_seq


async def append_at_once(
    connection: Connection,
    discussion_id: str,
    events: Sequence[NewEvent],
    expected: int | None,
    lease: Lease | None,
    patience: str,
) -> Plan | None:
    """None, with nothing written, if there is anything to be said about it."""
    if not events or any(isinstance(each.event, DiscussionOpened) for each in events):
        return None
    new = plan_append(discussion_id, 0, events, {}, None).new
    change = index_change(new)
    try:
        last_seq = await connection.fetchval(
            AT_ONCE,
            discussion_id,
            patience,
            lease and lease.owner,
            lease and lease.epoch,
            expected,
            change.status,
            change.outcome,
            change.updated_at,
            [each.seq for each in new],
            [each.at for each in new],
            [each.key for each in new],
            [each.event.type for each in new],
            [each.event.v for each in new],
            [dump(each.event) for each in new],
            timeout=_SLOWEST,
        )
    except asyncpg.UniqueViolationError:  # somebody has just stored one of them
        return None
    return None if last_seq is None else plan_append(discussion_id, last_seq, events, {}, None)


async def prepare_to_append(connection: Connection) -> None:
    """Have the statement parsed, and what it touches known; nothing is written by it."""
    nothing: list[object] = [[] for _ in range(6)]
    await connection.fetchval(AT_ONCE, "", "1000", None, None, None, None, None, None, *nothing)


async def append_within(
    connection: Connection,
    discussion_id: str,
    events: Sequence[NewEvent],
    expected: int | None,
    lease: Lease | None,
    patience: str,
) -> Plan | None:
    """Step by step, within the transaction of this connection. None if another process opened the
    same discussion just now: then try again."""
    last_seq = await locked(connection, discussion_id, patience)
    exists = last_seq is not None
    # Asked after the lock was given, in a statement of its own: only that sees the latest.
    if exists and lease and not await connection.fetchval(_FENCE, *identity(lease)):
        raise lost(lease)
    known: dict[str, StoredEvent] = {}
    if exists and (keys := keys_of(events)):
        for row in await connection.fetch(_BY_KEY, discussion_id, keys):
            known[row["key"]] = row_event(discussion_id, row)
    plan = plan_append(discussion_id, last_seq, events, known, expected)
    if plan.new and not await _write(connection, discussion_id, plan.new):
        return None
    return plan


async def _write(connection: Connection, discussion_id: str, new: tuple[StoredEvent, ...]) -> bool:
    """False, with nothing written, if the discussion to be opened exists by now."""
    change = index_change(new)
    if change.opening and not await _insert(connection, discussion_id, change):
        return False
    await connection.execute(
        _WRITE,
        discussion_id,
        change.status,
        change.updated_at,
        change.last_seq,
        [each.seq for each in new],
        [each.at for each in new],
        [each.event.type for each in new],
        [each.event.v for each in new],
        [each.key for each in new],
        [dump(each.event) for each in new],
    )
    if change.outcome is not None:
        await connection.execute(_SET_OUTCOME, discussion_id, change.outcome)
    return True


async def _insert(connection: Connection, discussion_id: str, change: IndexChange) -> bool:
    opening = change.opening
    assert opening is not None, "it is opened"
    done = await connection.execute(
        _INSERT_DISCUSSION,
        discussion_id,
        opening.topic,
        opening.search_text,
        opening.procedure,
        change.status,
        opening.opened_at,
        change.updated_at,
        change.last_seq,
    )
    return done != "INSERT 0 0"


def identity(lease: Lease) -> tuple[str, str, int]:
    return lease.discussion_id, lease.owner, lease.epoch


def row_event(discussion_id: str, row: asyncpg.Record) -> StoredEvent:
    return stored_event(discussion_id, row["seq"], row["at"], row["key"], row["data"])
