import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine, StartRequest } from "manyhands/internal/core/runs/engine";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createProjectionCache } from "manyhands/internal/runs/projection-cache";
import { postgresPrograms, startPostgres } from "manyhands/internal/testing/durable/postgres-process";
import { createPostgresEngine, migratePostgres } from "../../shared/src/durable/postgres/postgres-engine.ts";
import { listRuns } from "../../shared/src/runs/list-runs.ts";
import { median, timed } from "./servers/bench-server.ts";

/**
 * How long the first page of a search in 100,000 runs takes, in a file and in PostgreSQL, and what
 * the index of words costs. Run it with `bun test/bench/search.ts`; it exits with 1 if a target is
 * missed. `BENCH_RUNS` takes another number of runs; without PostgreSQL its part is left out.
 */
const count = Number(process.env.BENCH_RUNS ?? 100_000);
const rounds = 9;
const maxMs = 100;

const subjects = ["harbour", "invoice", "weather", "解析销售数据", "compiler", "translation", "holiday", "rainfall"];

/** A run as an agent leaves it: what was asked, a call with its result, an answer. */
function runOf(at: number): StartRequest {
  const subject = subjects[at % subjects.length];
  const text = `Look at the ${subject} of region ${at % 997} and tell what is unusual, number ${at}.`;
  const output = `row ${at} of ${subject}: ${"nothing that would be unusual ".repeat(6)}`;
  const rare = at === Math.floor(count / 3) ? " The lighthouse keeper knows. 灯塔" : "";
  return {
    kind: "sequential",
    principal: "local",
    contextId: `c${at % 5_000}`,
    input: { message: { messageId: "m", parts: [{ type: "text", text }] }, hops: 0 },
    canceled: true,
    events: [
      { type: "message-received", messageId: "m", parts: [{ type: "text", text }] },
      { type: "tool-started", callId: "a", name: "bash", arguments: `{"command":"grep ${subject} data.csv"}` },
      { type: "tool-ended", callId: "a", name: "bash", text: output + rare, isError: false, milliseconds: 3 },
    ],
  };
}

async function fill(engine: Engine): Promise<void> {
  const together = 500;
  for (let from = 0; from < count; from += together)
    await Promise.all(
      Array.from({ length: Math.min(together, count - from) }, (_, at) => engine.start(runOf(from + at))),
    );
}

const sequential = { name: "sequential", kind: "sequential" } as never;
const runnables = { all: () => [sequential], ofKind: () => sequential } as never;

/** Prints the figures of one engine; whether all are as they have to be. */
async function measure(name: string, engine: Engine, tidy = async () => {}): Promise<boolean> {
  await fill(engine);
  const indexing = await timed(async () => {
    while ((await engine.indexWords()) > 0);
  });
  await tidy();
  console.log(`${name}: ${((indexing * 1000) / count).toFixed(0)} µs to enter a run into the index`);
  const deps = { engine, projections: createProjectionCache(engine), runnables };
  let isMet = true;
  for (const [what, words, principal] of [
    ["a rare word", ["lighthouse"], "local"],
    ["two Chinese characters", ["灯塔"], "local"],
    ["a word of one in eight", ["销售数据"], "local"],
    ["a word of all", ["unusual"], "local"],
    ["several words", ["harbour", "number", "kee"], "local"],
    ["no match", ["nowhere"], "local"],
    ["a principal without runs", ["unusual"], "ann"],
  ] as const) {
    const times: number[] = [];
    let found = 0;
    for (let round = -2; round < rounds; round++) {
      const time = await timed(async () => {
        found = (await listRuns(deps, { words, limit: 20, countAtMost: 0 }, principal)).runs.length;
      });
      if (round >= 0) times.push(time);
    }
    const value = median(times);
    const isMissed = value > maxMs;
    if (isMissed) isMet = false;
    console.log(
      `${name}: first page for ${what}, ${found} found: ${value.toFixed(1)} ms (at most ${maxMs})${isMissed ? " missed" : ""}`,
    );
  }
  return isMet;
}

const folder = mkdtempSync(join(tmpdir(), "bench-"));
const embedded = createEmbeddedEngine({ path: join(folder, "runs.db") });
try {
  if (!(await measure("SQLite", embedded))) process.exitCode = 1;
} finally {
  await embedded.close();
  rmSync(folder, { recursive: true, force: true });
}
if (postgresPrograms !== undefined) {
  await using server = await startPostgres();
  const url = await server.createDatabase();
  await migratePostgres({ url });
  const engine = createPostgresEngine({ url, connections: 40 });
  // What autovacuum does, which this server lacks.
  const tidy = async () => {
    await using sql = new Bun.SQL({ url, max: 1 });
    await sql.unsafe("VACUUM ANALYZE");
  };
  try {
    if (!(await measure("PostgreSQL", engine, tidy))) process.exitCode = 1;
  } finally {
    await engine.close();
  }
}
