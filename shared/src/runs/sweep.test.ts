import { afterEach, beforeEach, expect, test } from "bun:test";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { chmod, mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Engine, RunStatus } from "../core/runs/engine.ts";
import type { HomeFiles } from "../core/runs/housekeeping.ts";
import type { Run } from "../core/runs/run.ts";
import type { ArtifactStore } from "../core/workspace.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../machine/workspace/artifacts/artifact-store.ts";
import { createHomeFiles } from "../machine/workspace/home-files.ts";
import { openWorkspace } from "../machine/workspace/open-workspace.ts";
import { type Retention, type Swept, sweep } from "./sweep.ts";

const day = 86_400_000;
const hour = 3_600_000;
const never = { journalsMs: undefined, runsMs: undefined, workspacesMs: undefined, artifactsMs: undefined };

let home: string;
let engine: Engine;
let files: HomeFiles;
let artifacts: ArtifactStore;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "sweep-"));
  engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const store = createArtifactStore(join(home, "artifacts"));
  files = createHomeFiles(home, store);
  artifacts = store;
});
afterEach(async () => {
  await engine.close({ graceMs: 0 });
  await rm(home, { recursive: true });
});

const request = { kind: "manus", input: null, principal: "ann" } as const;

/** Ends a run, in a conversation of its own if none is named. */
async function ended(over: { contextId?: string; events?: never[] | object[] } = {}): Promise<string> {
  const { contextId = crypto.randomUUID(), events = [] } = over;
  const { run } = await engine.start({ ...request, contextId, events: events as never, canceled: true });
  return run.id;
}

async function unfinished(contextId: string): Promise<string> {
  return (await engine.start({ ...request, contextId })).run.id;
}

const workspace = (contextId: string) => openWorkspace({ home, principal: "manus/ann", contextId });

/** Sweeps as it would `inMs` from now. */
function sweepIn(inMs: number, retention: Partial<Retention>, more: object = {}): Promise<Swept> {
  const deps = { engine, files, retention: { ...never, everyMs: hour, ...retention }, dedupeMs: 0 };
  return sweep({ ...deps, now: () => Date.now() + inMs, ...more });
}

/** Resolves once a run has this status; fails after half a minute. */
async function untilIs(id: string, status: RunStatus): Promise<void> {
  for (const end = Date.now() + 30_000; (await engine.get(id))?.status !== status; await Bun.sleep(5))
    if (Date.now() > end) throw new Error(`The run is not ${status}.`);
}

/** Makes everything in a folder as old as if it was last changed then. */
async function age(folder: string, ms: number): Promise<void> {
  const at = (Date.now() - ms) / 1000;
  for (const name of readdirSync(folder, { recursive: true }) as string[]) await utimes(join(folder, name), at, at);
  await utimes(folder, at, at);
}

test("ended runs go when their time is over, and not what is unfinished in their conversations", async () => {
  const old = await ended();
  const beside = await ended({ contextId: "open" });
  const waiting = await unfinished("open");
  expect(await sweepIn(day - hour, { runsMs: day })).toMatchObject({ runs: [], more: false });
  const planned = await sweep(
    { engine, files, retention: { ...never, everyMs: hour, runsMs: 0 }, dedupeMs: 0 },
    { dryRun: true },
  );
  expect(planned.runs).toEqual([old]);
  expect(await engine.get(old)).toBeDefined();
  expect((await sweepIn(day + hour, { runsMs: day })).runs).toEqual([old]);
  expect([await engine.get(old), (await engine.get(beside))?.id, (await engine.get(waiting))?.id]).toEqual([
    undefined,
    beside,
    waiting,
  ]);
  await engine.cancel(waiting);
  expect((await sweepIn(day + hour, { runsMs: day })).runs.toSorted()).toEqual([beside, waiting].toSorted());
});

test("what its principal has still at work for a run keeps it, and nothing of another principal's", async () => {
  const [notified, freed] = [await ended({ contextId: "a" }), await ended({ contextId: "b" })];
  for (const [contextId, principal] of [
    [notified, "ann"],
    [freed, "bob"],
    ["b", "bob"],
  ] as const)
    await engine.start({ ...request, kind: "manus/push", principal, contextId });
  expect((await sweepIn(day, { runsMs: 0 })).runs).toEqual([freed]);
});

