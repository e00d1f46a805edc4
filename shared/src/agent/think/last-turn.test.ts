import { expect, test } from "bun:test";
import * as z from "zod";
import type { AgentDefinition } from "../../core/agent.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import { type ChatRequest, chatText } from "../../models/chat/chat-protocol.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { terminate } from "../../tools/human/terminate.ts";
import { toolChoiceNow, turnNotice } from "./last-turn.ts";

const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  input: z.strictObject({ text: z.string() }),
  effect: "pure",
  run: async ({ text }) => text,
});
const tailOf = (request: ChatRequest | undefined) => {
  const last = request?.messages.at(-1);
  return last?.role === "user" ? chatText(last) : "";
};

/** Goes on for ever, unless it is made to do something else. */
function restless(request: ChatRequest, n: number) {
  const { tool_choice: choice } = request;
  if (choice === "none") return { text: "What I have." };
  const name = typeof choice === "object" ? choice?.function.name : "echo";
  if (name === "terminate") return { calls: [{ name, args: { status: "success", summary: "What I have." } }] };
  if (name === "create_chat_completion") return { calls: [{ name, args: { response: { total: 42 } } }] };
  return { calls: [{ name: "echo", args: { text: String(n) } }] };
}

test("the last turn can only end the task, and its prompt starts like the one before, with the same tools", async () => {
  await using agent = await agentForTest({
    script: restless,
    tools: [echo, terminate],
    agent: { limits: { steps: 10 } },
  });
  const { record } = await agent.run("Never end.");
  expect(record).toMatchObject({ status: "completed", output: { answer: "What I have." } });
  const bodies = agent.model.requests.map(({ body }) => body);
  expect(bodies).toHaveLength(10);
  expect(bodies.map(({ tool_choice }) => tool_choice !== undefined)).toEqual([...Array(9).fill(false), true]);
  expect(bodies[9]?.tools).toEqual(bodies[8]?.tools ?? []);
  const before = bodies[8]?.messages.slice(0, -1) ?? [];
  expect(bodies[9]?.messages.slice(0, before.length)).toEqual(before);
});

test("a few turns before the end the prompt states the turn and asks to save results in files, in different words each time", async () => {
  await using agent = await agentForTest({
    script: restless,
    tools: [echo, terminate],
    agent: { limits: { steps: 10 } },
  });
  await agent.run("Never end.");
  const tails = agent.model.requests.map(({ body }) => tailOf(body));
  expect(tails.slice(0, 7).join("")).not.toContain("Turn");
  expect(tails[7]).toMatch(/^Turn 8 of 10: after this one 2 are left.*into files now/);
  expect(tails[8]).toMatch(/^Turn 9 of 10: after this one 1 is left/);
  expect(tails[9]).toMatch(/^Turn 10 of 10, the last one.*Call terminate now/);
});

test("an agent without a tool to end its task ends it with text", async () => {
  await using agent = await agentForTest({ script: restless, tools: [echo], agent: { limits: { steps: 3 } } });
  expect((await agent.run("Never end.")).record).toMatchObject({
    status: "completed",
    output: { answer: "What I have." },
  });
});

test.each([
  ["none", [echo]],
  ["the one that ends the task", [echo, terminate]],
] as const)("a model that makes another call in the last turn than %s has it not made", async (_, tools) => {
  const made: string[] = [];
  const counting = {
    ...echo,
    call(...given: Parameters<typeof echo.call>) {
      made.push("echo");
      return echo.call(...given);
    },
  };
  await using agent = await agentForTest({
    script: (_request, n) => ({ text: `thought ${n}`, calls: [{ name: "echo", args: { text: String(n) } }] }),
    tools: tools.map((tool) => (tool === echo ? counting : tool)),
    agent: { limits: { steps: 3 } },
  });
  const { record, events } = await agent.run("Never end.");
  expect(record).toMatchObject({ status: "failed", error: { code: "step_limit" } });
  expect(made).toHaveLength(2);
  const results = events.flatMap((event) => (event.type === "tool-ended" ? [event.text] : []));
  expect(results.at(-1)).toBe("Not made: no call of this tool was to be made in this turn.");
});

test("a task that requires a schema ends with an answer in that schema", async () => {
  await using agent = await agentForTest({
    script: restless,
    tools: [echo, terminate],
    agent: { limits: { steps: 3 } },
  });
  const outputSchema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  expect((await agent.run("How many?", { outputSchema })).record).toMatchObject({ output: { data: { total: 42 } } });
});

test("a server that refuses to force a tool is asked without, and its text ends the task", async () => {
  await using agent = await agentForTest({
    script: (request, n) => {
      const { tool_choice: choice } = request;
      if (choice != null) return { status: 400, error: { message: "tool_choice is not supported in thinking mode" } };
      return tailOf(request).includes("the last one") ? { text: "What I have." } : restless(request, n);
    },
    tools: [echo, terminate],
    agent: { limits: { steps: 3 } },
  });
  expect((await agent.run("Never end.")).record).toMatchObject({
    status: "completed",
    output: { answer: "What I have." },
  });
});

const at = (turn: number, steps = 10) => ({ turn, limits: { steps } }) as Parameters<typeof toolChoiceNow>[1];
const agentWith = (...tools: readonly { readonly name: string; readonly endsTask?: boolean }[]) =>
  ({ tools, toolChoice: "required" }) as unknown as AgentDefinition;
const two = agentWith({ name: "end", endsTask: true }, { name: "answer", endsTask: true }, { name: "echo" });

test("only in the last turn is a tool forced: of those that end the task the one added last, or none", () => {
  expect([8, 9, 10].map((turn) => toolChoiceNow(two, at(turn)))).toEqual(["required", "required", { name: "answer" }]);
  expect(toolChoiceNow(agentWith({ name: "echo" }), at(10))).toBe("none");
});

test("from the eighth of ten turns on the model is told the turn, and in the last how to end", () => {
  expect(turnNotice(two, at(7))).toBeUndefined();
  expect(turnNotice(two, at(8))).toStartWith("Turn 8 of 10: after this one 2 are left");
  expect(turnNotice(two, at(9))).toStartWith("Turn 9 of 10: after this one 1 is left");
  expect(turnNotice(two, at(10))).toContain("Call answer now, with");
  expect(turnNotice(agentWith(), at(10))).toContain("Answer now, in text, with");
});
