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

/**
 * What an agent costs around its model: a step compared with a bare loop over the same `openai` SDK
 * and the same server in the same minute. Run it with `bun test/bench/agent.ts`; it exits with 1 if
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

await engine.close();
await model.close();
rmSync(folder, { recursive: true, force: true });

console.log(`bare loop ${median(bare).toFixed(2)} ms a step, agent ${median(ours).toFixed(2)} ms a step`);
const most = 2;
console.log(
  `${ratio <= most ? "ok  " : "MISS"} agent step over bare openai loop: ${ratio.toFixed(2)}× (at most ${most}×)`,
);
process.exit(ratio <= most ? 0 : 1);
