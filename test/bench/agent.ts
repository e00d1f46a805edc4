import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentRun } from "manyhands/internal/agent/agent-run";
import { defineAgent } from "manyhands/internal/agent/define-agent";
import type { Model } from "manyhands/internal/core/model";
import { defineTool } from "manyhands/internal/core/tools/define-tool";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";
import { modelConfigSchema } from "manyhands/internal/models/config";
import { createModel } from "manyhands/internal/models/create-model";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import OpenAI from "openai";
import * as z from "zod";

/**
 * What an agent costs around its model: a step compared with a bare loop over the same `openai` SDK
 * and the same server in the same minute, and the last steps of a long run compared with the first.
 * Run it with `bun test/bench/agent.ts`; it exits with 1 if
 * the target is missed.
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

const longSteps = 500;
/** Steps at the beginning and at the end of a long run that are compared. */
const compared = 50;

/**
 * A model within this process, so that nothing but our own work is measured, the request's JSON
 * included: what a longer request costs on the wire and at the provider is left out.
 */
function modelWithin(stepped: (at: number) => void): Model {
  let at = -1;
  const fetch = async () => {
    at = at >= longSteps ? 0 : at + 1;
    stepped(at);
    const call = {
      index: 0,
      id: `call_${at}`,
      function: { name: "echo", arguments: JSON.stringify({ text: `step ${at}` }) },
    };
    const delta = at < longSteps ? { tool_calls: [call] } : { content: "done" };
    const chunks = [
      { choices: [{ delta }] },
      { choices: [{ delta: {}, finish_reason: at < longSteps ? "tool_calls" : "stop" }] },
      { choices: [], usage: { prompt_tokens: 100, completion_tokens: 10 } },
    ];
    const body = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const settings = modelConfigSchema.parse({ name: "scripted", baseUrl: "http://127.0.0.1:1/v1" });
  return createModel(settings, { fetch: fetch as unknown as typeof globalThis.fetch });
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
const deps = {
  engine,
  artifacts: createArtifactStore(join(folder, "artifacts")),
  openWorkspace: (principal: string, contextId: string) => openWorkspace({ home: folder, principal, contextId }),
};
let stepped: (at: number) => void = () => undefined;
engine.work([
  agentRun(agent, { ...deps, model: createModel(modelConfigSchema.parse({ name: "scripted", baseUrl: model.url })) }),
  agentRun(
    { ...agent, name: "long", limits: { ...agent.limits, steps: longSteps + 1, tokens: 10_000_000 } },
    { ...deps, model: modelWithin((at) => stepped(at)) },
  ),
]);

async function ourLoop(kind = "bench"): Promise<void> {
  const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text: "go" }] } as const;
  const { run } = await engine.start({
    kind,
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

/** How much longer the last steps of a long run take than the first, after those that warm up. */
async function lateOverEarly(): Promise<number> {
  const times: number[] = [];
  stepped = (at) => {
    times[at] = performance.now();
  };
  await ourLoop("long");
  const took = times.slice(1).map((time, at) => time - (times[at] ?? Number.NaN));
  return median(took.slice(-compared)) / median(took.slice(compared, 2 * compared));
}

const growth: number[] = [];
await ourLoop("long");
for (let round = 0; round < 5; round++) growth.push(await lateOverEarly());

await engine.close();
await model.close();
rmSync(folder, { recursive: true, force: true });

console.log(`bare loop ${median(bare).toFixed(2)} ms a step, agent ${median(ours).toFixed(2)} ms a step`);
const figures = [
  { name: "agent step over bare openai loop", value: ratio, most: 1.5 },
  { name: `late over early steps of ${longSteps}`, value: median(growth), most: 1.1 },
];
for (const { name, value, most } of figures) {
  console.log(`${value <= most ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)}× (at most ${most}×)`);
}
process.exit(figures.every(({ value, most }) => value <= most) ? 0 : 1);
