import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { Run, RunDefinition } from "manyhands/internal/core/runs/run";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { freePort } from "manyhands/internal/http/free-port";
import { createPostgresEngine, migratePostgres } from "../../shared/src/durable/postgres/postgres-engine.ts";
import { createRestateEngine } from "../../shared/src/durable/restate/restate-engine.ts";
import { noPostgres, postgresPrograms, startPostgres } from "../../shared/src/testing/durable/postgres-process.ts";
import { noRestate, restateProgram } from "../../shared/src/testing/durable/restate-node.ts";
import { startRestate } from "../../shared/src/testing/durable/restate-process.ts";
import { killInTheMiddle, startBalancer } from "../faults/kill-in-the-middle.ts";
import { median } from "./servers/bench-server.ts";

/**
 * What a durable step costs on each engine, in one run: one after another, and in many runs at
 * once, in time and in what PostgreSQL writes; and how long a killed process stands still, until
 * another asks the model again. PostgreSQL, which syncs each commit, and Restate run on this
 * machine too. Run it with `bun test/bench/engines.ts`; it exits with 1 if a target is missed.
 */
const payload = "x".repeat(500);
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const [serial, runs, stepsOfEach, rounds] = [500, 100, 20, 3];
/**
 * Of PostgreSQL and Restate: what an agent's turn with a model takes is a hundred times as long.
 */
const targetMs = 10;
const targetPerSecond = 200;
const takeoverMs = 1_000;

if (postgresPrograms === undefined) throw new Error(noPostgres);
if (restateProgram === undefined) throw new Error(noRestate);

/** The time that this body takes in `count` runs at once, from the first one's start. */
async function timed(engine: Engine, count: number, body: (run: Run) => Promise<void>): Promise<number> {
  const done = Promise.withResolvers<void>();
  let [left, begun] = [count, 0];
  const definition: RunDefinition = {
    kind: "bench",
    async execute(run) {
      begun ||= performance.now();
      await body(run);
      if (--left === 0) done.resolve();
      return null;
    },
  };
  engine.work([definition], { concurrency: count });
  const request = { kind: "bench", input: null, principal: "bench", contextId: "bench" };
  await Promise.all(Array.from({ length: count }, () => engine.start(request)));
  await done.promise;
  return performance.now() - begun;
}

async function stepMs(open: () => Promise<Opened>): Promise<number> {
  const { engine } = await open();
  const times: number[] = [];
  await timed(engine, 1, async (run) => {
    for (let n = 0; n < serial; n++) {
      const begun = performance.now();
      await run.step("step", async () => payload);
      times.push(performance.now() - begun);
    }
  });
  await engine.close();
  return median(times.slice(serial / 10));
}

/** What a step costs where many runs are at work at once. */
type Cost = { readonly perSecond: number; readonly cpuMs: number; readonly walKb: number; readonly tablesKb: number };

/** What a step says: its result, and an event. */
type Said = { readonly result: number; readonly event: number };
const little: Said = { result: payload.length, event: 0 };
/** As much as an agent's. */
const much: Said = { result: 1_500, event: 500 };

async function costOfSteps(open: () => Promise<Opened>, { result, event }: Said): Promise<Cost> {
  const { engine, url } = await open();
  const before = await bytesOf(url);
  const busyBefore = busyMs();
  const took = await timed(engine, runs, async (run) => {
    for (let n = 0; n < stepsOfEach; n++)
      await run.step("step", async (step) => {
        if (event > 0) step.emit({ type: "note", text: "x".repeat(event) });
        return "x".repeat(result);
      });
  });
  const busy = busyMs() - busyBefore;
  const after = await bytesOf(url);
  await engine.close();
  const steps = runs * stepsOfEach;
  return {
    perSecond: (steps * 1000) / took,
    cpuMs: busy / steps,
    walKb: (after.wal - before.wal) / steps / 1000,
    tablesKb: (after.tables - before.tables) / steps / 1000,
  };
}

/** How many bytes a database's log and tables have. */
async function bytesOf(url: string | undefined): Promise<{ readonly wal: number; readonly tables: number }> {
  if (url === undefined) return { wal: 0, tables: 0 };
  await using sql = new SQL({ url, max: 1 });
  const [row] =
    await sql`SELECT pg_current_wal_insert_lsn() - '0/0' AS wal, pg_database_size(current_database()) AS size`;
  return { wal: Number(row.wal), tables: Number(row.size) };
}

