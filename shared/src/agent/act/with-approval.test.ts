import { expect, test } from "bun:test";
import * as z from "zod";
import type { EventOf } from "../../core/events/events.ts";
import { approvalCode } from "../../core/tools/approval.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { type AgentForTest, agentForTest } from "../../testing/agent/agent.ts";

function action() {
  const made: number[] = [];
  const tool = defineTool({
    name: "act",
    description: "Does something.",
    input: z.strictObject({ n: z.int() }),
    effect: "once",
    run: async ({ n }) => `done ${made.push(n)}`,
  });
  return { tool, made };
}
const acts = (count: number) => Array.from({ length: count }, (_, n) => ({ name: "act", args: { n } }));

test("a person is asked only about calls that would be made", async () => {
  const { tool, made } = action();
  await using agent = await agentForTest({
    script: [{ calls: acts(20) }, { text: "ok" }],
    tools: [tool],
    approval: () => "ask",
    agent: { limits: { callsPerTurn: 2 } },
  });
  const id = await agent.start("Act.");
  for (const answered of [0, 1]) {
    const { question } = await asked(agent, id, answered);
    await agent.say(id, /"(yes \w+)"/.exec(question)?.[1] ?? "");
  }
  await agent.until(id, "completed");
  expect(made).toEqual([0, 1]);
});

test("a call that cannot succeed fails without anybody being asked, and the others are asked about", async () => {
  const { tool, made } = action();
  const judged: Tool = {
    ...tool,
    risk: async () => "Act for good",
    impossible: async (input) => ((input as { n: number }).n === 0 ? "There is no such thing." : undefined),
  };
  const script = [{ calls: acts(2) }, { text: "ok" }];
  await using agent = await agentForTest({ script, tools: [judged], approval: () => "allow" });
  const id = await agent.start("Act.");
  const { question } = await asked(agent, id, 0);
  expect(question).toContain('act {"n":1}');
  await agent.say(id, /"(yes \w+)"/.exec(question)?.[1] ?? "");
  await agent.until(id, "completed");
  const ended = (await agent.events(id)).flatMap((event) => (event.type === "tool-ended" ? [event.text] : []));
  expect([made, ended]).toEqual([[1], ["Not made, since it could not succeed: There is no such thing.", "done 1"]]);
});

/** The question that comes after so many, once the task waits for its answer. */
async function asked(agent: AgentForTest, id: string, before: number) {
  const questions = async () =>
    (await agent.events(id)).flatMap((event) => (event.type === "question-asked" ? [event] : []));
  for (const deadline = Date.now() + 60_000; (await questions()).length <= before && Date.now() < deadline; )
    await Bun.sleep(5);
  await agent.until(id, "waiting");
  return (await questions())[before] ?? { question: "nothing was asked" };
}

test("the question shows the arguments that the call would be made with, however they are written", async () => {
  const [written, shown] = ['{"n": 7, "\\u006e": 1}', '{"n":1}'];
  const { tool, made } = action();
  const script = [{ calls: [{ name: "act", args: written }] }, { text: "ok" }];
  await using agent = await agentForTest({ script, tools: [tool], approval: () => "ask" });
  const id = await agent.start("Act.");
  const { question, approval } = (await asked(agent, id, 0)) as EventOf<"question-asked">;
  expect([question.split("\n")[2], approval?.arguments]).toEqual([`act ${shown}`, shown]);
  await agent.say(id, /"(yes \w+)"/.exec(question)?.[1] ?? "");
  await agent.until(id, "completed");
  expect(made).toEqual([1]);
});

test("what a question quotes hides nothing from the person: no character in it is unseen", async () => {
  const hidden = String.fromCodePoint(0xe0041, 0x202e);
  const { tool } = action();
  const say: Tool = {
    ...tool,
    name: "say",
    inputSchema: { type: "object" },
    risk: async () => `Keep "${hidden}" in your memory`,
  };
  const script = [{ calls: [{ name: "say", args: { text: hidden } }] }, { text: "ok" }];
  await using agent = await agentForTest({ script, tools: [say] });
  const id = await agent.start("Act.");
  const { question, approval } = (await asked(agent, id, 0)) as EventOf<"question-asked">;
  expect(JSON.stringify([question, approval])).not.toMatch(/[\u{e0041}\u{202e}]/u);
  expect(question).toContain('Keep "\\udb40\\udc41\\u202e" in your memory');
  expect(JSON.parse(approval?.arguments ?? "")).toEqual({ text: hidden });
});

