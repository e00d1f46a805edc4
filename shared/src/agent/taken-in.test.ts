import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../core/tools/define-tool.ts";
import type { RiskContext, Tool, ToolResult } from "../core/tools/tool.ts";
import { type AgentForTest, agentForTest } from "../testing/agent/agent.ts";
import { workspaceForTest } from "../testing/machine/workspace.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { judgeRisk } from "./act/judge-risk.ts";
import { readCall } from "./act/plan-call.ts";
import { readEarlier } from "./earlier.ts";

const named = (name: string, { takenIn, brings }: Pick<ToolResult, "takenIn"> & Pick<Tool, "brings"> = {}): Tool =>
  defineTool({
    name,
    ...(brings && { brings }),
    description: "Reads.",
    input: z.looseObject({}),
    effect: "pure",
    run: async () => ({ text: "read", isError: false, ...(takenIn && { takenIn }) }),
  });

/** A tool that notes what it was judged by. */
function watcher() {
  const seen: RiskContext[] = [];
  const risk: Tool["risk"] = async (_, context) => void seen.push(context);
  return { tool: { ...named("planning", { brings: [] }), risk } as Tool, newest: () => seen.at(-1)?.takenIn };
}
const watch = { calls: [{ name: "planning", args: {} }] };
const reading = (...names: string[]) => ({ calls: names.map((name) => ({ name, args: {} })) });

async function agentThat(script: Parameters<typeof agentForTest>[0]["script"], ...tools: Tool[]) {
  const { tool, newest } = watcher();
  return { agent: await agentForTest({ script, tools: [tool, ...tools] }), newest };
}

async function file(agent: AgentForTest, name: string) {
  return {
    type: "file",
    ...(await agent.artifacts.put(new TextEncoder().encode("x"), { name, mediaType: "text/plain" })),
  } as const;
}

test("a result brings the sources that it or its tool declares, or else the tool's name", async () => {
  const tools = [
    ...["bash", "web__fetch", "browser_of_others"].map((name) => named(name)),
    named("web_fetch", { brings: ["web"] }),
    named("str_replace_editor", { brings: [] }),
    named("own", { takenIn: ["notes.example", "web"], brings: ["else"] }),
  ];
  const script = [
    watch,
    reading("str_replace_editor"),
    watch,
    reading("web_fetch"),
    watch,
    reading("bash", "web__fetch", "own", "browser_of_others"),
    watch,
  ];
  const seen: (readonly string[] | undefined)[] = [];
  const made = await agentThat([...script, { text: "done" }], ...tools);
  await using agent = made.agent;
  const done = made.newest;
  await agent.run("Go.");
  seen.push(done());
  expect(seen).toEqual([["web", "bash", "web__fetch", "notes.example", "browser_of_others"]]);
});

test("a user's words alone bring no sources", async () => {
  const { agent, newest } = await agentThat([watch, { text: "done" }]);
  await using _ = agent;
  await agent.run("Go to https://shop.example/.");
  expect(newest()).toEqual([]);
});

test("files and data of the first message, of a later one and of an answer count as sources", async () => {
  for (const part of ["file", "data"] as const) {
    const { agent, newest } = await agentThat([watch, { text: "done" }]);
    await using _ = agent;
    const parts = part === "file" ? [await file(agent, "notes.txt")] : [{ type: "data", data: { a: 1 } } as const];
    await agent.run("Go.", { parts });
    expect(newest()).toEqual([part]);
  }
  const { tool, newest } = watcher();
  const ask = { calls: [{ name: "ask_human", args: { inquire: "Which?" } }] };
  await using agent = await agentForTest({ script: [watch, ask, watch, { text: "done" }], tools: [tool, askHuman()] });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  expect(newest()).toEqual([]);
  await agent.say(id, "this one", [await file(agent, "notes.txt")]);
  await agent.until(id, "completed");
  expect(newest()).toEqual(["file"]);
});

test("a task from another agent starts with the sources that agent reports, or with any source if it reports none", async () => {
  for (const [options, expected] of [
    [{ hops: 1 }, ["task"]],
    [{ hops: 1, takenIn: [] }, []],
    [{ hops: 2, takenIn: ["web", "bash"] }, ["web", "bash"]],
    [{ hops: 0 }, []],
  ] as const) {
    const { agent, newest } = await agentThat([watch, { text: "done" }]);
    await using _ = agent;
    await agent.run("Go.", options);
    expect(newest()).toEqual([...expected]);
  }
});

