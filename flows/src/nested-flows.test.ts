import { expect, test } from "bun:test";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { flowForTest } from "manyhands/internal/testing/flow";
import { debate } from "./debate/debate.ts";
import { parallel } from "./parallel/parallel.ts";
import { sequential } from "./sequential.ts";
import { doorForTest } from "./testing/served-flow.ts";

const say =
  (text: string, delayMs = 0) =>
  () => ({ text, delayMs });
const verdict = { decision: "Spaces", confidence: 0.7, reasons: ["[2] holds"], dissent: "", citations: [2] };
const settings = {
  options: {
    positions: [
      { agent: "pro", position: "Tabs" },
      { agent: "con", position: "Spaces" },
    ],
    rounds: 1,
  },
};

test("a flow asks a flow by name, with its own settings, and gets the usage and files of both", async () => {
  await using door = doorForTest();
  await using inner = await flowForTest(debate, {
    agents: { pro: say("tabs are wide"), con: say("spaces are even") },
    model: [
      { calls: [{ name: "give_verdict", args: verdict }], usage: { prompt_tokens: 900, completion_tokens: 100 } },
    ],
  });
  door.open(debate, inner);
  await using flow = await flowForTest(parallel, {
    agents: { debate: [], plain: say("plainly") },
    entries: { debate: { url: door.url, kind: "flow" } },
  });
  const branches = [{ agent: "debate", settings }, { agent: "plain" }];
  const { answer, events, record } = await flow.run({ text: "Tabs or spaces?", options: { branches } });
  expect([record.status, answer]).toEqual([
    "completed",
    expect.stringMatching(/^## 1\. debate\n\nSpaces\n\nConfidence: 0\.7.*## 2\. plain\n\nplainly$/s),
  ]);
  const [task] = await inner.agent("pro").tasks();
  expect((task?.input as AgentInput | undefined)?.hops).toBe(2);
  const used = events.flatMap((event) =>
    event.type === "agent-answered" && event.agent === "debate" ? [event.usage?.tokens ?? 0] : [],
  );
  expect(used[0]).toBeGreaterThanOrEqual(1000);
  const progress = events.flatMap((event) => (event.type === "agent-progressed" ? [event.text] : []));
  expect(progress.join("\n")).toContain("[1] A (pro): tabs are wide");
});

test("a question of an agent two flows down reaches the person, and a cancel reaches it", async () => {
  const asks = [{ calls: [{ name: "ask_human", args: { inquire: "How wide?" } }] }, { text: "eight it is" }];
  await using door = doorForTest();
  await using inner = await flowForTest(parallel, { agents: { asker: asks, slow: say("late", 600_000) } });
  door.open(parallel, inner);
  await using flow = await flowForTest(sequential, {
    agents: { both: [] },
    entries: { both: { url: door.url, kind: "flow" } },
  });
  const steps = (agent: string) => [{ agent: "both", settings: { agents: [agent] } }];
  const id = await flow.start({ text: "Go", agents: ["both"], options: { steps: steps("asker") } });
  expect(await flow.event(id, "question-asked")).toMatchObject({ question: expect.stringContaining("How wide?") });
  await flow.say(id, "eight");
  expect((await flow.until(id, "completed")).output).toMatchObject({ answer: "eight it is" });

  const other = await flow.start({ text: "Go", agents: ["both"], options: { steps: steps("slow") } });
  const [asked] = await until(async () =>
    (await inner.agent("slow").tasks()).filter(({ status }) => status === "running"),
  );
  await flow.engine.cancel(other);
  await flow.until(other, "canceled");
  await until(async () => (await inner.agent("slow").tasks()).filter(({ status }) => status === "canceled"));
  expect(asked).toBeDefined();
});

test("a flow that ends up asking itself stops at the hop limit", async () => {
  await using door = doorForTest();
  await using flow = await flowForTest(parallel, { agents: { ring: [] }, entries: { ring: { url: door.url } } });
  door.open(parallel, flow);
  const { record } = await flow.run({ text: "Go" });
  expect(record.error?.code).toBe("task_failed");
  const { runs } = await flow.engine.list({ kind: "parallel", limit: 20 });
  expect(runs).toHaveLength(9);
  const deepest = runs.find(({ input }) => (input as AgentInput).hops === 8);
  expect(deepest?.error?.message).toContain("has passed through 8 agents, and 8 is the most: ring was not asked.");
});

async function until<Found>(look: () => Promise<readonly Found[]>): Promise<readonly Found[]> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(10)) {
    const found = await look();
    if (found.length > 0) return found;
  }
  throw new Error("waited in vain");
}
