-- A released lease keeps its row (expires_at is null): the next epoch must be greater than it.
CREATE TABLE leases (
    discussion_id text   NOT NULL PRIMARY KEY REFERENCES discussions (id) ON DELETE CASCADE,
    owner         text   NOT NULL,
    epoch         bigint NOT NULL,
    expires_at    timestamptz
);
