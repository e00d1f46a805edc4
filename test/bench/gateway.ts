import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cancelChildrenRun } from "manyhands/internal/a2a/ask/cancel-children";
import { createPeers } from "manyhands/internal/a2a/ask/peers";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { defineFlow } from "manyhands/internal/core/flow";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { flowRun } from "manyhands/internal/flow/flow-run";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { modelConfigSchema } from "manyhands/internal/models/config";
import { createModel } from "manyhands/internal/models/create-model";
import * as z from "zod";
import { median, startServer, timed } from "./servers/bench-server.ts";

/**
 * What the gateway costs compared with asking an agent directly, in the same minute; how long many
 * branches take compared with the slowest of them; what 500 concurrent runs and 1,000 idle readers
 * of events need. Gateway and agent are separate processes. Run it with
 * `bun test/bench/gateway.ts`; it exits with 1 if a target is missed.
 */
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const rounds = 150;
/**
 * Messages before those that count, of servers that have just started and of those that have worked
 * for a while.
 */
const uncounted = { started: 20, worked: 2_000 };
const runs = 500;
const readers = 1_000;
const branches = 50;

const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { runId: string; status: string };
};

const agent = await startServer(folder, "no-op", resolve(import.meta.dir, "servers/no-op-agent.ts"));
const gateway = await startServer(folder, "gateway", resolve(import.meta.dir, "../../gateway/src/server/main.ts"));
await post(`${gateway.url}/agents`, { url: agent.url, name: "no-op" });

/**
 * Milliseconds of the same message to the agent directly and through the gateway, as an A2A client
 * measures them, after some that are not counted: code runs twice as fast once it was compiled.
 */
async function overhead(first: number): Promise<{ direct: number; through: number; extra: number }> {
  const clients = [await createA2aClient(agent.url), await createA2aClient(`${gateway.url}/a2a/no-op`)] as const;
  const [direct, through]: [number[], number[]] = [[], []];
  for (let round = -first; round < rounds; round++) {
    const times = [];
    for (const client of clients) times.push(await timed(() => client.send({ text: "nothing" })));
    const [alone = 0, along = 0] = times;
    if (round < 0) continue;
    direct.push(alone);
    through.push(along);
  }
  return {
    direct: median(direct),
    through: median(through),
    extra: median(through.map((time, round) => time - (direct[round] ?? Number.NaN))),
  };
}

/**
 * Many concurrent branches, each an ask of the same agent, compared with the slowest of them; one
 * alone for comparison.
 */
async function fanOut(): Promise<{ alone: number; slowest: number; all: number }> {
  const artifacts = createArtifactStore(join(folder, "artifacts"));
  const engine = createEmbeddedEngine({ path: join(folder, "runs.db") });
  const peers = createPeers({ engine, artifacts });
  const many = defineFlow({
    name: "many",
    title: "Many",
    description: "",
    version: "1.0.0",
    skills: [],
    options: z.strictObject({ branches: z.int().default(1) }),
    example: { text: "" },
    async perform(flow, { branches }) {
      flow.expect(branches);
      const ask = (branch: typeof flow) => branch.ask("no-op", { text: "nothing" });
      await flow.all(
        Array.from({ length: branches }, () => ask),
        { concurrency: branches },
      );
      return { answer: "done" };
    },
  });
  const entry = { name: "no-op", title: "No-op", description: "", skills: [], url: agent.url, kind: "agent" } as const;
  const model = createModel(modelConfigSchema.parse({ name: "none", baseUrl: "http://127.0.0.1:9" }));
  const agents = { list: async () => [entry], read: async () => entry };
  engine.work([flowRun(many, { peers, agents, model }), cancelChildrenRun("many", peers)]);
  const perform = async (count: number) => {
    const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text: "go" }] };
    const input = { hops: 0, message, flow: { options: { branches: count } } };
    const begun = performance.now();
    const { run } = await engine.start({ kind: "many", input, principal: "bench", contextId: crypto.randomUUID() });
    for await (const _ of engine.follow(run.id, { signal: AbortSignal.timeout(60_000) }));
    const all = performance.now() - begun;
    const ended = await engine.get(run.id);
    if (ended?.status !== "completed") throw new Error(`the run is ${ended?.status}: ${ended?.error?.message}`);
    return { all, slowest: slowestAsk(await engine.events(run.id)) };
  };
  await perform(branches);
  const alone: number[] = [];
  for (let round = 0; round < 20; round++) alone.push((await perform(1)).all);
  const times = [];
  for (let round = 0; round < 5; round++) times.push(await perform(branches));
  await engine.close();
  const [middle] = times.toSorted((a, b) => a.all - 3 * a.slowest - (b.all - 3 * b.slowest)).slice(2);
  return { alone: median(alone), slowest: Number.NaN, all: Number.NaN, ...middle };
}

