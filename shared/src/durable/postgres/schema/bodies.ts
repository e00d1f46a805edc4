/**
 * The second version of the schema: a run is given only to workers that have the body it began
 * with. Workers of the version before say nothing of bodies, and claim and accept as they did.
 */
export const bodies = `
  ALTER TABLE runs ADD COLUMN body int;
  ALTER TABLE workers ADD COLUMN bodies text[];

  CREATE OR REPLACE VIEW run_rows AS
    SELECT runs.n, runs.id, runs.kind, runs.status, runs.principal, runs.context_id, runs.input, runs.output,
      runs.error, runs.due, runs.awaited, runs.waiting_signal, runs.waiting_reason, runs.dedupe_key,
      runs.dedupe_hash, runs.counted, runs.created_at, runs.updated_at,
      heads.owner, heads.epoch, heads.cancel_requested, heads.last_event, runs.body
    FROM runs JOIN heads ON heads.run = runs.n;

  -- Flows recorded the version of their body in their first step before runs had one.
  UPDATE runs SET body = substring(journal.out FROM '"startedAt":[0-9.]+,"body":([0-9]{1,9}),"unpriced"')::int
    FROM journal WHERE journal.run = runs.n AND journal.path = '0' AND journal.name = 'begin'
      AND NOT has_ended(runs.status);

  -- What a worker has to offer to execute a run: "KIND VERSION", or "KIND " before it begins.
  CREATE FUNCTION body_key(kind text, body int, epoch bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT kind || ' ' || coalesce(body::text, CASE WHEN epoch = 0 THEN '' ELSE '1' END) $$;

  -- Everything that the workers offer, and what keeps it from changing until this transaction ends.
  CREATE FUNCTION all_offers() RETURNS text[] LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(current_schema(), 4));
    RETURN ARRAY(SELECT unnest(workers.bodies) FROM workers);
  END $$;

  -- Records what a worker offers and queues the runs that paused because no worker offered that;
  -- {id, last} of each.
  CREATE FUNCTION offer_bodies(p_offer text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    o json := p_offer::json;
    keys text[] := ARRAY(SELECT json_array_elements_text(o->'keys'));
    v_run bigint;
    resumed json[] := '{}';
    added record;
  BEGIN
    PERFORM all_offers();
    UPDATE workers SET bodies = keys WHERE id = o->>'owner';
    FOR v_run IN
      SELECT runs.n FROM runs JOIN heads ON heads.run = runs.n
        WHERE NOT has_ended(runs.status) AND runs.status = 'paused'
          AND runs.error LIKE '{"code":"version_missing"%' AND body_key(runs.kind, runs.body, heads.epoch) = ANY (keys)
        FOR UPDATE OF heads SKIP LOCKED
    LOOP
      CONTINUE WHEN NOT EXISTS (SELECT 1 FROM runs WHERE n = v_run AND status = 'paused');
      PERFORM unclaim(v_run, 'queued', now_ms(), NULL, NULL);
      SELECT * INTO added FROM append(v_run, '{"events":["{\\"type\\":\\"run-resumed\\"}"]}');
      resumed := array_append(resumed,
        (SELECT json_build_object('id', runs.id, 'last', added.last) FROM runs WHERE n = v_run));
    END LOOP;
    RETURN array_to_json(resumed);
  END $$;

  -- Pauses runs of the claim's kinds that could go on, had any worker the body they began with.
  CREATE FUNCTION pause_stranded(c json) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    kinds text[] := ARRAY(SELECT json_array_elements_text(c->'kinds'));
    offered text[] := ARRAY(SELECT json_array_elements_text(c->'bodies')) || all_offers();
    stranded record;
    r run_rows;
    error text;
  BEGIN
    FOR stranded IN
      SELECT runs.n FROM runs JOIN heads ON heads.run = runs.n
        WHERE runs.due <= now_ms() AND runs.kind = ANY (kinds)
          AND NOT body_key(runs.kind, runs.body, heads.epoch) = ANY (offered)
        LIMIT 100 FOR UPDATE OF heads SKIP LOCKED
    LOOP
      SELECT * INTO r FROM run_rows WHERE n = stranded.n;
      CONTINUE WHEN r.due IS NULL OR body_key(r.kind, r.body, r.epoch) = ANY (offered);
      IF r.cancel_requested THEN
        PERFORM end_run(r.n, '{"status":"canceled"}');
        CONTINUE;
      END IF;
      error := '{"code":"version_missing","message":'
        || to_json(replace(c->'missing'->>r.kind, '{version}', coalesce(r.body, 1)::text))::text || '}';
      PERFORM unclaim(r.n, 'paused', NULL, NULL, error);
      PERFORM append(r.n, json_build_object('events',
        json_build_array('{"type":"run-paused","error":' || error || '}')));
    END LOOP;
  END $$;

  -- Gives a run, whose head is locked, to a worker under a new epoch; it begins with the newest body.
  CREATE FUNCTION give_run(p_run bigint, p_owner text, p_newest json) RETURNS run_rows LANGUAGE plpgsql AS $$
  DECLARE
    v_epoch bigint;
    r run_rows;
  BEGIN
    UPDATE heads SET owner = p_owner, epoch = epoch + 1, batch = 0, answer = NULL WHERE run = p_run
      RETURNING epoch INTO v_epoch;
    UPDATE runs SET status = 'running', due = NULL, awaited = NULL, waiting_signal = NULL, waiting_reason = NULL,
      body = CASE WHEN body IS NULL AND v_epoch = 1 THEN (p_newest->>kind)::int ELSE body END,
      updated_at = now_ms() WHERE n = p_run;
    SELECT * INTO r FROM run_rows WHERE n = p_run;
    RETURN r;
  END $$;

  -- Claims the runs of these kinds that have been due for longest and whose bodies the worker has.
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

  -- As before, and a run that is given to a worker at once begins with the body that it names.
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
      IF NOT FOUND THEN v_owner := NULL; END IF;
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
`;
