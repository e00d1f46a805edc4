import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { median, startServer, timed } from "./servers/bench-server.ts";

/**
 * What a task costs that is over at once: blocking `SendMessage` calls of a durable agent, each on
 * disk before it is answered, beside those of A2A's own SDK under Express, with its tasks in
 * memory, on the same Bun in the same minute; and how long an agent with 1,000 tasks at once keeps
 * others waiting. Run it with `bun test/bench/messages.ts`; it exits with 1 if a target is missed.
 */
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const connections = 100;
const messages = 4_000;
const rounds = 7;
const tasks = 1_000;

async function send(url: string, text: string): Promise<void> {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
  const answer = await (await fetch(url, { method: "POST", headers, body })).text();
  if (!answer.includes("TASK_STATE_COMPLETED")) throw new Error(`${url} answered ${answer.slice(0, 500)}`);
}

/** Messages per second over the connections, and the milliseconds of each. */
async function burst(url: string): Promise<{ rate: number; times: number[] }> {
  const client = [process.execPath, join(import.meta.dir, "send-messages.ts"), url, `${messages}`, `${connections}`];
  return JSON.parse(await new Response(Bun.spawn(client, { stderr: "inherit" }).stdout).text());
}

/**
 * The slowest answer of `/healthz` while many tasks are at work, asked every ten milliseconds. The
 * tasks come from another process: requests of one process wait for each other in its client.
 */
async function peak(url: string): Promise<number> {
  const env = { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: `${tasks}` };
  const load = Bun.spawn([process.execPath, import.meta.path, url], { env, stdout: "ignore", stderr: "inherit" });
  let slowest = 0;
  while (load.exitCode === null) {
    slowest = Math.max(slowest, await timed(async () => (await fetch(`${url}/healthz`)).text()));
    await Bun.sleep(10);
  }
  if (load.exitCode !== 0) throw new Error("The tasks did not end.");
  return slowest;
}

const [loaded] = process.argv.slice(2);
if (loaded !== undefined) {
  await Promise.all(Array.from({ length: tasks }, () => send(loaded, "emit 20")));
  process.exit(0);
}

const percentile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

try {
  const ours = await startServer(folder, "no-op", resolve(import.meta.dir, "servers/no-op-agent.ts"));
  const theirs = await startServer(folder, "sdk", resolve(import.meta.dir, "servers/sdk-agent.ts"));
  const measured = {
    ours: [] as Awaited<ReturnType<typeof burst>>[],
    theirs: [] as Awaited<ReturnType<typeof burst>>[],
  };
  for (let round = -2; round < rounds; round++) {
    for (const [name, { url }] of Object.entries({ ours, theirs }) as ["ours" | "theirs", typeof ours][]) {
      const one = await burst(url);
      if (round >= 0) measured[name].push(one);
    }
  }
  const rate = (name: keyof typeof measured) => median(measured[name].map((one) => one.rate));
  const p99 = (name: keyof typeof measured) => median(measured[name].map(({ times }) => percentile(times, 0.99)));
  console.log(`durable ${rate("ours").toFixed(0)} messages/s, p99 ${p99("ours").toFixed(1)} ms`);
  console.log(`SDK in memory ${rate("theirs").toFixed(0)} messages/s, p99 ${p99("theirs").toFixed(1)} ms`);
  const peaks = [];
  for (let round = 0; round < 3; round++) peaks.push(await peak(ours.url));
  await Promise.all([ours.stop(), theirs.stop()]);
  const figures = [
    { name: "durable messages over the SDK's in memory", value: rate("ours") / rate("theirs"), unit: "×", least: 1.5 },
    { name: `p99 of a message over ${connections} connections`, value: p99("ours"), unit: " ms", most: 25 },
    { name: `slowest /healthz beside ${tasks} tasks`, value: median(peaks), unit: " ms", most: 50 },
  ];
  const isMet = ({ value, least = 0, most = Number.POSITIVE_INFINITY }: (typeof figures)[number]) =>
    value >= least && value <= most;
  for (const figure of figures) {
    const { name, value, unit, least, most } = figure;
    const target = least === undefined ? `at most ${most}` : `at least ${least}`;
    console.log(`${isMet(figure) ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)}${unit} (${target}${unit})`);
  }
  process.exitCode = figures.every(isMet) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
