import type { Engine } from "../../core/runs/engine.ts";
import { recordOf } from "../run-row.ts";
import type { Database } from "./database.ts";
import { list } from "./listing.ts";
import { eventsOf, recordedOf } from "./log.ts";
import type { RunRow } from "./run-row.ts";
import { search } from "./search.ts";
import { indexWords } from "./word-index.ts";

/**
 * The engine's calls that say what is stored, and the one that counts what was used beside runs.
 */
export function reading(
  database: Database,
): Pick<
  Engine,
  "get" | "byKey" | "list" | "search" | "indexWords" | "spend" | "usage" | "hasFile" | "recorded" | "events"
> {
  return {
    async get(runId, principal) {
      const rows =
        principal === undefined
          ? await database.query<RunRow>("SELECT * FROM run_rows WHERE id = $1", [runId])
          : await database.query<RunRow>("SELECT * FROM run_rows WHERE id = $1 AND principal = $2", [runId, principal]);
      return rows[0] === undefined ? undefined : recordOf(rows[0]);
    },
    async byKey(principal, key) {
      const rows = await database.query<RunRow>(
        "SELECT r.* FROM run_rows r JOIN runs USING (n) WHERE runs.principal = $1 AND runs.dedupe_key = $2",
        [principal, key],
      );
      return rows[0] === undefined ? undefined : recordOf(rows[0]);
    },
    list: (filter) => list(database, filter),
    search: (runId, words) => search(database, runId, words),
    indexWords: () => indexWords(database),
    async spend(principal, { tokens, usd }) {
      await database.query("SELECT spend($1, $2::bigint, $3::float8)", [principal, tokens, usd], { keep: true });
    },
    async usage(principal) {
      const [row] = await database.query<{ use: string }>("SELECT usage_of($1)::text AS use", [principal]);
      const { now: _, ...use } = JSON.parse(row?.use ?? "null");
      return use;
    },
    async hasFile(principal, sha256) {
      const rows = await database.query("SELECT 1 FROM files WHERE principal = $1 AND sha256 = $2", [
        principal,
        sha256,
      ]);
      return rows.length > 0;
    },
    recorded: (runId, field) => recordedOf(database, runId, field),
    events: (runId, after = 0, last = Number.MAX_SAFE_INTEGER) => eventsOf(database, runId, after, last),
  };
}