test("sources that earlier tasks of the conversation took in still count, even after a restart, and the answer reports them", async () => {
  const { tool, newest } = watcher();
  const script = [reading("bash"), { text: "one" }, { text: "two" }, watch, { text: "three" }];
  await using agent = await agentForTest({ script, tools: [tool, named("bash")] });
  const { events } = await agent.run("One.");
  expect(events.findLast(({ type }) => type === "artifact-added")).toMatchObject({ name: "answer", takenIn: ["bash"] });
  await agent.run("Two.", { hops: 1, takenIn: ["notes.example"] });
  await agent.restart({});
  await agent.run("Three.");
  expect(newest()).toEqual(["bash", "notes.example"]);
});

/** Reads what an earlier script put there, and is then watched. */
const readsFile = [reading("str_replace_editor"), watch, { text: "done" }];

test("what another task of the conversation took in counts as soon as this one may read its files, ended or not", async () => {
  const { tool, newest } = watcher();
  const ask = { calls: [{ name: "ask_human", args: { inquire: "Which?" } }] };
  const tools = [tool, named("bash"), named("python"), named("str_replace_editor", { brings: [] }), askHuman()];
  const second = { calls: [{ name: "ask_human", args: { inquire: "Go on?" } }] };
  const script = [reading("bash"), ask, second, reading("python"), { text: "one" }, ...readsFile];
  await using agent = await agentForTest({ script, tools });
  const one = await agent.start("One.");
  await agent.until(one, "waiting");
  const two = await agent.start("Two.");
  await agent.until(two, "waiting");
  await agent.say(one, "this one");
  await agent.until(one, "completed");
  await agent.say(two, "go on");
  await agent.until(two, "completed");
  expect(newest()).toEqual(["bash", "python"]);
});

test("what a deleted task left in the workspace keeps its sources", async () => {
  const { tool, newest } = watcher();
  const tools = [tool, named("bash"), named("str_replace_editor", { brings: [] })];
  const script = [reading("bash"), { text: "one" }, ...readsFile];
  await using agent = await agentForTest({ script, tools });
  const { record } = await agent.run("One.");
  await agent.engine.delete({ runIds: [record.id], thorough: true });
  await agent.run("Two.");
  expect(newest()).toEqual(["bash"]);
});

test("the sources of tasks without an answer, or from versions that did not report them, follow from what the tasks did", async () => {
  const events = [
    { type: "message-received", messageId: "m", parts: [{ type: "data", data: 1 }] },
    { type: "message-heard", messageId: "m", as: "message", takenIn: ["swe"] },
    { type: "tool-ended", callId: "c", name: "sql_query", text: "", isError: false, milliseconds: 1 },
    { type: "tool-ended", callId: "d", name: "ask_human", text: "", isError: false, milliseconds: 1 },
    { type: "tool-ended", callId: "e", name: "browser_hover", text: "", isError: false, milliseconds: 1 },
    { type: "tool-ended", callId: "f", name: "find_tools", text: "", isError: false, milliseconds: 1 },
    { type: "tool-ended", callId: "g", name: "web__x", text: "", isError: false, milliseconds: 1, takenIn: [] },
    { type: "tool-ended", callId: "h", name: "new", text: "", isError: false, milliseconds: 1, takenIn: ["web", "a"] },
    { type: "run-ended", status: "canceled" },
  ].map((event, at) => ({ runId: "r", seq: at + 1, at: 0, event }));
  expect((await readEarlier(["r"], { events: async () => events })).takenIn).toEqual([
    "data",
    "swe",
    "sql_query",
    "web",
    "a",
  ]);
});

test("a call that cannot be judged in time is a risk", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const tool: Tool = { ...named("slow"), risk: () => new Promise(() => undefined) };
  const task = {
    messages: [],
    hops: 0,
    said: [],
    given: [],
    takenIn: new Set<string>(),
    run: { principal: "a", contextId: "c" },
  };
  const deps = { openWorkspace: async () => workspace };
  const call = readCall({ id: "c", name: "slow", arguments: "{}" });
  const risk = await judgeRisk(call, tool, task, deps, new AbortController().signal, 20);
  expect(risk).toBe("slow: what this call would do could not be determined");
});
