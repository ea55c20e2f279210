-- What all processes of an installation share: the key that signs links, and what was given out.
CREATE TABLE shared (
    name    text   NOT NULL PRIMARY KEY,
    version bigint NOT NULL,
    body    text   NOT NULL
);

-- How often somebody did something, until when it counts. Nothing is lost if it is lost.
CREATE UNLOGGED TABLE rates (
    name text        NOT NULL,
    by   text        NOT NULL,
    full_at timestamptz NOT NULL,
    PRIMARY KEY (name, by)
);
