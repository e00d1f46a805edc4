/** Functions that change runs from outside, and those of the workers that share them out. */
export const intakeFunctions = `
  CREATE FUNCTION usage_of(p_principal text) RETURNS json LANGUAGE sql AS $$
    SELECT json_build_object('day', today(), 'now', now_ms(),
      'runs', (SELECT count(*) FROM runs WHERE principal = p_principal AND counted
        AND status IN ('queued', 'running', 'waiting', 'paused')),
      'tokens', coalesce((SELECT tokens FROM usage WHERE principal = p_principal AND day = today()), 0),
      'usd', coalesce((SELECT usd FROM usage WHERE principal = p_principal AND day = today()), 0)) $$;

  -- What a run accepted under the same key means for a request: "found", "conflict", or NULL if it
  -- stands in nothing's way. See StartRequest.dedupe.
  CREATE FUNCTION repeats(known runs, request json) RETURNS text LANGUAGE sql AS $$
    SELECT CASE
      WHEN now_ms() - known.created_at >= (request->>'withinMs')::bigint THEN NULL
      WHEN request->>'hash' IS NULL OR known.dedupe_hash IS NULL OR known.dedupe_hash = request->>'hash' THEN 'found'
      WHEN (request->>'perContext')::boolean AND request->>'contextId' <> known.context_id THEN NULL
      ELSE 'conflict'
    END $$;

  -- What excludes that a conversation's last run is deleted while another one is accepted.
  CREATE FUNCTION conversation_lock(kind text, principal text, context_id text) RETURNS bigint LANGUAGE sql AS $$
    SELECT hashtextextended(json_build_array(kind, principal, context_id)::text, 3) $$;

  CREATE FUNCTION accept_run(p_request text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    q json := p_request::json;
    known runs;
    verdict text;
    use json;
    v_run bigint;
    v_owner text := q->>'owner';
    t bigint;
    signaled text[];
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
      IF NOT FOUND THEN v_owner := NULL; END IF;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(conversation_lock(q->>'kind', q->>'principal', q->>'contextId'));
    t := now_ms();
    INSERT INTO runs (id, kind, status, principal, context_id, input, due, dedupe_key, dedupe_hash, counted,
        created_at, updated_at)
      VALUES (q->>'id', q->>'kind', CASE WHEN v_owner IS NULL THEN 'queued' ELSE 'running' END, q->>'principal',
        q->>'contextId', q->>'input', CASE WHEN v_owner IS NULL THEN t END, q->>'key', q->>'hash',
        q->'quota' IS NOT NULL, t, t)
      ON CONFLICT (id) DO NOTHING RETURNING n INTO v_run;
    IF NOT FOUND THEN RAISE EXCEPTION USING ERRCODE = 'MH002', MESSAGE = 'taken'; END IF;
    INSERT INTO heads (run, owner, epoch) VALUES (v_run, v_owner, CASE WHEN v_owner IS NULL THEN 0 ELSE 1 END);
    PERFORM append(v_run, q->'told');
    IF (q->>'canceled')::boolean THEN PERFORM end_run(v_run, '{"status":"canceled"}'); END IF;
    RETURN json_build_object('answer', 'created', 'run', (SELECT r FROM run_rows r WHERE n = v_run));
  END $$;

  -- Locks a run's head; NULL if there is no such run.
  CREATE FUNCTION lock_run(p_id text) RETURNS run_rows LANGUAGE plpgsql AS $$
  DECLARE
    v_run bigint;
    r run_rows;
  BEGIN
    SELECT n INTO v_run FROM runs WHERE id = p_id;
    PERFORM FROM heads WHERE run = v_run FOR UPDATE;
    SELECT * INTO r FROM run_rows WHERE n = v_run;
    RETURN r;
  END $$;

  -- {answer, last, signaled, woken}: the run's status if it has ended, else what was done.
  CREATE FUNCTION deliver(p_delivery text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    d json := p_delivery::json;
    r run_rows := lock_run(d->>'run');
    added record;
  BEGIN
    IF r.n IS NULL THEN RETURN '{"answer":"not_found"}'; END IF;
    IF EXISTS (SELECT 1 FROM signals WHERE run = r.n AND name = d->>'name' AND id = d->>'id') THEN
      RETURN '{"answer":"duplicate"}';
    END IF;
    IF has_ended(r.status) THEN RETURN json_build_object('answer', r.status); END IF;
    PERFORM put_signal(r.n, d->>'name', d->>'id', d->>'payload');
    SELECT * INTO added FROM append(r.n, d->'told');
    RETURN json_build_object('answer', 'stored', 'last', added.last, 'signaled', array_to_json(added.signaled));
  END $$;

  CREATE FUNCTION watch_run(p_watch text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    w json := p_watch::json;
    r run_rows := lock_run(w->>'run');
    v_watcher bigint;
    v_id text := (w->>'run') || '/' || (w->>'after');
  BEGIN
    SELECT n INTO v_watcher FROM runs WHERE id = w->>'watcher';
    IF r.n IS NULL OR v_watcher IS NULL THEN
      RETURN json_build_object('missing', CASE WHEN r.n IS NULL THEN w->>'run' ELSE w->>'watcher' END);
    END IF;
    IF r.last_event > (w->>'after')::bigint OR has_ended(r.status) THEN
      RETURN json_build_object('signaled', array_remove(ARRAY[signal_watcher(v_watcher, w->>'signal', v_id)], NULL));
    END IF;
    INSERT INTO watchers VALUES (r.n, v_watcher, w->>'signal', v_id)
      ON CONFLICT (run, watcher, signal) DO UPDATE SET id = excluded.id;
    RETURN '{"signaled":[]}';
  END $$;

  -- Ends a run that no worker executes at once; otherwise its worker ends it.
  CREATE FUNCTION cancel_run(p_id text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    r run_rows := lock_run(p_id);
    added record;
  BEGIN
    IF r.n IS NULL THEN RETURN '{"answer":"not_found"}'; END IF;
    IF has_ended(r.status) THEN RETURN json_build_object('answer', r.status); END IF;
    IF r.status = 'running' THEN
      UPDATE heads SET cancel_requested = true WHERE run = r.n;
      UPDATE runs SET updated_at = now_ms() WHERE n = r.n;
      RETURN '{"answer":"asked","last":0,"signaled":[]}';
    END IF;
    SELECT * INTO added FROM end_run(r.n, '{"status":"canceled"}');
    RETURN json_build_object('answer', 'ended', 'last', added.last, 'signaled', array_to_json(added.signaled));
  END $$;

  CREATE FUNCTION resume_run(p_id text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    r run_rows := lock_run(p_id);
    added record;
  BEGIN
    IF r.n IS NULL THEN RETURN '{"answer":"not_found"}'; END IF;
    IF r.status <> 'paused' THEN RETURN json_build_object('answer', r.status); END IF;
    PERFORM unclaim(r.n, 'queued', now_ms(), NULL, NULL);
    SELECT * INTO added FROM append(r.n, '{"events":["{\\"type\\":\\"run-resumed\\"}"]}');
    RETURN json_build_object('answer', 'resumed', 'last', added.last, 'signaled', array_to_json(added.signaled));
  END $$;
`;
