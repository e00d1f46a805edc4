import { expect, test } from "bun:test";
import * as z from "zod";
import { defineFlow } from "../core/flow.ts";
import { badAgentForTest } from "../testing/a2a/bad-agent.ts";
import { flowForTest } from "../testing/flow.ts";
import { askInForm } from "./ask-in-form.ts";

const form = {
  schema: z.object({ total: z.number() }),
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

/**
 * The result of asking a foreign agent that gives these replies in turn, and the messages it
 * received.
 */
async function ask(...replies: readonly string[]) {
  using stranger = badAgentForTest(
    {},
    {
      SendMessage: (_, n) => ({
        message: { messageId: `r${n}`, contextId: "k1", role: "ROLE_AGENT", parts: [{ text: replies[n - 1] ?? "" }] },
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
});

test("an answer that does not fit goes back with the error, in the same conversation", async () => {
  const { answer, told } = await ask("Seven, I think", '{"total": -1}', '{"total": 7}');
  expect(answer).toBe("7");
  expect(told.map(({ contextId }) => contextId || "")).toEqual(["", "k1", "k1"]);
  expect(told[1].parts[0].text).toContain("it holds no JSON object");
  expect(told[2].parts[0].text).toContain("it cannot be below zero");
});

test("after two corrections there is no answer", async () => {
  const { answer, told } = await ask("Seven", "Still seven", "Seven, I say", '{"total": 7}');
  expect(answer).toBe("stranger gave no usable answer: it holds no JSON object.");
  expect(told).toHaveLength(3);
});
