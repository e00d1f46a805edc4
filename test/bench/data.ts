import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { createDatabases } from "@manyhands/shared/tools/data/databases";
import { sqlQuery } from "@manyhands/shared/tools/data/sql-query";
import { openWorkspace } from "@manyhands/shared/workspace/open-workspace";
import { freePort, startAgent } from "../e2e/manus-server.ts";

/**
 * What `sql_query` costs over DuckDB in this process, for the same query over the same file in the same minute; the time from process start of the agent to
 * its card, and its idle memory. Run it with `bun test/bench/data.ts`; it exits with 1 when a target is missed.
 */
const rounds = 60;
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const workspace = await openWorkspace({ home: folder, principal: "bench", contextId: "1" });
const file = join(workspace.root, "rows.csv");
const raw = await (await DuckDBInstance.create(":memory:", { threads: "2" })).connect();
await raw.run(`COPY (SELECT i, i % 7 AS part, random() AS x FROM range(20000) t(i)) TO '${file}'`);

const databases = createDatabases();
const tool = sqlQuery({ databases });
const sql = (from: string) => `SELECT part, avg(x) AS x FROM '${from}' GROUP BY ALL ORDER BY ALL`;
const context = {
  signal: AbortSignal.timeout(120_000),
  workspace,
  key: "bench",
  progress: () => undefined,
  ask: async () => "",
};

async function viaTool(): Promise<void> {
  const { text, isError } = await tool.call({ sql: sql("rows.csv") }, context);
  if (isError) throw new Error(text);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const differences: number[] = [];
await viaTool();
for (let round = 0; round < rounds; round++) {
  const bare = await timed(async () => (await raw.runAndReadAll(sql(file))).getRowsJson());
  differences.push((await timed(viaTool)) - bare);
}
await databases.close();

const starts: number[] = [];
let status = "";
for (let round = 0; round < 3; round++) {
  const home = mkdtempSync(join(folder, "home-"));
  const begun = performance.now();
  const agent = startAgent("data-analysis", { MANYHANDS_HOME: home, PORT: freePort() });
  await agent.ready;
  starts.push(performance.now() - begun);
  await Bun.sleep(500);
  status = await Bun.file(`/proc/${agent.pid}/status`).text();
  await agent.stop();
}
rmSync(folder, { recursive: true, force: true });

const figures = [
  { name: "sql_query over DuckDB in process", value: median(differences), unit: " ms", most: 5 },
  { name: "ready after process start", value: median(starts), unit: " ms", most: 400 },
  { name: "idle memory", value: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024, unit: " MB", most: 150 },
];
for (const { name, value, unit, most } of figures) {
  console.log(`${value <= most ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)}${unit} (at most ${most}${unit})`);
}
process.exit(figures.every(({ value, most }) => value <= most) ? 0 : 1);
