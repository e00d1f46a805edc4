import { expect, test } from "bun:test";
import { TaskState } from "@a2a-js/sdk";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import type { OutgoingMessage } from "manyhands/internal/a2a/client/outgoing-message";
import { flowForTest } from "manyhands/internal/testing/flow";
import { planning } from "./planning/planning.ts";
import { sequential } from "./sequential.ts";
import { plan, plannerForTest } from "./testing/planner.ts";
import { doorForTest } from "./testing/served-flow.ts";

const wirePart = (content: NonNullable<OutgoingMessage["parts"]>[number]["content"]) => ({
  content,
  filename: "",
  mediaType: "",
  metadata: undefined,
});

test("a flow is an A2A agent: its card describes its settings, wrong ones are refused at once, its answer is the last artifact", async () => {
  await using flow = await flowForTest(sequential, { agents: { one: () => ({ text: "done" }) } });
  await using door = doorForTest();
  door.open(sequential, flow);
  const client = await createA2aClient(door.url);
  const told = client.card.capabilities?.extensions.find(({ uri }) => uri === "urn:manyhands:flow:1");
  expect(told?.params).toMatchObject({
    flow: "sequential",
    settings: { properties: { options: { type: "object" } } },
  });
  const text = wirePart({ $case: "text", value: "Go" });
  const wrong = client.send({ parts: [text], flow: { agents: ["one"], options: { onFailure: "hope" } } });
  await expect(wrong).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("options.onFailure"),
  });
  expect((await flow.engine.list({ limit: 10 })).runs).toEqual([]);

  const task = await client.send({ parts: [text], flow: { agents: ["one"] } });
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(task.artifacts.at(-1)).toMatchObject({ name: "answer", parts: [{ content: { value: "done" } }, {}] });
});

test("flows nest: a flow asks a flow by its address, and a question passes through both", async () => {
  const asks = [{ calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] }, { text: "2025 it is" }];
  await using inner = await flowForTest(planning, {
    agents: { deep: asks },
    model: plannerForTest({ plans: [plan({ text: "Find the year", agent: "deep" })] }),
  });
  await using door = doorForTest();
  door.open(planning, inner);
  await using outer = await flowForTest(sequential, { agents: { one: () => ({ text: "not asked" }) } });
  const id = await outer.start({ text: "Year?", agents: [door.url] });
  expect(await outer.event(id, "question-asked")).toMatchObject({ question: expect.stringContaining("Which year?") });
  await outer.say(id, "2025");
  expect((await outer.until(id, "completed", "failed")).output).toMatchObject({ answer: "2025 it is" });
  const answered = (await outer.events(id)).flatMap((event) => (event.type === "agent-answered" ? [event.usage] : []));
  expect(answered).toEqual([
    { tokens: expect.any(Number), outputTokens: expect.any(Number), usd: expect.any(Number), unpriced: false },
  ]);
  expect(answered[0]?.tokens).toBeGreaterThan(0);
});
