-- Schedules, whole in data; the columns are what they are found and claimed by. Times are seconds
-- since 1970, as they are of leases.
CREATE TABLE schedules (
    id            TEXT    NOT NULL PRIMARY KEY,
    number        INTEGER NOT NULL,
    next_due      REAL,
    claimed_by    TEXT,
    claimed_until REAL,
    data          TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- What users may spend in a month and have spent in this one: see core/purse.py.
CREATE TABLE purses (
    account TEXT NOT NULL PRIMARY KEY,
    data    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