test("`never` keeps everything, and 0 nothing that has ended", async () => {
  const id = await ended();
  expect(await sweepIn(9999 * day, {})).toEqual({ runs: [], journals: 0, workspaces: [], artifacts: [], more: false });
  expect((await sweepIn(1, { runsMs: 0 })).runs).toEqual([id]);
});

test("a run is kept as long as its message, sent again, must be recognized", async () => {
  const id = await ended();
  expect((await sweepIn(day - hour, { runsMs: 0 }, { dedupeMs: day })).runs).toEqual([]);
  expect((await sweepIn(day + hour, { runsMs: 0 }, { dedupeMs: day })).runs).toEqual([id]);
});

test("a pass is bounded, and says that there is more", async () => {
  for (let n = 0; n < 120; n++) await ended();
  const passes: Swept[] = [];
  do passes.push(await sweepIn(day, { runsMs: 0 }, { limit: 60 }));
  while (passes.at(-1)?.more === true);
  expect(passes.map(({ runs }) => runs.length)).toEqual([60, 60, 0]);
  expect((await engine.list({ limit: 1 })).total).toBe(0);
});

test("journals go before their runs, of however many, and never an unfinished run's", async () => {
  engine.work([
    {
      kind: "manus",
      execute: async (run, input) => {
        await run.step("work", async () => null);
        return input === null ? null : run.signal("never");
      },
    },
  ]);
  const start = (input: string | null) => engine.start({ ...request, input, contextId: "c" });
  const open = (await start("open")).run;
  const done = await Promise.all(Array.from({ length: 45 }, () => start(null)));
  for (const { run } of done) for await (const _ of engine.follow(run.id, { signal: AbortSignal.timeout(30_000) }));
  await untilIs(open.id, "waiting");
  expect((await sweepIn(day - hour, { journalsMs: day })).journals).toBe(0);
  const deps = { engine, files, retention: { ...never, everyMs: hour, journalsMs: 0 }, dedupeMs: 0 };
  for (const _ of [1, 2])
    expect((await sweep({ ...deps, now: () => Date.now() + 1 }, { dryRun: true })).journals).toBe(45);
  const passes = [await sweepIn(day, { journalsMs: 0 }, { limit: 40 }), await sweepIn(day, { journalsMs: 0 })];
  expect(passes.map(({ journals, more, runs }) => [journals, more, runs])).toEqual([
    [40, true, []],
    [5, false, []],
  ]);
  expect((await engine.list({ limit: 1 })).total).toBe(46);
});

test("what would go is said once each, and all of it stays", async () => {
  const ids = await Promise.all(Array.from({ length: 45 }, () => ended()));
  const { sha256 } = await artifacts.put(new TextEncoder().encode("x"), { name: "a.txt" });
  const retention = { ...never, everyMs: hour, runsMs: 0, artifactsMs: 0 };
  const planned = await sweep(
    { engine, files, retention, dedupeMs: 0, now: () => Date.now() + 2 * hour },
    { dryRun: true },
  );
  expect(planned.runs.toSorted()).toEqual(ids.toSorted());
  expect(planned.artifacts).toEqual([sha256]);
  expect(await artifacts.get(sha256)).toBeDefined();
  expect((await engine.list({ limit: 1 })).total).toBe(45);
});

test.each<readonly [string, Error, boolean]>([
  ["has not ended after all", new AppError("conflict", "It has not ended."), true],
  ["another process deleted", new AppError("not_found", "There is none."), true],
  ["cannot be deleted", new AppError("storage_unavailable", "The disk is full."), false],
  ["meets a bug", new TypeError("a bug"), false],
])("a sweep goes past a run that %s, unless the store fails", async (_, error, goesOn) => {
  const [first, second] = [await ended(), await ended()];
  const asked: unknown[] = [];
  const failing = {
    ...engine,
    delete(request: Parameters<Engine["delete"]>[0]) {
      asked.push(request);
      return request.runIds.includes(first) ? Promise.reject(error) : engine.delete(request);
    },
  };
  const now = Date.now() + hour;
  const swept = sweepIn(0, { runsMs: 0 }, { engine: failing, now: () => now }).catch((thrown: unknown) => thrown);
  expect(await swept).toEqual(goesOn ? expect.objectContaining({ runs: [second] }) : error);
  expect(asked[0]).toEqual({ runIds: [first], endedBy: now });
});

