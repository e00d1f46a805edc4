import type { Database } from "bun:sqlite";
import type { ClockReading } from "../run-clock.ts";

/**
 * Statements over `clock`, which has one row: the clock reading at the last heartbeat of any
 * worker.
 */
export function clockTable(db: Database) {
  const read = db.query<ClockReading, []>("SELECT boot, uptime, wall, steady FROM clock");
  const put = db.query<null, [string, number, number, number]>(
    "INSERT OR REPLACE INTO clock (n, boot, uptime, wall, steady) VALUES (1, ?, ?, ?, ?)",
  );
  return {
    read: () => read.get(),
    put: ({ boot, uptime, wall, steady }: ClockReading) => void put.run(boot, uptime, wall, steady),
  };
}
