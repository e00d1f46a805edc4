/** How many parts the tables that grow with every step have. */
const parts = 32;

/**
 * The tables. What bodies say is `text`, never `jsonb`, which refuses U+0000. What changes with
 * every step is in `heads`, whose updates touch no index; the rest of a run changes with its
 * status.
 */
export const tables = `
  CREATE FUNCTION has_ended(status text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT status IN ('completed', 'failed', 'canceled') $$;

  -- The id of the run whose step asked for a run, or another text: a dedupe key is a JSON array that
  -- ends in the message's id, which is "runId/path" if a step sent it; a run id has 36 characters.
  CREATE FUNCTION asker_of(dedupe_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(substring(dedupe_key from '^\\[.*"([^"]*)"\\]$'), 36) $$;

  CREATE TABLE runs (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    kind text NOT NULL,
    status text NOT NULL,
    principal text NOT NULL,
    context_id text NOT NULL,
    input text NOT NULL,
    output text,
    error text,
    due bigint,
    awaited text[],
    waiting_signal text,
    waiting_reason text,
    dedupe_key text,
    dedupe_hash text,
    counted boolean NOT NULL DEFAULT false,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
  ) WITH (fillfactor = 70);
  CREATE UNIQUE INDEX runs_dedupe ON runs (principal, dedupe_key) WHERE dedupe_key IS NOT NULL;
  CREATE INDEX runs_due ON runs (due) WHERE due IS NOT NULL;
  CREATE INDEX runs_updated ON runs (updated_at, id);
  CREATE INDEX runs_context ON runs (context_id);
  CREATE INDEX runs_asker ON runs (principal, asker_of(dedupe_key)) WHERE dedupe_key IS NOT NULL;
  CREATE INDEX runs_unfinished ON runs (context_id) WHERE NOT has_ended(status);
  CREATE INDEX runs_under_way ON runs (principal)
    WHERE counted AND status IN ('queued', 'running', 'waiting', 'paused');

  CREATE TABLE heads (
    run bigint PRIMARY KEY,
    owner text,
    epoch bigint NOT NULL DEFAULT 0,
    cancel_requested boolean NOT NULL DEFAULT false,
    batch bigint NOT NULL DEFAULT 0,
    answer text,
    last_event bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  CREATE INDEX heads_owned ON heads (owner) WHERE owner IS NOT NULL;

  CREATE TABLE journal (
    run bigint NOT NULL,
    path text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    out text,
    error text,
    PRIMARY KEY (run, path)
  ) PARTITION BY HASH (run);

  CREATE TABLE events (
    run bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (run, seq)
  ) PARTITION BY HASH (run);

  DO $$
  BEGIN
    FOR part IN 0 .. ${parts - 1} LOOP
      EXECUTE format(
        'CREATE TABLE journal_%s PARTITION OF journal FOR VALUES WITH (MODULUS ${parts}, REMAINDER %s)', part, part);
      EXECUTE format(
        'CREATE TABLE events_%s PARTITION OF events FOR VALUES WITH (MODULUS ${parts}, REMAINDER %s)', part, part);
    END LOOP;
  END $$;

  CREATE TABLE signals (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL,
    name text NOT NULL,
    id text NOT NULL,
    payload text NOT NULL,
    taken_by text COLLATE "C",
    UNIQUE (run, name, id)
  );

  CREATE TABLE watchers (
    run bigint NOT NULL,
    watcher bigint NOT NULL,
    signal text NOT NULL,
    id text NOT NULL,
    PRIMARY KEY (run, watcher, signal)
  );

  CREATE TABLE files (
    principal text NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    size bigint NOT NULL,
    PRIMARY KEY (principal, sha256)
  );

  CREATE TABLE file_runs (
    sha256 text COLLATE "C" NOT NULL,
    run bigint NOT NULL,
    PRIMARY KEY (sha256, run)
  );
  CREATE INDEX file_runs_run ON file_runs (run);

  CREATE TABLE usage (
    principal text NOT NULL,
    day text COLLATE "C" NOT NULL,
    tokens bigint NOT NULL,
    usd double precision NOT NULL,
    PRIMARY KEY (principal, day)
  );

  CREATE TABLE workers (
    id text PRIMARY KEY,
    lock_key bigint NOT NULL,
    expires_at bigint NOT NULL
  );

  CREATE VIEW run_rows AS
    SELECT runs.*, heads.owner, heads.epoch, heads.cancel_requested, heads.last_event
    FROM runs JOIN heads ON heads.run = runs.n;
`;
