-- What all processes of a fleet share of the limits of providers: one row for each provider, and
-- for each model with limits of its own. Not logged: after a crash of the server everybody says
-- again what is under way, so that nothing is lost, and no commit waits for the disk.
CREATE UNLOGGED TABLE call_gates (
    name  text NOT NULL PRIMARY KEY,
    state text NOT NULL
) WITH (fillfactor = 30);
