import { expect, test } from "bun:test";
import type { Database } from "../database.ts";
import { migrate, migrations } from "./migrate.ts";

/** What is run, in order, on a schema that has this version; null if it is new. */
async function migrated(version: number | null) {
  const ran: string[] = [];
  const locks: number[] = [];
  const database = {
    schema: "own",
    async alone(lock: number, work: (run: (text: string) => Promise<unknown>) => Promise<unknown>) {
      locks.push(lock);
      return work(async (text) => {
        ran.push(text);
        return text.includes("max(version)") ? [{ version }] : [];
      });
    },
  } as unknown as Database;
  await migrate(database);
  expect(locks).toHaveLength(1);
  expect(ran.slice(0, 2).map((text) => text.split(" (")[0])).toEqual([
    'CREATE SCHEMA IF NOT EXISTS "own"',
    "CREATE TABLE IF NOT EXISTS migrations",
  ]);
  return ran.slice(3);
}

test("each migration that a schema lacks is run alone, once, in order, and with its number or not at all", async () => {
  const whole = (from: number) =>
    migrations
      .map((text, index) => `BEGIN; ${text} INSERT INTO migrations (version) VALUES (${index + 1}); COMMIT;`)
      .slice(from);
  expect(await migrated(null)).toEqual(whole(0));
  expect(await migrated(3)).toEqual(whole(3));
  expect(await migrated(migrations.length - 1)).toEqual(whole(migrations.length - 1));
  expect(await migrated(migrations.length)).toEqual([]);
});

test("a schema of the next version is used as it is, and one of a later version refused", async () => {
  expect(await migrated(migrations.length + 1)).toEqual([]);
  await expect(migrated(migrations.length + 2)).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("The schema own was written by a newer version"),
  });
});
