import { expect, test } from "bun:test";
import type { Database } from "./database.ts";
import { reading } from "./reading.ts";

test("what was used is counted once the database is there, and what is read is not waited for", async () => {
  const asked: (readonly [string, readonly unknown[], boolean])[] = [];
  const database = {
    async query(text: string, values: readonly unknown[], { keep = false } = {}) {
      asked.push([text, values, keep]);
      return [];
    },
  } as unknown as Database;
  const { spend, get } = reading(database);
  await spend("ann", { tokens: 5, usd: 0.5 });
  await get("r", "ann");
  expect(asked.map(([, values, keep]) => [values, keep])).toEqual([
    [["ann", 5, 0.5], true],
    [["r", "ann"], false],
  ]);
});
