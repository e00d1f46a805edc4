import type { Database } from "bun:sqlite";
import { readEvent } from "../../../core/events/read-event.ts";
import type { QuotaUse } from "../../../core/runs/quota.ts";
import type { RunEvent } from "../../../core/runs/run.ts";
import { countEvent, noCount, usageOf } from "../../../core/usage.ts";

/**
 * Statements over `usage`: what the runs of each principal have used on each day of UTC, added in
 * the transaction that stores the event which reports it.
 */
export function usageTable(db: Database) {
  const add = db.query<null, [string, number, number, number]>(
    `INSERT INTO usage (principal, day, tokens, usd) SELECT principal, ?, ?, ? FROM runs WHERE n = ?
     ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens, usd = usd + excluded.usd`,
  );
  const spend = db.query<null, [string, string, number, number]>(
    `INSERT INTO usage (principal, day, tokens, usd) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens, usd = usd + excluded.usd`,
  );
  const used = db.query<{ tokens: number; usd: number }, [string, string]>(
    "SELECT tokens, usd FROM usage WHERE principal = ? AND day = ?",
  );
  const underWay = db.query<{ runs: number }, [string]>(
    "SELECT count(*) AS runs FROM runs WHERE principal = ? AND counted = 1 AND status IN ('queued', 'running', 'waiting', 'paused')",
  );
  const askedHere = db.query<{ n: number }, [number, string, string]>(
    `SELECT asked.n FROM runs JOIN runs AS asked
       ON asked.principal = runs.principal AND asked.dedupe_key = json_array(?2, runs.principal, ?3)
     WHERE runs.n = ?1`,
  );
  return {
    /**
     * Adds what an event of a run reports, unless it is the usage of a run of this store, which has
     * reported it itself.
     */
    add(run: number, event: RunEvent, wall: number): void {
      if (event.usage === undefined && event.discarded === undefined) return;
      const read = readEvent(event);
      const { tokens, usd } = usageOf(countEvent(noCount, read));
      if (tokens === 0 && usd === 0) return;
      if (read.type === "agent-answered" && askedHere.get(run, read.agent, read.askId) !== null) return;
      add.run(dayOf(wall), tokens, usd, run);
    },
    /** Adds what a principal used outside its runs. */
    spend(principal: string, { tokens, usd }: Pick<QuotaUse, "tokens" | "usd">, wall: number): void {
      spend.run(principal, dayOf(wall), tokens, usd);
    },
    of(principal: string, wall: number): QuotaUse {
      const day = dayOf(wall);
      const { tokens, usd } = used.get(principal, day) ?? { tokens: 0, usd: 0 };
      return { day, runs: underWay.get(principal)?.runs ?? 0, tokens, usd };
    },
  };
}

/** The statements of `usageTable`. */
export type UsageTable = ReturnType<typeof usageTable>;

function dayOf(wall: number): string {
  return new Date(wall).toISOString().slice(0, 10);
}
