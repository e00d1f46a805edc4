import { afterAll, beforeAll, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { createA2aClient, TaskState } from "manyhands/a2a";
import { startAgentForTest } from "manyhands/testing";

const entry = fileURLToPath(new URL("./concierge.ts", import.meta.url));

let service: Bun.Server<undefined>;
beforeAll(() => {
  service = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("rome: ⛅️ +18°C") });
});
afterAll(() => service.stop(true));

test("the concierge checks the weather before it plans", async () => {
  await using concierge = await startAgentForTest(entry, {
    script: [
      { calls: [{ name: "weather", args: { city: "Rome" } }] },
      { text: "It is mild and dry: walk through the Forum." },
    ],
    // The tools' fetch refuses addresses of this machine unless they are allowed by name.
    env: { WEATHER_URL: service.url.origin, MANYHANDS_EGRESS_ALLOW: service.url.host },
  });
  const client = await createA2aClient(concierge.url);
  const task = await client.send({ text: "A day in Rome" });

  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(task.artifacts.at(-1)?.parts[0]?.content?.value).toBe("It is mild and dry: walk through the Forum.");
  expect(JSON.stringify(concierge.model.requests[1]?.body.messages)).toContain("+18°C");
});
