import { expect, test } from "bun:test";
import * as z from "zod";
import type { AgentDefinition, MoreTools } from "../core/agent.ts";
import type { Engine, RunRecord } from "../core/runs/engine.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import { agentForTest } from "../testing/agent/agent.ts";
import { workspaceForTest } from "../testing/machine/workspace.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { releaseTools } from "./release-tools.ts";

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

test("tools keep what they hold for the next task when one completes or fails", async () => {
  const { tool, released } = keeper();
  const kept = { calls: [{ name: "keep", args: {} }] };
  await using agent = await agentForTest({ script: [kept, { text: "Done." }, { status: 401 }], tools: [tool] });
  expect((await agent.run("One.")).record.status).toBe("completed");
  expect((await agent.run("Two.")).record.status).toBe("failed");
  expect(released).toEqual([]);
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

test("a process that shuts down amid a call leaves its conversation's tools alone", async () => {
  const { tool, released } = keeper();
  const called = Promise.withResolvers<void>();
  const waits = defineTool({
    name: "wait",
    description: "Waits.",
    input: z.strictObject({}),
    effect: "once",
    run: async (_, { signal }) => {
      called.resolve();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
      return "";
    },
  });
  await using agent = await agentForTest({ script: [{ calls: [{ name: "wait", args: {} }] }], tools: [tool, waits] });
  await agent.start("Go.");
  await called.promise;
  await agent.engine.close({ graceMs: 0 });
  expect(released).toEqual([]);
});

type Status = RunRecord["status"];
const everyStatus: readonly Status[] = ["queued", "running", "waiting", "paused", "completed", "failed", "canceled"];

test.each(everyStatus)(
  "what tools keep for a conversation is let go of unless another task of it is open: %s",
  async (status) => {
    await using place = await workspaceForTest();
    const { tool, released } = keeper();
    const failing = { ...tool, release: () => Promise.reject(new Error("gone already")) };
    const moreTools = { release: async () => void released.push("more") } as unknown as MoreTools;
    const agent = { name: "tester", tools: [failing, tool], moreTools } as unknown as AgentDefinition;
    const run = { id: "own", principal: "alice", contextId: "c1" };
    const runs = [
      { id: "own", status: "running" as const },
      { id: "other", status },
    ];
    const asked: object[] = [];
    const list: Engine["list"] = async ({ statuses, limit = 100, ...rest }) => {
      asked.push(rest);
      const found = runs.filter((one) => statuses?.includes(one.status)) as RunRecord[];
      return { runs: found.slice(0, limit), total: found.length };
    };
    await releaseTools(agent, run, { engine: { list }, openWorkspace: async () => place.workspace });
    const isOpen = !["completed", "failed", "canceled"].includes(status);
    expect(released).toEqual(isOpen ? [] : ["released", "more"]);
    expect(asked).toEqual([{ kind: "tester", principal: "alice", contextId: "c1" }]);
  },
);
