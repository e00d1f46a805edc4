import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { SubBudget } from "../../core/tools/durable-context.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";

const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  input: z.strictObject({ text: z.string() }),
  effect: "pure",
  run: async ({ text }) => text,
});
const long = "lorem ipsum dolor sit amet ".repeat(80);

test("a summary's tokens, those of one that broke off before it, and its time are spent of the task's budget", async () => {
  let left: SubBudget["budget"] | undefined;
  const lend: Tool = {
    ...defineTool({ name: "lend", description: "", input: z.strictObject({}), effect: "once", run: async () => "" }),
    callDurably: async (_, __, { subBudget }) => {
      left = subBudget(1).budget;
      return { text: "", isError: false };
    },
  };
  let turn = 0;
  let summaries = 0;
  await using agent = await agentForTest({
    script: ({ messages }) => {
      if (JSON.stringify(messages[0]).includes("working memory"))
        return summaries++ === 0 ? { text: "half a summary of it all", cutAfter: 2 } : { text: "SUMMARY", delayMs: 30 };
      if (turn++ < 9) return { calls: [{ name: "echo", args: { text: `${turn} ${long}` } }] };
      return turn === 10 ? { calls: [{ name: "lend", args: {} }] } : { text: "done" };
    },
    tools: [echo, lend],
    model: { maxRetries: 1, capabilities: { contextWindow: 8_000, maxOutputTokens: 4_000 } },
    agent: { limits: { tokens: 1_000_000, wallMs: 900_000 } },
  });
  const { events } = await agent.run("Go on.");
  const before = events.slice(
    0,
    events.findIndex((event) => event.type === "tool-started" && event.name === "lend"),
  );
  const compactions = before.filter((event) => event.type === "context-compacted");
  expect(compactions.length).toBeGreaterThan(0);
  const asked = before.filter((event) => event.type === "model-replied" || event.type === "context-compacted");
  const usages = asked.flatMap(({ usage, discarded }) => [usage, discarded].filter((one) => one !== undefined));
  expect(usages.length).toBe(asked.length + 1);
  const used = usages.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  expect(left?.tokens).toBe(1_000_000 - used);
  const known = before.flatMap((event) =>
    event.type === "model-replied" || event.type === "tool-ended" ? [event.milliseconds] : [],
  );
  expect(left?.wallMs).toBeLessThanOrEqual(
    900_000 - known.reduce((sum, one) => sum + one, 0) - 30 * compactions.length,
  );
});

const small = { capabilities: { contextWindow: 8_000, maxOutputTokens: 4_000 } };
const isSummary = (messages: readonly unknown[]) => JSON.stringify(messages[0]).includes("working memory");

/** Echoes so many long texts, then answers. */
function talker(turns: number) {
  let turn = 0;
  return ({ messages }: { readonly messages: readonly unknown[] }) => {
    if (isSummary(messages)) return { text: "SUMMARY" };
    return turn++ < turns ? { calls: [{ name: "echo", args: { text: `${turn} ${long}` } }] } : { text: "done" };
  };
}

test("after a compaction that took the page away, the page is looked at as if for the first time", async () => {
  const sinces: (string | undefined)[] = [];
  await using agent = await agentForTest({
    script: talker(9),
    tools: [echo],
    model: small,
    agent: {
      look: async (_, { since }) => {
        sinces.push(since);
        return { text: `SIGHT ${sinces.length}`, mark: `${sinces.length}`, ...(since !== undefined && { since }) };
      },
    },
  });
  const { events } = await agent.run("Go on.");
  const replies = events.filter(({ type }) => type === "model-replied" || type === "context-compacted");
  const looks = replies.flatMap(({ type }, at) => (type === "model-replied" ? [replies[at - 1]?.type] : []));
  expect(looks.filter((before) => before === "context-compacted").length).toBeGreaterThan(0);
  for (const [at, before] of looks.entries())
    expect([at, sinces[at] === undefined]).toEqual([at, at === 0 || before === "context-compacted"]);
});

test("the answer after a compaction may be as long as the room that the compaction made", async () => {
  await using agent = await agentForTest({ script: talker(9), tools: [echo], model: small });
  await agent.run("Go on.");
  const requests = agent.model.requests.map(({ body }) => body);
  const after = requests.filter((_, at) => at > 0 && isSummary(requests[at - 1]?.messages ?? []));
  expect(after.length).toBeGreaterThan(0);
  expect(after.map((request) => request.max_tokens)).toEqual(after.map(() => 4_000));
});

test("a prompt that is too long for the provider and cannot become shorter is not sent again", async () => {
  const error = { message: "This model's maximum context length is 10 tokens.", code: "context_length_exceeded" };
  await using agent = await agentForTest({ script: () => ({ status: 400, error }), tools: [echo], model: small });
  const { record } = await agent.run("Go.");
  expect([record.error?.code, agent.model.requests.length]).toEqual(["context_overflow", 1]);
});