test("a workspace stays while one of very many unfinished runs is of its conversation", async () => {
  const { root } = await workspace("first");
  await age(join(root, ".."), 10 * day);
  await unfinished("first");
  await Promise.all(Array.from({ length: 200 }, () => unfinished("later")));
  expect((await sweepIn(0, { workspacesMs: day })).workspaces).toEqual([]);
  expect(existsSync(root)).toBe(true);
});

test("a workspace stays while a run of its conversation runs, waits or is paused", async () => {
  let awaited = "go"; // A body that then waits for something else pauses.
  const execute = async (run: Run, input: Json) => {
    if (input !== "running") return run.signal(input === "paused" ? awaited : "go");
    await once(run.abortSignal, "abort");
    throw run.abortSignal.reason;
  };
  engine.work([{ kind: "manus", execute }]);
  const ids = new Map<string, string>();
  for (const name of ["running", "waiting", "paused"] as const) {
    await age(join((await workspace(name)).root, ".."), 10 * day);
    const { run } = await engine.start({ ...request, input: name, contextId: name });
    ids.set(name, run.id);
    await untilIs(run.id, name === "running" ? "running" : "waiting");
  }
  awaited = "another";
  await engine.deliver(ids.get("paused") ?? "", "go", null);
  await untilIs(ids.get("paused") ?? "", "paused");
  expect((await sweepIn(0, { workspacesMs: day })).workspaces).toEqual([]);
  for (const id of ids.values()) await engine.cancel(id).then(() => untilIs(id, "canceled"));
  expect((await sweepIn(0, { workspacesMs: day })).workspaces).toHaveLength(3);
});

test("a file goes once no run refers to it; one that is stored again meanwhile stays", async () => {
  const file = await artifacts.put(new TextEncoder().encode("x"), { name: "a.txt" });
  const again = await artifacts.put(new TextEncoder().encode("y"), { name: "b.txt" });
  const part = { type: "file", ...file };
  const id = await ended({ events: [{ type: "artifact-added", artifactId: "a", name: "a", parts: [part] }] });
  expect((await sweepIn(hour / 2, { artifactsMs: 0 })).artifacts).toEqual([]);
  expect(await files.removeArtifact(again.sha256, Date.now() - hour)).toBe(false);
  expect(await (await artifacts.get(again.sha256))?.text()).toBe("y");
  expect((await sweepIn(2 * hour, { artifactsMs: 0 })).artifacts).toEqual([again.sha256]);
  expect(await artifacts.get(again.sha256)).toBeUndefined();
  expect(await artifacts.get(file.sha256)).toBeDefined();
  await engine.delete({ runIds: [id] });
  expect((await sweepIn(2 * hour, { artifactsMs: 0 })).artifacts).toEqual([file.sha256]);
});

test("files go within a pass's bound, which says that there are more, and copies with them unless it is a dry run", async () => {
  const hashes: string[] = [];
  // Files are looked at by the start of their names.
  for (let n = 0; new Set(hashes.map((hash) => hash.slice(0, 2))).size < 3; n++)
    hashes.push((await artifacts.put(new TextEncoder().encode(`${n}`), { name: "a.txt" })).sha256);
  let looks = 0;
  const counting = { ...files, dropCopies: async () => void looks++ };
  const planned = { engine, files: counting, dedupeMs: 0, retention: { ...never, everyMs: hour, artifactsMs: 0 } };
  await sweep({ ...planned, now: () => Date.now() + 2 * hour }, { dryRun: true });
  const first = await sweepIn(2 * hour, { artifactsMs: 0 }, { limit: 1, files: counting });
  expect([first.artifacts.length < hashes.length, first.more, looks]).toEqual([true, true, 1]);
  const rest = await sweepIn(2 * hour, { artifactsMs: 0 }, { files: counting });
  expect([...first.artifacts, ...rest.artifacts].toSorted()).toEqual(hashes.toSorted());
  expect([rest.more, looks]).toEqual([false, 2]);
});

