-- The processes that drive what waits in the queue. Each says every second that it is there.
CREATE TABLE workers (
    id         uuid        NOT NULL PRIMARY KEY,
    name       text        NOT NULL,
    host       text        NOT NULL,
    pid        integer     NOT NULL,
    version    text        NOT NULL,
    at_once    integer     NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    leaving    boolean     NOT NULL DEFAULT false
) WITH (fillfactor = 50);

-- Which discussions wait for a worker or have one. The tables of the queue come with the first
-- worker or the first discussion that is queued; then this view is made anew over them.
CREATE VIEW jobs AS
SELECT
    NULL::bigint      AS id,
    NULL::text        AS key,
    NULL::text        AS state,
    NULL::uuid        AS worker,
    NULL::text        AS kind,
    NULL::integer     AS priority,
    NULL::timestamptz AS since,
    NULL::timestamptz AS after,
    NULL::integer     AS deaths,
    NULL::jsonb       AS headers
WHERE false;
