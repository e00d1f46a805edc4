import { eventText } from "../../core/events/event-text.ts";
import { readEvent } from "../../core/events/read-event.ts";
import { addGrams, gramsOfWords } from "../../core/runs/search-grams.ts";
import type { Database } from "./database.ts";

/** Runs entered in one call, and events read at once. */
const runsAtOnce = 50;
const eventsAtOnce = 128;
/**
 * If more runs than this may say the words, the index is not used: a page of them is soon found
 * without it.
 */
const maxFound = 5_000;

type EventRow = { readonly seq: string; readonly event: string };

/** Engine.indexWords. */
export async function indexWords(database: Database): Promise<number> {
  const runs = await database.query<{ n: string }>(
    `SELECT n FROM runs WHERE NOT searchable AND has_ended(status) ORDER BY n LIMIT ${runsAtOnce}`,
  );
  for (const { n } of runs) {
    const grams = database.sql.array([...(await gramsOf(database, n))], "INT4");
    await database.query(
      `WITH marked AS (UPDATE runs SET searchable = true WHERE n = $1 AND NOT searchable RETURNING n)
       INSERT INTO run_grams SELECT n, $2 FROM marked`,
      [n, grams],
    );
  }
  return runs.length;
}

async function gramsOf(database: Database, n: string): Promise<Set<number>> {
  const grams = new Set<number>();
  for (let after: string | undefined = "0"; after !== undefined; ) {
    const rows: EventRow[] = await database.query<EventRow>(
      `SELECT seq, event FROM events WHERE run = $1 AND seq > $2::bigint ORDER BY seq LIMIT ${eventsAtOnce}`,
      [n, after],
    );
    for (const { event } of rows) addGrams(eventText(readEvent(JSON.parse(event))), grams);
    after = rows[eventsAtOnce - 1]?.seq;
  }
  return grams;
}

/**
 * The keys of the runs that may say these words, or have asked for one that may; undefined if the
 * index does not help.
 */
export async function candidates(database: Database, words: readonly string[]): Promise<readonly string[] | undefined> {
  const grams = gramsOfWords(words);
  if (grams.length === 0) return undefined;
  const found = await database.query<{ n: string }>(
    `(SELECT n FROM runs WHERE NOT searchable LIMIT ${maxFound + 1})
     UNION ALL (SELECT run FROM run_grams WHERE grams @> $1 LIMIT ${maxFound + 1})`,
    [database.sql.array([...grams], "INT4")],
  );
  if (found.length > maxFound) return undefined;
  const keys = database.sql.array(
    found.map(({ n }) => n),
    "INT8",
  );
  const rows = await database.query<{ n: string }>(
    `WITH RECURSIVE found AS (
       SELECT n, principal, asker_of(dedupe_key) AS asker FROM runs WHERE n = ANY ($1)
       UNION SELECT runs.n, runs.principal, asker_of(runs.dedupe_key) FROM found JOIN runs
         ON runs.id = found.asker AND runs.principal = found.principal)
     SELECT n FROM found`,
    [keys],
  );
  return rows.map(({ n }) => n);
}
