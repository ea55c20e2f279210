"""Whose turn it is: everybody stands in a line of their own, and of the lines that wait the first
come first. Whoever comes late with few does not stand behind somebody's thousand; and whoever has a
thousand has its turn among them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ..core.errors import TooBusy
from . import statements as sql
from .tables import LOG, QUEUE, Connection

BAND = 700_000_000
"""Priorities of one level: as many places as a line can have before all lines are empty once."""
LONGEST, SHORTEST, UNMEASURED = 3_600.0, 1.0, 60.0
"""Seconds after which somebody who is refused may come again; where nothing was measured yet."""
_MEASURED = 600.0
"""Seconds that throughput is measured over."""

# The priority of the next to be taken of this level, if any waits: the queue's own index has it.
_HEAD = f"""
    SELECT priority FROM {QUEUE}
    WHERE status = 'queued' AND priority > $1::int - {BAND // 2}
        AND priority <= $1::int + {BAND // 2}
    ORDER BY priority DESC LIMIT 1
"""  # noqa: S608
_EMPTY = "DELETE FROM queue_lines WHERE level = $1"
# Two places behind the last of one's own, and one behind the head of the queue: so lines take
# turns, and those who come for the first time do not go on for ever before somebody's second.
_STAND = """
    INSERT INTO queue_lines AS line (account, level, priority) VALUES ($1, $2, $3)
    ON CONFLICT (account, level) DO UPDATE
    SET priority = least(excluded.priority, line.priority - 2)
    RETURNING priority
"""
_DEPTH = f"""
    SELECT
        (SELECT count(*) FROM {QUEUE} WHERE status IN ('queued', 'picked')
            AND headers ->> 'by' = $1) AS own,
        (SELECT count(*) FROM {QUEUE} WHERE status IN ('queued', 'picked')) AS everybodys
"""  # noqa: S608
_LINES = f"""
    SELECT count(DISTINCT headers ->> 'by') FROM {QUEUE} WHERE status IN ('queued', 'picked')
"""  # noqa: S608
_DONE = f"""
    SELECT count(*)::float8 / greatest(1.0, least($1, extract(
        epoch FROM clock_timestamp() - min(created))::float8))
    FROM {LOG}
    WHERE status = 'successful' AND created > clock_timestamp() - make_interval(secs => $1)
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Depth:
    """How many discussions may wait or be driven; None: any number."""

    each: int | None = None
    """Of one user."""
    everybodys: int | None = None


async def place_in_line(connection: Connection, account: str, level: int) -> int:
    """The priority of the next discussion of this account, within its transaction. `level` is what
    it shall be taken before: 1 before 0 before -1."""
    level = max(-1, min(1, level))
    base = level * BAND
    head = await connection.fetchval(_HEAD, base)
    if head is None:
        await connection.execute(_EMPTY, level)
    first = base if head is None else head - 1
    place: int = await connection.fetchval(_STAND, account, level, first)
    return place


async def check_depth(
    connection: Connection, account: str, depth: Depth, *, coming: int = 0
) -> None:
    """TooBusy, with the time after which it is worth to come again, if with what this transaction
    put there, and with so many that are yet `coming`, too much waits."""
    if depth == Depth():
        return
    row = await connection.fetchrow(_DEPTH, account)
    assert row is not None, "counts are always there"
    own, everybodys = row["own"] + coming, row["everybodys"] + coming
    if depth.each is not None and own > depth.each:
        # Lines take turns: while one of this line is done, so is one of every other.
        turns = (own - depth.each) * await connection.fetchval(_LINES)
        raise await _too_busy(connection, own - 1, "of yours", min(turns, everybodys - 1))
    if depth.everybodys is not None and everybodys > depth.everybodys:
        too_many = everybodys - depth.everybodys
        raise await _too_busy(connection, everybodys - 1, "in all", too_many)


async def _too_busy(connection: Connection, count: int, whose: str, first: int) -> TooBusy:
    """So many wait, and there is room once `first` of all are done."""
    if not await connection.fetchval(sql.WORKERS):
        return TooBusy(count, whose, round(UNMEASURED), workers=False)
    rate = await connection.fetchval(_DONE, _MEASURED) or 0.0
    wait = first / rate if rate else UNMEASURED
    return TooBusy(count, whose, ceil(min(LONGEST, max(SHORTEST, wait))))
