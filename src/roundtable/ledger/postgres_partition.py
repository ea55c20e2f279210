"""Partitions: the events of a large installation in several tables of one name, by discussion.

Asked for and never done by itself: all events are written anew while nobody else can write, and a
table that fits into memory gains nothing by it.
"""

from __future__ import annotations

from typing import Any

import asyncpg

from ..core.errors import NotAllowed
from .postgres import without_secrets
from .postgres_connection import MIGRATING, migrate, translated

FEWEST, MOST = 2, 1024
_PATIENCE = 60.0
_STANDS = """
    SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('events')
"""
_AWAY = """
    ALTER TABLE events RENAME TO events_before;
    ALTER TABLE events_before RENAME CONSTRAINT events_pkey TO events_before_pkey;
    ALTER INDEX events_by_key RENAME TO events_before_by_key;
"""
_ANEW = """
    CREATE TABLE events (LIKE events_before INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
        PARTITION BY HASH (discussion_id);
"""
_PART = """
    CREATE TABLE events_part_{number} PARTITION OF events
        FOR VALUES WITH (MODULUS {parts}, REMAINDER {number});
"""
# Keys and triggers come after the rows, which is several times faster for many.
_KEYS = """
    INSERT INTO events SELECT * FROM events_before;
    ALTER TABLE events ADD PRIMARY KEY (discussion_id, seq);
    CREATE UNIQUE INDEX events_by_key ON events (discussion_id, key) WHERE key IS NOT NULL;
    ALTER TABLE events ADD FOREIGN KEY (discussion_id)
        REFERENCES discussions (id) ON DELETE CASCADE;
    CREATE TRIGGER events_are_for_ever BEFORE UPDATE ON events
        FOR EACH ROW EXECUTE FUNCTION events_are_for_ever();
    CREATE TRIGGER events_go_with_their_discussion BEFORE DELETE ON events
        FOR EACH ROW EXECUTE FUNCTION events_go_with_their_discussion();
    DROP TABLE events_before;
"""


async def partition(url: str, parts: int) -> int:
    """Put the events of the database at `url` into so many partitions, all or nothing; how many
    events there are. NotAllowed if they are in partitions already; LedgerBusy if others write for
    longer than a minute. Meanwhile nobody can read or write them."""
    where = without_secrets(url)
    with translated(where):
        connection = await asyncpg.connect(url, statement_cache_size=0)
        try:
            await migrate(connection, where, patience=_PATIENCE)
            return await _partition(connection, parts)
        finally:
            await connection.close()


async def _partition(connection: asyncpg.Connection[Any], parts: int) -> int:
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = {round(1000 * _PATIENCE)}")
        await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATING)
        if stands := await connection.fetchval(_STANDS):
            raise NotAllowed(
                f"The events are in {stands} partitions already.", "Nothing was changed."
            )
        await connection.execute("LOCK TABLE discussions, events IN ACCESS EXCLUSIVE MODE")
        await connection.execute(_AWAY + _ANEW)
        for number in range(parts):
            await connection.execute(_PART.format(number=number, parts=parts))
        await connection.execute(_KEYS)
        await connection.execute("ANALYZE events")
        return int(await connection.fetchval("SELECT count(*) FROM events"))
