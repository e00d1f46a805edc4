import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import type { Engine } from "../../core/runs/engine.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import type { Observations } from "../../testing/durable/storage-scenario.ts";
import { until } from "../../testing/durable/until.ts";
import { createEmbeddedEngine } from "../sqlite/embedded-engine.ts";

const request = { kind: "k", input: null, principal: "p", contextId: "c" };
const definition = { kind: "k", execute: async () => "done" };

/**
 * Runs a command in a separate mount namespace, where a small file system can be mounted that
 * disappears with it.
 */
const namespace = ["unshare", "--mount", ...(process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"])];
const canMount = ((): boolean => {
  try {
    return Bun.spawnSync([...namespace, "mount", "-t", "tmpfs", "tmpfs", "/tmp"]).exitCode === 0;
  } catch {
    return false;
  }
})();

/**
 * Runs a scenario over a folder, optionally on a separate file system; returns what it observed.
 */
async function observe<T>(scenario: string, folder: string, options: { mounted: boolean; fault?: string }): Promise<T> {
  const program = new URL(`../../testing/durable/${scenario}.ts`, import.meta.url).pathname;
  const plain = [process.execPath, program, folder, options.fault ?? ""];
  const mount = 'mount -t tmpfs -o size=8m tmpfs "$1" && shift && exec "$@"';
  const command = options.mounted ? [...namespace, "sh", "-c", mount, "sh", folder, ...plain] : plain;
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(err);
  return JSON.parse(out);
}

const faults = [
  { fault: "locked", reason: "another process holds it", mounted: false, steps: 60 },
  // As many as the log takes before it is brought into the file, and more.
  { fault: "unmerged", reason: "its disk cannot be read or written", mounted: false, steps: 240 },
  {
    ...{ fault: "unmerged beside another process", reason: "its disk cannot be read or written" },
    ...{ mounted: false, steps: 240 },
  },
  ...(canMount ? [{ fault: "full", reason: "its disk is full", mounted: true, steps: 60 }] : []),
];
for (const { fault, reason, mounted, steps } of faults) {
  test(`while the storage is ${fault}, runs pause and new work is refused with a reason; afterwards everything continues by itself`, async () => {
    using store = scratch();
    const seen = await observe<Observations>("storage-scenario", store.folder, { mounted, fault });
    expect(seen.health).toContain(reason);
    expect(seen.refusals).toEqual(["storage_unavailable", "storage_unavailable", "storage_unavailable"]);
    expect(seen.refusedWithinMs).toBeLessThan(1000);
    expect(new Set(seen.statusesMeanwhile)).toEqual(new Set(["running"]));
    expect(seen.stepsMeanwhile).toBe(0);
    expect(seen.healthAfter).toBe(true);
    expect(new Set(seen.outputs)).toEqual(new Set([steps]));
    expect(seen.timesRun).toEqual([1]);
    expect(seen.gapless).toBe(true);
  });
}

test("a store that cannot be written refuses work until it can be written", async () => {
  using store = scratch();
  const seen = await observe<{ health: string; refusal: string; status: string }>("read-only-scenario", store.folder, {
    mounted: canMount,
  });
  expect(seen.health).toMatch(/read-only|cannot be opened/);
  expect(seen).toMatchObject({ refusal: "storage_unavailable", status: "completed" });
});

function expectRefused(engine: Engine, reason: string): Promise<void> {
  const health = engine.health();
  expect(health.ok ? "ok" : health.reason).toContain(reason);
  return engine.start(request).then(
    () => expect.unreachable(),
    (error) => expect(error instanceof AppError && error.code).toBe("storage_unavailable"),
  );
}

/** A store with one run that nobody has executed. */
async function storeWithARun(path: string): Promise<string> {
  const engine = createEmbeddedEngine({ path });
  const { run } = await engine.start(request);
  await engine.close();
  return run.id;
}

test("a damaged file is never overwritten, and work continues once a good one replaces it", async () => {
  using store = scratch();
  const good = join(store.folder, "good.db");
  const id = await storeWithARun(good);
  const damaged = Buffer.alloc(20_000, "damaged ");
  writeFileSync(store.path, damaged);

  const engine = createEmbeddedEngine({ path: store.path, pollMs: 10 });
  engine.work([definition]);
  await expectRefused(engine, "not a database, or damaged");
  await Bun.sleep(200);
  expect(readFileSync(store.path).equals(damaged)).toBe(true);

  copyFileSync(good, `${store.path}.new`);
  renameSync(`${store.path}.new`, store.path);
  await until(async () => (await engine.get(id).catch(() => undefined))?.status === "completed");
  expect(engine.health()).toEqual({ ok: true });
  await engine.close();
});

test("damage inside the file makes the store unavailable but loses no run", async () => {
  using store = scratch();
  const id = await storeWithARun(store.path);
  const good = readFileSync(store.path);
  const damaged = Buffer.from(good);
  damaged.fill("damaged ", 4096, good.length);
  writeFileSync(store.path, damaged);

  const engine = createEmbeddedEngine({ path: store.path, pollMs: 10 });
  engine.work([definition]);
  await until(() => !engine.health().ok);
  await expectRefused(engine, "damaged");
  writeFileSync(`${store.path}.new`, good);
  for (const side of ["-wal", "-shm"]) rmSync(`${store.path}${side}`, { force: true });
  renameSync(`${store.path}.new`, store.path);
  await until(async () => (await engine.get(id).catch(() => undefined))?.status === "completed");
  await engine.close();
});

test("the store waits for a folder that does not exist yet", async () => {
  using store = scratch();
  const folder = join(store.folder, "later");
  const engine = createEmbeddedEngine({ path: join(folder, "runs.db"), pollMs: 10 });
  engine.work([definition]);
  await expectRefused(engine, "cannot be opened");
  mkdirSync(folder);
  await until(() => engine.health().ok);
  const { run } = await engine.start(request);
  await until(async () => (await engine.get(run.id))?.status === "completed");
  await engine.close();
});

test("the store is readable by its owner only", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  await engine.start(request);
  const modes = [...new Bun.Glob("runs.db*").scanSync(store.folder)].map((name) =>
    Bun.file(join(store.folder, name)).stat(),
  );
  expect(modes.length).toBe(3);
  for (const { mode } of await Promise.all(modes)) expect(mode & 0o777).toBe(0o600);
  await engine.close();
});

test("a file of a newer version is refused with a message that says so", async () => {
  using store = scratch();
  const db = new Database(store.path);
  db.run("PRAGMA user_version = 999");
  db.close();
  expect(() => createEmbeddedEngine({ path: store.path })).toThrow(/newer version/);
});
