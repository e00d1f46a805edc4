/**
 * The tables of what processes with different homes share beside their runs, and the functions that
 * change them.
 */
export const sharedTables = `
  -- Texts that would be files of a home; those with secrets are sealed.
  CREATE TABLE kept_texts (
    name text COLLATE "C" PRIMARY KEY,
    body text NOT NULL,
    version bigint NOT NULL
  );

  CREATE TABLE tokens (
    hash bytea PRIMARY KEY,
    name text NOT NULL UNIQUE,
    principal text NOT NULL,
    scopes text NOT NULL,
    created bigint NOT NULL,
    expires bigint,
    used bigint
  );

  CREATE TABLE sessions (
    hash bytea PRIMARY KEY,
    principal text NOT NULL,
    scopes text NOT NULL,
    expires bigint NOT NULL
  );
  CREATE INDEX sessions_expires ON sessions (expires);

  CREATE TABLE requests (
    principal text NOT NULL,
    minute bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (principal, minute)
  ) WITH (fillfactor = 50);

  -- Calls of models that count towards the limits of their endpoint: while they are in flight, and
  -- for a minute. One that nobody renewed in time was in flight in a process that is gone.
  CREATE TABLE model_calls (
    id text COLLATE "C" PRIMARY KEY,
    endpoint text COLLATE "C" NOT NULL,
    tokens bigint NOT NULL,
    began bigint NOT NULL,
    lease_until bigint
  );
  CREATE INDEX model_calls_endpoint ON model_calls (endpoint, began);

  -- Counts a request unless the minute has as many as it may: {counted, left}.
  CREATE FUNCTION count_request(p_principal text, p_most numeric) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    t bigint := now_ms();
    v_count bigint;
  BEGIN
    IF p_most >= 1 THEN
      INSERT INTO requests VALUES (p_principal, t / 60000, 1)
        ON CONFLICT (principal, minute) DO UPDATE SET count = requests.count + 1 WHERE requests.count < p_most
        RETURNING count INTO v_count;
      IF v_count = 1 THEN DELETE FROM requests WHERE principal = p_principal AND minute < t / 60000; END IF;
    END IF;
    RETURN json_build_object('counted', v_count IS NOT NULL, 'left', 60000 - t % 60000);
  END $$;

  -- Lets a call of a model begin, or says how long it has to wait: {left}, NULL while as many as may
  -- be are in flight. A call larger than the limit of a minute begins once no other tokens count.
  CREATE FUNCTION begin_model_call(p_call text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    c json := p_call::json;
    t bigint;
    spent bigint;
    oldest bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(c->>'endpoint', 5));
    t := now_ms();
    DELETE FROM model_calls WHERE endpoint = c->>'endpoint' AND coalesce(lease_until, 0) < t AND began <= t - 60000;
    IF (SELECT count(*) FROM model_calls WHERE endpoint = c->>'endpoint' AND lease_until >= t)
      >= (c->>'concurrency')::bigint THEN
      RETURN '{"left":null}';
    END IF;
    IF c->>'tokensPerMinute' IS NOT NULL THEN
      SELECT sum(tokens), min(began) INTO spent, oldest FROM model_calls
        WHERE endpoint = c->>'endpoint' AND began > t - 60000 AND tokens > 0;
      IF spent + (c->>'tokens')::bigint > (c->>'tokensPerMinute')::bigint THEN
        RETURN json_build_object('left', oldest + 60000 - t);
      END IF;
    END IF;
    INSERT INTO model_calls VALUES (c->>'id', c->>'endpoint', (c->>'tokens')::bigint, t, t + (c->>'leaseMs')::bigint)
      ON CONFLICT (id) DO NOTHING;
    RETURN '{"left":0}';
  END $$;
`;

/**
 * Who holds a conversation: the worker whose home has its newest files. Other workers leave its
 * runs to that one while it lives.
 */
