/**
 * A run of a conversation that nobody holds yet is left to the worker that executes another one of
 * it: only one of them can open the workspace, and the other would wait for it with a run in hand.
 * Kinds of which no run ever held a workspace are claimed by anyone.
 */
export const firstClaims = `
  CREATE FUNCTION is_elsewhere(p_kind text, p_principal text, p_context_id text, p_worker text)
  RETURNS boolean LANGUAGE plpgsql STABLE AS $$
  DECLARE v_holder text;
  BEGIN
    SELECT workers.id INTO v_holder FROM conversations c JOIN workers ON workers.id = c.holder
      WHERE c.kind = p_kind AND c.principal = p_principal AND c.context_id = p_context_id;
    IF FOUND THEN RETURN v_holder <> p_worker; END IF;
    RETURN EXISTS (SELECT FROM conversations WHERE kind = p_kind)
      AND EXISTS (SELECT FROM runs JOIN heads ON heads.run = runs.n JOIN workers ON workers.id = heads.owner
        WHERE runs.context_id = p_context_id AND runs.principal = p_principal AND runs.kind = p_kind
          AND NOT has_ended(runs.status) AND heads.owner <> p_worker);
  END $$;

  -- As before, and also while a run of the conversation is executed, or being claimed, elsewhere.
  -- One transaction at a time asks for a conversation; another one leaves it alone.
  CREATE OR REPLACE FUNCTION is_held_elsewhere(p_kind text, p_principal text, p_context_id text, p_worker text)
  RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    RETURN NOT pg_try_advisory_xact_lock(
        hashtextextended(json_build_array(p_kind, p_principal, p_context_id)::text, 6))
      OR is_elsewhere(p_kind, p_principal, p_context_id, p_worker);
  END $$;

  -- As before, but one conversation's runs are claimed by one worker at a time.
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
          AND NOT is_elsewhere(runs.kind, runs.principal, runs.context_id, c->>'owner')
        ORDER BY runs.due LIMIT (c->>'limit')::int FOR UPDATE OF heads SKIP LOCKED
    LOOP
      -- Its row may be older than the lock.
      IF EXISTS (SELECT 1 FROM run_rows WHERE n = v_run AND due <= now_ms()
          AND (says_all OR body_key(kind, body, epoch) = ANY (keys)))
        AND NOT (SELECT is_held_elsewhere(kind, principal, context_id, c->>'owner') FROM runs WHERE n = v_run) THEN
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
`;
