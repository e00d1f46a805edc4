import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/**
 * What a server costs before its first task: the time from process start to the first card, beside
 * that of a bare Hono server on the same Bun in the same minute; the processor time of that; the
 * memory of an idle agent, and of all four together. Run it with `bun test/bench/start.ts`; it
 * exits with 1 if a target is missed.
 */
const rounds = 9;
const root = resolve(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const agents = ["manus", "browser", "swe", "data-analysis"];
const entries = {
  hello: { entry: "shared/src/testing/web/hello-process.ts", path: "" },
  agent: { entry: "agents/manus/src/server.ts", path: ".well-known/agent-card.json" },
  gateway: { entry: "gateway/src/server/main.ts", path: "a2a/planning/.well-known/agent-card.json" },
};
type Entry = (typeof entries)["hello"];

/**
 * Starts a server as users do, with their home, where Bun and Manyhands keep what they may reuse.
 */
function start({ entry }: Pick<Entry, "entry">) {
  const { PATH = "", HOME = folder } = process.env;
  const home = mkdtempSync(join(folder, "home-"));
  return Bun.spawn([process.execPath, join(root, entry)], {
    cwd: home,
    env: { PATH, HOME, MANYHANDS_HOME: home, PORT: "0" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: Bun.file(join(home, "stderr.log")),
  });
}

type Server = ReturnType<typeof start>;

async function addressOf(server: Server): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of server.stdout) {
    said += decoder.decode(chunk);
    const url = /ready (http\S+)/.exec(said)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error("A server ended before it was ready");
}

/** Milliseconds until its first answer, and of the processor, all its programs included. */
async function firstAnswer(entry: Entry): Promise<{ wall: number; cpu: number }> {
  const begun = performance.now();
  const server = start(entry);
  const answer = await fetch(`${await addressOf(server)}${entry.path}`);
  if (!answer.ok) throw new Error(`${entry.entry} answered ${answer.status}`);
  await answer.arrayBuffer();
  const wall = performance.now() - begun;
  server.kill("SIGKILL");
  await server.exited;
  return { wall, cpu: Number(server.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1_000 };
}

async function memoryOf(server: Server): Promise<{ rss: number; pss: number }> {
  const rollup = await Bun.file(`/proc/${server.pid}/smaps_rollup`).text();
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(rollup)?.[1] ?? Number.NaN) / 1024;
  return { rss: of("Rss"), pss: of("Pss") };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const kinds = ["hello", "agent", "gateway"] as const;
for (const kind of kinds) await firstAnswer(entries[kind]);
const measured: Record<(typeof kinds)[number], { wall: number; cpu: number }[]> = { hello: [], agent: [], gateway: [] };
for (let round = 0; round < rounds; round++)
  for (const kind of kinds) measured[kind].push(await firstAnswer(entries[kind]));
const wall = (kind: (typeof kinds)[number]) => median(measured[kind].map((one) => one.wall));
const cpu = (kind: (typeof kinds)[number]) => median(measured[kind].map((one) => one.cpu));

const servers = agents.map((name) => start({ entry: `agents/${name}/src/server.ts` }));
await Promise.all(servers.map(addressOf));
await Bun.sleep(3_000);
const memory = await Promise.all(servers.map(memoryOf));
for (const server of servers) server.kill();
await Promise.all(servers.map(({ exited }) => exited));
rmSync(folder, { recursive: true, force: true });

for (const kind of kinds) console.log(`${kind}: ${wall(kind).toFixed(0)} ms, processor ${cpu(kind).toFixed(0)} ms`);
console.log(agents.map((name, at) => `${name} ${memory[at]?.rss.toFixed(0)} MB`).join(", "));
const figures = [
  { name: "card after process start", value: wall("agent"), unit: " ms", most: 250 },
  { name: "card over a bare server's first answer", value: wall("agent") / wall("hello"), unit: "×", most: 6 },
  { name: "gateway's first card over the same", value: wall("gateway") / wall("hello"), unit: "×", most: 6 },
  { name: "idle memory of an agent", value: memory[0]?.rss ?? Number.NaN, unit: " MB", most: 80 },
  {
    name: "four idle agents together (PSS)",
    value: memory.reduce((sum, { pss }) => sum + pss, 0),
    unit: " MB",
    most: 200,
  },
];
for (const { name, value, unit, most } of figures)
  console.log(`${value <= most ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)}${unit} (at most ${most}${unit})`);
process.exit(figures.every(({ value, most }) => value <= most) ? 0 : 1);