export const conversationFunctions = `
  CREATE TABLE conversations (
    kind text NOT NULL,
    principal text NOT NULL,
    context_id text NOT NULL,
    -- The name of its folder in a home, and in the object store.
    folder text COLLATE "C" NOT NULL UNIQUE,
    holder text,
    epoch bigint NOT NULL DEFAULT 0,
    checkpoint text,
    used_at bigint NOT NULL,
    PRIMARY KEY (kind, principal, context_id)
  );
  CREATE INDEX conversations_used ON conversations (used_at);

  -- Never twice the same, so that what is left of a deleted conversation is not taken for newest.
  CREATE SEQUENCE conversation_epochs;

  -- Folders of conversations that were deleted, until nothing of them is in the object store.
  CREATE TABLE gone_folders (folder text COLLATE "C" PRIMARY KEY);

  CREATE FUNCTION is_held_elsewhere(p_kind text, p_principal text, p_context_id text, p_worker text)
  RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM conversations c JOIN workers ON workers.id = c.holder WHERE c.kind = p_kind
      AND c.principal = p_principal AND c.context_id = p_context_id AND c.holder <> p_worker) $$;

  -- Makes a worker the holder of a conversation that no other living one holds: {epoch, before,
  -- checkpoint, isTakeover}, where before is the epoch of the last holder. Otherwise {}.
  CREATE FUNCTION hold_conversation(p_hold text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    h json := p_hold::json;
    c conversations;
    v_epoch bigint;
  BEGIN
    PERFORM FROM workers WHERE id = h->>'worker' FOR SHARE;
    IF NOT FOUND THEN RETURN '{}'; END IF;
    INSERT INTO conversations (kind, principal, context_id, folder, used_at)
      VALUES (h->>'kind', h->>'principal', h->>'contextId', h->>'folder', now_ms()) ON CONFLICT DO NOTHING;
    SELECT * INTO c FROM conversations WHERE kind = h->>'kind' AND principal = h->>'principal'
      AND context_id = h->>'contextId' FOR UPDATE;
    IF c.holder IS DISTINCT FROM h->>'worker' THEN
      IF EXISTS (SELECT FROM workers WHERE id = c.holder) THEN RETURN '{}'; END IF;
      UPDATE conversations SET holder = h->>'worker', epoch = nextval('conversation_epochs'), used_at = now_ms()
        WHERE folder = c.folder RETURNING epoch INTO v_epoch;
    END IF;
    RETURN json_build_object('before', c.epoch, 'checkpoint', c.checkpoint, 'epoch', coalesce(v_epoch, c.epoch),
      'isTakeover', c.holder IS NOT NULL AND c.holder <> h->>'worker');
  END $$;

  -- Forgets a conversation that nobody holds and nobody used since; its folder is gone then.
  CREATE FUNCTION forget_conversation(p_folder text, p_before bigint) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM conversations WHERE folder = p_folder AND used_at < p_before
      AND NOT EXISTS (SELECT FROM workers WHERE id = conversations.holder);
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO gone_folders VALUES (p_folder) ON CONFLICT DO NOTHING;
    RETURN true;
  END $$;

  -- As before, but for runs of conversations that another worker holds.
  CREATE OR REPLACE FUNCTION claim_runs(p_claim text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    c json := p_claim::json;
    kinds text[] := ARRAY(SELECT json_array_elements_text(c->'kinds'));
    keys text[] := ARRAY(SELECT json_array_elements_text(c->'bodies'));
    says_all boolean := c->'bodies' IS NULL;
    v_run bigint;
    claimed json[] := '{}';
  BEGIN
    PERFORM FROM workers WHERE id = c->>'owner' FOR SHARE;
    IF NOT FOUND THEN RETURN '[]'; END IF;
    FOR v_run IN
      SELECT runs.n FROM runs JOIN heads ON heads.run = runs.n
        WHERE runs.due <= now_ms() AND runs.kind = ANY (kinds)
          AND (says_all OR body_key(runs.kind, runs.body, heads.epoch) = ANY (keys))
          AND NOT is_held_elsewhere(runs.kind, runs.principal, runs.context_id, c->>'owner')
        ORDER BY runs.due LIMIT (c->>'limit')::int FOR UPDATE OF heads SKIP LOCKED
    LOOP
      -- Its row may be older than the lock.
      IF EXISTS (SELECT 1 FROM run_rows WHERE n = v_run AND due <= now_ms()
          AND (says_all OR body_key(kind, body, epoch) = ANY (keys))) THEN
        claimed := array_append(claimed, to_json(give_run(v_run, c->>'owner', c->'newest')));
      END IF;
    END LOOP;
    IF NOT says_all AND cardinality(claimed) < (c->>'limit')::int AND EXISTS (
      SELECT 1 FROM runs JOIN heads ON heads.run = runs.n WHERE runs.due <= now_ms() AND runs.kind = ANY (kinds)
        AND NOT body_key(runs.kind, runs.body, heads.epoch) = ANY (keys)
        AND NOT EXISTS (SELECT 1 FROM workers
          WHERE body_key(runs.kind, runs.body, heads.epoch) = ANY (workers.bodies)))
    THEN PERFORM pause_stranded(c); END IF;
    RETURN array_to_json(claimed);
  END $$;

  -- As before; a run of a conversation that another worker holds is left to that one.
  CREATE OR REPLACE FUNCTION accept_run(p_request text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    q json := p_request::json;
    known runs;
    verdict text;
    use json;
    v_run bigint;
    v_owner text := q->>'owner';
    t bigint;
  BEGIN
    IF q->>'key' IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(q->>'principal' || ' ' || (q->>'key'), 1));
      SELECT * INTO known FROM runs WHERE principal = q->>'principal' AND dedupe_key = q->>'key';
      IF FOUND THEN
        verdict := repeats(known, q);
        IF verdict = 'found' THEN
          RETURN json_build_object('answer', 'found', 'run', (SELECT r FROM run_rows r WHERE n = known.n));
        ELSIF verdict = 'conflict' THEN
          RETURN '{"answer":"conflict"}';
        END IF;
        UPDATE runs SET dedupe_key = NULL, dedupe_hash = NULL WHERE n = known.n;
      END IF;
    END IF;
    IF q->'quota' IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(q->>'principal', 2));
      use := usage_of(q->>'principal');
      IF (use->>'runs')::bigint >= (q->'quota'->>'runsAtOnce')::numeric
        OR (use->>'tokens')::bigint >= (q->'quota'->>'tokensPerDay')::numeric
        OR (use->>'usd')::float8 >= (q->'quota'->>'usdPerDay')::float8 THEN
        RAISE EXCEPTION USING ERRCODE = 'MH001', MESSAGE = use::text;
      END IF;
    END IF;
    -- A worker declared dead meanwhile gets nothing, since no one would take the run over from it.
    IF v_owner IS NOT NULL THEN
      PERFORM FROM workers WHERE id = v_owner FOR SHARE;
      IF NOT FOUND OR is_held_elsewhere(q->>'kind', q->>'principal', q->>'contextId', v_owner) THEN
        v_owner := NULL;
      END IF;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(conversation_lock(q->>'kind', q->>'principal', q->>'contextId'));
    t := now_ms();
    INSERT INTO runs (id, kind, status, principal, context_id, input, due, dedupe_key, dedupe_hash, counted,
        body, created_at, updated_at)
      VALUES (q->>'id', q->>'kind', CASE WHEN v_owner IS NULL THEN 'queued' ELSE 'running' END, q->>'principal',
        q->>'contextId', q->>'input', CASE WHEN v_owner IS NULL THEN t END, q->>'key', q->>'hash',
        q->'quota' IS NOT NULL, CASE WHEN v_owner IS NOT NULL THEN (q->>'body')::int END, t, t)
      ON CONFLICT (id) DO NOTHING RETURNING n INTO v_run;
    IF NOT FOUND THEN RAISE EXCEPTION USING ERRCODE = 'MH002', MESSAGE = 'taken'; END IF;
    INSERT INTO heads (run, owner, epoch) VALUES (v_run, v_owner, CASE WHEN v_owner IS NULL THEN 0 ELSE 1 END);
    PERFORM append(v_run, q->'told');
    IF (q->>'canceled')::boolean THEN PERFORM end_run(v_run, '{"status":"canceled"}'); END IF;
    RETURN json_build_object('answer', 'created', 'run', (SELECT r FROM run_rows r WHERE n = v_run));
  END $$;

  -- As before; a run of a conversation that another worker holds is elsewhere.
  CREATE OR REPLACE FUNCTION take_run(p_claim text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    c json := p_claim::json;
    v_run bigint;
    v_due bigint;
    v_key text;
    h heads;
  BEGIN
    PERFORM FROM workers WHERE id = c->>'owner' FOR SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION USING ERRCODE = 'MH005', MESSAGE = 'This worker is not known.'; END IF;
    SELECT n INTO v_run FROM runs WHERE id = c->>'run';
    IF NOT FOUND THEN RETURN '{}'; END IF;
    SELECT * INTO h FROM heads WHERE run = v_run FOR UPDATE;
    SELECT due INTO v_due FROM runs WHERE n = v_run;
    IF v_due <= now_ms() OR h.owner = c->>'owner' THEN
      IF (SELECT is_held_elsewhere(kind, principal, context_id, c->>'owner') FROM runs WHERE n = v_run) THEN
        RETURN '{"isElsewhere":true}';
      END IF;
      SELECT body_key(kind, body, h.epoch) INTO v_key FROM runs WHERE n = v_run;
      IF v_key = ANY (ARRAY(SELECT json_array_elements_text(c->'bodies'))) THEN
        RETURN json_build_object('run', to_json(give_run(v_run, c->>'owner', c->'newest')));
      END IF;
      PERFORM pause_stranded(c);
      SELECT due INTO v_due FROM runs WHERE n = v_run;
      RETURN CASE WHEN v_due IS NULL THEN '{}' ELSE '{"isElsewhere":true}' END;
    END IF;
    IF v_due IS NOT NULL THEN RETURN json_build_object('left', v_due - now_ms(), 'epoch', h.epoch); END IF;
    IF h.owner IS NOT NULL THEN RETURN json_build_object('owner', h.owner); END IF;
    RETURN '{}';
  END $$;
`;
