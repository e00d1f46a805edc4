/**
 * The index of words: of what a run says there are only numbers, see core/search-grams, which
 * arrays and GIN find without any extension. And an index for the list of a principal, which is
 * written once a run has ended and not with each of its events. Entries go straight into GIN: a
 * list of pending ones would be read by every search.
 */
export const wordsIndex = `
  ALTER TABLE runs ADD COLUMN searchable boolean NOT NULL DEFAULT false;
  CREATE INDEX runs_unsearchable ON runs (n) WHERE NOT searchable;
  CREATE INDEX runs_ended ON runs (principal, updated_at, id) WHERE has_ended(status);

  CREATE TABLE run_grams (
    run bigint PRIMARY KEY REFERENCES runs (n) ON DELETE CASCADE,
    grams int[] NOT NULL
  );
  CREATE INDEX run_grams_said ON run_grams USING gin (grams) WITH (fastupdate = off);
`;
