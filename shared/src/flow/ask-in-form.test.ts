import { expect, test } from "bun:test";
import * as z from "zod";
import { defineFlow, type Flow } from "../core/flow.ts";
import type { Part } from "../core/message.ts";
import { badAgentForTest } from "../testing/a2a/bad-agent.ts";
import { flowForTest } from "../testing/flow.ts";
import { askInForm } from "./ask-in-form.ts";

const form = {
  schema: z.object({ total: z.number(), count: z.int().optional() }),
  check: ({ total }: { total: number }) => (total < 0 ? "it cannot be below zero" : undefined),
};
const asking = defineFlow({
  name: "asking",
  title: "Asking",
  description: "For a test.",
  version: "1.0.0",
  skills: [],
  options: z.strictObject({}),
  example: { text: "Try" },
  async perform(flow) {
    const formed = await askInForm(flow, "stranger", { text: flow.goal }, form);
    return { answer: "value" in formed ? String(formed.value.total) : formed.fault };
  },
});

const partsOf = (reply: string | readonly object[]) => (typeof reply === "string" ? [{ text: reply }] : reply);

/**
 * The result of asking a foreign agent that gives these replies in turn, and the messages it
 * received.
 */
async function ask(...replies: readonly (string | readonly object[])[]) {
  using stranger = badAgentForTest(
    {},
    {
      SendMessage: (_, n) => ({
        message: { messageId: `r${n}`, contextId: "k1", role: "ROLE_AGENT", parts: partsOf(replies[n - 1] ?? "") },
      }),
    },
  );
  const entries = { stranger: { url: stranger.url } };
  await using flow = await flowForTest(asking, { agents: { stranger: [] }, entries });
  const { answer } = await flow.run({ text: "How much?" });
  return { answer, told: stranger.calls.map(({ params }) => params.message) };
}

test("an agent that does not support schemas gets the schema as text, and its JSON is found in its reply", async () => {
  const { answer, told } = await ask('Gladly:\n```json\n{"total": 0}\n```\nThat is it.');
  expect(answer).toBe("0");
  expect(told[0].parts[1].text).toContain('"total":{"type":"number"}');
  // That a number is one of JavaScript's says nothing about an answer.
  expect(told[0].parts[1].text).toContain('"count":{"type":"integer"}');
});

test("an answer that does not fit goes back with the error, in the same conversation", async () => {
  const { answer, told } = await ask("Seven, I think", '{"total": -1}', '{"total": 7}');
  expect(answer).toBe("7");
  expect(told.map(({ contextId }) => contextId || "")).toEqual(["", "k1", "k1"]);
  expect(told[1].parts[0].text).toContain("it holds no JSON object");
  expect(told[2].parts[0].text).toContain("it cannot be below zero");
  for (const { parts } of told) expect(parts.at(-1).text).toContain('"total":{"type":"number"}');
});

test("data that an agent sends count before what its text says", async () => {
  expect((await ask([{ text: '{"total": 1}' }, { data: { total: 2 } }])).answer).toBe("2");
  expect((await ask([{ text: '{"total": 1}' }, { data: { sum: 2 } }])).answer).toBe("1");
});

test("after two corrections there is no answer", async () => {
  const { answer, told } = await ask("Seven", "Still seven", "Seven, I say", '{"total": 7}');
  expect(answer).toBe("stranger gave no usable answer: it holds no JSON object.");
  expect(told).toHaveLength(3);
});

/** Asks an agent with these outcomes, one for each message; what it was told, each time. */
async function told(outcomes: readonly object[], text = "How much?") {
  const asks: unknown[][] = [];
  const flow = {
    async ask(...ask: unknown[]) {
      const outcome = { agent: "clerk", state: "completed", answer: "", contextId: "", ...outcomes[asks.length] };
      asks.push(ask);
      return outcome;
    },
  } as unknown as Flow;
  const parts: Part[] = [{ type: "text", text: "Of these." }];
  const settings = { options: { rounds: 2 } };
  const formed = await askInForm(flow, "clerk", { text, parts, settings }, form, { deadlineMs: 5 });
  return { formed, asks, parts, settings };
}

test("an agent that remembers is told what was wrong, and one that may not is told all again", async () => {
  const wrong = { data: { total: "seven" }, contextId: "c" };
  const { asks, parts, settings } = await told([{ ...wrong, remembers: true }, wrong, { data: { total: 7 } }]);
  const [first, second, third] = asks as [string, { text: string }, object][];
  expect(first).toEqual(["clerk", { text: "How much?", parts, settings }, expect.anything()] as never);
  const again = second?.[1].text ?? "";
  expect(again).toStartWith("Your answer cannot be used: ");
  expect(again).toContain("expected number, received string");
  expect(again).toEndWith("\nGive it once more, as a whole.");
  expect(second?.[1]).toEqual({ text: again, settings } as never);
  expect(third?.[1]).toEqual({ text: `How much?\n\n${again}`, parts, settings } as never);
  const options = { deadlineMs: 5, outputSchema: expect.objectContaining({ type: "object" }) };
  expect([first, second, third].map((ask) => ask?.[2])).toEqual([
    options,
    { ...options, contextId: "c" },
    { ...options, contextId: "c" },
  ]);
});

test("an agent that does not complete is not asked again, and what came of it is told", async () => {
  const failed = { state: "failed", error: { code: "task_failed", message: "No." } };
  const { formed, asks } = await told([{ data: {}, contextId: "c" }, failed, { data: { total: 7 } }]);
  expect(asks).toHaveLength(2);
  expect(formed).toMatchObject({ outcome: failed, fault: expect.stringContaining("No.") });
});
