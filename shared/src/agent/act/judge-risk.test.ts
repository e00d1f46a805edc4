import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { RiskContext, Tool } from "../../core/tools/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { askHuman } from "../../tools/human/ask-human.ts";
import { judgeRisk } from "./judge-risk.ts";
import { readCall } from "./plan-call.ts";

/** Presses buttons; what a press would do is read from `label` at the time. */
function presser(risk: NonNullable<Tool["risk"]>) {
  const pressed: string[] = [];
  const tool: Tool = {
    ...defineTool({
      name: "press",
      description: "Presses.",
      input: z.strictObject({ button: z.string() }),
      effect: "once",
      run: async ({ button }) => `pressed ${pressed.push(button)}`,
    }),
    risk,
  };
  return { tool, pressed };
}
const press = { calls: [{ name: "press", args: { button: "b1" } }] };
const script = [press, { text: "done" }];

async function answer(agent: Awaited<ReturnType<typeof agentForTest>>, id: string, word: string) {
  await agent.until(id, "waiting");
  const asked = (await agent.events(id)).flatMap((event) => (event.type === "question-asked" ? [event.question] : []));
  const question = asked.at(-1) ?? "";
  await agent.say(id, `${word} ${/"yes (\w+)"/.exec(question)?.[1]}`);
  return question;
}

test("a risky call waits for a person, who reads what it would do and its exact arguments", async () => {
  for (const [word, times] of [
    ["yes", 1],
    ["no", 0],
  ] as const) {
    const { tool, pressed } = presser(async () => "Click “Pay now” on shop.example");
    await using agent = await agentForTest({ script, tools: [tool] });
    const id = await agent.start("Buy it.");
    expect(await answer(agent, id, word)).toStartWith(
      'Allow this call?\n\nClick “Pay now” on shop.example\n\npress {"button":"b1"}',
    );
    await agent.until(id, "completed");
    expect(pressed).toHaveLength(times);
    const ends = (await agent.events(id)).flatMap((event) => (event.type === "tool-ended" ? [event.text] : []));
    const marked = '<risk from="the call">\nClick “Pay now” on shop.example\n</risk>';
    const refusal = `They were asked:\n${marked}\nThe person said: no`;
    expect(ends[0]).toContain(word === "no" ? refusal : "pressed 1");
  }
});

test("a call without risk is made at once", async () => {
  const { tool, pressed } = presser(async () => undefined);
  await using agent = await agentForTest({ script, tools: [tool] });
  expect((await agent.run("Go.")).record.status).toBe("completed");
  expect(pressed).toEqual(["b1"]);
});

test("configuration may let risky calls through, or none of them", async () => {
  for (const [risky, times, said] of [
    ["allow", 1, "pressed 1"],
    ["deny", 0, 'allows no risky calls. It would:\n<risk from="the call">\nClick “Pay now”\n</risk>'],
  ] as const) {
    const { tool, pressed } = presser(async () => "Click “Pay now”");
    await using agent = await agentForTest({ script, tools: [tool], risky });
    const { events } = await agent.run("Buy it.");
    expect(pressed).toHaveLength(times);
    expect(events.find((event) => event.type === "tool-ended")).toMatchObject({ text: expect.stringContaining(said) });
  }
});

test("an allowed call is not made if it would do something else by then", async () => {
  let label = "Next";
  const { tool, pressed } = presser(async () => `Click “${label}”`);
  await using agent = await agentForTest({ script, tools: [tool] });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  label = "Pay now";
  await answer(agent, id, "yes");
  await agent.until(id, "completed");
  expect(pressed).toEqual([]);
  const [ended] = (await agent.events(id)).filter((event) => event.type === "tool-ended");
  expect(ended).toMatchObject({ isError: true, text: expect.stringContaining("Click “Pay now”") });
});

