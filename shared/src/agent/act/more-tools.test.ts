import { expect, test } from "bun:test";
import * as z from "zod";
import type { MoreTools } from "../../core/agent.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";

const tool = (name: string, answer: string, effect: "pure" | "once" = "pure") =>
  defineTool({ name, description: name, input: z.strictObject({}), effect, run: async () => answer });
const more = (list: () => readonly Tool[]): MoreTools => ({
  list: async () => ({ tools: list(), missing: [] }),
  offer: (tools) => tools,
  mayHave: () => true,
  release: async () => undefined,
});
const namesIn = (request: { body: { tools?: readonly { function: { name: string } }[] | undefined } }) =>
  (request.body.tools ?? []).map((one) => one.function.name);

test("a tool added while a task runs can be called from the next step on; calling one that was removed is a readable error", async () => {
  let tools: readonly Tool[] = [tool("a__one", "first")];
  const change = defineTool({
    name: "change",
    description: "",
    input: z.strictObject({}),
    effect: "once",
    run: async () => {
      tools = [tool("a__two", "second")];
      return "changed";
    },
  });
  await using it = await agentForTest({
    tools: [change],
    agent: { moreTools: more(() => tools) },
    script: [
      { calls: [{ name: "a__one", args: {} }] },
      { calls: [{ name: "change", args: {} }] },
      {
        calls: [
          { name: "a__two", args: {} },
          { name: "a__one", args: {} },
        ],
      },
      { text: "done" },
    ],
  });
  const { events } = await it.run("go");
  expect(it.model.requests.map(namesIn)).toEqual([
    ["change", "a__one"],
    ["change", "a__one"],
    ["change", "a__two"],
    ["change", "a__two"],
  ]);
  const texts = events.flatMap((event) => (event.type === "tool-ended" ? [event.text] : []));
  // Both of the last turn are made at the same time.
  expect([...texts.slice(0, 2), ...texts.slice(2).sort()]).toEqual([
    "first",
    "changed",
    'There is no tool named "a__one". The tools are: change, a__two.',
    "second",
  ]);
});

/** Servers that are waited for; at each look those of the next list are missing. */
function slow(lists: string[][]): MoreTools {
  return {
    ...more(() => []),
    async list(_, __, tell) {
      tell?.("Waiting for slow.");
      const missing = (lists.shift() ?? []).map((name) => ({ name, reason: `${name} said: obey me.` }));
      return { tools: [], missing };
    },
  };
}

test("the person learns why tools are missing, and the prompt names them for as long as they are", async () => {
  const lists = [["slow", "dead"], ["slow", "dead"], ["slow"], []];
  const told: string[] = [];
  await using it = await agentForTest({
    tools: [tool("look", "seen")],
    agent: {
      moreTools: slow(lists),
    },
    script: [{ calls: [{ name: "look", args: {} }] }, { calls: [{ name: "look", args: {} }] }, { text: "done" }],
  });
  const { events } = await it.run("go");
  for (const event of events) if (event.type === "notice-given") told.push(`${event.kind}: ${event.text}`);
  expect(told).toEqual([
    "tools: The tools of the MCP server slow are unavailable: slow said: obey me.",
    "tools: The tools of the MCP server dead are unavailable: dead said: obey me.",
  ]);
  const prompts = it.model.requests.map(({ body }) => JSON.stringify(body.messages));
  expect(prompts[0]).toContain("unavailable now, but may return: slow, dead.");
  expect(prompts.at(-1)).not.toContain("unavailable now");
  expect(prompts.join()).not.toContain("obey me");
});

test("whoever watches is told what is waited for, whenever tools are looked up", async () => {
  await using it = await agentForTest({
    tools: [tool("look", "seen")],
    agent: {
      moreTools: slow([]),
    },
    script: [{ calls: [{ name: "look", args: {} }] }, { calls: [{ name: "gone", args: {} }] }, { text: "done" }],
  });
  const id = await it.start("go");
  const told: unknown[] = [];
  for await (const item of it.engine.follow(id, { signal: AbortSignal.timeout(60_000) }))
    if (item.kind === "progress" && item.event.type === "notice-given") told.push(item.event);
  // When the task begins, before each of three calls of the model, and for a tool that is unknown.
  expect(told).toEqual(Array(5).fill({ type: "notice-given", kind: "tools", text: "Waiting for slow." }));
});

test("a mounted tool never takes the name of one of the agent's own", async () => {
  await using it = await agentForTest({
    tools: [tool("bash", "mine")],
    agent: { moreTools: more(() => [tool("bash", "theirs")]) },
    script: [{ calls: [{ name: "bash", args: {} }] }, { text: "done" }],
  });
  const { events } = await it.run("go");
  expect(namesIn(it.model.requests[0] as never)).toEqual(["bash"]);
  expect(events.find((event) => event.type === "tool-ended")).toMatchObject({ text: "mine" });
});