test("no call of the turn runs before the person answers; after a no, none runs and nothing more is asked", async () => {
  const { tool, made } = action();
  const free = action();
  const harmless = { ...free.tool, name: "free" };
  const calls = [{ name: "free", args: { n: 7 } }, ...acts(3), { name: "free", args: { n: 8 } }];
  await using agent = await agentForTest({
    script: [{ calls }, { text: "ok" }],
    tools: [tool, harmless],
    approval: ({ name }) => (name === "act" ? "ask" : "allow"),
  });
  const id = await agent.start("Act.");
  const { question } = await asked(agent, id, 0);
  expect(free.made).toEqual([]);
  await agent.say(id, /"(yes \w+)"/.exec(question)?.[1] ?? "");
  await asked(agent, id, 1);
  await agent.say(id, "no");
  await agent.until(id, "completed");
  expect([made, free.made]).toEqual([[], []]);
  const ends = (await agent.events(id)).flatMap((event) => (event.type === "tool-ended" ? [event.text] : []));
  expect(ends).toHaveLength(5);
  expect(ends.filter((text) => text.includes("that the person did not allow"))).toHaveLength(4);
  expect(ends[2]).toContain("The person said: no");
});

test("a call that the configuration denies does not affect the other calls of its turn", async () => {
  const { tool, made } = action();
  await using agent = await agentForTest({
    script: [{ calls: acts(2) }, { text: "ok" }],
    tools: [tool],
    approval: (call) => (call.arguments.includes("0") ? "deny" : "allow"),
  });
  await agent.run("Act.");
  expect(made).toEqual([1]);
});

test("a model reads why its call is denied: by the configuration, or with what the call would have done", async () => {
  const { tool, made } = action();
  const risky = {
    ...tool,
    risk: async (input: unknown) => (JSON.stringify(input) === '{"n":1}' ? "Pay 5 €." : undefined),
  };
  await using agent = await agentForTest({
    script: [{ calls: acts(2) }, { text: "ok" }],
    tools: [risky],
    approval: (call) => (call.arguments.includes("0") ? "deny" : "allow"),
    risky: "deny",
  });
  const { events } = await agent.run("Act.");
  const denied = "Not allowed by the configuration of this agent";
  expect(events.flatMap((event) => (event.type === "tool-ended" ? [event.text] : []))).toEqual([
    `${denied}.`,
    expect.stringMatching(new RegExp(`^${denied}, which allows no risky calls\\. It would:\\n[^]*Pay 5 €\\.`)),
  ]);
  expect(made).toEqual([]);
});

test("the code of a call depends on its tool, arguments, risk, id and run", () => {
  const call = { id: "c1", name: "act", arguments: '{"n":1}', risk: "Click “Pay”" };
  const codes = [
    approvalCode("r1", call),
    approvalCode("r2", call),
    ...[{ id: "c2" }, { name: "act2" }, { arguments: '{"n":2}' }, { risk: "Click “Next”" }].map((change) =>
      approvalCode("r1", { ...call, ...change }),
    ),
    approvalCode("r1", { id: "c1", name: "act", arguments: '{"n":1}' }),
  ];
  expect(new Set(codes).size).toBe(codes.length);
  expect(approvalCode("r1", call)).toBe(codes[0] ?? "");
  for (const code of codes) expect(code).toMatch(/^[\da-f]{6}$/);
});

test("an answer that only mentions the code allows nothing", async () => {
  for (const [answer, allowed] of [
    ["I would never say yes CODE", 0],
    [' "Yes CODE." ', 1],
  ] as const) {
    const { tool, made } = action();
    await using agent = await agentForTest({
      script: [{ calls: acts(1) }, { text: "ok" }],
      tools: [tool],
      approval: () => "ask",
    });
    const id = await agent.start("Act.");
    await agent.until(id, "waiting");
    const code = /"yes (\w+)"/.exec(JSON.stringify(await agent.events(id)).replaceAll("\\", ""))?.[1] ?? "";
    await agent.say(id, answer.replace("CODE", code));
    await agent.until(id, "completed");
    expect(made).toHaveLength(allowed);
  }
});

