import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbeddedEngine } from "../embedded-engine.ts";

test("what was deleted is overwritten where it lay, also in a file that is never made anew", async () => {
  const folder = mkdtempSync(join(tmpdir(), "connection-"));
  const path = join(folder, "runs.db");
  const engine = createEmbeddedEngine({ path });
  const start = async (word: string) => {
    const events = Array.from({ length: 30 }, () => ({ type: "told", text: `${word} `.repeat(2_000) }));
    const request = { kind: "manus", input: word, principal: "ann", contextId: "c", canceled: true, events } as const;
    return (await engine.start(request)).run.id;
  };
  const deleted = await start("SECRETWORD");
  await start("PLAINWORD");
  await engine.delete({ runIds: [deleted] });
  // As of a large store, which is not made anew, everything goes from the log into the file.
  await engine.close({ graceMs: 0 });
  const bytes = readFileSync(path);
  expect([bytes.includes("SECRETWORD"), bytes.includes("PLAINWORD")]).toEqual([false, true]);
  rmSync(folder, { recursive: true });
});
