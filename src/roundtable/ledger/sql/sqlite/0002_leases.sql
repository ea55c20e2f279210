-- A released lease keeps its row (expires_at is null): the next epoch must be greater than it.
CREATE TABLE leases (
    discussion_id TEXT    NOT NULL PRIMARY KEY REFERENCES discussions (id) ON DELETE CASCADE,
    owner         TEXT    NOT NULL,
    epoch         INTEGER NOT NULL,
    expires_at    REAL
);
