/**
 * Functions that change one run. Whoever changes a run locks its row of `heads` first, so that no
 * two of them wait for each other. Their arguments and answers are JSON text.
 */
export const commitFunctions = `
  CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

  CREATE FUNCTION today() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD') $$;

  -- Gives the run a status in which no worker has it.
  CREATE FUNCTION unclaim(p_run bigint, p_status text, p_due bigint, p_output text, p_error text)
  RETURNS void LANGUAGE sql AS $$
    UPDATE heads SET owner = NULL WHERE run = p_run AND owner IS NOT NULL;
    UPDATE runs SET status = p_status, due = p_due, output = p_output, error = p_error, awaited = NULL,
      waiting_signal = NULL, waiting_reason = NULL, updated_at = now_ms() WHERE n = p_run;
  $$;

  -- Stores a signal and wakes the run if it waits for it; its head is locked. False if it was stored.
  CREATE FUNCTION put_signal(p_run bigint, p_name text, p_id text, p_payload text)
  RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE r runs;
  BEGIN
    INSERT INTO signals (run, name, id, payload) VALUES (p_run, p_name, p_id, p_payload)
      ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN false; END IF;
    SELECT * INTO r FROM runs WHERE n = p_run;
    IF r.status = 'waiting' AND p_name = ANY (r.awaited) THEN
      PERFORM unclaim(p_run, 'queued', now_ms(), NULL, NULL);
    END IF;
    RETURN true;
  END $$;

  -- Signals a watcher unless it has ended; returns its id.
  CREATE FUNCTION signal_watcher(p_watcher bigint, p_signal text, p_id text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE r runs;
  BEGIN
    PERFORM FROM heads WHERE run = p_watcher FOR UPDATE;
    SELECT * INTO r FROM runs WHERE n = p_watcher;
    IF NOT FOUND OR has_ended(r.status) OR NOT put_signal(p_watcher, p_signal, p_id, 'null') THEN
      RETURN NULL;
    END IF;
    RETURN r.id;
  END $$;

  -- Appends events, with the files and the usage they tell of; the run's head is locked. Returns the
  -- last event's number (0 for no events) and the watchers signaled.
  CREATE FUNCTION append(p_run bigint, p_told json, OUT last bigint, OUT signaled text[]) LANGUAGE plpgsql AS $$
  DECLARE
    k bigint := coalesce(json_array_length(p_told->'events'), 0);
    t bigint := now_ms();
    who text;
    w watchers;
    item json;
  BEGIN
    last := 0;
    signaled := '{}';
    IF k = 0 THEN RETURN; END IF;
    UPDATE heads SET last_event = last_event + k WHERE run = p_run RETURNING last_event INTO last;
    -- At most once a second: every row of an index that changes has to be written twice.
    UPDATE runs SET updated_at = t WHERE n = p_run AND updated_at < t - 1000;
    INSERT INTO events SELECT p_run, last - k + place, t, event
      FROM json_array_elements_text(p_told->'events') WITH ORDINALITY AS told (event, place);
    IF p_told->'files' IS NOT NULL OR p_told->'used' IS NOT NULL THEN
      SELECT principal INTO who FROM runs WHERE n = p_run;
      INSERT INTO files SELECT who, file->>'sha256', coalesce((file->>'size')::numeric, 0)::bigint
        FROM json_array_elements(p_told->'files') AS file ON CONFLICT DO NOTHING;
      INSERT INTO file_runs SELECT file->>'sha256', p_run
        FROM json_array_elements(p_told->'files') AS file ON CONFLICT DO NOTHING;
      FOR item IN SELECT * FROM json_array_elements(p_told->'used') LOOP
        CONTINUE WHEN item->'agent' IS NOT NULL AND EXISTS (SELECT 1 FROM runs WHERE principal = who AND dedupe_key =
          '[' || (item->'agent')::text || ',' || to_json(who)::text || ',' || (item->'ask')::text || ']');
        PERFORM spend(who, (item->>'tokens')::bigint, (item->>'usd')::float8);
      END LOOP;
    END IF;
    FOR w IN DELETE FROM watchers WHERE run = p_run RETURNING * LOOP
      signaled := array_append(signaled, signal_watcher(w.watcher, w.signal, w.id));
    END LOOP;
    signaled := array_remove(signaled, NULL);
  END $$;

  CREATE FUNCTION spend(p_principal text, p_tokens bigint, p_usd float8) RETURNS void LANGUAGE sql AS $$
    INSERT INTO usage VALUES (p_principal, today(), p_tokens, p_usd)
      ON CONFLICT (principal, day) DO UPDATE
      SET tokens = usage.tokens + excluded.tokens, usd = usage.usd + excluded.usd $$;

  CREATE FUNCTION put_row(p_run bigint, r json) RETURNS void LANGUAGE sql AS $$
    INSERT INTO journal
      VALUES (p_run, r->>'path', r->>'kind', r->>'name', r->>'state', r->>'out', r->>'error')
      ON CONFLICT (run, path) DO UPDATE
      SET state = excluded.state, out = excluded.out, error = excluded.error WHERE journal.state = 'started' $$;

  CREATE FUNCTION end_run(p_run bigint, p_ending json, OUT last bigint, OUT signaled text[]) LANGUAGE plpgsql AS $$
  DECLARE
    status text := p_ending->>'status';
    error text := p_ending->>'error';
    event text := '{"type":"run-ended","status":"' || status || '"' || coalesce(',"error":' || error, '') || '}';
  BEGIN
    PERFORM unclaim(p_run, status, NULL, p_ending->>'output', error);
    SELECT a.last, a.signaled INTO last, signaled
      FROM append(p_run, json_build_object('events', json_build_array(event))) AS a;
  END $$;
`;