test("after a yes without the code the question is repeated once, with the reason; the yes itself is never accepted", async () => {
  for (const [second, allowed] of [
    ["yes", 0],
    ["yes CODE", 1],
  ] as const) {
    const { tool, made } = action();
    await using agent = await agentForTest({
      script: [{ calls: acts(1) }, { text: "ok" }],
      tools: [tool],
      approval: () => "ask",
    });
    const id = await agent.start("Act.");
    const questions = async () => (await agent.events(id)).filter(({ type }) => type === "question-asked");
    await agent.until(id, "waiting");
    await agent.say(id, "Yes");
    while ((await questions()).length < 2) await Bun.sleep(5);
    await agent.until(id, "waiting");
    const code = /"yes (\w+)"/.exec(JSON.stringify(await questions()).replaceAll("\\", ""))?.[1] ?? "";
    await agent.say(id, second.replace("CODE", code));
    await agent.until(id, "completed");
    expect(made).toHaveLength(allowed);
    expect((await questions()).map((one) => JSON.stringify(one).includes("include the code"))).toEqual([false, true]);
  }
});

test("the code of a call allows only that call, not a repetition of it", async () => {
  const { tool, made } = action();
  const call = { calls: acts(1) };
  await using agent = await agentForTest({
    script: [call, call, { text: "ok" }],
    tools: [tool],
    approval: () => "ask",
  });
  const id = await agent.start("Act.");
  const questions = async () => (await agent.events(id)).filter(({ type }) => type === "question-asked");
  await agent.until(id, "waiting");
  const code = /"yes (\w+)"/.exec(JSON.stringify(await questions()).replaceAll("\\", ""))?.[1] ?? "";
  await agent.say(id, `yes ${code}`);
  while ((await questions()).length < 2) await Bun.sleep(5);
  await agent.until(id, "waiting");
  await agent.say(id, `yes ${code}`);
  await agent.until(id, "completed");
  expect(made).toHaveLength(1);
});

test("a call that nobody allows within a day is not made", async () => {
  const { tool, made } = action();
  let later = 0;
  await using agent = await agentForTest({
    script: [{ calls: acts(1) }, { text: "ok" }],
    tools: [tool],
    approval: () => "ask",
    passed: () => later,
  });
  const id = await agent.start("Act.");
  await agent.until(id, "waiting");
  later = 23.9 * 60 * 60 * 1000;
  await Bun.sleep(200);
  expect((await agent.engine.get(id))?.status).toBe("waiting");
  later = 25 * 60 * 60 * 1000;
  await agent.until(id, "completed");
  expect(made).toEqual([]);
  const ended = (await agent.events(id)).find(({ type }) => type === "tool-ended");
  expect(ended).toMatchObject({ isError: true, text: expect.stringContaining("Nobody allowed this call in time") });
});

test("what was said before the question does not answer it", async () => {
  const { tool, made } = action();
  const judging = Promise.withResolvers<void>();
  const judged = Promise.withResolvers<void>();
  const risky: Tool = {
    ...tool,
    async risk() {
      judging.resolve();
      await judged.promise;
      return "Pays";
    },
  };
  await using agent = await agentForTest({ script: [{ calls: acts(1) }, { text: "ok" }], tools: [risky] });
  const id = await agent.start("Act.");
  await judging.promise;
  await agent.say(id, "no");
  judged.resolve();
  const { question } = await asked(agent, id, 0);
  await agent.say(id, /"(yes \w+)"/.exec(question)?.[1] ?? "");
  await agent.until(id, "completed");
  expect(made).toEqual([0]);
});

test("after a no the model reads what the person was asked and what they said", async () => {
  const { tool } = action();
  const risky: Tool = { ...tool, risk: async () => "Pay 5 €." };
  await using agent = await agentForTest({ script: [{ calls: acts(1) }, { text: "ok" }], tools: [risky] });
  const id = await agent.start("Act.");
  await asked(agent, id, 0);
  await agent.say(id, "No, too much.");
  await agent.until(id, "completed");
  const told = agent.model.requests.at(-1)?.body.messages.find(({ role }) => role === "tool")?.content;
  expect(told).toBe(
    'Error:\nThe call was not allowed and not made. They were asked:\n<risk from="the call">\nPay 5 €.\n</risk>\nThe person said: No, too much.',
  );
});
