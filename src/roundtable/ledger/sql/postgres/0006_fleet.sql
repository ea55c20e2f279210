-- What all processes of a fleet share of the limits of providers: one row for each provider, and
-- for each model with limits of its own. Not logged: after a crash of the server everybody says
-- again what is under way, so that nothing is lost, and no commit waits for the disk.
CREATE UNLOGGED TABLE call_gates (
    name  text NOT NULL PRIMARY KEY,
    state text NOT NULL
) WITH (fillfactor = 30);

-- Schedules, whole in data; the columns are what they are found and claimed by.
CREATE TABLE schedules (
    id            text        NOT NULL PRIMARY KEY,
    number        bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    next_due      timestamptz,
    claimed_by    text,
    claimed_until timestamptz,
    data          text        NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX schedules_due ON schedules (next_due) WHERE next_due IS NOT NULL;

-- What users may spend in a month and have spent in this one: see core/purse.py.
CREATE TABLE purses (
    account text NOT NULL PRIMARY KEY,
    data    text NOT NULL
) WITH (fillfactor = 50);

-- Where everybody's line at the queue ends: the priority of what was queued last. Not logged: who
-- is forgotten begins at the head again.
CREATE UNLOGGED TABLE queue_lines (
    account  text    NOT NULL,
    level    integer NOT NULL,
    priority integer NOT NULL,
    PRIMARY KEY (account, level)
) WITH (fillfactor = 50);
