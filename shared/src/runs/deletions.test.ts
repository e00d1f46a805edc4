import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../core/runs/engine.ts";
import type { ForgetInput } from "../core/runs/forgetting.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../machine/workspace/artifacts/artifact-store.ts";
import { createHomeFiles } from "../machine/workspace/home-files.ts";
import { openWorkspace } from "../machine/workspace/open-workspace.ts";
import { createDeletions } from "./deletions.ts";

let home: string;
let engine: Engine;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "deletions-"));
  engine = createEmbeddedEngine({ path: join(home, "runs.db") });
});
afterEach(async () => {
  await engine.close({ graceMs: 0 });
  await rm(home, { recursive: true });
});

const request = { kind: "manus", input: null, principal: "ann", contextId: "c" } as const;
const deletions = (kinds: readonly string[] = []) =>
  createDeletions({
    engine,
    files: createHomeFiles(home, createArtifactStore(join(home, "artifacts"))),
    kinds: () => kinds,
  });

async function ended(over: object = {}) {
  return (await engine.start({ ...request, ...over, canceled: true })).run;
}

async function workspace(contextId: string, principal = "ann"): Promise<string> {
  const { root } = await openWorkspace({ home, principal: `manus/${principal}`, contextId });
  await writeFile(join(root, "a.txt"), "a");
  return root;
}

test("a conversation's workspace goes with its last run, and is another principal's if that has the same id", async () => {
  const [root, ofBob] = [await workspace("c"), await workspace("c", "bob")];
  const [first, second] = [await ended(), await ended()];
  await ended({ principal: "bob" });
  expect(await deletions().run(first)).toEqual({ deleted: [first.id], elsewhere: [] });
  expect(existsSync(root)).toBe(true);
  await deletions().run(second);
  expect([existsSync(root), existsSync(ofBob)]).toEqual([false, true]);
});

test("a file goes with the last run that refers to it", async () => {
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const file = await artifacts.put(new TextEncoder().encode("x"), { name: "a.txt" });
  const events = [{ type: "artifact-added", artifactId: "a", name: "a", parts: [{ type: "file", ...file }] }];
  const [mine, bobs] = [await ended({ events }), await ended({ principal: "bob", events })];
  await deletions().run(mine);
  expect(await artifacts.get(file.sha256)).toBeDefined();
  await deletions().run(bobs);
  expect(await artifacts.get(file.sha256)).toBeUndefined();
});

test("a file that another run stored again during a long deletion stays", async () => {
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const file = await artifacts.put(new TextEncoder().encode("x"), { name: "a.txt" });
  const events = [{ type: "artifact-added", artifactId: "a", name: "a", parts: [{ type: "file", ...file }] }];
  const { delete: remove } = engine;
  const slow: Engine = {
    ...engine,
    async delete(what) {
      const deletion = await remove(what);
      return { ...deletion, endedAt: deletion.endedAt - 10_000 };
    },
  };
  const files = createHomeFiles(home, artifacts);
  await createDeletions({ engine: slow, files }).run(await ended({ events }));
  expect(await artifacts.get(file.sha256)).toBeDefined();
});

test("the runs that notified a task's receivers or cancelled its children go with it, also at work", async () => {
  engine.work([{ kind: "manus/push", execute: (run) => run.signal("never", {}) }]);
  const run = await ended();
  const push = (taskId: string) =>
    engine.start({ ...request, kind: "manus/push", contextId: taskId, input: { taskId, config: { url: "x" } } });
  const { run: receiver } = await push(run.id);
  const { run: elsewhere } = await push("another");
  const { run: over } = await push(run.id);
  await engine.deliver(over.id, "never", null);
  while ((await engine.get(over.id))?.status !== "completed") await Bun.sleep(5);
  const recall = await ended({ kind: "manus/recall", input: { runId: run.id, why: "ending" } });
  await deletions().run(run);
  const left = (await engine.list({ limit: 9 })).runs.map(({ id }) => id);
  expect([receiver.id, over.id, recall.id, run.id].filter((id) => left.includes(id))).toEqual([]);
  expect(left).toEqual([elsewhere.id]);
});

