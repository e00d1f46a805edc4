import { AppError } from "../../../core/errors.ts";
import type { Database } from "../database.ts";
import { claimFunctions, schedulingFunctions } from "./claims.ts";
import { commitFunctions } from "./commit.ts";
import { deletionFunctions } from "./deletion.ts";
import { intakeFunctions } from "./intake.ts";
import { runFunctions } from "./run.ts";
import { tables } from "./tables.ts";

/**
 * One entry per version. Processes of two versions run at once while an upgrade rolls out, so that
 * each entry must leave what the version before it does as it is. Never change a released entry.
 */
const migrations: readonly string[] = [
  tables + commitFunctions + runFunctions + intakeFunctions + claimFunctions + deletionFunctions,
  schedulingFunctions,
];

/** The lock that lets one process at a time change a database's schemas. */
const migrationLock = 7_206_412_377;

/**
 * Creates the schema or brings it up to date. Rejects with `config_invalid` for one of a newer
 * version.
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
  if (version > migrations.length) {
    throw new AppError(
      "config_invalid",
      `The schema ${schema} was written by a newer version (${version}, this one knows ${migrations.length}). Upgrade, or use another schema.`,
    );
  }
}
