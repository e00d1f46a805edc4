import { expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config/config.ts";
import type { Engine } from "../../core/runs/engine.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import * as sweeps from "../../runs/sweep.ts";
import { startSweeping } from "./sweeping.ts";

async function configured(home: string, retention: Record<string, string>) {
  const env = Object.fromEntries(
    Object.entries(retention).map(([key, value]) => [`MANYHANDS_RETENTION_${key.toUpperCase()}`, value]),
  );
  return await loadConfig({ cwd: home, file: undefined, env: { MANYHANDS_HOME: home, ...env } });
}

const request = { kind: "manus", input: null, principal: "ann", contextId: "c", canceled: true } as const;

test("a server says what it keeps, sweeps at its start and from then on", async () => {
  const home = await mkdtemp(join(tmpdir(), "sweeping-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const said: unknown[] = [];
  const log = {
    info: (...about: unknown[]) => void said.push(about),
    error: (about: unknown) => void said.push(about),
  };
  const config = await configured(home, { runs: "0", workspaces: "never", every: "1s" });
  const a2a = { ...config.a2a, dedupeMs: 0 };
  const first = (await engine.start(request)).run.id;
  const stop = startSweeping({ ...config, a2a }, { engine, log: log as never });
  const gone = async (id: string) => {
    for (const deadline = performance.now() + 20_000; performance.now() < deadline; await Bun.sleep(20))
      if ((await engine.get(id)) === undefined) return true;
    return false;
  };
  expect(said[0]).toEqual([
    "Retention: ended runs are deleted at once, their journals are deleted after 7d, workspaces nobody opens are kept, files of no run are deleted after 1d ([retention]).",
  ]);
  expect(await gone(first)).toBe(true);
  expect(await gone((await engine.start(request)).run.id)).toBe(true);
  stop();
  expect(said[1]).toEqual([{ runs: 1, journals: 0, workspaces: 0, artifacts: 0 }, "deleted what retention lets go"]);
  await engine.close({ graceMs: 0 });
  await rm(home, { recursive: true });
});

/** Sweeping of an engine whose every sweep does as told, on a clock that is moved by hand. */
async function sweepingWith(scrub: () => Promise<void>, every: string) {
  const home = await mkdtemp(join(tmpdir(), "sweeping-"));
  const said: unknown[][] = [];
  const log = {
    info: (...about: unknown[]) => void said.push(about),
    error: (...about: unknown[]) => void said.push(about),
  };
  const engine = { purgeable: async () => [], list: async () => ({ runs: [] }), scrub } as unknown;
  const config = await configured(home, {
    runs: "never",
    journals: "never",
    workspaces: "never",
    artifacts: "never",
    every,
  });
  const stop = startSweeping(config, { engine: engine as Engine, log: log as never });
  return { said, stop, [Symbol.asyncDispose]: () => rm(home, { recursive: true }) };
}

const reaches = async (count: () => number, least: number) => {
  for (const end = performance.now() + 20_000; count() < least && performance.now() < end; ) await Bun.sleep(10);
  expect(count()).toBeGreaterThanOrEqual(least);
};

test("a sweep that fails is told with its cause and made again at the next time", async () => {
  let sweeps = 0;
  await using sweeping = await sweepingWith(async () => {
    if (++sweeps === 1) throw new Error("disk full");
  }, "1s");
  await reaches(() => sweeps, 2);
  sweeping.stop();
  expect(sweeping.said).toHaveLength(2);
  expect(sweeping.said[1]).toMatchObject([
    { err: { message: "disk full" } },
    "What retention lets go could not be deleted; it is tried again.",
  ]);
});

test("a sweep that is under way at the stop is the last, and says nothing of failing with what was closed", async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  let sweeps = 0;
  await using sweeping = await sweepingWith(() => {
    sweeps++;
    return promise;
  }, "1s");
  await reaches(() => sweeps, 1);
  sweeping.stop();
  reject(new Error("closed"));
  await Bun.sleep(1_200);
  expect([sweeps, sweeping.said.length]).toEqual([1, 1]);
});

test("the next sweep waits for its time, however long that is, when nothing was left", async () => {
  let sweeps = 0;
  await using sweeping = await sweepingWith(async () => void sweeps++, "90d");
  await reaches(() => sweeps, 1);
  await Bun.sleep(1_200);
  sweeping.stop();
  expect(sweeps).toBe(1);
});

test("a sweep that left something goes on after a second, and each has the window in which a message is one task", async () => {
  const home = await mkdtemp(join(tmpdir(), "sweeping-"));
  const config = await configured(home, { every: "90d" });
  const swept = { runs: [], journals: 0, workspaces: [], artifacts: [] };
  let left = 2;
  using sweeping = spyOn(sweeps, "sweep").mockImplementation(async () => ({ ...swept, more: --left > 0 }) as never);
  const waits: number[] = [];
  const wait = globalThis.setTimeout;
  using _ = spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms: number) => {
    waits.push(ms);
    return wait(then, ms > 1_000 ? 60_000 : 0);
  }) as typeof setTimeout);
  using ended = spyOn(globalThis, "clearTimeout");
  const a2a = { ...config.a2a, dedupeMs: 7 };
  const log = { info: () => undefined, error: () => undefined };
  const stop = startSweeping({ ...config, a2a }, { engine: {} as Engine, log: log as never });
  for (const end = performance.now() + 20_000; waits.length < 3 && performance.now() < end; ) await Bun.sleep(1);
  stop();
  // The longest that a timer can take is shorter than ninety days.
  expect(waits).toEqual([0, 1_000, 2 ** 31 - 1]);
  expect(sweeping.mock.calls.map(([given]) => given.dedupeMs)).toEqual([7, 7]);
  expect(ended).toHaveBeenCalledTimes(1);
  await rm(home, { recursive: true });
});

test("a time that is none is refused, with what is allowed", async () => {
  await expect(configured("/nowhere", { runs: "90 days" })).rejects.toThrow(/"never".*"0".*"90d"/);
  expect((await configured("/nowhere", { runs: "never", journals: "0" })).retention).toMatchObject({
    runsMs: undefined,
    journalsMs: 0,
    workspacesMs: 90 * 86_400_000,
  });
});
