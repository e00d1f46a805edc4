import { expect, test } from "bun:test";
import { openLocked } from "./open-locked.ts";

test("a database works on one folder's files, with its own memory and threads, and no statement changes that", async () => {
  const { connection, isAsOpened } = await openLocked("/tmp/it's here");
  const first = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()[0];
  const settings =
    "threads memory_limit temp_directory autoinstall_known_extensions autoload_known_extensions preserve_insertion_order enable_external_access lock_configuration";
  const values = await first(
    `SELECT ${settings
      .split(" ")
      .map((name) => `current_setting('${name}')`)
      .join()}`,
  );
  expect(values?.map(String)).toEqual(["2", "732.4 MiB", "", "false", "false", "true", "false", "true"]);
  expect(JSON.stringify(await first("SELECT current_setting('allowed_directories')"))).toContain("/tmp/it's here/");
  await expect(connection.run("SET threads = 1")).rejects.toThrow("locked");
  expect(await isAsOpened()).toBe(true);
  // Also while its own transaction is broken.
  await connection.run("BEGIN");
  await expect(connection.run("SELECT error('no')")).rejects.toThrow();
  expect(await isAsOpened()).toBe(true);
  await connection.run("ROLLBACK");
  await connection.run("CALL enable_logging()");
  expect(await isAsOpened()).toBe(false);
});
