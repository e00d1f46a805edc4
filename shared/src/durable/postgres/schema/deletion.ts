/** Functions that delete runs which have ended. */
export const deletionFunctions = `
  -- Deletes runs with all that they asked for; see Housekeeping.delete. Refuses with MH003 for a run
  -- that is unknown, with MH004 for one that has not ended; the message is its id.
  CREATE FUNCTION delete_runs(p_request text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    q json := p_request::json;
    named text[] := ARRAY(SELECT json_array_elements_text(q->'runIds'));
    v_id text;
    doomed bigint[];
    hashes text[];
    conversation record;
    emptied json[] := '{}';
    result json;
  BEGIN
    SELECT named_id.id INTO v_id FROM unnest(named) AS named_id (id) WHERE NOT EXISTS (SELECT 1 FROM runs
      WHERE runs.id = named_id.id AND (q->>'principal' IS NULL OR principal = q->>'principal'));
    IF FOUND THEN RAISE EXCEPTION USING ERRCODE = 'MH003', MESSAGE = v_id; END IF;
    WITH RECURSIVE family AS (
      SELECT n, id, principal FROM runs WHERE id = ANY (named)
      UNION SELECT runs.n, runs.id, runs.principal FROM runs JOIN family
        ON runs.principal = family.principal AND runs.dedupe_key IS NOT NULL AND asker_of(runs.dedupe_key) = family.id)
      SELECT array_agg(n) INTO doomed FROM family;
    PERFORM FROM heads WHERE run = ANY (doomed) ORDER BY run FOR UPDATE;
    SELECT id INTO v_id FROM runs WHERE n = ANY (doomed)
      AND (NOT has_ended(status) OR updated_at > (q->>'endedBy')::numeric) ORDER BY id = ANY (named) DESC LIMIT 1;
    IF FOUND THEN RAISE EXCEPTION USING ERRCODE = 'MH004', MESSAGE = v_id; END IF;
    hashes := ARRAY(SELECT DISTINCT sha256 FROM file_runs WHERE run = ANY (doomed));
    SELECT json_build_object('runs', json_agg(id), 'endedAt', max(updated_at)) INTO result
      FROM runs WHERE n = ANY (doomed);
    FOR conversation IN
      SELECT DISTINCT kind, principal, context_id, conversation_lock(kind, principal, context_id) AS lock
        FROM runs WHERE n = ANY (doomed) ORDER BY lock
    LOOP
      PERFORM pg_advisory_xact_lock(conversation.lock);
      IF NOT EXISTS (SELECT 1 FROM runs WHERE kind = conversation.kind AND principal = conversation.principal
        AND context_id = conversation.context_id AND NOT n = ANY (doomed)) THEN
        emptied := array_append(emptied, json_build_object('kind', conversation.kind,
          'principal', conversation.principal, 'contextId', conversation.context_id));
      END IF;
    END LOOP;
    DELETE FROM file_runs WHERE run = ANY (doomed);
    DELETE FROM files WHERE sha256 = ANY (hashes)
      AND principal IN (SELECT principal FROM runs WHERE n = ANY (doomed))
      AND NOT EXISTS (SELECT 1 FROM file_runs JOIN runs ON runs.n = file_runs.run
        WHERE file_runs.sha256 = files.sha256 AND runs.principal = files.principal);
    DELETE FROM journal WHERE run = ANY (doomed);
    DELETE FROM signals WHERE run = ANY (doomed);
    DELETE FROM events WHERE run = ANY (doomed);
    DELETE FROM watchers WHERE run = ANY (doomed) OR watcher = ANY (doomed);
    DELETE FROM heads WHERE run = ANY (doomed);
    DELETE FROM runs WHERE n = ANY (doomed);
    RETURN json_build_object('runs', result->'runs', 'endedAt', result->'endedAt',
      'emptied', array_to_json(emptied), 'files', (SELECT coalesce(json_agg(hash), '[]') FROM unnest(hashes) AS hash
        WHERE NOT EXISTS (SELECT 1 FROM file_runs WHERE sha256 = hash)));
  END $$;

  -- Deletes the journals and signals of some runs that ended by a time; {runs, next}.
  CREATE FUNCTION delete_journals(p_ended_by numeric, p_after bigint, p_limit bigint, p_dry boolean)
  RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    looked bigint[];
    with_steps bigint[];
  BEGIN
    looked := ARRAY(SELECT n FROM runs WHERE n > p_after AND has_ended(status) AND updated_at <= p_ended_by
      ORDER BY n LIMIT p_limit);
    with_steps := ARRAY(SELECT seen.run FROM unnest(looked) AS seen (run)
      WHERE EXISTS (SELECT 1 FROM journal WHERE journal.run = seen.run)
        OR EXISTS (SELECT 1 FROM signals WHERE signals.run = seen.run));
    IF NOT p_dry THEN
      DELETE FROM journal WHERE run = ANY (with_steps);
      DELETE FROM signals WHERE run = ANY (with_steps);
    END IF;
    RETURN json_build_object('runs', cardinality(with_steps),
      'next', CASE WHEN cardinality(looked) = p_limit THEN looked[p_limit::int]::text END);
  END $$;
`;
