import { expect, test } from "bun:test";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "../../../testing/durable/scratch.ts";
import { createFileSync } from "./file-sync.ts";

test("what can be synced is, however often, and what cannot rejects", async () => {
  using store = scratch();
  const file = openSync(join(store.folder, "log"), "w");
  const sync = createFileSync();
  for (let n = 0; n < 50; n++) {
    writeSync(file, "x".repeat(4096));
    await sync(file);
  }
  closeSync(file);
  expect(await sync(file).then(String, (error) => error.code)).toBe("EBADF");
});