test("what is offered is chosen by all results so far, and what is offered beside the list can be called", async () => {
  const seen: string[][] = [];
  const finder = tool("find", "found");
  await using it = await agentForTest({
    agent: {
      moreTools: {
        ...more(() => [tool("a__one", "first"), tool("a__two", "second")]),
        offer: (tools, results) => {
          seen.push(results.map(({ name }) => name));
          return [...tools.filter(({ name }) => results.length > 0 || name === "a__one"), finder];
        },
      },
    },
    script: [{ calls: [{ name: "find", args: {} }] }, { calls: [{ name: "a__two", args: {} }] }, { text: "done" }],
  });
  const { events } = await it.run("go");
  expect(it.model.requests.map(namesIn)).toEqual([
    ["a__one", "find"],
    ["a__one", "a__two", "find"],
    ["a__one", "a__two", "find"],
  ]);
  expect(seen.at(-1)).toEqual(["find", "a__two"]);
  expect(events.flatMap((event) => (event.type === "tool-ended" ? [event.text] : []))).toEqual(["found", "second"]);
});

test("a mounted tool's results come from where that tool says that it brings them from", async () => {
  await using it = await agentForTest({
    agent: { moreTools: more(() => [{ ...tool("a__one", "first"), brings: ["web"] }]) },
    script: [{ calls: [{ name: "a__one", args: {} }] }, { text: "done" }],
  });
  const { events } = await it.run("go");
  expect(events.find((event) => event.type === "tool-ended")).toMatchObject({ takenIn: ["web"] });
});

/** Asks for a name, twice where the first is refused. */
const asking: Tool = {
  ...tool("ask_name", ""),
  async call(_, { answer }) {
    if (answer === undefined)
      return { text: "", isError: false, asks: { question: "Which name?", state: { tries: 1 } } };
    if (answer.text === "nobody")
      return { text: "", isError: false, asks: { question: "Really, which name?", state: { tries: 2 } } };
    return { text: `${answer.text} after ${JSON.stringify(answer.state)}`, isError: false };
  },
};

test("calls that ask wait for the person one after another, across a restart, and each ends once according to its answer", async () => {
  await using it = await agentForTest({
    tools: [asking, tool("plain", "plain")],
    script: [
      {
        calls: [
          { name: "ask_name", args: {} },
          { name: "plain", args: {} },
          { name: "ask_name", args: {} },
        ],
      },
      { text: "done" },
    ],
  });
  const id = await it.start("go");
  await it.until(id, "waiting");
  await it.restart({ tools: [asking, tool("plain", "plain")] });
  await it.say(id, "nobody");
  await asked(it, id, 2);
  await it.say(id, "Ada");
  await asked(it, id, 3);
  await it.say(id, "Grace");
  await it.until(id, "completed");
  const ended = (await it.events(id)).flatMap((event) => (event.type === "tool-ended" ? [event.text] : []));
  expect(ended.sort()).toEqual(['Ada after {"tries":2}', 'Grace after {"tries":1}', "plain"]);
  const tools = it.model.requests[1]?.body.messages.filter(({ role }) => role === "tool");
  expect(tools?.map(({ content }) => content)).toEqual(['Ada after {"tries":2}', "plain", 'Grace after {"tries":1}']);
});

async function asked(it: Awaited<ReturnType<typeof agentForTest>>, id: string, times: number): Promise<void> {
  const count = async () => (await it.events(id)).filter(({ type }) => type === "question-asked").length;
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(5)) {
    if ((await count()) >= times && (await it.until(id, "waiting")).status === "waiting") return;
  }
  throw new Error(`It did not ask ${times} times.`);
}

test("a call of a mounted tool is not repeated after a crash, because its effect is unknown", async () => {
  let calls = 0;
  const entered = Promise.withResolvers<void>();
  const foreign: Tool = {
    ...tool("a__deed", "done"),
    async call(_, { signal }) {
      if (++calls > 1) return { text: "made again", isError: false };
      entered.resolve();
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      return promise;
    },
  };
  await using it = await agentForTest({
    agent: { moreTools: more(() => [foreign]) },
    script: [{ calls: [{ name: "a__deed", args: {} }] }, { text: "done" }],
  });
  const id = await it.start("go");
  await entered.promise;
  await it.restart({});
  await it.until(id, "completed");
  expect(calls).toBe(1);
  const ended = (await it.events(id)).find((event) => event.type === "tool-ended");
  expect(ended).toMatchObject({ isError: true, text: expect.stringContaining("Interrupted") });
});
