import { eventText, hasWords, likeWord } from "../../core/events/event-text.ts";
import { readEvent } from "../../core/events/read-event.ts";
import type { StoredEvent } from "../../core/runs/engine.ts";
import { gramsOfWords } from "../../core/runs/search-grams.ts";
import type { Database } from "./database.ts";

type FoundRow = {
  readonly asked: string;
  readonly n: string;
  readonly id: string;
  readonly seq: string;
  readonly at: string;
  readonly event: string;
};

/**
 * Events of each run read at once: those that may say the words, of which the first that does is
 * taken.
 */
const eventsAtOnce = 16;
/** Numbers of each word that tell whether the events of a run are worth reading. */
const fewGrams = 4;

/** `Engine.search`, some events of each run at a time. */
export async function search(
  database: Database,
  runIds: readonly string[],
  words: readonly string[],
): Promise<Map<string, StoredEvent>> {
  const { sql } = database;
  const patterns = sql.array(words.map(likeWord), "TEXT");
  const grams = sql.array([...gramsOfWords(words, fewGrams)], "INT4");
  const found = new Map<string, StoredEvent>();
  for (let open = runIds.map((asked) => ({ asked, n: "0", seq: "0" })); open.length > 0; ) {
    const rows = await database.query<FoundRow>(laterEvents, [
      sql.array(
        open.map(({ asked }) => asked),
        "TEXT",
      ),
      sql.array(
        open.map(({ n }) => n),
        "INT8",
      ),
      sql.array(
        open.map(({ seq }) => seq),
        "INT8",
      ),
      patterns,
      grams,
    ]);
    const byRun = Map.groupBy(rows, ({ asked }) => asked);
    open = [];
    for (const [asked, events] of byRun) {
      const first = events.map(storedEvent).find(({ event }) => hasWords(eventText(readEvent(event)), words));
      const last = events[eventsAtOnce - 1];
      if (first !== undefined) found.set(asked, first);
      else if (last !== undefined) open.push({ asked, n: last.n, seq: last.seq });
    }
  }
  return found;
}

const storedEvent = ({ id, seq, at, event }: FoundRow): StoredEvent => ({
  ...{ runId: id, seq: Number(seq), at: Number(at), event: JSON.parse(event) },
});

/** Of each run the events after a place that may say the words, in it and in those it asked for. */
const laterEvents = `
  SELECT asked.id AS asked, said.* FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS asked (id, n, seq)
  CROSS JOIN LATERAL (
    WITH RECURSIVE family AS (
      SELECT n, id, principal, searchable FROM runs WHERE runs.id = asked.id
      UNION SELECT runs.n, runs.id, runs.principal, runs.searchable FROM runs JOIN family
        ON runs.principal = family.principal AND runs.dedupe_key IS NOT NULL
          AND asker_of(runs.dedupe_key) = family.id),
    likely AS MATERIALIZED (
      SELECT n, id FROM family WHERE NOT searchable
        OR EXISTS (SELECT FROM run_grams WHERE run_grams.run = family.n AND grams @> $5))
    SELECT likely.n, likely.id, events.seq, at, event FROM likely JOIN events ON events.run = likely.n
    WHERE event ILIKE ALL ($4) AND (likely.n, events.seq) > (asked.n, asked.seq)
    ORDER BY likely.n, events.seq LIMIT ${eventsAtOnce}) AS said
  ORDER BY asked.id, said.n, said.seq`;
