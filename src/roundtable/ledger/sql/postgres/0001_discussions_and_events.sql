-- One row for each discussion: the index, kept in step with the events in the same transaction.
CREATE TABLE discussions (
    id          text        NOT NULL PRIMARY KEY,
    topic       text        NOT NULL,
    search_text text        NOT NULL,
    procedure   text        NOT NULL,
    status      text        NOT NULL,
    opened_at   timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    last_seq    bigint      NOT NULL
) WITH (fillfactor = 70);

-- data is text, not jsonb: the bytes are kept as they were written, and jsonb refuses \u0000.
CREATE TABLE events (
    discussion_id text        NOT NULL REFERENCES discussions (id) ON DELETE CASCADE,
    seq           bigint      NOT NULL CHECK (seq > 0),
    at            timestamptz NOT NULL,
    type          text        NOT NULL,
    v             integer     NOT NULL,
    key           text,
    data          text        NOT NULL,
    PRIMARY KEY (discussion_id, seq)
);

CREATE UNIQUE INDEX events_by_key ON events (discussion_id, key) WHERE key IS NOT NULL;

-- Append-only, whoever connects: an event never changes, and goes only with its discussion.
CREATE FUNCTION events_are_for_ever() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed';
END;
$$;

CREATE TRIGGER events_are_for_ever BEFORE UPDATE ON events
FOR EACH ROW EXECUTE FUNCTION events_are_for_ever();

CREATE FUNCTION events_go_with_their_discussion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM discussions WHERE id = OLD.discussion_id) THEN
        RAISE EXCEPTION 'events are deleted only together with their discussion';
    END IF;
    RETURN OLD;
END;
$$;

CREATE TRIGGER events_go_with_their_discussion BEFORE DELETE ON events
FOR EACH ROW EXECUTE FUNCTION events_go_with_their_discussion();
