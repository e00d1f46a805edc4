/**
 * What is remembered for principals across conversations. The terms are made by us
 * (memory/terms.ts), so that both engines find the same by the same words.
 */
export const memoriesTable = `
  CREATE TABLE memories (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    principal text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    text text NOT NULL,
    terms tsvector NOT NULL,
    sources text NOT NULL,
    author text NOT NULL,
    is_public boolean NOT NULL,
    created bigint NOT NULL,
    changed bigint NOT NULL,
    embedded_by text,
    vector bytea,
    UNIQUE (principal, id)
  );
  CREATE INDEX memories_terms ON memories USING gin (terms);
`;
