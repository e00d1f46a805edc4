import type { Log } from "../../core/runs/engine.ts";
import type { Housekeeping } from "../../core/runs/housekeeping.ts";
import type { Database } from "./database.ts";

const growing = ["journal", "events", "signals", "runs"];
/** Tables with names that callers give, which are only small. */
const naming = ["conversations", "gone_folders", "file_runs", "files", "run_grams", "watchers"];
/**
 * Beyond this a thorough deletion rewrites tables only when asked: meanwhile others wait for them.
 */
const maxScrubbed = 64 * 1024 ** 2;

/** Housekeeping.scrub; `need` says that a thorough deletion left something to do. */
export function createScrubber(database: Database, log: Log): Pick<Housekeeping, "scrub"> & { need(): void } {
  let isUnscrubbed = false;
  return {
    need() {
      isUnscrubbed = true;
    },
    async scrub({ evenLarge = false } = {}) {
      const isDue = evenLarge || isUnscrubbed;
      try {
        const rewrites = isDue && (evenLarge || (await sizeOf(database)) <= maxScrubbed);
        // VACUUM alone leaves the words in the space that it frees.
        if (rewrites) isUnscrubbed = false;
        const tables = rewrites ? [...growing, ...naming] : growing;
        for (const table of tables) await database.query(`VACUUM ${rewrites ? "(FULL)" : ""} ${table}`);
        return rewrites || !isDue;
      } catch (error) {
        isUnscrubbed = isDue;
        log.warn({ err: error }, "What was deleted could not be removed from the run store yet.");
        return false;
      }
    },
  };
}

/** The bytes of the tables and their indexes. */
async function sizeOf(database: Database): Promise<number> {
  const [row] = await database.query<{ size: string }>(
    "SELECT sum(pg_total_relation_size(oid)) AS size FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'",
  );
  return Number(row?.size ?? 0);
}
