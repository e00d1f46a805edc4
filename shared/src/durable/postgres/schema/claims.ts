/** Functions with which workers take runs on and give them up. */
export const claimFunctions = `
  -- Gives a run, whose head is locked, to a worker under a new epoch.
  CREATE FUNCTION give_run(p_run bigint, p_owner text) RETURNS run_rows LANGUAGE plpgsql AS $$
  DECLARE r run_rows;
  BEGIN
    UPDATE heads SET owner = p_owner, epoch = epoch + 1, batch = 0, answer = NULL WHERE run = p_run;
    UPDATE runs SET status = 'running', due = NULL, awaited = NULL, waiting_signal = NULL, waiting_reason = NULL,
      updated_at = now_ms() WHERE n = p_run;
    SELECT * INTO r FROM run_rows WHERE n = p_run;
    RETURN r;
  END $$;

  -- Claims the runs of these kinds that have been due for longest.
  CREATE FUNCTION claim_runs(p_claim text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    c json := p_claim::json;
    kinds text[] := ARRAY(SELECT json_array_elements_text(c->'kinds'));
    v_run bigint;
    claimed json[] := '{}';
  BEGIN
    PERFORM FROM workers WHERE id = c->>'owner' FOR SHARE;
    IF NOT FOUND THEN RETURN '[]'; END IF;
    FOR v_run IN
      SELECT runs.n FROM runs JOIN heads ON heads.run = runs.n
        WHERE runs.due <= now_ms() AND runs.kind = ANY (kinds)
        ORDER BY runs.due LIMIT (c->>'limit')::int FOR UPDATE OF heads SKIP LOCKED
    LOOP
      -- Its row may be older than the lock.
      IF EXISTS (SELECT 1 FROM runs WHERE n = v_run AND due <= now_ms()) THEN
        claimed := array_append(claimed, to_json(give_run(v_run, c->>'owner')));
      END IF;
    END LOOP;
    RETURN array_to_json(claimed);
  END $$;

  -- Hands back what a worker holds, but for these runs. Answers how many.
  CREATE FUNCTION hand_back(p_owner text, p_except text) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    kept bigint[] := ARRAY(SELECT json_array_elements_text(p_except::json)::bigint);
    v_run bigint;
    handed bigint := 0;
  BEGIN
    FOR v_run IN SELECT run FROM heads WHERE owner = p_owner AND NOT run = ANY (kept) FOR UPDATE LOOP
      PERFORM unclaim(v_run, 'queued', now_ms(), NULL, NULL);
      handed := handed + 1;
    END LOOP;
    RETURN handed;
  END $$;

  -- Declares a worker dead; NULL if another worker did already, or if it is alive after all.
  CREATE FUNCTION bury_worker(p_worker text, p_expired boolean) RETURNS bigint LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM workers WHERE id = p_worker AND (NOT p_expired OR expires_at < now_ms());
    IF NOT FOUND THEN RETURN NULL; END IF;
    RETURN hand_back(p_worker, '[]');
  END $$;
`;

/** Functions with which workers take on runs that a scheduler beside the database names. */
export const schedulingFunctions = `
  -- Gives a worker this run if it is due, or if the worker owns it, which then lost the answer:
  -- {run}. Otherwise says why not: {left, epoch} until it is due, {owner}, {isElsewhere} if only
  -- others have its body, or {} if it waits for something else.
  CREATE FUNCTION take_run(p_claim text) RETURNS text LANGUAGE plpgsql AS $$
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
