/** The function that writes what one claim of a run has to write. */
export const runFunctions = `
  -- Answers a wait: takes the first stored signal it wants, or parks the run if it asks for that.
  CREATE FUNCTION answer_wait(p_run bigint, p_wait json, p_canceled boolean) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    wanted json;
    taken signals;
    park json := p_wait->'park';
  BEGIN
    FOR wanted IN SELECT * FROM json_array_elements(p_wait->'wanted') LOOP
      SELECT * INTO taken FROM signals
        WHERE run = p_run AND name = wanted->>'name' AND taken_by IS NULL ORDER BY n LIMIT 1;
      CONTINUE WHEN NOT FOUND;
      UPDATE signals SET taken_by = wanted->>'path' WHERE n = taken.n;
      PERFORM put_row(p_run, json_build_object('path', wanted->>'path', 'kind', 'signal',
        'name', wanted->>'name', 'state', 'done', 'out', taken.payload));
      RETURN json_build_object('parked', false, 'canceled', p_canceled,
        'taken', json_build_object('path', wanted->>'path', 'payload', taken.payload));
    END LOOP;
    IF park IS NULL OR p_canceled THEN
      RETURN json_build_object('parked', false, 'canceled', p_canceled);
    END IF;
    PERFORM unclaim(p_run, 'waiting', (park->>'wakeAt')::bigint, NULL, NULL);
    UPDATE runs SET awaited = ARRAY(SELECT json_array_elements_text(park->'signals')),
      waiting_signal = park->'shown'->>'signal', waiting_reason = park->'shown'->>'reason' WHERE n = p_run;
    RETURN json_build_object('parked', true, 'canceled', false);
  END $$;

  CREATE FUNCTION take_all(p_run bigint, p_row json) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE payloads text;
  BEGIN
    WITH taken AS (
      UPDATE signals SET taken_by = p_row->>'path'
        WHERE run = p_run AND name = p_row->>'name' AND taken_by IS NULL RETURNING n, payload)
      SELECT '[' || coalesce(string_agg(payload, ',' ORDER BY n), '') || ']' INTO payloads FROM taken;
    PERFORM put_row(p_run, json_build_object('path', p_row->>'path', 'kind', p_row->>'kind',
      'name', p_row->>'name', 'state', p_row->>'state', 'out', payloads));
    RETURN to_json(payloads);
  END $$;

  -- Writes a list of operations for one claim, all or none and once: a batch that comes again, because
  -- its answer was lost, gets the first answer. "lost" if another worker owns the run.
  CREATE FUNCTION commit_run(p_commit text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    c json := p_commit::json;
    v_run bigint := (c->>'run')::bigint;
    h heads;
    op json;
    begun json;
    told json;
    added record;
    last bigint := 0;
    signaled text[] := '{}';
    answers json[] := '{}';
    answer json;
    result text;
  BEGIN
    SELECT * INTO h FROM heads WHERE run = v_run AND epoch = (c->>'epoch')::bigint FOR UPDATE;
    IF NOT FOUND THEN RETURN '{"lost":true}'; END IF;
    IF h.batch = (c->>'batch')::bigint THEN RETURN h.answer; END IF;
    IF h.owner IS DISTINCT FROM c->>'owner' THEN RETURN '{"lost":true}'; END IF;
    FOR op IN SELECT * FROM json_array_elements(c->'ops') LOOP
      answer := 'null';
      told := NULL;
      CASE op->>'do'
      WHEN 'record' THEN
        PERFORM put_row(v_run, op->'row');
        told := op->'told';
      WHEN 'wait' THEN
        FOR begun IN SELECT * FROM json_array_elements(op->'begin') LOOP
          PERFORM put_row(v_run, begun);
        END LOOP;
        answer := answer_wait(v_run, op, h.cancel_requested);
        told := op->'told';
      WHEN 'take' THEN
        answer := take_all(v_run, op->'row');
      WHEN 'give' THEN
        UPDATE signals SET taken_by = NULL WHERE run = v_run AND taken_by = op->>'path';
        UPDATE journal SET state = 'started', out = NULL WHERE run = v_run AND path = op->>'path';
      WHEN 'release' THEN
        PERFORM unclaim(v_run, 'queued', now_ms(), NULL, NULL);
      WHEN 'pause' THEN
        IF NOT h.cancel_requested THEN
          PERFORM unclaim(v_run, 'paused', NULL, NULL, op->>'error');
          told := op->'told';
        END IF;
      ELSE NULL;
      END CASE;
      IF op->>'do' = 'end' OR (op->>'do' = 'pause' AND h.cancel_requested) THEN
        SELECT * INTO added FROM end_run(v_run,
          CASE WHEN h.cancel_requested THEN '{"status":"canceled"}'::json ELSE op->'ending' END);
        last := added.last;
        signaled := signaled || added.signaled;
      ELSIF told IS NOT NULL THEN
        SELECT * INTO added FROM append(v_run, told);
        last := greatest(last, added.last);
        signaled := signaled || added.signaled;
      END IF;
      answers := array_append(answers, answer);
    END LOOP;
    result := json_build_object('last', last, 'canceled', h.cancel_requested,
      'signaled', array_to_json(signaled), 'answers', array_to_json(answers))::text;
    UPDATE heads SET batch = (c->>'batch')::bigint, answer = result WHERE run = v_run;
    RETURN result;
  END $$;
`;
