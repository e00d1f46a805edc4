import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Json } from "../../core/json.ts";
import type { Run } from "../../core/runs/run.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { until } from "../../testing/durable/until.ts";
import { request } from "../conformance/cases.ts";
import { createEmbeddedEngine } from "./embedded-engine.ts";

/** How often the word occurs in the store's files. */
function occurrences(path: string, word: string): number {
  const folder = dirname(path);
  return readdirSync(folder).reduce((sum, name) => {
    const bytes = readFileSync(join(folder, name));
    let found = 0;
    for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) found++;
    return sum + found;
  }, 0);
}

test("no word of a deleted run is left in the store's files, in rows of any size, moved and replaced ones", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const other = createEmbeddedEngine({ path: store.path });
  const sizes = [10, 50, 300, 900, 3000, 9000];
  const said = (word: string, n: number) => `${word} `.repeat(1 + (sizes[n % sizes.length] ?? 0) / 10);
  engine.work([
    {
      kind: "test",
      async execute(run, input) {
        for (let n = 0; n < 6; n++)
          await run.step("s", async (step) => {
            step.emit({ type: "x", text: said(String(input), n + run.id.charCodeAt(35)) });
            return said(String(input), n * 7 + run.id.charCodeAt(34));
          });
        return input;
      },
    },
  ]);
  const ids: string[] = [];
  for (let n = 0; n < 40; n++)
    ids.push((await engine.start({ ...request, input: n % 2 === 0 ? "SECRETWORD" : "PLAINWORD" })).run.id);
  for (const id of ids) for await (const _ of engine.follow(id, { signal: AbortSignal.timeout(20_000) }));
  expect(occurrences(store.path, "SECRETWORD")).toBeGreaterThan(1000);
  await other.delete({ runIds: ids.filter((_, n) => n % 2 === 0), thorough: true });
  expect(await other.scrub()).toBe(true);
  expect(occurrences(store.path, "SECRETWORD")).toBe(0);
  expect(occurrences(store.path, "PLAINWORD")).toBeGreaterThan(1000);
  expect((await engine.get(ids[1] ?? ""))?.output).toBe("PLAINWORD");
  await engine.delete({ runIds: ids.filter((_, n) => n % 2 === 1) });
  expect((await engine.list({ limit: 1 })).total).toBe(0);
  for (const one of [engine, other]) await one.close({ graceMs: 0 });
}, 60_000);

test("only a thorough deletion rewrites the store, at once where it is small and when that is asked for where it is large", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  using db = new Database(store.path);
  const ended = async () => {
    const { run } = await engine.start({ ...request, input: "x".repeat(500_000), canceled: true });
    return run.id;
  };
  const freePages = () => db.query<{ freelist_count: number }, []>("PRAGMA freelist_count").get()?.freelist_count ?? 0;
  await engine.delete({ runIds: [await ended()] });
  expect([await engine.scrub(), freePages() > 100]).toEqual([true, true]);
  await engine.delete({ runIds: [await ended()], thorough: true });
  const isLeft = () => db.query<{ unscrubbed: number }, []>("SELECT unscrubbed FROM deletions").get()?.unscrubbed;
  // What is deleted while it is rewritten may have left traces.
  const late = await ended();
  const scrubbing = engine.scrub();
  await engine.delete({ runIds: [late], thorough: true });
  expect([await scrubbing, isLeft()]).toEqual([true, 1]);
  expect([await engine.scrub(), freePages(), isLeft()]).toEqual([true, 0, 0]);
  db.run("CREATE TABLE ballast (data)");
  db.run("INSERT INTO ballast VALUES (zeroblob(68000000))");
  await engine.delete({ runIds: [await ended()], thorough: true });
  expect([await engine.scrub(), freePages() > 100]).toEqual([false, true]);
  expect([await engine.scrub({ evenLarge: true }), freePages()]).toEqual([true, 0]);
  await engine.close({ graceMs: 0 });
}, 60_000);

test("of a deleted run no table has a row any more, and of another every row stays", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  engine.work([
    {
      kind: "test",
      async execute(run) {
        await run.step("work", async () => "recorded");
        await run.signal("never");
        return null;
      },
    },
  ]);
  const file = { type: "file", name: "a", mediaType: "text/plain", size: 1, sha256: "a".repeat(64) };
  const events = [{ type: "artifact-added", artifactId: "a", name: "a", parts: [file] }];
  const [one, other] = [
    (await engine.start({ ...request, events })).run,
    (await engine.start({ ...request, events })).run,
  ];
  for (const [run, watched] of [
    [one, other],
    [other, one],
  ] as const) {
    await until(async () => (await engine.get(run.id))?.status === "waiting");
    await engine.deliver(run.id, "message", "words");
    await engine.watch(watched.id, { after: watched.lastEvent + 99, watcher: run.id, signal: "news" });
  }
  using db = new Database(store.path);
  const tables = db
    .query<{ name: string }, []>(
      "SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c ON c.name = 'run' WHERE m.type = 'table'",
    )
    .all();
  const n = (id: string) => db.query<{ n: number }, [string]>("SELECT n FROM runs WHERE id = ?").get(id)?.n ?? 0;
  const [ofOne, ofOther] = [n(one.id), n(other.id)];
  const rows = (run: number) =>
    tables.filter(({ name }) => db.query(`SELECT 1 FROM ${name} WHERE run = ?`).get(run) !== null).map((t) => t.name);
  expect(rows(ofOne)).toEqual(expect.arrayContaining(["journal", "signals", "events", "file_runs"]));
  await engine.cancel(one.id);
  await until(async () => (await engine.get(one.id))?.status === "canceled");
  const before = rows(ofOther);
  await engine.delete({ runIds: [one.id] });
  expect(rows(ofOne)).toEqual([]);
  expect(rows(ofOther)).toEqual(before);
  await engine.close({ graceMs: 0 });
});