/** Processor time of this process, of PostgreSQL's and of Restate's, milliseconds. */
function busyMs(): number {
  const { user, system } = process.cpuUsage();
  const ticks = [server.pid(), restate.pid()].flatMap((pid) => {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    return [pid, ...children].map((one) => statOf(one).reduce((sum, time) => sum + time, 0));
  });
  return (user + system) / 1000 + ticks.reduce((sum, one) => sum + one, 0) * msOfTick;
}

/** The kernel's unit of processor times. */
const msOfTick = 10;

/** Ticks of a process in programs and in the kernel, with its children's that have ended. */
function statOf(pid: number | string): number[] {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return fields.slice(11, 15).map(Number);
  } catch {
    // It has ended since it was listed: its time is its parent's.
    return [];
  }
}

/** What the kernel says of a process's memory, MB. */
function memoryMb(pid: number): number {
  const [, kb = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kb) / 1000;
}

await using server = await startPostgres({ syncs: true });
await using restate = await startRestate();
const database = async () => {
  const url = await server.createDatabase();
  await migratePostgres({ url });
  return url;
};
type Opened = { readonly engine: Engine; readonly url?: string };
const { admin, ingress } = restate;
const engines: Record<string, () => Promise<Opened>> = {
  embedded: async () => ({ engine: createEmbeddedEngine({ path: join(folder, `${crypto.randomUUID()}.db`) }) }),
  postgres: async () => {
    const url = await database();
    return { url, engine: createPostgresEngine({ url }) };
  },
  restate: async () => {
    const prefix = `b${crypto.randomUUID().slice(0, 8)}`;
    const url = await database();
    return { url, engine: createRestateEngine({ url, restate: { admin, ingress: [ingress], prefix } }) };
  },
};

/** How long until another replica of Manus asks the model again, after `kill -9` of the first. */
async function takeover(kind: string): Promise<number> {
  const env = { MANYHANDS_ENGINE_KIND: kind, ...(kind !== "embedded" && { MANYHANDS_ENGINE_URL: await database() }) };
  if (kind !== "restate") return (await killInTheMiddle(env)).tookMs;
  const ports = [freePort(), freePort()];
  using balancer = await startBalancer(ports);
  const ofRestate = {
    MANYHANDS_ENGINE_RESTATE_INGRESS: ingress,
    MANYHANDS_ENGINE_RESTATE_ADMIN: admin,
    MANYHANDS_ENGINE_RESTATE_PUBLIC_URL: balancer.url,
  };
  return (await killInTheMiddle({ ...env, ...ofRestate }, ports)).tookMs;
}

function writtenText(costs: readonly Cost[]): string {
  const [log, tables] = [median(costs.map(({ walKb }) => walKb)), median(costs.map(({ tablesKb }) => tablesKb))];
  return `of an agent's steps ${log.toFixed(1)} kB of log and ${tables.toFixed(1)} kB of tables each`;
}

try {
  const found = Object.keys(engines).map((name) => ({
    name,
    ms: [] as number[],
    costs: [] as Cost[],
    written: [] as Cost[],
    gone: [] as number[],
  }));
  // In turns, so that what else the machine does meets all of them.
  for (let round = 0; round < rounds; round++)
    for (const { name, ms, costs, written, gone } of found) {
      const open = engines[name];
      if (open === undefined) continue;
      ms.push(await stepMs(open));
      costs.push(await costOfSteps(open, little));
      if (name !== "embedded") written.push(await costOfSteps(open, much));
      gone.push(await takeover(name));
    }
  let isMet = true;
  for (const { name, ms, costs, written, gone } of found) {
    const of = (key: keyof Cost) => median(costs.map((cost) => cost[key]));
    const isFast = name === "embedded" || (median(ms) <= targetMs && of("perSecond") >= targetPerSecond);
    const isGood = isFast && median(gone) <= takeoverMs;
    isMet &&= isGood;
    console.log(
      `${isGood ? "ok  " : "MISS"} ${name}: ${median(ms).toFixed(2)} ms a step, ${Math.round(of("perSecond"))} steps/s, ` +
        `${of("cpuMs").toFixed(2)} ms of processor a step, asked again ${Math.round(median(gone))} ms after kill -9` +
        ` (${gone.map(Math.round).join(", ")})` +
        (name === "embedded" ? "" : `; ${writtenText(written)}`),
    );
  }
  console.log(`     Restate's server has ${Math.round(memoryMb(restate.pid()))} MB.`);
  console.log(
    `Targets: a replica goes on within ${takeoverMs} ms; of PostgreSQL and Restate at most ${targetMs} ms, at least ${targetPerSecond} steps/s.`,
  );
  process.exitCode = isMet ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
