import { expect, test } from "bun:test";
import type { JournalEvent } from "manyhands/internal/core/events/events";
import { silentLog } from "manyhands/internal/core/runs/engine";
import { agentServerForTest } from "manyhands/internal/testing/a2a/agent-server";
import type { ScriptedReply } from "manyhands/internal/testing/models/scripted-model";
import * as z from "zod";
import { createPeers } from "../../shared/src/a2a/ask/peers.ts";
import { createA2aClient } from "../../shared/src/a2a/client/client.ts";
import { delegateTool } from "../../shared/src/a2a/delegate/delegate.ts";
import { openDirectory } from "../../shared/src/a2a/delegate/directory.ts";
import { taskUsage } from "../../shared/src/a2a/task-metadata.ts";
import { defineFlow } from "../../shared/src/core/flow.ts";
import { defineTool } from "../../shared/src/core/tools/define-tool.ts";
import type { ChatRequest } from "../../shared/src/models/chat/chat-protocol.ts";
import { applyEvent, emptyProjection, projectedUsage } from "../../shared/src/runs/projection.ts";
import { flowForTest } from "../../shared/src/testing/flow.ts";
import { fixture, hostForTest } from "../mcp/host-for-test.ts";

/** What model servers counted, as a bill would show it. */
function countingServer() {
  const bill = { input: 0, output: 0, calls: 0 };
  /** The answer with the usage that its server reports, different each time. */
  const counted = (request: ChatRequest, answer: ScriptedReply): ScriptedReply => {
    bill.calls++;
    const usage = {
      prompt_tokens: Math.ceil(JSON.stringify(request.messages).length / 5) + (bill.calls % 7),
      completion_tokens: 11 + (bill.calls % 5),
    };
    bill.input += usage.prompt_tokens;
    bill.output += usage.completion_tokens;
    return { ...answer, usage };
  };
  return { bill, counted };
}

type Counted = ReturnType<typeof countingServer>["counted"];

const turns = 60;
const system = (request: ChatRequest) => JSON.stringify(request.messages[0]);

/** Asks the model to summarize a page, as `browser_extract_content` does. */
const extract = defineTool({
  name: "extract",
  description: "Extracts.",
  input: z.strictObject({ page: z.int() }),
  effect: "pure",
  run: (_, { ask }) => ask({ instructions: "EXTRACT", text: "A page. ".repeat(200) }),
});

/**
 * Works for sixty turns: extracts, samples through an MCP server, delegates once, and writes much
 * text.
 */
function worker(counted: Counted) {
  let turn = 0;
  return (request: ChatRequest): ScriptedReply => {
    const asked = system(request);
    if (/EXTRACT|MCP server|working memory/.test(asked)) return counted(request, { text: "A gist, in a few words." });
    turn++;
    if (turn >= turns) return counted(request, { text: "All done." });
    const name = turn === 30 ? "delegate" : turn % 5 === 0 ? "rude__think" : "extract";
    const args = name === "delegate" ? { agent: "helper", task: "Help." } : name === "extract" ? { page: turn } : {};
    const text = `Turn ${turn}. ${"What was found goes on and on. ".repeat(20)}`;
    return counted(request, { text, calls: [{ name, args }] });
  };
}

const flow = defineFlow({
  name: "counted",
  title: "Counted",
  description: "Asks an agent, then the model.",
  version: "1.0.0",
  skills: [],
  options: z.strictObject({}),
  example: { text: "Work." },
  async perform(flow) {
    flow.expect(1, { own: true });
    const [agent] = flow.agents;
    const { answer } = await flow.ask(agent?.url ?? "", { text: flow.goal });
    await flow.decide({
      name: "judge",
      description: "Judges.",
      instructions: "Judge it.",
      text: answer,
      schema: z.object({ good: z.boolean() }),
    });
    return { answer: await flow.write({ name: "write", instructions: "Write it down.", text: answer }) };
  },
});

