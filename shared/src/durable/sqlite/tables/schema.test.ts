import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { scratch } from "../../../testing/durable/scratch.ts";
import { createEmbeddedEngine } from "../embedded-engine.ts";

test("the files of a store from before it knew whose they are belong to the principals of their runs", async () => {
  using store = scratch();
  const sha256 = "a".repeat(64);
  const file = { sha256, name: "f", mediaType: "text/plain", size: 3 };
  const events = [
    { type: "message-received", messageId: "m", parts: [{ type: "text", text: "hi" }] },
    { type: "artifact-added", artifactId: "a", name: "a", parts: [{ type: "file", ...file }] },
  ];
  const before = createEmbeddedEngine({ path: store.path });
  await before.start({ kind: "k", input: null, principal: "local", contextId: "c", events });
  await before.close({ graceMs: 0 });
  using db = new Database(store.path);
  db.run("ALTER TABLE runs DROP COLUMN body");
  db.run("ALTER TABLE workers DROP COLUMN bodies");
  db.run("DROP TABLE watchers");
  db.run("DROP INDEX runs_queued");
  for (const one of ["TABLE search", "INDEX runs_unsearchable", "INDEX runs_ended"]) db.run(`DROP ${one}`);
  db.run("ALTER TABLE runs DROP COLUMN searchable");
  for (const one of ["TABLE file_runs", "TABLE deletions", "INDEX runs_asked", "INDEX runs_unfinished"])
    db.run(`DROP ${one}`);
  db.run("DROP TABLE usage");
  db.run("DROP INDEX runs_under_way");
  db.run("ALTER TABLE runs DROP COLUMN counted");
  db.run("DROP TABLE files");
  db.run("ALTER TABLE runs DROP COLUMN accepted_at");
  db.run("PRAGMA user_version = 2");

  const engine = createEmbeddedEngine({ path: store.path });
  expect(await engine.hasFile("local", sha256)).toBe(true);
  expect(await engine.hasFile("bob", sha256)).toBe(false);
  expect(db.query("SELECT principal, size FROM files").all()).toEqual([{ principal: "local", size: 3 }]);
  expect([...(await engine.filesInUse([sha256]))]).toEqual([sha256]);
  await engine.close({ graceMs: 0 });
});
