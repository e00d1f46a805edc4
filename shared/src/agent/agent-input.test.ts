import { expect, spyOn, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../core/tools/define-tool.ts";
import type { SubBudget } from "../core/tools/durable-context.ts";
import type { RiskContext, Tool } from "../core/tools/tool.ts";
import { agentForTest } from "../testing/agent/agent.ts";
import { createChatCompletion } from "../tools/human/create-chat-completion.ts";

const act = (more: Partial<Tool> = {}): Tool => ({
  ...defineTool({
    name: "act",
    description: "Acts.",
    input: z.strictObject({}),
    effect: "pure",
    run: async () => "did",
  }),
  ...more,
});
const acting = { calls: [{ name: "act", args: {} }] };

const own = { steps: 20, tokens: 100_000, usd: 5, wallMs: 900_000 };
/**
 * What a task with this budget may spend, borrowed whole in its first turn, and how many turns it
 * has.
 */
async function allowed(budget: Partial<typeof own>) {
  let left: SubBudget["budget"] | undefined;
  const lend = act({
    callDurably: async (_, __, { subBudget }) => {
      left = subBudget(1).budget;
      return { text: "", isError: false };
    },
  });
  await using agent = await agentForTest({ script: [acting, { text: "done" }], tools: [lend], agent: { limits: own } });
  const { events } = await agent.run("Go.", { budget });
  const started = events.find((event) => event.type === "step-started");
  return { ...left, steps: started?.maxSteps };
}

test.each(["steps", "tokens", "usd", "wallMs"] as const)(
  "of a caller's and the agent's own limit of %s the tighter counts, and the other limits stay",
  async (key) => {
    for (const [factor, expected] of [
      [0.5, own[key] / 2],
      [2, own[key]],
    ] as const) {
      const found = await allowed({ [key]: own[key] * factor });
      for (const each of ["steps", "tokens", "usd", "wallMs"] as const) {
        const most = each === key ? expected : own[each];
        expect([each, Number(found[each]) <= most, Number(found[each]) > most * 0.9]).toEqual([each, true, true]);
      }
    }
  },
);

test("a call is judged by what the asking agent passed on: the user's words, the addresses given, the sources", async () => {
  const seen: RiskContext[] = [];
  const tool = act({ risk: async (_, context) => void seen.push(context) });
  await using agent = await agentForTest({ script: [acting, { text: "done" }], tools: [tool] });
  await agent.run("Go.", { hops: 1, said: ["Look there."], given: ["http://a.example/"], takenIn: ["bash"] });
  for (const { said, given, takenIn } of seen)
    expect({ said, given, takenIn }).toEqual({
      said: ["Look there."],
      given: ["http://a.example/"],
      takenIn: ["bash"],
    });
  expect(seen).toHaveLength(2);
});

test("only a spending limit that cannot be enforced is told", async () => {
  const priced = { price: { inputPerMillion: 1, outputPerMillion: 1 } };
  for (const [model, budget, told] of [
    [{}, { usd: 1 }, 1],
    [{}, { tokens: 50_000 }, 0],
    [{}, undefined, 0],
    [priced, { usd: 1 }, 0],
  ] as const) {
    await using agent = await agentForTest({ script: [{ text: "done" }], model });
    const { events } = await agent.run("Go.", budget && { budget });
    expect(events.filter((event) => event.type === "notice-given" && event.kind === "budget")).toHaveLength(told);
  }
});

test("each task knows its own day", async () => {
  await using agent = await agentForTest({ script: [{ text: "one" }, { text: "two" }] });
  using day = spyOn(Date.prototype, "toISOString");
  for (const today of ["2026-03-01", "2026-03-02"]) {
    day.mockReturnValue(`${today}T00:00:00.000Z`);
    await agent.run("Go.");
    expect(JSON.stringify(agent.model.requests.at(-1)?.body.messages[0])).toContain(`Today is ${today}.`);
  }
});

test("a tool is offered as it was described when the task began, so that the prompt's prefix stays", async () => {
  let turn = 0;
  const tool = Object.defineProperty(act(), "description", { get: () => `Acts, ${turn}.`, enumerable: true });
  await using agent = await agentForTest({
    script: () => (turn++ === 0 ? acting : { text: "done" }),
    tools: [tool],
  });
  await agent.run("Go.");
  await agent.run("Again.");
  const told = agent.model.requests.map(({ body }) => /Acts, (\d)/.exec(JSON.stringify(body.tools))?.[1]);
  expect(told).toEqual(["0", "0", "2"]);
});

test("the text of a last turn without any tool to end the task is its answer, even where tools are required", async () => {
  await using agent = await agentForTest({
    script: [{ text: "All I have." }],
    tools: [act()],
    agent: { toolChoice: "required", limits: { steps: 1 } },
  });
  expect((await agent.run("Go.")).record.output).toEqual({ answer: "All I have." });
});

test("a task with a schema has one tool for its answer, that of the schema", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
  await using agent = await agentForTest({
    script: [{ calls: [{ name: "create_chat_completion", args: { response: { n: 7 } } }] }],
    tools: [createChatCompletion({ type: "string" }), act()],
  });
  const { record } = await agent.run("Go.", { outputSchema: schema });
  expect(record.output).toMatchObject({ data: { n: 7 } });
  const names = agent.model.requests[0]?.body.tools?.map((tool) => tool.function.name);
  expect(names?.toSorted()).toEqual(["act", "create_chat_completion"]);
});

test("what a model cannot see is not kept as if it had", async () => {
  const png = { type: "image", mediaType: "image/png", data: "aGk=" } as const;
  for (const vision of [true, false]) {
    await using agent = await agentForTest({
      script: [{ text: "done" }],
      model: { capabilities: { vision } },
      agent: { look: async () => ({ text: "SIGHT", images: [png] }) },
    });
    const { events } = await agent.run("Go.");
    const replied = events.find((event) => event.type === "model-replied");
    expect([replied?.observation?.text, replied?.images?.length]).toEqual(["SIGHT", vision ? 1 : undefined]);
  }
});
