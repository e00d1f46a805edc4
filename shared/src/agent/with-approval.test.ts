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
    ["yes", 0],
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
