import type { Database } from "bun:sqlite";
import { claimsTable } from "./claims-table.ts";
import { deletionTable } from "./deletion-table.ts";
import { eventsTable } from "./events-table.ts";
import { filesTable } from "./files-table.ts";
import { journalTable } from "./journal-table.ts";
import { listing } from "./listing.ts";
import { runsTable } from "./runs-table.ts";
import { signalsTable } from "./signals-table.ts";
import { statesTable } from "./states-table.ts";
import { usageTable } from "./usage-table.ts";
import { clockTable, workersTable } from "./workers-table.ts";

/**
 * Every statement, prepared on one connection. Call those that change data only inside a
 * transaction of the Writer.
 */
export function prepareTables(db: Database) {
  const files = filesTable(db);
  const usage = usageTable(db);
  return {
    runs: runsTable(db),
    states: statesTable(db),
    claims: claimsTable(db),
    journal: journalTable(db),
    events: eventsTable(db, files, usage),
    files,
    usage,
    signals: signalsTable(db),
    deletion: deletionTable(db),
    workers: workersTable(db),
    clock: clockTable(db),
    listing: listing(db),
  };
}

/** The prepared statements of all tables. */
export type Tables = ReturnType<typeof prepareTables>;
