import { mkdtempSync, rmSync } from "node:fs";
import { readdir, readlink, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { freePort } from "manyhands/internal/http/free-port";
import { createSandbox } from "manyhands/internal/machine/confinement/create-sandbox";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";
import { createDatabases } from "manyhands/internal/tools/data/database/databases";
import { describeData } from "manyhands/internal/tools/data/describe-data";
import { sqlQuery } from "manyhands/internal/tools/data/sql-query";
import { createPythonInterpreters, pythonExecute } from "manyhands/internal/tools/python/python-execute";
import { startAgent } from "../servers/manus-server.ts";

/**
 * What `sql_query` costs compared with DuckDB in this process, for the same query over the same
 * file in the same minute; how long a CSV file of 100 MB takes, also compared with writing it, and
 * its peak memory; what a Python step takes, beside one in a new interpreter; the time from process
 * start of the agent to its card, and its idle memory. Run it with `bun test/bench/data.ts`; it
 * exits with 1 if a target is missed.
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
  resultCharacters: 12_000,
  progress: () => undefined,
  ask: async () => "",
  fetch: () => Promise.reject(new Error("no web")),
};

async function viaTool(): Promise<void> {
  const { text, isError } = await tool.call({ sql: sql("rows.csv") }, context);
  if (isError) throw new Error(text);
}

/** The peak memory in MB of the process working in a folder; 0 if the system does not report it. */
async function peakMemory(folder: string): Promise<number> {
  for (const id of await readdir("/proc").catch(() => [])) {
    if ((await readlink(`/proc/${id}/cwd`).catch(() => "")) !== folder) continue;
    const status = await Bun.file(`/proc/${id}/status`).text();
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }
  return 0;
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

const large = join(workspace.root, "large.csv");
const columns =
  "i AS id, DATE '2024-01-01' + (i % 900)::INT AS day, 'name ' || (i % 997) AS name, random() * 1000 AS amount, repeat('x', 30) AS note";
const written = await timed(() => raw.run(`COPY (SELECT ${columns} FROM range(1300000) t(i)) TO '${large}'`));
const largeBytes = (await stat(large)).size;
const orFail = async (call: Promise<{ text: string; isError: boolean }>) => {
  const { text, isError } = await call;
  if (isError) throw new Error(text);
};
const described = await timed(() => orFail(describeData({ databases }).call({ path: "large.csv" }, context)));
const byDay = "SELECT day, name, sum(amount) AS amount FROM 'large.csv' GROUP BY ALL ORDER BY amount DESC LIMIT 10";
const aggregated = await timed(() => orFail(tool.call({ sql: byDay }, context)));
const peak = await peakMemory(workspace.root);
await databases.close();

const sandbox = await createSandbox({ mode: "auto", folder });
const interpreters = createPythonInterpreters(sandbox);
const python = pythonExecute({ sandbox, interpreters });
const numbers: number[] = [];
const place = await openWorkspace({ home: folder, principal: "bench", contextId: "2", user: sandbox.user });
const step = async () => {
  const { text, isError } = await python.call(
    { code: "import os; print(os.getpid())" },
    { ...context, workspace: place, signal: AbortSignal.timeout(120_000) },
  );
  if (isError) throw new Error(text);
  numbers.push(Number.parseInt(text, 10));
};
const warm: number[] = [];
const cold: number[] = [];
for (let round = 0; round < 20; round++) {
  // In a namespace of its own a program's number counts those before it.
  await step();
  warm.push(await timed(step));
  await interpreters.close();
  cold.push(await timed(step));
}
const processes = numbers.flatMap((number, at) => (at % 3 === 1 ? [number - (numbers[at - 1] ?? 0)] : []));
await interpreters.close();
await sandbox.close();

const starts: number[] = [];
let status = "";
for (let round = 0; round < 3; round++) {
  const home = mkdtempSync(join(folder, "home-"));
  const begun = performance.now();
  const agent = startAgent("data-analysis", {
    HOME: process.env.HOME ?? home,
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
  });
  await agent.ready;
  starts.push(performance.now() - begun);
  await Bun.sleep(500);
  status = await Bun.file(`/proc/${agent.pid}/status`).text();
  await agent.stop();
}
rmSync(folder, { recursive: true, force: true });

const figures = [
  { name: "sql_query over DuckDB in process", value: median(differences), unit: " ms", most: 5 },
  { name: `${(largeBytes / 1e6).toFixed(0)} MB of CSV described`, value: described, unit: " ms", most: 10_000 },
  { name: "the same over the time it took to write", value: described / written, unit: "×", most: 10 },
  { name: "the same summed up by 900,000 groups", value: aggregated, unit: " ms", most: 5_000 },
  { name: "most memory of the database's process", value: peak, unit: " MB", most: 1200 },
  { name: "Python step", value: median(warm), unit: " ms", most: 25 },
  { name: "Python step over a step in a new interpreter", value: median(warm) / median(cold), unit: "×", most: 0.5 },
  { name: "processes of a Python step", value: median(processes), unit: "", most: 1 },
  { name: "ready after process start", value: median(starts), unit: " ms", most: 400 },
  { name: "idle memory", value: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024, unit: " MB", most: 150 },
];
for (const { name, value, unit, most } of figures) {
  console.log(`${value <= most ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)}${unit} (at most ${most}${unit})`);
}
process.exit(figures.every(({ value, most }) => value <= most) ? 0 : 1);
