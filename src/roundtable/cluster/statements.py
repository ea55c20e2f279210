"""What the queue says to PostgreSQL, beside PgQueuer's own statements.

The names in them are ours; whatever comes from elsewhere is an argument.
"""
# ruff: noqa: S608

from __future__ import annotations

from ..ledger.postgres_leases import ALIVE_FOR, OF_A_JOB, RUNS
from .tables import CHANNEL, LOG, QUEUE, STATUS

REVIVE = f"""
    UPDATE {QUEUE} SET status = 'queued', attempts = 0, execute_after = now(), updated = now(),
        queue_manager_id = NULL, headers = headers - 'from' - 'why'
    WHERE dedupe_key = $1 AND status = 'failed' RETURNING true
"""
KINDS = f"""
    WITH RECURSIVE queued AS (
        (SELECT entrypoint FROM {QUEUE} WHERE status = 'queued' ORDER BY entrypoint LIMIT 1)
        UNION ALL
        SELECT (
            SELECT entrypoint FROM {QUEUE}
            WHERE status = 'queued' AND entrypoint > queued.entrypoint
            ORDER BY entrypoint LIMIT 1
        ) FROM queued WHERE entrypoint IS NOT NULL
    )
    SELECT entrypoint FROM queued WHERE entrypoint IS NOT NULL
    UNION SELECT entrypoint FROM {QUEUE} WHERE status = 'picked'
"""
STANDING = f"""
    SELECT id, status, last_seq, owner, {RUNS} AS runs
    FROM discussions LEFT JOIN leases ON discussion_id = id
    WHERE id = ANY ($1::text[]) FOR UPDATE OF discussions SKIP LOCKED
"""
THERE = "SELECT id FROM discussions WHERE id = ANY ($1::text[])"
HEARD = """
    SELECT discussion_id, max(seq) FROM events
    WHERE discussion_id = ANY ($1::text[]) AND type = 'SpeechGiven' GROUP BY 1
"""
# The job remembers from where on it is driven: if it is picked again with that, a worker has died.
SEIZE = f"""
    WITH picked AS (
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::bigint[])
            AS picked (job, discussion_id, owner, deaths, seq)
    ), driven AS (
        UPDATE {QUEUE} SET entrypoint = $6, attempts = deaths,
            headers = coalesce(headers, '{{}}') - 'why' || jsonb_build_object('from', seq)
        FROM picked WHERE id = job
    )
    INSERT INTO leases (discussion_id, owner, epoch, expires_at)
    SELECT discussion_id, owner, 1, 'infinity' FROM picked
    ON CONFLICT (discussion_id) DO UPDATE
    SET owner = excluded.owner, epoch = leases.epoch + 1, expires_at = excluded.expires_at
    RETURNING discussion_id, owner, epoch
"""
LATER = f"""
    UPDATE {QUEUE} SET status = 'queued', queue_manager_id = NULL, updated = now(),
        execute_after = now() + make_interval(secs => $3), attempts = deaths,
        headers = coalesce(headers, '{{}}') - 'from'
    FROM unnest($1::bigint[], $2::int[]) AS picked (job, deaths) WHERE id = job
"""
OVER = f"""
    WITH gone AS (
        DELETE FROM {QUEUE} WHERE id = ANY ($1::bigint[]) RETURNING id, entrypoint, priority
    )
    INSERT INTO {LOG} (job_id, status, entrypoint, priority)
    SELECT id, 'successful', entrypoint, priority FROM gone
"""
SET_ASIDE = f"""
    WITH aside AS (
        UPDATE {QUEUE} SET status = 'failed', queue_manager_id = NULL, updated = now(),
            attempts = $2, headers = coalesce(headers, '{{}}') - 'from'
        WHERE id = $1 RETURNING id, entrypoint, priority
    ), fenced AS (
        UPDATE leases SET epoch = epoch + 1, expires_at = NULL WHERE discussion_id = $3
    )
    INSERT INTO {LOG} (job_id, status, entrypoint, priority)
    SELECT id, 'failed', entrypoint, priority FROM aside
"""
BEAT = f"""
    WITH seen AS (
        INSERT INTO workers (id, name, host, pid, version, at_once, leaving)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (id) DO UPDATE
        SET seen_at = clock_timestamp(), leaving = excluded.leaving
    )
    UPDATE {QUEUE} SET heartbeat = now() WHERE queue_manager_id = $1 AND status = 'picked'
    RETURNING id
"""
FENCE = """
    WITH fence AS (
        UPDATE leases SET expires_at = NULL
        WHERE discussion_id = $2 AND owner = $3 AND epoch = $4 AND expires_at IS NOT NULL
        RETURNING true
    )
"""
GIVE_BACK = f"""
    {FENCE}, back AS (
        UPDATE {QUEUE} SET status = 'queued', queue_manager_id = NULL, updated = now(),
            execute_after = now() + make_interval(secs => $5),
            entrypoint = coalesce($6, entrypoint),
            headers = CASE WHEN $7 THEN headers ELSE headers - 'from' END
                || jsonb_build_object('why', $8::text)
        WHERE id = $1 AND EXISTS (SELECT FROM fence) RETURNING true
    )
    SELECT true, pg_notify('{CHANNEL}', '') FROM back
"""
# Somebody may have opened it again between its end and ours: then it waits once more.
END = f"""
    {FENCE}, gone AS (
        DELETE FROM {QUEUE} WHERE id = $1 AND EXISTS (SELECT FROM fence)
            AND NOT EXISTS (SELECT FROM discussions WHERE id = $2 AND status = 'running')
        RETURNING id, entrypoint, priority
    ), back AS (
        UPDATE {QUEUE} SET status = 'queued', queue_manager_id = NULL, updated = now(),
            execute_after = now(), headers = headers - 'from'
        WHERE id = $1 AND EXISTS (SELECT FROM fence)
            AND EXISTS (SELECT FROM discussions WHERE id = $2 AND status = 'running')
        RETURNING id, entrypoint, priority
    )
    INSERT INTO {LOG} (job_id, status, entrypoint, priority)
    SELECT id, 'successful'::{STATUS}, entrypoint, priority FROM gone
    UNION ALL SELECT id, 'queued', entrypoint, priority FROM back
    RETURNING true
"""
ORPHANS = f"""
    UPDATE {QUEUE} SET status = 'queued', queue_manager_id = NULL, updated = now(),
        execute_after = now(), headers = headers - 'from'
    WHERE queue_manager_id = $1 AND status = 'picked' AND NOT id = ANY ($2::bigint[])
"""
LEFT = "DELETE FROM workers WHERE id = $1"
WORKERS = f"""
    SELECT EXISTS (
        SELECT FROM workers
        WHERE NOT leaving AND seen_at > clock_timestamp() - interval '{ALIVE_FOR} s'
    )
"""
FORSAKEN = f"""
    SELECT discussions.id FROM discussions JOIN leases ON leases.discussion_id = discussions.id
    WHERE status = 'running' AND (leases.expires_at IS NOT NULL OR {OF_A_JOB})
        AND NOT EXISTS (SELECT FROM jobs WHERE key = 'drive/' || discussions.id)
        AND NOT {RUNS}
    ORDER BY updated_at LIMIT 200
"""
TIDY = f"""
    WITH unseen AS (
        DELETE FROM workers WHERE seen_at < clock_timestamp() - interval '1 hour'
    )
    DELETE FROM {QUEUE} WHERE status = 'failed' AND NOT EXISTS (
        SELECT FROM discussions
        WHERE discussions.id = substr(dedupe_key, 7) AND discussions.status = 'running'
    )
"""
TIDY_LOG = f"""
    DELETE FROM {LOG} WHERE id IN (
        SELECT id FROM {LOG} WHERE created < now() - interval '7 days' LIMIT 10000
    )
"""
FLEET_WORKERS = """
    SELECT *, extract(epoch FROM clock_timestamp() - seen_at) AS seen_ago FROM workers
    WHERE seen_at > clock_timestamp() - interval '10 min' ORDER BY started_at, id
"""
FLEET_JOBS = f"""
    SELECT jobs.*, discussions.topic, coalesce({RUNS}, false) AS driven_by_hand
    FROM (
        SELECT * FROM jobs WHERE state <> 'queued'
        UNION ALL (
            SELECT * FROM jobs WHERE state = 'queued' ORDER BY priority DESC, id LIMIT $1
        )
    ) AS jobs
    LEFT JOIN discussions ON discussions.id = substr(jobs.key, 7)
    LEFT JOIN leases ON leases.discussion_id = discussions.id
    ORDER BY priority DESC, jobs.id
"""