test("the counts of sixty turns with compaction, extraction, sampling, delegation and a flow are those of the model's server, to the token", async () => {
  const { bill, counted } = countingServer();
  await using mcp = await hostForTest({ rude: { ...fixture("hostile"), sampling: true } });
  await using helper = await agentServerForTest({ script: (request) => counted(request, { text: "Helped." }) });
  await using agent = await agentServerForTest({
    script: worker(counted),
    tools: (deps) => {
      const peers = createPeers({ ...deps, bounds: { patienceMs: 5_000 } });
      return [extract, delegateTool(openDirectory([{ name: "helper", url: helper.url }], peers, silentLog), peers)];
    },
    agent: { moreTools: mcp.host.mount("all"), limits: limits },
    model: { capabilities: { contextWindow: 8_000, maxOutputTokens: 1_000 } },
  });
  let own = 0;
  await using work = await flowForTest(flow, {
    agents: {},
    entries: {},
    model: (request) =>
      counted(request, own++ === 0 ? { calls: [{ name: "judge", args: { good: true } }] } : { text: "It is good." }),
  });
  const id = await work.start({ text: "Work for long.", agents: [agent.url] });
  expect((await work.until(id, "completed", "failed")).status).toBe("completed");

  const total = bill.input + bill.output;
  expect((await agent.tasks())[0]).toMatchObject({ status: "completed" });
  const kinds = await kindsOf((await agent.tasks())[0]?.id ?? "", agent.engine);
  expect(kinds.get("model-replied")).toBe(turns);
  expect(kinds.get("context-compacted")).toBeGreaterThan(1);
  expect(kinds.get("model-asked")).toBe(turns - 2);
  const cost = (bill.input * 1 + bill.output * 2) / 1_000_000;

  const projection = (await work.engine.events(id)).reduce(applyEvent, emptyProjection);
  expect(projectedUsage(projection)).toEqual({
    tokens: total,
    outputTokens: bill.output,
    usd: expect.closeTo(cost, 9),
    unpriced: false,
  });
  const client = await createA2aClient(agent.url);
  const task = await client.get((await agent.tasks())[0]?.id ?? "", { signal: AbortSignal.timeout(60_000) });
  const answered = (await work.events(id)).find((event) => event.type === "agent-answered");
  expect(taskUsage(task)).toEqual(answered?.usage);
});

/** An agent with a tool that asks the model once at a high cost; then it answers. */
function extractor(request: ChatRequest, n: number): ScriptedReply {
  if (/EXTRACT/.test(system(request)))
    return { text: "gist", usage: { prompt_tokens: 29_900, completion_tokens: 100 } };
  const usage = { prompt_tokens: 100, completion_tokens: 10 };
  return n === 0 ? { calls: [{ name: "extract", args: { page: 1 } }], usage } : { text: "Done.", usage };
}

test("model calls of an agent's tool count towards the budget of the flow that asked the agent", async () => {
  await using agent = await agentServerForTest({ script: extractor, tools: [extract] });
  await using work = await flowForTest(flow, { agents: {}, limits: { tokens: 30_400 } });
  const { record } = await work.run({ text: "Work.", agents: [agent.url] });
  expect(record.error?.code).toBe("token_limit");
  expect(work.model.requests).toHaveLength(0);
});

test("model calls of a delegate's tool count towards the budget of the delegating agent", async () => {
  await using helper = await agentServerForTest({ script: extractor, tools: [extract] });
  await using agent = await agentServerForTest({
    script: () => ({ calls: [{ name: "delegate", args: { agent: "helper", task: "Help." } }] }),
    tools: (deps) => {
      const peers = createPeers({ ...deps, bounds: { patienceMs: 5_000 } });
      return [delegateTool(openDirectory([{ name: "helper", url: helper.url }], peers, silentLog), peers)];
    },
    agent: { limits: { ...limits, tokens: 30_400 } },
  });
  const client = await createA2aClient(agent.url);
  const task = await client.send({ text: "Go." }, { signal: AbortSignal.timeout(60_000) });
  expect(agent.model.requests).toHaveLength(1);
  expect(taskUsage(task)?.tokens).toBeGreaterThan(30_000);
  expect((await agent.tasks())[0]?.error?.code).toBe("token_limit");
});

async function kindsOf(id: string, { events }: { events(id: string): Promise<readonly { event: object }[]> }) {
  const kinds = new Map<string, number>();
  for (const { event } of await events(id)) {
    const { type } = event as JournalEvent;
    kinds.set(type, (kinds.get(type) ?? 0) + 1);
  }
  return kinds;
}

const limits = {
  steps: 80,
  tokens: 2_000_000,
  usd: 50,
  wallMs: 600_000,
  callsPerTurn: 16,
  parallelCalls: 4,
  resultCharacters: 12_000,
};
