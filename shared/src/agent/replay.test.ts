import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import * as z from "zod";
import { defineTool } from "../core/tools/define-tool.ts";
import { agentForTest } from "../testing/agent/agent.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { defineAgent } from "./define-agent.ts";

const call = (name: string, args: unknown = {}) => ({ name, args });

const tool = (name: string, effect: "pure" | "once") =>
  defineTool({ name, description: name, input: z.strictObject({}), effect, run: async () => name });

const bash = tool("bash", "once");
const read = tool("read", "pure");
const question = { calls: [call("ask_human", { inquire: "Go on?" })] };

test("a server that restarts with other tools continues a task it had started", async () => {
  for (const [before, after] of [
    [[bash, read], []],
    [[], [bash, read]],
  ]) {
    await using agent = await agentForTest({
      script: [{ calls: [call("bash"), call("bash"), call("read"), call("read")] }, question, { text: "done" }],
      tools: [...(before ?? []), askHuman()],
    });
    const id = await agent.start("Go.");
    await agent.until(id, "waiting");
    await agent.restart({ tools: [...(after ?? []), askHuman()] });
    await agent.say(id, "yes");
    expect(await agent.until(id, "completed", "paused")).toMatchObject({ status: "completed" });
  }
});

test("a server that restarts with other approvals continues a task it had started, and asks from then on", async () => {
  await using agent = await agentForTest({
    script: [{ calls: [call("bash")] }, question, { calls: [call("bash")] }, { text: "done" }],
    tools: [bash, askHuman()],
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.restart({ approval: ({ name }) => (name === "bash" ? "ask" : "allow") });
  await agent.say(id, "yes");
  for (;;) {
    const asked = (await agent.events(id)).filter(({ type }) => type === "question-asked");
    if (asked.length === 2 || (await agent.engine.get(id))?.status === "paused") break;
    await Bun.sleep(5);
  }
  expect((await agent.until(id, "waiting", "paused")).status).toBe("waiting");
  await agent.restart({});
  await agent.say(id, "no");
  expect((await agent.until(id, "completed", "paused")).status).toBe("completed");
});

test("a server that restarts with other limits, prompt and model keeps those of the task", async () => {
  await using agent = await agentForTest({
    script: [{ calls: [call("read")] }, question, { text: "done" }],
    tools: [read, askHuman()],
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  const { limits } = defineAgent({
    name: "later",
    title: "",
    description: "",
    version: "",
    skills: [],
    instructions: "",
    tools: [],
  });
  await agent.restart({
    agent: {
      instructions: "Another prompt. ".repeat(5_000),
      limits: { ...limits, steps: 1, callsPerTurn: 1, tokens: 1 },
    },
    model: { capabilities: { contextWindow: 1_000, vision: true } },
  });
  await agent.say(id, "yes");
  expect(await agent.until(id, "completed", "failed", "paused")).toMatchObject({ status: "completed" });
});

test("a tool name that storage alters does not stop the replay", async () => {
  await using agent = await agentForTest({
    script: [{ calls: [call("b\ud83dd"), call("nul\0name"), call("x".repeat(50_000))] }, question, { text: "done" }],
    tools: [askHuman()],
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.restart({});
  await agent.say(id, "yes");
  expect(await agent.until(id, "completed", "paused")).toMatchObject({ status: "completed" });
  const named = agent.model.requests.at(-1)?.body.messages.flatMap((message) => message.tool_calls ?? []);
  expect(named?.every((each) => /^[a-zA-Z0-9_-]{1,64}$/.test(each.function.name))).toBe(true);
});

test("a task that an earlier version started continues: its calls are parsed now, and their names say what their results brought", async () => {
  const seen: unknown[] = [];
  const last = defineTool({
    name: "last",
    description: "Ends the task.",
    input: z.strictObject({ city: z.string() }),
    effect: "once",
    risk: async (_, { takenIn }) => void seen.push(takenIn),
    run: async ({ city }) => ({ text: "", isError: false, end: { status: "success", summary: city } }),
  });
  const script = [
    { calls: ["planning", "browser_hover", "notes"].map((name) => call(name)) },
    { calls: [...question.calls, { name: "last", rawArguments: "{'city': 'Ulm',}" }] },
  ];
  const tools = [...["planning", "browser_hover", "notes"].map((name) => tool(name, "pure")), askHuman(), last];
  await using agent = await agentForTest({ script, tools });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  // What earlier versions did not record.
  const unrecorded = (text: string) =>
    JSON.stringify(JSON.parse(text, (key, value) => (key === "takenIn" || key === "input" ? undefined : value)));
  const database = new Database(join(agent.home, "runs.db"));
  const steps = database.query<{ path: string; out: string }, []>(
    "SELECT path, out FROM journal WHERE out IS NOT NULL",
  );
  for (const { path, out } of steps.all())
    database.run("UPDATE journal SET out = ? WHERE path = ?", [unrecorded(out), path]);
  for (const { seq, event } of database
    .query<{ seq: number; event: string }, []>("SELECT seq, event FROM events")
    .all())
    database.run("UPDATE events SET event = ? WHERE seq = ?", [unrecorded(event), seq]);
  database.close();
  await agent.restart({});
  await agent.say(id, "yes");
  const { status, output } = await agent.until(id, "completed", "paused", "failed");
  expect([status, output]).toMatchObject(["completed", { answer: "Ulm" }]);
  expect(seen.at(-1)).toEqual(["web", "notes"]);
});