test("a call whose risk appears only at execution is not made", async () => {
  let risk: string | undefined;
  const { tool, pressed } = presser(async () => risk);
  const first = defineTool({
    name: "first",
    description: "Changes the page.",
    input: z.strictObject({}),
    effect: "once",
    run: async () => {
      risk = "Click “Pay now”";
      return "changed";
    },
  });
  const calls = [{ name: "first", args: {} }, ...press.calls];
  await using agent = await agentForTest({ script: [{ calls }, { text: "done" }], tools: [first, tool] });
  await agent.run("Go.");
  expect(pressed).toEqual([]);
});

test("a risk that cannot be judged is a risk", async () => {
  const { tool, pressed } = presser(() => Promise.reject(new Error("the page is gone")));
  await using agent = await agentForTest({ script, tools: [tool] });
  const id = await agent.start("Go.");
  expect(await answer(agent, id, "no")).toContain("press: what this call would do could not be determined");
  await agent.until(id, "completed");
  expect(pressed).toEqual([]);
});

test("a tool receives what the user said in the conversation and in answers, and nothing else", async () => {
  let last: Pick<RiskContext, "said" | "given" | "takenIn"> | undefined;
  const { tool } = presser(async (_, context) => {
    last = context;
    return undefined;
  });
  await using agent = await agentForTest({
    script: [
      { calls: [{ name: "terminate", args: { status: "failure", summary: "go to evil.example" } }] },
      { calls: [{ name: "ask_human", args: { inquire: "evil.example?" } }] },
      press,
      { text: "done" },
    ],
    tools: [tool, askHuman(), giveUp],
  });
  await agent.run("first words");
  const id = await agent.start("second words", { given: ["http://given.example"], takenIn: ["notes.example"] });
  await agent.until(id, "waiting");
  await agent.say(id, "an answer");
  await agent.until(id, "completed");
  expect(last?.said).toEqual(["first words", "second words", "an answer"]);
  expect([last?.given, last?.takenIn.includes("notes.example")]).toEqual([["http://given.example"], true]);
});

const giveUp = defineTool({
  name: "terminate",
  description: "Gives up.",
  input: z.looseObject({ summary: z.string() }),
  effect: "pure",
  run: async ({ summary }) => ({ text: summary, isError: false, end: { status: "failure", summary } }),
});

/** Judges one call without a task around it. */
async function judged(
  risk: NonNullable<Tool["risk"]> | undefined,
  { args = '{"button":"b1"}', signal = new AbortController().signal, withinMs = 60_000 } = {},
) {
  await using place = await workspaceForTest();
  const { tool } = presser(risk ?? (async () => undefined));
  const { risk: _, ...plain } = tool;
  return await judgeRisk(
    readCall({ id: "1", name: "press", arguments: args }),
    risk === undefined ? plain : tool,
    { messages: [], hops: 0, said: [], given: [], takenIn: new Set(), run: { principal: "alice", contextId: "c" } },
    { openWorkspace: async () => place.workspace },
    signal,
    withinMs,
  );
}

test("only a call that can be read, of a tool that has risks, is judged", async () => {
  expect(await judged(async () => "Pays")).toBe("Pays");
  expect(await judged(undefined)).toBeUndefined();
  expect(await judged(async () => "Pays", { args: "no object" })).toBeUndefined();
});

test("a judgement that takes too long counts as a risk, and is told to stop", async () => {
  let told: AbortSignal | undefined;
  const never: NonNullable<Tool["risk"]> = (_, { signal }) => {
    told = signal;
    return Promise.withResolvers<undefined>().promise;
  };
  expect(await judged(never, { withinMs: 10 })).toBe("press: what this call would do could not be determined");
  expect(told?.aborted).toBe(true);
});

test("a judgement that is given up rejects with the reason", async () => {
  const giving = new AbortController();
  const reason = new Error("given up");
  const waits: NonNullable<Tool["risk"]> = (_, { signal }) => {
    const rejected = Promise.withResolvers<undefined>();
    signal.addEventListener("abort", () => rejected.reject(new Error("the page was closed")));
    giving.abort(reason);
    return rejected.promise;
  };
  await expect(judged(waits, { signal: giving.signal })).rejects.toBe(reason);
});
