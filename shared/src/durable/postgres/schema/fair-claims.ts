/**
 * While a worker has less room than runs are due, principals take turns. Workers of the version
 * before claim what has been due for longest.
 */
export const fairClaims = `
  -- A run that a worker has room for is never queued, and so never in here; one that sleeps is in
  -- the other.
  CREATE INDEX runs_queued ON runs (kind, principal, due) WHERE status = 'queued';
  CREATE INDEX runs_asleep ON runs (due) WHERE status = 'waiting' AND due IS NOT NULL;

  -- Whether more runs are claimable than the claim has room for. The time is read first: with a
  -- function that may change its answer no index is searched, and all that sleep would be read.
  CREATE FUNCTION is_scarce(c json) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    kinds text[] := ARRAY(SELECT json_array_elements_text(c->'kinds'));
    keys text[] := ARRAY(SELECT json_array_elements_text(c->'bodies'));
    v_now bigint := now_ms();
  BEGIN
    RETURN (SELECT count(*) FROM (SELECT FROM runs JOIN heads ON heads.run = runs.n
      WHERE runs.due <= v_now AND runs.kind = ANY (kinds)
        AND body_key(runs.kind, runs.body, heads.epoch) = ANY (keys)
      LIMIT (c->>'limit')::int + 1) AS due) > (c->>'limit')::int;
  END $$;

  -- Queues the runs whose sleep is over, as many as one claim may see to.
  CREATE FUNCTION wake_sleepers() RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v_now bigint := now_ms();
    v_run bigint;
  BEGIN
    FOR v_run IN
      SELECT runs.n FROM runs JOIN heads ON heads.run = runs.n
        WHERE runs.status = 'waiting' AND runs.due <= v_now
        ORDER BY runs.due LIMIT 1000 FOR UPDATE OF heads SKIP LOCKED
    LOOP
      -- Its row may be older than the lock.
      UPDATE runs SET status = 'queued' WHERE n = v_run AND status = 'waiting' AND due <= v_now;
    END LOOP;
  END $$;

  -- The principal's queued run that has been due for longest and that the worker can have, its head
  -- locked. Asks for each kind alone, which the index answers in order however many wait.
  CREATE FUNCTION oldest_of(c json, p_kinds text[], p_keys text[], p_principal text) RETURNS bigint
  LANGUAGE plpgsql AS $$
  DECLARE
    v_kind text;
    v_run bigint;
  BEGIN
    FOR v_kind IN
      SELECT k FROM unnest(p_kinds) AS k, LATERAL (SELECT runs.due FROM runs
        WHERE runs.kind = k AND runs.principal = p_principal AND runs.status = 'queued'
        ORDER BY runs.due LIMIT 1) AS oldest
      ORDER BY oldest.due
    LOOP
      SELECT runs.n INTO v_run FROM runs JOIN heads ON heads.run = runs.n
        WHERE runs.kind = v_kind AND runs.principal = p_principal AND runs.status = 'queued'
          AND runs.due <= now_ms() AND body_key(runs.kind, runs.body, heads.epoch) = ANY (p_keys)
          AND NOT is_elsewhere(runs.kind, runs.principal, runs.context_id, c->>'owner')
        ORDER BY runs.due LIMIT 1 FOR UPDATE OF heads SKIP LOCKED;
      EXIT WHEN v_run IS NOT NULL;
    END LOOP;
    RETURN v_run;
  END $$;

  -- Gives the worker as many runs as it has room for: of each principal in turn, in the order of
  -- their names, the one after the last served first, the run that has been due for longest.
  CREATE FUNCTION claim_in_turn(c json) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    kinds text[] := ARRAY(SELECT json_array_elements_text(c->'kinds'));
    keys text[] := ARRAY(SELECT json_array_elements_text(c->'bodies'));
    v_last text := c->>'served';
    v_found boolean := true;
    v_run bigint;
    claimed json[] := '{}';
  BEGIN
    WHILE cardinality(claimed) < (c->>'limit')::int LOOP
      v_last := (SELECT min(next.principal) FROM unnest(kinds) AS k, LATERAL (SELECT runs.principal FROM runs
        WHERE runs.kind = k AND runs.status = 'queued' AND runs.principal > v_last
        ORDER BY runs.principal LIMIT 1) AS next);
      IF v_last IS NULL THEN
        EXIT WHEN NOT v_found;
        v_last := '';
        v_found := false;
        CONTINUE;
      END IF;
      v_run := oldest_of(c, kinds, keys, v_last);
      CONTINUE WHEN v_run IS NULL;
      -- Its row may be older than the lock; what another worker claims is left to it.
      IF EXISTS (SELECT 1 FROM run_rows WHERE n = v_run AND due <= now_ms()
          AND body_key(kind, body, epoch) = ANY (keys))
        AND NOT (SELECT is_held_elsewhere(kind, principal, context_id, c->>'owner') FROM runs WHERE n = v_run) THEN
        claimed := array_append(claimed, to_json(give_run(v_run, c->>'owner', c->'newest')));
        v_found := true;
      END IF;
    END LOOP;
    RETURN array_to_json(claimed);
  END $$;

  -- Claims what is due, in turn where there is less room than runs.
  CREATE FUNCTION claim_fairly(p_claim text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE c json := p_claim::json;
  BEGIN
    IF NOT is_scarce(c) THEN RETURN claim_runs(p_claim); END IF;
    PERFORM FROM workers WHERE id = c->>'owner' FOR SHARE;
    IF NOT FOUND THEN RETURN '[]'; END IF;
    PERFORM wake_sleepers();
    RETURN claim_in_turn(c);
  END $$;
`;
