import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../core/errors.ts";
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
  let lateMs = 10_000;
  const thorough: unknown[] = [];
  const slow: Engine = {
    ...engine,
    async delete(what) {
      thorough.push(what.thorough);
      const deletion = await remove(what);
      return { ...deletion, endedAt: deletion.endedAt - lateMs };
    },
  };
  const files = createHomeFiles(home, artifacts);
  await createDeletions({ engine: slow, files }).run(await ended({ events }));
  expect(await artifacts.get(file.sha256)).toBeDefined();
  // The clock of files is coarse: what seems to be stored just after the end is the run's own.
  lateMs = 500;
  await createDeletions({ engine: slow, files }).run(await ended({ events }));
  expect(await artifacts.get(file.sha256)).toBeUndefined();
  expect(thorough).toEqual([true, true]);
});

test("when what was deleted could not be overwritten, the next deletion overwrites it", async () => {
  let scrubs = 0;
  const busy: Engine = {
    ...engine,
    async scrub() {
      if (++scrubs === 1) throw new Error("The disk is full.");
      return true;
    },
  };
  const { run } = createDeletions({ engine: busy });
  await expect(run(await ended())).rejects.toThrow("The disk is full.");
  await run(await ended());
  expect(scrubs).toBe(2);
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
  const left = (await engine.list({ limit: 9 })).runs;
  expect(left.map(({ kind, contextId }) => [kind, contextId])).toEqual([["manus/forget", run.id]]);
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

/** What a run has told that gave a task away. */
const gave = (taskId: string) => [
  { type: "agent-asked", askId: taskId, agent: "swe", url: "http://swe.test", text: "Do it.", parts: [], hops: 1 },
  { type: "agent-accepted", askId: taskId, agent: "swe", taskId, contextId: "there" },
];

test("a run that has not ended is not deleted, nor one of its conversation, and no agent elsewhere hears of it", async () => {
  const { run } = await engine.start({ ...request, events: gave("t") });
  await expect((async () => deletions().run(run))()).rejects.toMatchObject({ code: "conflict" });
  const over = await ended({ events: gave("u") });
  await expect(deletions().conversation("c", "ann")).rejects.toMatchObject({ code: "conflict" });
  expect((await engine.list({ limit: 9 })).runs.map(({ id }) => id).toSorted()).toEqual([run.id, over.id].toSorted());
});

test("a canceled run is deleted once what it asked for has stopped, and is not if that works on", async () => {
  const run = await ended();
  const dedupe = { key: JSON.stringify(["swe", "ann", `${run.id}/1`]), hash: "" };
  const { run: asked } = await engine.start({ ...request, kind: "swe", contextId: "there", dedupe });
  await expect(deletions().run(run)).rejects.toThrow(`The run ${asked.id}, which it asked for, has not ended.`);
  const deleting = deletions().conversation("c", "ann");
  await Bun.sleep(300);
  await engine.cancel(asked.id);
  expect((await deleting).deleted.toSorted()).toEqual([asked.id, run.id].toSorted());
});

test("each run of a conversation has its tasks elsewhere deleted; what cannot be is pending, and one of another's name is not here", async () => {
  const asked: string[] = [];
  const execute = async (_: unknown, input: unknown) => {
    asked.push(...(input as ForgetInput).tasks.map(({ taskId }) => taskId));
    throw new AppError("unavailable", "It is away.");
  };
  engine.work([{ kind: "manus/forget", execute }]);
  const bobs = await ended({ principal: "bob" });
  await ended({ events: gave(bobs.id) });
  await ended({ events: gave("t") });
  const { elsewhere } = await deletions().conversation("c", "ann");
  expect(elsewhere.map(({ taskId, outcome }) => [taskId, outcome]).toSorted()).toEqual(
    [bobs.id, "t"].map((taskId) => [taskId, "pending"]).toSorted(),
  );
  expect(asked.toSorted()).toEqual([bobs.id, "t"].toSorted());
  expect((await engine.get(bobs.id))?.id).toBe(bobs.id);
});

test("what a conversation's runs still have at work for them does not keep it, and goes with it", async () => {
  const run = await ended();
  const { run: recall } = await engine.start({ ...request, kind: "manus/recall", input: { runId: run.id } });
  expect(await deletions().conversation("c", "ann")).toEqual({ deleted: [run.id], elsewhere: [] });
  expect(await engine.get(recall.id)).toBeUndefined();
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

test("a workspace where tools worked without a run goes with its conversation's runs at another agent", async () => {
  const run = await ended({ kind: "swe" });
  const [root, ofBob] = [await workspace("c"), await workspace("c", "bob")];
  expect(await deletions(["manus", "swe"]).conversation("c", "ann")).toEqual({ deleted: [run.id], elsewhere: [] });
  expect([existsSync(root), existsSync(ofBob)]).toEqual([false, true]);
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
