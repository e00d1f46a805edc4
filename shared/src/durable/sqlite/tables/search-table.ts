import type { Database } from "bun:sqlite";
import { eventText, hasWords, likeWord } from "../../../core/events/event-text.ts";
import { readEvent } from "../../../core/events/read-event.ts";
import type { StoredEvent } from "../../../core/runs/engine.ts";
import { gramsOfWords } from "../../../core/runs/search-grams.ts";
import { askerOf } from "./schema.ts";

type FoundRow = { readonly id: string; readonly seq: number; readonly at: number; readonly event: string };

/**
 * If more runs than this may say the words, the index is not used: a page of them is soon found
 * without it.
 */
const maxFound = 5_000;
/** Numbers of each word that tell whether the events of a run are worth reading. */
const fewGrams = 4;
/** A run with fewer is read without asking the index, which takes about as long. */
const fewEvents = 100;

/**
 * Statements that look through the events of a run and of the runs it asked for, and the index of
 * words.
 */
export function searchTable(db: Database) {
  const ended = db.query<{ n: number }, [number]>(
    `SELECT n FROM runs WHERE searchable = 0 AND +status IN ('completed', 'failed', 'canceled') ORDER BY n LIMIT +?`,
  );
  const mark = db.query<{ n: number }, [number]>(
    "UPDATE runs SET searchable = 1 WHERE n = ? AND searchable = 0 RETURNING n",
  );
  const enter = db.query<null, [number, string]>("INSERT INTO search (rowid, grams) VALUES (?, ?)");
  const events = db.query<{ seq: number; event: string }, [number, number, number]>(
    "SELECT seq, event FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT +?",
  );
  const saying = db.query<{ n: number }, [string, number]>(
    "SELECT rowid AS n FROM search WHERE search MATCH ? LIMIT +?",
  );
  const notEntered = db.query<{ n: number }, [number]>("SELECT n FROM runs WHERE searchable = 0 LIMIT +?");
  const askers = db.query<{ n: number }, [string]>(
    `WITH RECURSIVE found (n, principal, asker) AS (
       SELECT runs.n, runs.principal, iif(instr(dedupe_key, '/') > 0, ${askerOf("runs.")}, NULL)
         FROM json_each(?1) AS one CROSS JOIN runs ON runs.n = one.value
       UNION SELECT runs.n, runs.principal, iif(instr(dedupe_key, '/') > 0, ${askerOf("runs.")}, NULL)
         FROM found CROSS JOIN runs ON runs.id = found.asker AND runs.principal = found.principal)
     SELECT n FROM found`,
  );
  // CROSS keeps SQLite at the events of one run after the other.
  const eventsWhere = (condition: string) =>
    db.query<FoundRow, string[]>(
      `WITH RECURSIVE family (n, id, principal, searchable, last_event) AS (
         SELECT n, id, principal, searchable, last_event FROM runs WHERE id = ?1
         UNION SELECT runs.n, runs.id, runs.principal, runs.searchable, runs.last_event FROM family CROSS JOIN runs
           ON runs.principal = family.principal AND runs.dedupe_key IS NOT NULL AND ${askerOf("runs.")} = family.id)
       SELECT family.id, seq, at, event FROM family CROSS JOIN events ON events.run = family.n
       WHERE ${condition} AND NOT EXISTS (SELECT 1 FROM json_each(?2) WHERE event NOT LIKE value ESCAPE '\\')`,
    );
  const allEvents = eventsWhere("1");
  const likelyEvents = eventsWhere(
    `(last_event < ${fewEvents} OR searchable = 0
      OR EXISTS (SELECT 1 FROM search WHERE search MATCH ?3 AND rowid = family.n))`,
  );
  return {
    /** Runs that have ended and are not in the index. */
    notIndexed: (limit: number) => ended.all(limit).map(({ n }) => n),
    /** Some of a run's events, as text. */
    texts(n: number, after: number, limit: number): { readonly seq: number; readonly text: string }[] {
      return events
        .all(n, after, limit)
        .map(({ seq, event }) => ({ seq, text: eventText(readEvent(JSON.parse(event))) }));
    },
    /** Enters what a run says, unless it is there or deleted. */
    enter(n: number, grams: Iterable<number>): void {
      if (mark.get(n) !== null) enter.run(n, tokensOf(grams, " "));
    },
    /**
     * The runs that may say these words, or have asked for one that may; undefined if the index
     * does not help.
     */
    candidates(words: readonly string[]): readonly number[] | undefined {
      const grams = gramsOfWords(words);
      if (grams.length === 0) return undefined;
      const found = notEntered.all(maxFound + 1);
      if (found.length <= maxFound) found.push(...saying.all(tokensOf(grams, " AND "), maxFound + 1));
      if (found.length > maxFound) return undefined;
      return askers.all(JSON.stringify(found.map(({ n }) => n))).map(({ n }) => n);
    },
    /** The first event that says all these words. */
    first(runId: string, words: readonly string[]): StoredEvent | undefined {
      const patterns = JSON.stringify(words.map(likeWord));
      const grams = tokensOf(gramsOfWords(words, fewGrams), " AND ");
      const rows = grams === "" ? allEvents.iterate(runId, patterns) : likelyEvents.iterate(runId, patterns, grams);
      for (const row of rows) {
        const event = JSON.parse(row.event);
        if (hasWords(eventText(readEvent(event)), words)) return { runId: row.id, seq: row.seq, at: row.at, event };
      }
      return undefined;
    },
  };
}

const tokensOf = (grams: Iterable<number>, between: string) =>
  Array.from(grams, (gram) => `x${gram.toString(36)}`).join(between);
