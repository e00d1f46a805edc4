import { expect, test } from "bun:test";
import { TaskState } from "@a2a-js/sdk";
import { agentApp } from "@manyhands/shared/a2a/agent-app";
import { createA2aClient, type OutgoingMessage } from "@manyhands/shared/a2a/client";
import { serve } from "@manyhands/shared/serve";
import type { FlowDefinition } from "./flow.ts";
import { flowExtension } from "./flow-extension.ts";
import { type FlowForTest, flowForTest } from "./flow-for-test.ts";
import { flowRequest } from "./flow-request.ts";
import { plan, plannerForTest } from "./planning/planner-for-test.ts";
import { planning } from "./planning/planning.ts";
import { sequential } from "./sequential.ts";

const wirePart = (content: NonNullable<OutgoingMessage["parts"]>[number]["content"]) => ({
  content,
  filename: "",
  mediaType: "",
  metadata: undefined,
});

test("a flow is an A2A agent: its card tells its settings, wrong ones are refused at once, its answer is the last artifact", async () => {
  await using flow = await flowForTest(sequential, { agents: { one: () => ({ text: "done" }) } });
  await using served = serveFlow(sequential, flow);
  const client = await createA2aClient(served.url);
  const told = client.card.capabilities?.extensions.find(({ uri }) => uri === "urn:manyhands:flow:1");
  expect(told?.params).toMatchObject({
    flow: "sequential",
    settings: { properties: { options: { type: "object" } } },
  });
  const text = wirePart({ $case: "text", value: "Go" });
  const settings = (value: object) => wirePart({ $case: "data", value });

  const wrong = client.send({ parts: [text, settings({ agents: ["one"], options: { onFailure: "hope" } })] });
  await expect(wrong).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("options.onFailure"),
  });
  expect((await flow.engine.list({ limit: 10 })).runs).toEqual([]);

  const task = await client.send({ parts: [text, settings({ agents: ["one"] })] });
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(task.artifacts.at(-1)).toMatchObject({ name: "answer", parts: [{ content: { value: "done" } }, {}] });
});

test("flows nest: a flow asks a flow by its address, and a question passes through both", async () => {
  const asks = [{ calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] }, { text: "2025 it is" }];
  await using inner = await flowForTest(planning, {
    agents: { deep: asks },
    model: plannerForTest({ plans: [plan({ text: "Find the year", agent: "deep" })] }),
  });
  await using served = serveFlow(planning, inner);
  await using outer = await flowForTest(sequential, { agents: { one: () => ({ text: "not asked" }) } });
  const id = await outer.start({ text: "Year?", agents: [served.url] });
  expect(await outer.event(id, "question-asked")).toMatchObject({ question: expect.stringContaining("Which year?") });
  await outer.say(id, "2025");
  expect((await outer.until(id, "completed", "failed")).output).toMatchObject({ answer: "2025 it is" });
  const answered = (await outer.events(id)).flatMap((event) => (event.type === "agent-answered" ? [event.usage] : []));
  expect(answered).toEqual([{ tokens: expect.any(Number), usd: expect.any(Number), unpriced: false }]);
  expect(answered[0]?.tokens).toBeGreaterThan(0);
});

/** A flow's runs behind an A2A server on a free port. */
function serveFlow(definition: FlowDefinition, { engine, artifacts }: FlowForTest): AsyncDisposable & { url: string } {
  let app: ReturnType<typeof agentApp> | undefined;
  const served = serve(
    { fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }) },
    { port: 0, graceMs: 100 },
  );
  const facts = {
    publicUrl: served.url.origin,
    model: { name: "scripted", provider: "test" },
    sandbox: "none",
  } as const;
  app = agentApp({
    definition,
    facts: { ...facts, extensions: [flowExtension(definition)] },
    engine,
    artifacts,
    identify: () => "alice",
    report: () => undefined,
    admit: (message) => void flowRequest(definition, message),
  });
  return { url: served.url.origin, [Symbol.asyncDispose]: () => served.stop() };
}
