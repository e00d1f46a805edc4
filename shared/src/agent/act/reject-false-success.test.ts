import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import { failure } from "../../core/tools/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { createChatCompletion } from "../../tools/human/create-chat-completion.ts";
import { terminate } from "../../tools/human/terminate.ts";
import { rejectFalseSuccess } from "./reject-false-success.ts";

const call = (name: string, args: unknown = {}) => ({ name, args });
const success = call("terminate", { status: "success", summary: "All done." });
const lookup = defineTool({
  name: "lookup",
  description: "Finds nothing.",
  input: z.strictObject({}),
  effect: "pure",
  run: async () => failure("not found"),
});

for (const [what, calls] of [
  ["before it", [call("lookup"), success]],
  ["after it", [success, call("lookup")]],
  ["beside it", [call("lookup"), call("create_chat_completion", { response: "All done." })]],
  ["over the bound of a turn", [success, ...Array.from({ length: 16 }, () => call("lookup"))]],
] as const) {
  test(`a call that failed ${what} keeps its turn from ending the task with success`, async () => {
    await using agent = await agentForTest({
      script: [{ calls: [...calls] }, { text: "It is not there." }],
      tools: [lookup, terminate, createChatCompletion()],
    });
    const { record } = await agent.run("Look it up.");
    expect(record.output).toEqual({ answer: "It is not there." });
    expect(JSON.stringify(agent.model.requests[1]?.body.messages.at(-1))).toContain("has not ended");
  });
}

test("a task that ends with failure ends, whatever failed in that turn; so does one whose failures are of earlier turns", async () => {
  const failed = { role: "tool", name: "lookup", isError: true };
  const fine = { role: "tool", name: "read", isError: false };
  const ended = async (status: string, before: object[], during: object[]) => {
    const task = { messages: [...before], hints: [] as string[], outcome: undefined as unknown };
    const act = rejectFalseSuccess(async () => {
      task.messages.push(...during);
      task.outcome = { status, summary: "" };
    });
    await act([], task as never);
    return [task.outcome !== undefined, task.hints.length];
  };
  expect(await ended("failure", [], [failed])).toEqual([true, 0]);
  expect(await ended("success", [failed], [fine])).toEqual([true, 0]);
  expect(await ended("success", [fine], [fine, failed])).toEqual([false, 1]);
});

test("a call that a person refused keeps its turn from ending the task with success", async () => {
  await using agent = await agentForTest({
    script: [{ calls: [call("lookup"), success] }, { text: "You did not let me." }],
    tools: [lookup, terminate],
    approval: ({ name }) => (name === "lookup" ? "deny" : "allow"),
  });
  expect((await agent.run("Look it up.")).record.output).toEqual({ answer: "You did not let me." });
});

test("if the answer has a schema, terminate can only report failure", async () => {
  await using agent = await agentForTest({
    script: [{ calls: [success] }, { calls: [call("create_chat_completion", { response: { total: 1 } })] }],
    tools: [terminate],
  });
  const outputSchema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  const { record } = await agent.run("How many?", { outputSchema });
  expect(record).toMatchObject({ status: "completed", output: { data: { total: 1 } } });
});

test("the task's tool for structured answers replaces the agent's own", async () => {
  await using agent = await agentForTest({
    script: [{ calls: [call("create_chat_completion", { response: 1 })] }],
    tools: [createChatCompletion()],
  });
  const { record } = await agent.run("How many?", { outputSchema: { type: "number" } });
  expect(record).toMatchObject({ status: "completed", output: { data: 1 } });
  expect(agent.model.requests[0]?.body.tools).toHaveLength(1);
});