test("a file that another process is removing is left to it", async () => {
  const { sha256 } = await artifacts.put(new TextEncoder().encode("x"), { name: "a.txt" });
  const other = await artifacts.put(new TextEncoder().encode("y"), { name: "b.txt" });
  const leaving = join(home, "artifacts", "leaving");
  await mkdir(leaving);
  await rm(join(home, "artifacts", sha256.slice(0, 2), sha256));
  await writeFile(join(leaving, `${sha256}.x`), "x");
  expect(await files.removeArtifact(other.sha256, Date.now() + hour)).toBe(true);
  expect(readdirSync(leaving)).toEqual([`${sha256}.x`]);
});

test("workspaces go when no task has opened them for long, except those of an unfinished run", async () => {
  const names = ["old", "open", "used", "deep"];
  const folders = new Map<string, string>();
  for (const name of names) {
    const { root, metaRoot } = await workspace(name);
    await writeFile(join(root, "file.txt"), name);
    await mkdir(join(root, "locked"));
    await writeFile(join(root, "locked", "deep.txt"), "x");
    await chmod(join(root, "locked"), 0o500);
    await writeFile(join(metaRoot, "plans.json"), "{}");
    const folder = join(root, "..");
    folders.set(name, folder);
    await age(folder, 10 * day);
  }
  await unfinished("open");
  await workspace("used");
  await utimes(join(folders.get("deep") ?? "", "files", "locked", "deep.txt"), new Date(), new Date());
  const planned = await sweep(
    { engine, files, retention: { ...never, everyMs: hour, workspacesMs: 7 * day }, dedupeMs: 0 },
    { dryRun: true },
  );
  const swept = await sweepIn(0, { workspacesMs: 7 * day });
  expect([planned.workspaces, swept.workspaces]).toEqual([
    [files.nameOf({ kind: "manus", principal: "ann", contextId: "old" })],
    planned.workspaces,
  ]);
  const left = names.filter((name) => existsSync(folders.get(name) ?? ""));
  expect(left).toEqual(["open", "used", "deep"]);
  expect(readdirSync(join(home, "workspaces", ".leaving"))).toEqual([]);
});

test("what a killed process had put aside is removed by the next sweep", async () => {
  await workspace("c");
  expect(files.detach({ kind: "manus", principal: "ann", contextId: "c" })).toBe(true);
  expect(files.detach({ kind: "manus", principal: "ann", contextId: "c" })).toBe(false);
  expect(readdirSync(join(home, "workspaces", ".leaving")).length).toBe(1);
  await sweepIn(0, {});
  expect(readdirSync(join(home, "workspaces", ".leaving"))).toEqual([]);
});

test("what is used again between the look at it and its deletion stays, a file as well as a workspace", async () => {
  const put = () => artifacts.put(new TextEncoder().encode("x"), { name: "a.txt" });
  const { sha256 } = await put();
  const { root } = await workspace("c");
  for (const folder of [join(home, "artifacts"), join(root, "..")]) await age(folder, 10 * day);
  const meanwhile: HomeFiles = {
    ...files,
    async *oldArtifacts(before) {
      for await (const hashes of files.oldArtifacts(before)) {
        await put();
        yield hashes;
      }
    },
    async oldWorkspaces(...about) {
      const old = await files.oldWorkspaces(...about);
      await workspace("c");
      return old;
    },
  };
  const kept = { workspacesMs: day, artifactsMs: day };
  const planned = sweep(
    { engine, files, retention: { ...never, everyMs: hour, ...kept }, dedupeMs: 0 },
    { dryRun: true },
  );
  expect(await planned).toMatchObject({ workspaces: [expect.any(String)], artifacts: [sha256] });
  expect(await sweepIn(0, kept, { files: meanwhile })).toMatchObject({ workspaces: [], artifacts: [] });
  expect([existsSync(root), await artifacts.get(sha256)]).toEqual([true, expect.anything()]);
});

test("a sweep leaves no trace of what was deleted before it in the store, one that only looks leaves the store alone", async () => {
  let scrubs = 0;
  const counted: Engine = {
    ...engine,
    async scrub() {
      scrubs++;
      return true;
    },
  };
  await sweepIn(0, {}, { engine: counted });
  expect(scrubs).toBe(1);
  await sweep({ engine: counted, files, retention: { ...never, everyMs: hour }, dedupeMs: 0 }, { dryRun: true });
  expect(scrubs).toBe(1);
});
