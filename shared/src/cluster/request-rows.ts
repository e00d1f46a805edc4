import type { Database } from "../durable/postgres/database.ts";
import { countInProcess, type RequestCounter } from "../runs/quotas.ts";

/**
 * Counts the requests at all processes with this database, by its minutes. Those of principals
 * without a limit are counted in each process alone, which costs nothing.
 */
export function requestRows(database: Database): RequestCounter {
  const here = countInProcess();
  return {
    async count(principal, most) {
      if (most === Number.POSITIVE_INFINITY) return here.count(principal, most);
      const [row] = await database.query<{ answer: string }>("SELECT count_request($1, $2::numeric) AS answer", [
        principal,
        most,
      ]);
      const { counted, left } = JSON.parse(row?.answer ?? "null");
      return { isCounted: counted, leftMs: left };
    },
    async of(principal) {
      const [row] = await database.query<{ count: string }>(
        "SELECT count FROM requests WHERE principal = $1 AND minute = now_ms() / 60000",
        [principal],
      );
      return row === undefined ? here.of(principal) : Number(row.count);
    },
  };
}