test("the run that deletes a run's tasks at other agents stays, and says what became of them", async () => {
  engine.work([
    {
      kind: "manus/forget",
      execute: async (_, input) => (input as ForgetInput).tasks.map((task) => ({ ...task, outcome: "deleted" })),
    },
  ]);
  const ask = { askId: "a", agent: "swe" };
  const asked = { type: "agent-asked", ...ask, url: "http://swe.test", text: "Do it.", parts: [], hops: 1 };
  const run = await ended({ events: [asked, { type: "agent-accepted", ...ask, taskId: "t", contextId: "there" }] });
  const { elsewhere } = await deletions().run(run);
  expect(elsewhere).toEqual([{ agent: { name: "swe", url: "http://swe.test" }, taskId: "t", outcome: "deleted" }]);
  expect((await engine.list({ limit: 9 })).runs.map(({ kind }) => kind)).toEqual(["manus/forget"]);
});

test("so do the tasks that its own runs gave away, each to its agent, in one run of that kind", async () => {
  const inputs: ForgetInput[] = [];
  engine.work([{ kind: "manus/forget", execute: async (_, input) => [inputs.push(input as never)] }]);
  const gave = (agent: string, taskId: string) => [
    { type: "agent-asked", askId: taskId, agent, url: `http://${agent}.test`, text: "", parts: [], hops: 1 },
    { type: "agent-accepted", askId: taskId, agent, taskId, contextId: "there" },
  ];
  const inner = await ended({ events: [...gave("far", "t1"), ...gave("away", "t2")] });
  const run = await ended({ events: [...gave("near", inner.id), ...gave("far", "t3"), ...gave("far", "")] });
  await deletions().run(run);
  const task = (name: string, taskId: string) => ({ agent: { name, url: `http://${name}.test` }, taskId });
  expect(inputs).toEqual([{ runId: run.id, tasks: [task("far", "t1"), task("away", "t2"), task("far", "t3")] }]);
});

test("a run that has not ended is not deleted, and no agent elsewhere hears of it", async () => {
  const ask = { askId: "a", agent: "swe" };
  const asked = { type: "agent-asked", ...ask, url: "http://swe.test", text: "Do it.", parts: [], hops: 1 };
  const events = [asked, { type: "agent-accepted", ...ask, taskId: "t", contextId: "there" }];
  const { run } = await engine.start({ ...request, events });
  await expect((async () => deletions().run(run))()).rejects.toMatchObject({ code: "conflict" });
  expect((await engine.list({ limit: 9 })).runs.map(({ id }) => id)).toEqual([run.id]);
});

test("all of a conversation goes, however long, and nothing of another principal's with the same id", async () => {
  const { run: bobs } = await engine.start({ ...request, principal: "bob" });
  const { run: other } = await engine.start({ ...request, contextId: "d" });
  const mine = await Promise.all(Array.from({ length: 201 }, () => ended()));
  const { deleted } = await deletions().conversation("c", "ann");
  expect([...deleted].sort()).toEqual(mine.map(({ id }) => id).sort());
  expect((await engine.list({ limit: 9 })).runs.map(({ id }) => id).sort()).toEqual([bobs.id, other.id].sort());
});

test("no word of a deleted run stays on the disk", async () => {
  const kept = await ended({ input: "PLAINWORD" });
  const events = Array.from({ length: 30 }, () => ({ type: "told", text: "SECRETWORD ".repeat(400) }));
  const run = await ended({ input: "SECRETWORD", events });
  const words = (word: string) =>
    readdirSync(home, { withFileTypes: true }).filter(
      (entry) => entry.isFile() && readFileSync(join(home, entry.name)).includes(word),
    ).length;
  expect(words("SECRETWORD")).toBeGreaterThan(0);
  await deletions().run(run);
  expect([words("SECRETWORD"), words("PLAINWORD") > 0]).toEqual([0, true]);
  expect(await engine.get(kept.id)).toBeDefined();
});

test("a conversation without runs is its workspace; one without either does not exist", async () => {
  const root = await workspace("mcp");
  expect(await deletions(["manus"]).conversation("mcp", "ann")).toEqual({ deleted: [], elsewhere: [] });
  expect(existsSync(root)).toBe(false);
  for (const contextId of ["mcp", "never"])
    await expect(deletions(["manus"]).conversation(contextId, "ann")).rejects.toThrow("There is no conversation");
});

test("an unfinished run of a conversation keeps all of it", async () => {
  const root = await workspace("c");
  await ended();
  await engine.start(request);
  await expect(deletions(["manus"]).conversation("c", "ann")).rejects.toThrow("has not ended. Cancel it first.");
  expect([existsSync(root), (await engine.list({ limit: 9 })).total]).toEqual([true, 2]);
});

test("the audit is told who deleted which run", async () => {
  const audited: object[] = [];
  const run = await ended();
  await createDeletions({ engine, audit: (record) => void audited.push(record) }).run(run);
  expect(audited).toEqual([{ principal: "ann", runs: [run.id] }]);
});
