import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentRun } from "manyhands/internal/agent/agent-run";
import { defineAgent } from "manyhands/internal/agent/define-agent";
import { defineTool } from "manyhands/internal/core/define-tool";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifact-store";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";
import { modelConfigSchema } from "manyhands/internal/models/config";
import { createModel } from "manyhands/internal/models/create-model";
import { startScriptedModel } from "manyhands/internal/testing/scripted-model";
import OpenAI from "openai";
import * as z from "zod";
import { freePort, startAgent, startManus } from "../servers/manus-server.ts";

/**
 * What an agent costs around its model: a step compared with a bare loop over the same `openai` SDK
 * and the same server in the same minute, the time from process start to card, and the memory of an
 * idle server and of all four together. Run it with `bun test/bench/agent.ts`; it exits with 1 if a
 * target is missed.
 */
const steps = 60;
const rounds = 7;
const folder = mkdtempSync(join(tmpdir(), "bench-"));

/**
 * A model without latency: calls the same tool with another argument often enough, then answers.
 */
const model = await startScriptedModel((request) => {
  const done = request.messages.filter(({ role }) => role === "tool").length;
  return done < steps ? { calls: [{ name: "echo", args: { text: `step ${done}` } }] } : { text: "done" };
});

async function bareLoop(): Promise<void> {
  const client = new OpenAI({ baseURL: model.url, apiKey: "none" });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "go" }];
  const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  const tools = [{ type: "function", function: { name: "echo", description: "Says it again.", parameters } } as const];
  for (;;) {
    const stream = client.chat.completions.stream({ model: "scripted", messages, tools: [...tools] });
    const { message } = (await stream.finalChatCompletion()).choices[0] ?? {};
    if (message === undefined) throw new Error("no choice");
    messages.push(message);
    if (!message.tool_calls?.length) return;
    for (const call of message.tool_calls) {
      if (call.type !== "function") continue;
      const { text } = JSON.parse(call.function.arguments) as { text: string };
      messages.push({ role: "tool", tool_call_id: call.id, content: text });
    }
  }
}

const engine = createEmbeddedEngine({ path: join(folder, "runs.db") });
const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  input: z.strictObject({ text: z.string() }),
  effect: "pure",
  run: async ({ text }) => text,
});
const agent = defineAgent({
  name: "bench",
  title: "Bench",
  description: "",
  version: "1",
  skills: [],
  instructions: "go",
  tools: [echo],
  limits: { steps: steps + 1 },
});
engine.work([
  agentRun(agent, {
    model: createModel(modelConfigSchema.parse({ name: "scripted", baseUrl: model.url })),
    engine,
    artifacts: createArtifactStore(join(folder, "artifacts")),
    openWorkspace: (principal, contextId) => openWorkspace({ home: folder, principal, contextId }),
  }),
]);

async function ourLoop(): Promise<void> {
  const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text: "go" }] } as const;
  const { run } = await engine.start({
    kind: "bench",
    input: { message, hops: 0 },
    principal: "bench",
    contextId: crypto.randomUUID(),
  });
  for await (const _ of engine.follow(run.id, { signal: AbortSignal.timeout(60_000) }));
  const record = await engine.get(run.id);
  if (record?.status !== "completed") throw new Error(`the run is ${record?.status}: ${record?.error?.message}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / steps;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const bare: number[] = [];
const ours: number[] = [];
await bareLoop();
await ourLoop();
for (let round = 0; round < rounds; round++) {
  bare.push(await timed(bareLoop));
  ours.push(await timed(ourLoop));
}
const ratio = median(ours.map((value, round) => value / (bare[round] ?? Number.NaN)));

/** A server uses the user's real home, where Bun caches transpiled code. */
const HOME = process.env.HOME ?? folder;
const starts: number[] = [];
let rssMb = 0;
for (let round = 0; round < 3; round++) {
  const home = mkdtempSync(join(folder, "home-"));
  const begun = performance.now();
  const manus = startManus({ HOME, MANYHANDS_HOME: home, PORT: freePort() });
  for (;;) {
    const card = await fetch(`${manus.url}/.well-known/agent-card.json`).catch(() => undefined);
    if (card?.ok) break;
    await Bun.sleep(3);
  }
  starts.push(performance.now() - begun);
  await Bun.sleep(1_000);
  const status = await Bun.file(`/proc/${manus.pid}/status`).text();
  rssMb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
  await manus.stop();
}

const names = ["manus", "browser", "swe", "data-analysis"];
const servers = names.map((name) =>
  startAgent(name, { HOME, MANYHANDS_HOME: mkdtempSync(join(folder, "home-")), PORT: freePort() }),
);
await Promise.all(servers.map(({ ready }) => ready));
await Bun.sleep(3_000);
/** Each process's private memory and its share of the shared memory, in MB. */
const shares = await Promise.all(
  servers.map(async ({ pid }) => {
    const rollup = await Bun.file(`/proc/${pid}/smaps_rollup`).text();
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? Number.NaN) / 1024;
  }),
);
await Promise.all(servers.map((server) => server.stop()));

await engine.close();
await model.close();
rmSync(folder, { recursive: true, force: true });

const figures = [
  { name: "agent step over bare openai loop", value: ratio, unit: "×", most: 2 },
  { name: "card after process start", value: median(starts), unit: " ms", most: 400 },
  { name: "idle memory", value: rssMb, unit: " MB", most: 150 },
  {
    name: "four idle agents together (PSS)",
    value: shares.reduce((sum, share) => sum + share, 0),
    unit: " MB",
    most: 500,
  },
];
console.log(`bare loop ${median(bare).toFixed(2)} ms a step, agent ${median(ours).toFixed(2)} ms a step`);
console.log(names.map((name, index) => `${name} ${shares[index]?.toFixed(0)} MB`).join(", "));
for (const { name, value, unit, most } of figures) {
  console.log(`${value <= most ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)}${unit} (at most ${most}${unit})`);
}
process.exit(figures.every(({ value, most }) => value <= most) ? 0 : 1);
