import { expect, test } from "bun:test";
import * as z from "zod";
import type { ChatRequest } from "../llm/chat-protocol.ts";
import { defineTool } from "../tools/tool.ts";
import { agentForTest } from "./agent-for-test.ts";
import { gateForTest } from "./gate-for-test.ts";

const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  input: z.strictObject({ text: z.string() }),
  effect: "pure",
  run: async ({ text }) => text,
});
const filler = "lorem ipsum dolor sit amet ".repeat(80);
const isSummary = (request: ChatRequest) => JSON.stringify(request.messages[0]).includes("working memory");
const small = { capabilities: { contextWindow: 8_000, maxOutputTokens: 4_000 } };

/** Echoes so many long texts, then answers. */
function talker(turns: number, summary: object = { text: "SUMMARY" }) {
  let n = 0;
  return (request: ChatRequest) => {
    if (isSummary(request)) return summary;
    return n++ < turns
      ? { calls: [{ name: "echo", args: { text: `${n} ${filler}` } }] }
      : { text: "the end of it", deltaDelayMs: 5 };
  };
}

for (const tokens of [24_500, 25_500, 26_500, 27_500]) {
  test(`all calls together, summaries included, stay within ${tokens} tokens`, async () => {
    const script = talker(12);
    let spent = 0;
    await using agent = await agentForTest({
      script: (request) => {
        const usage = {
          prompt_tokens: Math.ceil(JSON.stringify(request).length / 6),
          completion_tokens: Math.min(400, Number(request.max_tokens ?? 400)),
        };
        spent += usage.prompt_tokens + usage.completion_tokens;
        return { ...script(request), usage };
      },
      tools: [echo],
      model: small,
    });
    const { record } = await agent.run("Go on.", { budget: { tokens } });
    expect(record.error?.code).toBe("token_limit");
    expect(spent).toBeGreaterThan(tokens / 2);
    expect(spent).toBeLessThanOrEqual(tokens);
  });
}

test("where little of the window is left for messages, a compaction makes room for several turns, and no summary is summed up alone", async () => {
  const script = talker(12);
  await using agent = await agentForTest({
    script,
    agent: { instructions: "Be good. ".repeat(1_300) },
    tools: [echo],
    model: small,
  });
  await agent.run("Go on.");
  const summaries = agent.model.requests.filter(({ body }) => isSummary(body));
  expect(summaries.length).toBeGreaterThan(1);
  expect(summaries.length).toBeLessThan(8);
  for (const { body } of summaries) expect(JSON.stringify(body.messages[1])).toContain("RESULT of echo");
});

test("the prompt's fixed part counts: a bound it would pass is never passed", async () => {
  await using agent = await agentForTest({
    script: [{ text: "hi" }],
    agent: { instructions: "Be good. ".repeat(3_000) },
  });
  const { record } = await agent.run("Hello.", { budget: { tokens: 2_000 } });
  expect(record.error?.code).toBe("token_limit");
  expect(agent.model.requests).toHaveLength(0);
});

test("tokens a model thought with are no part of the next prompt", async () => {
  const script = talker(4);
  await using agent = await agentForTest({
    script: (request, n) => ({ ...script(request), usage: { prompt_tokens: 1_000 * n, completion_tokens: 6_000 } }),
    tools: [echo],
    model: small,
  });
  const { events } = await agent.run("Think.");
  expect(events.some(({ type }) => type === "context-compacted")).toBe(false);
});

test("an answer may not be longer than what the window has left", async () => {
  await using agent = await agentForTest({
    script: [
      { calls: [{ name: "echo", args: { text: "a" } }], usage: { prompt_tokens: 5_000, completion_tokens: 10 } },
      { text: "end" },
    ],
    tools: [echo],
    model: small,
  });
  await agent.run("Go.");
  expect(agent.model.requests[0]?.body.max_tokens).toBe(4_000);
  expect(agent.model.requests[1]?.body.max_tokens).toBeLessThan(3_000);
});

test("watchers see the agent's own words, not the summary being written", async () => {
  await using agent = await agentForTest({
    script: talker(9, { text: "the secret summary" }),
    tools: [echo],
    model: small,
  });
  const id = await agent.start("Go on.");
  const shown: string[] = [];
  for await (const item of agent.engine.follow(id, { signal: AbortSignal.timeout(10_000) })) {
    if (item.kind === "progress") shown.push(JSON.stringify(item.event));
  }
  expect((await agent.events(id)).some(({ type }) => type === "context-compacted")).toBe(true);
  expect(shown.join()).not.toContain("secret");
  expect(shown.join()).toContain("end");
});

test("what the user said stays, also where no model can sum up", async () => {
  const { tool, entered, leave } = gateForTest();
  const script = talker(9, { status: 400, error: { message: "no" } });
  await using agent = await agentForTest({
    script: (request, n) => (n === 0 ? { calls: [{ name: "gate", args: {} }] } : script(request)),
    tools: [echo, tool],
    model: small,
  });
  const id = await agent.start("Go on.");
  await entered;
  await agent.say(id, "Mind the STEPS.");
  leave();
  await agent.until(id, "completed");
  const events = await agent.events(id);
  expect(events.some(({ type }) => type === "context-compacted")).toBe(true);
  expect(JSON.stringify(agent.model.requests.at(-1)?.body.messages)).toContain("Mind the STEPS.");
});

test("an answer that a content filter stopped is no answer", async () => {
  await using agent = await agentForTest({
    script: [{ text: "The recipe begins with", finish: "content_filter" }, { text: "I cannot say." }],
  });
  const { record, events } = await agent.run("Tell.");
  expect(record.output).toEqual({ answer: "I cannot say." });
  expect(events.some((event) => event.type === "notice-given" && event.kind === "truncated")).toBe(true);
});
