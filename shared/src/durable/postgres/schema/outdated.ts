/**
 * A signal may say up to which event its sender knew the run; once the run has others, nothing of
 * it is stored. Senders that say nothing of it are answered as before.
 */
export const outdatedSignals = `
  CREATE OR REPLACE FUNCTION deliver(p_delivery text) RETURNS text LANGUAGE plpgsql AS $$
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
    IF r.last_event > (d->>'if_last')::bigint THEN RETURN '{"answer":"outdated"}'; END IF;
    PERFORM put_signal(r.n, d->>'name', d->>'id', d->>'payload');
    SELECT * INTO added FROM append(r.n, d->'told');
    RETURN json_build_object('answer', 'stored', 'last', added.last, 'signaled', array_to_json(added.signaled));
  END $$;
`;
