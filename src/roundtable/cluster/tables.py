"""The queue's tables: PgQueuer's own, under names of ours, and the view through which the ledger
looks at them."""

from __future__ import annotations

from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.adapters.persistence.qb import (
    QueryBuilderEnvironment,
    QueryQueueBuilder,
    QuerySchedulerBuilder,
)
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.domain.settings import DBSettings, Durability
from pgqueuer.domain.types import Channel

from ..ledger.postgres_connection import Connection as Connection

# Each by its name: PgQueuer would take what is left out from the environment.
NAMES = DBSettings(
    prefix="roundtable_",
    db_schema=None,
    channel=Channel("roundtable_queue"),
    function="roundtable_queue_changed",
    statistics_table="roundtable_queue_statistics",
    queue_status_type="roundtable_queue_status",
    queue_table="roundtable_queue",
    queue_table_log="roundtable_queue_log",
    trigger="roundtable_queue_changed",
    schedules_table="roundtable_queue_schedules",
    durability=Durability.durable,
    widen_id=True,
)
CHANNEL = str(NAMES.channel)
"""On which a worker hears that something waits."""
STATEMENTS = QueryQueueBuilder(NAMES)
QUEUE = NAMES.qualified.queue_table
STATUS = NAMES.qualified.queue_status_type
LOG = NAMES.qualified.queue_table_log

_LOCK = 0x51756575
"""The advisory lock under which processes make the tables one after the other."""
# Read from the catalogue itself: to_regclass may remember that there was no such table.
_THERE = """
    SELECT EXISTS (
        SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE relname = $1 AND nspname = current_schema()
    )
"""
# Two parts, for each of which there is an index: PgQueuer's own for what waits or is driven.
_VIEW = f"""
    CREATE INDEX IF NOT EXISTS {QUEUE}_set_aside ON {QUEUE} (dedupe_key) WHERE status = 'failed';
    CREATE INDEX IF NOT EXISTS {QUEUE}_by ON {QUEUE} ((headers ->> 'by'))
        WHERE status IN ('queued', 'picked');
    CREATE OR REPLACE VIEW jobs AS
    SELECT id, dedupe_key AS key, status::text AS state, queue_manager_id AS worker,
        entrypoint AS kind, priority, created AS since, execute_after AS after,
        attempts AS deaths, headers
    FROM {QUEUE} WHERE status IN ('queued', 'picked') AND dedupe_key IS NOT NULL
    UNION ALL
    SELECT id, dedupe_key, status::text, queue_manager_id, entrypoint, priority, created,
        execute_after, attempts, headers
    FROM {QUEUE} WHERE status = 'failed' AND dedupe_key IS NOT NULL;
"""  # noqa: S608


async def are_there(connection: Connection) -> bool:
    return bool(await connection.fetchval(_THERE, QUEUE))


async def upgrade(connection: Connection) -> None:
    """Bring tables up to date that an older PgQueuer has made. Not within a transaction."""
    queries = Queries(
        AsyncpgDriver(connection),  # type: ignore[arg-type]  # from a pool, it is one all the same
        QueryBuilderEnvironment(NAMES),
        STATEMENTS,
        QuerySchedulerBuilder(NAMES),
    )
    if (await queries.plan_upgrade()).statements:
        await queries.apply_upgrade()


async def make(connection: Connection) -> None:
    """Make what is lacking, within the transaction of this connection. Several processes may do it
    at once, and one that comes later changes nothing."""
    await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
    # Asked under the lock: another process may have made them meanwhile.
    if not await are_there(connection):
        await connection.execute(QueryBuilderEnvironment(NAMES).build_install_query())
        await connection.execute(_VIEW)
