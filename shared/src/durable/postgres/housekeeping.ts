import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/runs/engine.ts";
import type { Deletion, Housekeeping } from "../../core/runs/housekeeping.ts";
import { type Database, stateOf } from "./database.ts";
import type { News } from "./news.ts";
import { createScrubber } from "./scrubbing.ts";

/** What deleting needs. */
export type HousekeepingDeps = { readonly database: Database; readonly news: News; readonly log: Log };

/** The SQLSTATEs with which `delete_runs` refuses. */
const unknownRun = "MH003";
const unfinishedRun = "MH004";

const placeSchema = z.object({ at: z.number(), id: z.string() });

/** The engine's deletions. Copies are made with the database's own tools, which know all of it. */
export function housekeeping({ database, news, log }: HousekeepingDeps): Housekeeping {
  const scrubber = createScrubber(database, log);
  return {
    async delete({ emptied, ...request }) {
      const deletion = await database
        .transaction(async (run) => {
          const [row] = await run<{ answer: string }>("SELECT delete_runs($1::text) AS answer", [
            JSON.stringify(request),
          ]);
          const deletion: Deletion = JSON.parse(row?.answer ?? "null");
          emptied?.(deletion.emptied);
          for (const { kind, principal, contextId } of deletion.emptied)
            await run(
              `WITH gone AS (DELETE FROM conversations WHERE kind = $1 AND principal = $2 AND context_id = $3
                 RETURNING folder) INSERT INTO gone_folders SELECT folder FROM gone ON CONFLICT DO NOTHING`,
              [kind, principal, contextId],
            );
          return deletion;
        })
        .catch((error) => {
          const { message } = error;
          if (stateOf(error) === unknownRun) throw new AppError("not_found", `There is no run ${message}.`);
          if (stateOf(error) !== unfinishedRun) throw error;
          const which = request.runIds.includes(message)
            ? `The run ${message}`
            : `The run ${message}, which it asked for,`;
          throw new AppError("conflict", `${which} has not ended. Cancel it first.`);
        });
      if (request.thorough && deletion.runs.length > 0) scrubber.need();
      // Their followers find nothing any more.
      for (const id of deletion.runs) news.tell(id);
      return deletion;
    },
    async expired({ endedBy, acceptedBy, limit, after }) {
      const { at, id } = after === undefined ? { at: -1, id: "" } : placeSchema.parse(JSON.parse(after));
      const rows = await database.query<{ id: string; updated_at: string }>(
        `SELECT id, updated_at FROM runs WHERE has_ended(status)
           AND updated_at <= $1::bigint AND created_at <= $2::bigint AND (updated_at, id) > ($3::bigint, $4)
           AND NOT EXISTS (SELECT 1 FROM runs AS asker
             WHERE asker.principal = runs.principal AND asker.id = asker_of(runs.dedupe_key))
           AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.context_id IN (runs.context_id, runs.id)
             AND other.principal = runs.principal AND NOT has_ended(other.status))
         ORDER BY updated_at, id LIMIT $5::bigint`,
        [endedBy, acceptedBy, at, id, limit],
      );
      const last = rows[limit - 1];
      const next = last && JSON.stringify({ at: Number(last.updated_at), id: last.id });
      return { runIds: rows.map((row) => row.id), ...(next !== undefined && { next }) };
    },
    async deleteJournals({ endedBy, limit, after = "0", dryRun = false }) {
      const [row] = await database.query<{ answer: string }>(
        "SELECT delete_journals($1::numeric, $2::bigint, $3::bigint, $4::boolean) AS answer",
        [endedBy, after, limit, dryRun],
      );
      const { runs, next } = JSON.parse(row?.answer ?? "null");
      return { runs, ...(next !== null && { next }) };
    },
    async filesInUse(hashes) {
      // A step may have stored a file that no event names yet.
      const rows = await database.query<{ sha256: string }>(
        `SELECT sha256 FROM unnest($1::text[]) AS asked (sha256)
         WHERE EXISTS (SELECT 1 FROM file_runs WHERE file_runs.sha256 = asked.sha256)
           OR EXISTS (SELECT 1 FROM runs JOIN journal ON journal.run = runs.n
             WHERE NOT has_ended(status) AND strpos(journal.out, asked.sha256) > 0)
           OR EXISTS (SELECT 1 FROM runs JOIN signals ON signals.run = runs.n
             WHERE NOT has_ended(status) AND strpos(payload, asked.sha256) > 0)`,
        [database.sql.array([...hashes], "TEXT")],
      );
      return new Set(rows.map(({ sha256 }) => sha256));
    },
    scrub: scrubber.scrub,
    async backup() {
      throw new AppError("invalid_input", "Runs in PostgreSQL are copied with its own tools, such as pg_dump.");
    },
  };
}
