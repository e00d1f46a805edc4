import type { StoredEvent } from "../../core/engine.ts";
import { eventText, hasWords, likeWord } from "../../core/event-text.ts";
import { readEvent } from "../../core/read-event.ts";
import type { Database } from "./database.ts";

type FoundRow = { readonly id: string; readonly seq: string; readonly at: string; readonly event: string };

/** Events read at once: those that may say the words, of which the first that does is taken. */
const candidates = 64;

/** Engine.search: the first event of a run, or of those it asked for, that says all these words. */
export async function search(
  database: Database,
  runId: string,
  words: readonly string[],
): Promise<StoredEvent | undefined> {
  const patterns = database.sql.array(words.map(likeWord), "TEXT");
  for (let [n, seq] = ["0", "0"]; ; ) {
    const rows = await database.query<FoundRow & { n: string }>(
      `WITH RECURSIVE family AS (
         SELECT n, id, principal FROM runs WHERE id = $1
         UNION SELECT runs.n, runs.id, runs.principal FROM runs JOIN family
           ON runs.principal = family.principal AND runs.dedupe_key IS NOT NULL
             AND asker_of(runs.dedupe_key) = family.id)
       SELECT n, id, seq, at, event FROM family JOIN events ON events.run = family.n
       WHERE event ILIKE ALL ($2) AND (n, seq) > ($3::bigint, $4::bigint) ORDER BY n, seq LIMIT ${candidates}`,
      [runId, patterns, n, seq],
    );
    for (const row of rows) {
      const event = JSON.parse(row.event);
      if (hasWords(eventText(readEvent(event)), words))
        return { runId: row.id, seq: Number(row.seq), at: Number(row.at), event };
    }
    const last = rows[candidates - 1];
    if (last === undefined) return undefined;
    [n, seq] = [last.n, last.seq];
  }
}
