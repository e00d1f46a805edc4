import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/define-tool.ts";
import type { Tool } from "../../core/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";

const read = defineTool({
  name: "look_up",
  description: "Looks a word up.",
  input: z.strictObject({ word: z.string() }),
  effect: "pure",
  run: async ({ word }) => word,
});
/** One of the words is asked about, and looked up with the answer. */
const lookUp: Tool = {
  ...read,
  async call(input, context) {
    const { text } = await read.call(input, context);
    if (text !== "b") return { text, isError: false };
    if (context.answer === undefined) return { text: "", isError: false, asks: { question: "Which b?", state: null } };
    return { text: `b as ${context.answer.text}`, isError: false };
  },
};
const calls = ["a", "b", "c", "d", "e"].map((word) => ({ name: "look_up", args: { word } }));

test("results are in the order of the calls however many run at once, and an answer goes to the call that asked", async () => {
  await using agent = await agentForTest({
    script: [{ calls }, { text: "done" }],
    tools: [lookUp],
    agent: { limits: { parallelCalls: 2 } },
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.say(id, "a letter");
  await agent.until(id, "completed");
  const results = agent.model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool");
  expect(results?.map(({ content }) => content)).toEqual(["a", "b as a letter", "c", "d", "e"]);
});
