import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { createA2aClient } from "manyhands/a2a";
import { startAgentForTest } from "manyhands/testing";

const entry = fileURLToPath(new URL("./quick-start.ts", import.meta.url));

test("one file is an agent with a card, tools and an answer", async () => {
  await using concierge = await startAgentForTest(entry, { script: [{ text: "Walk." }] });
  const client = await createA2aClient(concierge.url);
  expect(client.card).toMatchObject({ name: "Concierge", description: "Plans a day out." });

  const task = await client.send({ text: "A day in Rome" });
  expect(task.artifacts.at(-1)?.parts[0]?.content?.value).toBe("Walk.");
  const tools = concierge.model.requests[0]?.body.tools?.map((tool) => tool.function.name);
  expect(tools).toEqual(expect.arrayContaining(["weather", "str_replace_editor", "ask_human"]));
});
