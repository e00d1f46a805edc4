import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbeddedEngine } from "../embedded-engine.ts";
import { openConnection } from "./connection.ts";

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

test("a second connection of a process takes none of its locks away, as closing the file would", () => {
  const folder = mkdtempSync(join(tmpdir(), "connection-"));
  const path = join(folder, "runs.db");
  const both = [openConnection(path), openConnection(path)];
  // It has the file for itself only if it sees no lock of another process.
  const program = `import { Database } from "bun:sqlite";
    const db = new Database(${JSON.stringify(path)});
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    try { console.log(db.query("SELECT count(*) FROM runs").get()); } catch (error) { console.log(error.code); }`;
  const other = Bun.spawnSync([process.execPath, "-e", program]);
  expect(other.stdout.toString()).toBe("SQLITE_BUSY\n");
  for (const connection of both) connection.close();
  rmSync(folder, { recursive: true });
});
