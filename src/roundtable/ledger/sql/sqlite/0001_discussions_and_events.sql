-- One row for each discussion: the index, kept in step with the events in the same transaction.
CREATE TABLE discussions (
    id          TEXT    NOT NULL PRIMARY KEY,
    topic       TEXT    NOT NULL,
    search_text TEXT    NOT NULL,
    procedure   TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    opened_at   TEXT    NOT NULL,
    updated_at  TEXT    NOT NULL,
    last_seq    INTEGER NOT NULL
);

CREATE TABLE events (
    discussion_id TEXT    NOT NULL REFERENCES discussions (id) ON DELETE CASCADE,
    seq           INTEGER NOT NULL CHECK (seq > 0),
    at            TEXT    NOT NULL,
    type          TEXT    NOT NULL,
    v             INTEGER NOT NULL,
    key           TEXT,
    data          TEXT    NOT NULL,
    PRIMARY KEY (discussion_id, seq)
);

CREATE UNIQUE INDEX events_by_key ON events (discussion_id, key) WHERE key IS NOT NULL;

-- Append-only, whoever opens the file: an event never changes, and goes only with its discussion.
CREATE TRIGGER events_are_for_ever BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;

CREATE TRIGGER events_go_with_their_discussion BEFORE DELETE ON events
WHEN EXISTS (SELECT 1 FROM discussions WHERE id = OLD.discussion_id)
BEGIN
    SELECT RAISE(ABORT, 'events are deleted only together with their discussion');
END;