test("a file that an unfinished run was only told of is in use, however the run stands, and its words go with its journal", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const hash = "b".repeat(64);
  const { run } = await engine.start(request);
  await engine.deliver(run.id, "message", { parts: [{ type: "file", sha256: hash }] });
  using db = new Database(store.path);
  for (const status of ["queued", "running", "waiting", "paused"]) {
    db.run("UPDATE runs SET status = ? WHERE id = ?", [status, run.id]);
    expect([status, ...(await engine.filesInUse([hash]))]).toEqual([status, hash]);
    const endedBy = Date.now() + 1_000;
    expect(await engine.deleteJournals({ endedBy, limit: 9 })).toEqual({ runs: 0 });
    expect((await engine.expired({ endedBy, acceptedBy: endedBy, limit: 9 })).runIds).toEqual([]);
  }
  db.run("UPDATE runs SET status = 'completed' WHERE id = ?", [run.id]);
  expect([...(await engine.filesInUse([hash]))]).toEqual([]);
  const passes = [1, 2].map(() => engine.deleteJournals({ endedBy: Date.now() + 1_000, limit: 9 }));
  expect((await Promise.all(passes)).map(({ runs }) => runs).sort()).toEqual([0, 1]);
  expect(db.query("SELECT count(*) AS count FROM signals").get()).toEqual({ count: 0 });
  await engine.close({ graceMs: 0 });
});

test("a run beside a paused one of its conversation does not expire", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const { run } = await engine.start({ ...request, canceled: true });
  const { run: paused } = await engine.start(request);
  using db = new Database(store.path);
  const expired = async () => {
    const by = Date.now() + 1_000;
    return (await engine.expired({ endedBy: by, acceptedBy: by, limit: 9 })).runIds;
  };
  db.run("UPDATE runs SET status = 'paused' WHERE id = ?", [paused.id]);
  expect(await expired()).toEqual([]);
  await engine.cancel(paused.id);
  expect([...(await expired())].sort()).toEqual([run.id, paused.id].sort());
  await engine.close({ graceMs: 0 });
});

test("the number of a deleted run is never given to another, whose lease it would fit", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  using db = new Database(store.path);
  const numbers = () => db.query<{ n: number }, []>("SELECT n FROM runs ORDER BY n").all();
  const { run } = await engine.start({ ...request, canceled: true });
  const [first] = numbers();
  await engine.delete({ runIds: [run.id] });
  await engine.start(request);
  expect(numbers()).toEqual([{ n: (first?.n ?? 0) + 1 }]);
  await engine.close({ graceMs: 0 });
});

test("in a copy of the store runs that were under way are claimed at once, and what has ended stays as it was", async () => {
  using store = scratch();
  using folder = scratch();
  const begun = Promise.withResolvers<void>();
  const execute = async (run: Run, input: Json) => {
    if (input === "stays") return "ended";
    await run.step("wait", () => {
      begun.resolve();
      return new Promise<null>(() => undefined);
    });
    return null;
  };
  const engine = createEmbeddedEngine({ path: store.path, stopMs: 10 });
  engine.work([{ kind: "test", execute }]);
  const { run: over } = await engine.start({ ...request, input: "stays" });
  for await (const _ of engine.follow(over.id, { signal: AbortSignal.timeout(20_000) }));
  const { run } = await engine.start(request);
  const { run: waiting } = await engine.start({ ...request, kind: "other" });
  const { run: canceled } = await engine.start({ ...request, canceled: true });
  await begun.promise;
  await engine.backup(folder.path);
  const copy = createEmbeddedEngine({ path: folder.path });
  const statuses = await Promise.all(
    [over, canceled, run, waiting].map(async ({ id }) => (await copy.get(id))?.status),
  );
  expect(statuses).toEqual(["completed", "canceled", "queued", "queued"]);
  expect((await copy.get(over.id))?.output).toBe("ended");
  using db = new Database(folder.path);
  expect(db.query("SELECT id FROM workers").all()).toEqual([]);
  copy.work([{ kind: "test", execute: async () => "in the copy" }]);
  await until(async () => (await copy.get(run.id))?.output === "in the copy");
  for (const one of [copy, engine]) await one.close({ graceMs: 0 });
});

test("a copy that cannot be made says why, and what helps, in a sentence", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  await engine.start(request);
  const copy = join(store.folder, "missing/copy.db");
  const said = `The run store could not be copied to ${copy}: it cannot be opened (SQLITE_CANTOPEN). There has to be room`;
  const failure = { code: "storage_unavailable", message: expect.stringContaining(said) };
  await expect(engine.backup(copy)).rejects.toMatchObject(failure);
  await engine.backup(join(store.folder, "copy.db"));
  const again = { message: expect.stringMatching(/copy\.db: output file already exists\. /) };
  await expect(engine.backup(join(store.folder, "copy.db"))).rejects.toMatchObject(again);
  await engine.close({ graceMs: 0 });
});
