import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../core/define-tool.ts";
import { agentForTest } from "../testing/agent/agent.ts";
import { askHuman } from "../tools/human/ask-human.ts";

const question = { calls: [{ name: "ask_human", args: { inquire: "Which?" } }] };

/** A tool that keeps something between calls, and says when it was told to let go of it. */
function keeper() {
  const released: string[] = [];
  const tool = {
    ...defineTool({
      name: "keep",
      description: "Keeps something.",
      input: z.strictObject({}),
      effect: "once",
      run: async () => "kept",
    }),
    release: async () => void released.push("released"),
  };
  return { tool, released };
}

test("tools release what they hold when a task is canceled while it waits", async () => {
  const { tool, released } = keeper();
  await using agent = await agentForTest({ script: [question], tools: [tool, askHuman()] });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.engine.cancel(id);
  await agent.until(id, "canceled");
  for (const deadline = Date.now() + 60_000; released.length === 0 && Date.now() < deadline; ) await Bun.sleep(5);
  expect(released).toEqual(["released"]);
});

test("tools keep what they hold while another task of the conversation is running", async () => {
  const { tool, released } = keeper();
  await using agent = await agentForTest({
    script: (_, n) => (n === 0 ? question : { text: "never ending", stallAfter: 1 }),
    tools: [tool, askHuman()],
  });
  const waiting = await agent.start("One.");
  await agent.until(waiting, "waiting");
  const running = await agent.start("Two.");
  while (agent.model.requests.length < 2) await Bun.sleep(5);
  await agent.engine.cancel(running);
  await agent.until(running, "canceled");
  expect(released).toEqual([]);
  await agent.engine.cancel(waiting);
  await agent.until(waiting, "canceled");
  for (const deadline = Date.now() + 60_000; released.length === 0 && Date.now() < deadline; ) await Bun.sleep(5);
  expect(released).toEqual(["released"]);
});

test("another principal's task in a conversation of the same name keeps nothing held", async () => {
  const { tool, released } = keeper();
  await using agent = await agentForTest({ script: () => question, tools: [tool, askHuman()] });
  const id = await agent.start("Go.");
  const { kind, contextId, principal, input } = await agent.until(id, "waiting");
  await agent.engine.start({ kind, contextId, principal: `not ${principal}`, input });
  await agent.engine.cancel(id);
  await agent.until(id, "canceled");
  for (const deadline = Date.now() + 30_000; released.length === 0 && Date.now() < deadline; ) await Bun.sleep(5);
  expect(released).toEqual(["released"]);
});
