import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../tools/tool.ts";
import { agentForTest } from "./agent-for-test.ts";

function deed() {
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
  const { tool, made } = deed();
  await using agent = await agentForTest({
    script: [{ calls: acts(20) }, { text: "ok" }],
    tools: [tool],
    approval: () => "ask",
    agent: { limits: { callsPerTurn: 2 } },
  });
  const id = await agent.start("Act.");
  for (let answered = 0; answered < 2; answered++) {
    const questions = async () => (await agent.events(id)).filter(({ type }) => type === "question-asked");
    while ((await questions()).length <= answered) await Bun.sleep(5);
    await agent.until(id, "waiting");
    await agent.say(id, "no");
  }
  await agent.until(id, "completed");
  expect(made).toEqual([]);
});

test("an answer that only mentions the code allows nothing", async () => {
  for (const [answer, allowed] of [
    ["I would never say yes CODE", 0],
    [' "Yes CODE." ', 1],
  ] as const) {
    const { tool, made } = deed();
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

test("a yes without the code is asked about once more, with the reason, and never taken", async () => {
  for (const [second, allowed] of [
    ["yes", 0],
    ["yes CODE", 1],
  ] as const) {
    const { tool, made } = deed();
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
    expect((await questions()).map((one) => JSON.stringify(one).includes("it takes the code"))).toEqual([false, true]);
  }
});

test("the code of a call allows that one only, not the same call once more", async () => {
  const { tool, made } = deed();
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

test("what nobody allowed within a day is not made", async () => {
  const { tool, made } = deed();
  let later = 0;
  await using agent = await agentForTest({
    script: [{ calls: acts(1) }, { text: "ok" }],
    tools: [tool],
    approval: () => "ask",
    passed: () => later,
  });
  const id = await agent.start("Act.");
  await agent.until(id, "waiting");
  later = 25 * 60 * 60 * 1000;
  await agent.until(id, "completed");
  expect(made).toEqual([]);
  const ended = (await agent.events(id)).find(({ type }) => type === "tool-ended");
  expect(ended).toMatchObject({ isError: true, text: expect.stringContaining("Nobody allowed this call in time") });
});
