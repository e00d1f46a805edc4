import type { Database } from "../durable/postgres/database.ts";
import { type EntryRow, entryColumns, entryOf, type MemoryRows, valuesOf } from "../memory/memory-rows.ts";
import { bytesOf, vectorOf } from "../memory/vector-bytes.ts";

const terms = (parameter: string) => `array_to_tsvector(string_to_array(${parameter}, ' '))`;

/** The entries of all machines with this database. `close` leaves the database open. */
export function memoryTable(database: Database): MemoryRows {
  const scrub = async () => {
    // VACUUM alone leaves the words in the space that it frees. The table is small.
    await database.query("VACUUM (FULL) memories");
  };
  return {
    async all(principal) {
      const select = `SELECT ${entryColumns} FROM memories WHERE principal = $1 ORDER BY changed DESC, n DESC`;
      return (await database.query<EntryRow>(select, [principal])).map(entryOf);
    },
    insert: (principal, entry, words, most) =>
      database.transaction(async (run) => {
        await run("SELECT pg_advisory_xact_lock(hashtextextended($1, 8))", [principal]);
        const added = await run(
          `INSERT INTO memories (principal, ${entryColumns}, terms)
           SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::boolean, $8::bigint, $9::bigint,
             ${terms("$10::text")}
           WHERE (SELECT count(*) FROM memories WHERE principal = $1::text) < $11::int RETURNING id`,
          [principal, ...valuesOf(entry), words.join(" "), most],
        );
        return added.length > 0;
      }),
    async update(principal, entry, words) {
      const [id, kind, text, sources, author, isPublic, , changed] = valuesOf(entry);
      const updated = await database.query(
        `UPDATE memories SET kind = $3, text = $4, sources = $5, author = $6, is_public = $7, changed = $8::bigint,
           terms = ${terms("$9::text")}, embedded_by = NULL, vector = NULL
         WHERE principal = $1 AND id = $2 RETURNING id`,
        [principal, id, kind, text, sources, author, isPublic, changed, words.join(" ")],
      );
      await scrub();
      return updated.length > 0;
    },
    async remove(principal, ids) {
      const gone = await database.query(
        `DELETE FROM memories WHERE principal = $1
           AND ($2::text IS NULL OR id IN (SELECT json_array_elements_text($2::json))) RETURNING id`,
        [principal, ids === undefined ? null : JSON.stringify(ids)],
      );
      await scrub();
      return gone.length;
    },
    async match(principal, words, most) {
      const asked = words.map((word) => `'${word}'`).join(" | ");
      const found = await database.query<{ id: string }>(
        `SELECT id FROM memories WHERE principal = $1 AND terms @@ $2::tsquery
         ORDER BY ts_rank(terms, $2::tsquery) DESC, changed DESC LIMIT $3::int`,
        [principal, asked, most],
      );
      return found.map(({ id }) => id);
    },
    async vectors(principal, model) {
      const rows = await database.query<{ id: string; vector: Uint8Array }>(
        "SELECT id, vector FROM memories WHERE principal = $1 AND embedded_by = $2 AND vector IS NOT NULL",
        [principal, model],
      );
      return new Map(rows.map(({ id, vector }) => [id, vectorOf(vector)]));
    },
    async keepVectors(principal, model, vectors) {
      for (const { id, changedAt, vector } of vectors)
        await database.query(
          `UPDATE memories SET embedded_by = $1, vector = $2::bytea
           WHERE principal = $3 AND id = $4 AND changed = $5::bigint`,
          [model, bytesOf(vector), principal, id, changedAt],
        );
    },
    close: async () => undefined,
  };
}
