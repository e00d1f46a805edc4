import { Database } from "bun:sqlite";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import type { Engine } from "../../core/runs/engine.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { until } from "./until.ts";

const runs = 5;

/**
 * What can go wrong with the storage while runs are executed: causes the fault, and returns a
 * function that ends it.
 */
const faults: Readonly<Record<string, (folder: string) => (() => void) | Promise<() => void>>> = {
  /** Fills the file system completely. Use it on a separate one. */
  full(folder) {
    const filler = join(folder, "filler");
    const file = openSync(filler, "w");
    for (let size = 1 << 16; size > 0; ) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch {
        size >>= 1;
      }
    }
    closeSync(file);
    return () => rmSync(filler);
  },
  /** Another process takes the lock and keeps it. */
  locked(folder) {
    const db = new Database(join(folder, "runs.db"));
    db.run("BEGIN IMMEDIATE");
    return () => db.close();
  },
  /** The log can be written, and what is in it cannot be brought into the file. */
  unmerged() {
    process.on("SIGXFSZ", () => undefined);
    boundFiles(padded);
    return () => boundFiles("unlimited");
  },
  /**
   * The same, when a part of the log is in the file already, and another process uses the store.
   */
  async "unmerged beside another process"(folder) {
    const path = join(folder, "runs.db");
    const reader = Bun.spawn([process.execPath, "-e", readingFrom(path)], { stdin: "pipe", stdout: "pipe" });
    reader.unref();
    await reader.stdout.getReader().read();
    using db = new Database(path);
    db.run("PRAGMA wal_checkpoint(PASSIVE)");
    reader.stdin.write("go on");
    reader.stdin.flush();
    return faults.unmerged?.(folder) ?? (() => undefined);
  },
};

/** Reads a store as it is now until it is told to go on; keeps it open until its input ends. */
const readingFrom = (path: string) => `
  const db = new (require("bun:sqlite").Database)(${JSON.stringify(path)});
  db.run("BEGIN");
  db.query("SELECT count(*) FROM runs").get();
  console.log("reading");
  for await (const _ of process.stdin) if (db.inTransaction) db.run("COMMIT");
`;

/** The file is as large as it may get; its log is not. */
const padded = 24 * 1024 ** 2;

/** Bounds the files that this process writes, of which the system then refuses to write more. */
function boundFiles(bytes: number | "unlimited"): void {
  Bun.spawnSync(["prlimit", "--pid", String(process.pid), `--fsize=${bytes}:unlimited`]);
}

/** What a scenario observed. */
export type Observations = {
  readonly health: string;
  readonly refusals: readonly string[];
  readonly refusedWithinMs: number;
  readonly statusesMeanwhile: readonly string[];
  readonly stepsMeanwhile: number;
  readonly healthAfter: boolean;
  readonly outputs: readonly unknown[];
  readonly timesRun: readonly number[];
  readonly gapless: boolean;
};

function pad(path: string): void {
  using db = new Database(path);
  db.run("CREATE TABLE padding (bytes BLOB)");
  db.run("INSERT INTO padding VALUES (zeroblob(?))", [padded]);
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "accepted",
    (error) => (error instanceof AppError ? error.code : String(error)),
  );
}

/**
 * Executes runs, breaks the storage meanwhile, observes the effects, repairs the storage, and lets
 * the runs end.
 */
async function observe(folder: string, fault: string): Promise<Observations> {
  const path = join(folder, "runs.db");
  const isUnmerged = fault.startsWith("unmerged");
  const steps = isUnmerged ? 240 : 60;
  if (isUnmerged) pad(path);
  const engine: Engine = createEmbeddedEngine({ path, pollMs: 10 });
  const timesRun = new Map<string, number>();
  const execute = async (run: Parameters<Parameters<Engine["work"]>[0][0]["execute"]>[0]) => {
    for (let n = 0; n < steps; n++) {
      await run.step("step", async (step) => {
        timesRun.set(step.key, (timesRun.get(step.key) ?? 0) + 1);
        step.emit({ type: "stepped", n });
        await Bun.sleep(1);
        return "x".repeat(4000);
      });
    }
    return steps;
  };
  engine.work([{ kind: "k", execute }]);
  const request = { kind: "k", input: null, principal: "p", contextId: "c" };
  const ids: string[] = [];
  for (let n = 0; n < runs; n++) ids.push((await engine.start(request)).run.id);
  await until(() => timesRun.size > runs * 3);

  const mend = await faults[fault]?.(folder);
  if (mend === undefined) throw new Error(`There is no fault ${fault}.`);
  await until(() => !engine.health().ok);
  const state = engine.health();
  const asked = performance.now();
  const refusals = [
    await codeOf(engine.start(request)),
    await codeOf(engine.deliver(ids[0] ?? "", "signal", 1)),
    await codeOf(engine.cancel(ids[0] ?? "")),
  ];
  const refusedWithinMs = performance.now() - asked;
  // What each run had in hand when the storage broke comes to its end.
  let stepsBefore = 0;
  await until(async () => {
    stepsBefore = timesRun.size;
    await Bun.sleep(50);
    return timesRun.size === stepsBefore;
  });
  await Bun.sleep(300);
  const statusesMeanwhile = await Promise.all(ids.map(async (id) => (await engine.get(id))?.status ?? "gone"));
  const stepsMeanwhile = timesRun.size - stepsBefore;

  mend();
  await until(async () => (await engine.list({ limit: 1, statuses: ["completed"] })).total === runs);
  const records = await Promise.all(ids.map((id) => engine.get(id)));
  const logs = await Promise.all(ids.map((id) => engine.events(id)));
  const observations: Observations = {
    health: state.ok ? "ok" : state.reason,
    refusals,
    refusedWithinMs,
    statusesMeanwhile,
    stepsMeanwhile,
    healthAfter: engine.health().ok,
    outputs: records.map((record) => record?.output),
    timesRun: [...new Set(timesRun.values())],
    gapless: logs.every((log) => log.length === steps + 1 && log.every((event, index) => event.seq === index + 1)),
  };
  await engine.close();
  return observations;
}

if (import.meta.main) {
  const [folder = "", fault = ""] = process.argv.slice(2);
  process.stdout.write(JSON.stringify(await observe(folder, fault)));
}