/** Milliseconds of the slowest ask. */
function slowestAsk(events: readonly { readonly at: number; readonly event: RunEvent }[]): number {
  const asked = new Map<unknown, number>();
  let slowest = 0;
  for (const { at, event } of events) {
    if (event.type === "agent-asked") asked.set(event.askId, at);
    if (event.type === "agent-answered") slowest = Math.max(slowest, at - (asked.get(event.askId) ?? at));
  }
  return slowest;
}

/** Reads a run's events to its end; returns whether none is missing. */
async function isWhole(runId: string): Promise<boolean> {
  const text = await (await fetch(`${gateway.url}/runs/${runId}/events`)).text();
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  return text.includes('"run-ended"') && ids.length > 0 && ids.every((id, index) => id === index + 1);
}

/**
 * Milliseconds until all of many short runs that were asked for at once were accepted, and until
 * each had ended with its events read: the gateway does not wait with the first until it has
 * accepted the last.
 */
async function burst(): Promise<{ accepted: number; ended: number }> {
  const begun = performance.now();
  let accepted = 0;
  await Promise.all(
    Array.from({ length: runs }, async () => {
      const { runId } = await post(`${gateway.url}/flows/no-op`, { input: "nothing" });
      accepted = performance.now() - begun;
      if (!(await isWhole(runId))) throw new Error(`the run ${runId} has lost an event`);
    }),
  );
  return { accepted, ended: performance.now() - begun };
}

/** Many concurrent runs, with every event of each read. */
async function crowd(): Promise<{ startedMs: number; lost: number; moreMb: number }> {
  const before = await gateway.rssMb();
  const ids: string[] = [];
  const startedMs = await timed(() =>
    Promise.all(
      Array.from({ length: runs }, async () => {
        ids.push((await post(`${gateway.url}/flows/no-op`, { input: "wait 5000" })).runId);
      }),
    ),
  );
  const whole = await Promise.all(ids.map(isWhole));
  return { startedMs, lost: whole.filter((is) => !is).length, moreMb: (await gateway.rssMb()) - before };
}

/** Additional megabytes for readers of an idle run, each on a separate connection. */
async function idle(): Promise<number> {
  const { runId } = await post(`${gateway.url}/flows/no-op`, { input: "wait 600000" });
  await Bun.sleep(1_000);
  const before = await gateway.rssMb();
  const { hostname, port } = new URL(gateway.url);
  const open = await Promise.all(
    Array.from({ length: readers }, async () => {
      const { promise: first, resolve } = Promise.withResolvers<void>();
      const socket = await Bun.connect({ hostname, port: Number(port), socket: { data: () => resolve() } });
      socket.write(`GET /runs/${runId}/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
      await first;
      return socket;
    }),
  );
  await Bun.sleep(10_000);
  const more = (await gateway.rssMb()) - before;
  for (const socket of open) socket.terminate();
  await post(`${gateway.url}/runs/${runId}/cancel`, {});
  return more;
}

try {
  const started = await overhead(uncounted.started);
  const worked = await overhead(uncounted.worked);
  for (const [name, { direct, through }] of Object.entries({ started, worked }))
    console.log(
      `${name}: direct ${direct.toFixed(2)} ms, through the gateway ${through.toFixed(2)} ms (medians of ${rounds})`,
    );
  const { alone, slowest, all } = await fanOut();
  console.log(
    `one branch alone ${alone.toFixed(1)} ms; of ${branches} the slowest ${slowest} ms, all ${all.toFixed(1)} ms`,
  );
  const idleMb = await idle();
  const { accepted, ended } = await burst();
  console.log(
    `${runs} short runs at once: accepted within ${accepted.toFixed(0)} ms, ended within ${ended.toFixed(0)} ms`,
  );
  const { startedMs, lost, moreMb } = await crowd();
  console.log(`${runs} runs accepted within ${startedMs.toFixed(0)} ms, then at work at once`);
  const figures = [
    { name: "gateway over a direct call, just started", value: started.extra, unit: " ms", most: 5 },
    { name: `the same after ${uncounted.worked} messages`, value: worked.extra, unit: " ms", most: 2 },
    { name: `${branches} branches over three times the slowest`, value: all - 3 * slowest, unit: " ms", most: 100 },
    { name: `memory of ${runs} runs at once`, value: moreMb, unit: " MB", most: 200 },
    { name: "runs with a lost event", value: lost, unit: "", most: 0 },
    { name: `memory of ${readers} idle readers`, value: idleMb, unit: " MB", most: 100 },
  ];
  for (const { name, value, unit, most } of figures) {
    console.log(`${value <= most ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)}${unit} (at most ${most}${unit})`);
  }
  process.exitCode = figures.every(({ value, most }) => value <= most) ? 0 : 1;
} finally {
  await gateway.stop();
  await agent.stop();
  rmSync(folder, { recursive: true, force: true });
}
