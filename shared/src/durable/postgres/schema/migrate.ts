import { AppError } from "../../../core/errors.ts";
import type { Database } from "../database.ts";
import { bodies } from "./bodies.ts";
import { claimFunctions, schedulingFunctions } from "./claims.ts";
import { commitFunctions } from "./commit.ts";
import { deletionFunctions } from "./deletion.ts";
import { fairClaims } from "./fair-claims.ts";
import { firstClaims } from "./first-claims.ts";
import { intakeFunctions } from "./intake.ts";
import { memoriesTable } from "./memories.ts";
import { outdatedSignals } from "./outdated.ts";
import { runFunctions } from "./run.ts";
import { conversationFunctions, sharedTables } from "./shared-state.ts";
import { tables } from "./tables.ts";
import { wordsIndex } from "./words.ts";

/**
 * One entry per release that changes the schema. Processes of two versions run at once while an
 * upgrade rolls out, so an entry only adds, and a function it replaces answers the version before
 * as it did. Never change a released entry.
 */
export const migrations: readonly string[] = [
  tables + commitFunctions + runFunctions + intakeFunctions + claimFunctions + deletionFunctions,
  bodies,
  schedulingFunctions,
  sharedTables + conversationFunctions,
  wordsIndex,
  firstClaims,
  memoriesTable + outdatedSignals,
  fairClaims,
];

/** The lock that lets one process at a time change a database's schemas. */
const migrationLock = 7_206_412_377;

/**
 * Creates the schema or brings it up to date; one of the next version stays as it is. Rejects with
 * `config_invalid` for a newer one.
 */
export async function migrate(database: Database): Promise<void> {
  const { schema } = database;
  const version = await database.alone(migrationLock, async (run) => {
    await run(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    await run("CREATE TABLE IF NOT EXISTS migrations (version int PRIMARY KEY, at timestamptz DEFAULT now())");
    const [{ version = 0 } = {}] = await run<{ version: number }>("SELECT max(version) AS version FROM migrations");
    for (const [index, migration] of migrations.entries()) {
      if (index < (version ?? 0)) continue;
      await run(`BEGIN; ${migration} INSERT INTO migrations (version) VALUES (${index + 1}); COMMIT;`);
    }
    return version ?? 0;
  });
  if (version > migrations.length + 1) {
    throw new AppError(
      "config_invalid",
      `The schema ${schema} was written by a newer version (${version}, this one knows ${migrations.length}). Upgrade, or use another schema.`,
    );
  }
}
