import type { Database } from "bun:sqlite";
import { claimsTable } from "./claims-table.ts";
import { clockTable } from "./clock-table.ts";
import { deletionTable } from "./deletion-table.ts";
import { eventsTable } from "./events-table.ts";
import { filesTable } from "./files-table.ts";
import { journalTable } from "./journal-table.ts";
import { KnownRuns } from "./known-runs.ts";
import { listing } from "./listing.ts";
import { runsTable } from "./runs-table.ts";
import { searchTable } from "./search-table.ts";
import { signalsTable } from "./signals-table.ts";
import { statesTable } from "./states-table.ts";
import { usageTable } from "./usage-table.ts";
import { watchersTable } from "./watchers-table.ts";
import { workersTable } from "./workers-table.ts";

/**
 * Every statement, prepared on one connection. Call those that change data only inside a
 * transaction of the Writer.
 */
export function prepareTables(db: Database) {
  const files = filesTable(db);
  const usage = usageTable(db);
  const signals = signalsTable(db);
  const knownRuns = new KnownRuns();
  const states = statesTable(db, knownRuns);
  const watchers = watchersTable(db, signals, states, knownRuns);
  return {
    knownRuns,
    runs: runsTable(db),
    states,
    claims: claimsTable(db, knownRuns),
    journal: journalTable(db),
    events: eventsTable(db, { files, usage, watchers }),
    files,
    usage,
    signals,
    watchers,
    deletion: deletionTable(db, knownRuns),
    workers: workersTable(db),
    clock: clockTable(db),
    listing: listing(db),
    search: searchTable(db),
  };
}

/** The prepared statements of all tables. */
export type Tables = ReturnType<typeof prepareTables>;
