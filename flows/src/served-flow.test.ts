import { expect, test } from "bun:test";
import { TaskState } from "@a2a-js/sdk";
import { agentApp } from "@manyhands/shared/a2a/agent-app";
import { createA2aClient, type OutgoingMessage } from "@manyhands/shared/a2a/client";
import { serve } from "@manyhands/shared/serve";
import { flowExtension } from "./flow-extension.ts";
import { flowForTest } from "./flow-for-test.ts";
import { flowRequest } from "./flow-request.ts";
import { sequential } from "./sequential.ts";

const wirePart = (content: NonNullable<OutgoingMessage["parts"]>[number]["content"]) => ({
  content,
  filename: "",
  mediaType: "",
  metadata: undefined,
});

test("a flow is an A2A agent: its card tells its settings, wrong ones are refused at once, its answer is the last artifact", async () => {
  await using flow = await flowForTest(sequential, { agents: { one: () => ({ text: "done" }) } });
  let app: ReturnType<typeof agentApp> | undefined;
  const served = serve(
    { fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }) },
    { port: 0, graceMs: 100 },
  );
  app = agentApp({
    definition: sequential,
    facts: {
      publicUrl: served.url.origin,
      model: { name: "scripted", provider: "test" },
      sandbox: "none",
      extensions: [flowExtension(sequential)],
    },
    engine: flow.engine,
    artifacts: flow.artifacts,
    identify: () => "alice",
    report: () => undefined,
    admit: (message) => void flowRequest(sequential, message),
  });
  try {
    const client = await createA2aClient(served.url.origin);
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
  } finally {
    await served.stop();
  }
});
