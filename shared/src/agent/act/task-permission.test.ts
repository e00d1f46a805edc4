import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { type AgentForTest, agentForTest } from "../../testing/agent/agent.ts";
import { sameClick, sameFile, sameHosts } from "../../tools/risk/same-kind.ts";
import { readCall } from "./plan-call.ts";
import { permissionFor, unjudged } from "./task-permission.ts";

function posting() {
  const made: string[] = [];
  const tool = defineTool({
    name: "post",
    description: "Posts a text.",
    input: z.strictObject({ url: z.string(), text: z.string() }),
    effect: "once",
    sameKind: ({ url }, risk) => sameHosts([url], risk),
    run: async ({ url, text }) => `sent ${made.push(`${url} ${text}`)}`,
  });
  return { tool, made };
}

const post = (url: string, text = "x") => ({ name: "post", args: { url, text } });
const questionsOf = async (agent: AgentForTest, id: string) =>
  (await agent.events(id)).flatMap((event) => (event.type === "question-asked" ? [event] : []));

/** Answers the questions of a task one by one until it ends; returns those after which it ended. */
async function answerAll(agent: AgentForTest, id: string, answers: readonly ("once" | "task" | "no")[]) {
  for (const [at, how] of answers.entries()) {
    for (const deadline = Date.now() + 20_000; (await questionsOf(agent, id)).length <= at; await Bun.sleep(5))
      if (Date.now() > deadline) throw new Error(`no question ${at + 1}`);
    await agent.until(id, "waiting");
    const code = (await questionsOf(agent, id))[at]?.approval?.id;
    await agent.say(id, { once: `yes ${code}`, task: `Yes ${code} for this task.`, no: "no" }[how]);
  }
  await agent.until(id, "completed");
  return questionsOf(agent, id);
}

test("what is allowed for a task covers later calls of that kind, and no other host, tool or task", async () => {
  const { tool, made } = posting();
  const other = { ...tool, name: "put" };
  const calls = [
    post("https://a.example/1"),
    post("https://a.example/2", "more"),
    post("https://a.example.evil.example/"),
    post("https://a.example@evil.example/"),
    post("https://a.example:8443/"),
    post("http://a.example/"),
    { ...post("https://a.example/3"), name: "put" },
  ];
  const turns = calls.map((call) => ({ calls: [call] }));
  await using agent = await agentForTest({
    script: [...turns, { text: "ok" }, { calls: [post("https://a.example/4")] }, { text: "ok" }],
    tools: [tool, other],
    approval: () => "ask",
    agent: { limits: { steps: 20 } },
  });
  const first = await agent.start("Post.");
  const asked = await answerAll(agent, first, ["task", "once", "once", "once", "once", "once"]);
  expect(asked.map(({ approval }) => approval?.forTask)).toEqual([
    "every call of post with pages of a.example",
    "every call of post with pages of a.example.evil.example",
    "every call of post with pages of evil.example",
    "every call of post with pages of a.example:8443",
    "every call of post with pages of http://a.example",
    "every call of put with pages of a.example",
  ]);
  expect(made).toHaveLength(7);
  const started = (await agent.events(first)).flatMap((event) =>
    event.type === "tool-started" ? [event.forTask] : [],
  );
  expect(started.filter((one) => one !== undefined)).toEqual(
    Array(2).fill("every call of post with pages of a.example"),
  );
  expect(await answerAll(agent, await agent.start("Post again."), ["no"])).toHaveLength(1);
  expect(made).toHaveLength(7);
});

test("a restart in the middle of the task forgets nothing that was allowed for it", async () => {
  const { tool, made } = posting();
  const options = { tools: [tool], approval: () => "ask" as const };
  const turns = ["a", "a", "b", "a"].map((host) => ({ calls: [post(`https://${host}.example/`)] }));
  await using agent = await agentForTest({ script: [...turns, { text: "ok" }], ...options });
  const id = await agent.start("Post.");
  const code = async (at: number) => (await questionsOf(agent, id))[at]?.approval?.id;
  await agent.until(id, "waiting");
  await agent.say(id, `yes ${await code(0)} for this task`);
  for (const deadline = Date.now() + 60_000; made.length < 2 && Date.now() < deadline; ) await Bun.sleep(5);
  await agent.until(id, "waiting");
  await agent.restart(options);
  await agent.say(id, `yes ${await code(1)}`);
  await agent.until(id, "completed");
  expect([made.length, (await questionsOf(agent, id)).length]).toEqual([4, 2]);
});

test("a call of an allowed kind with another risk is asked about, and what cannot be judged only once", () => {
  const read = (name: string, args: object) => readCall({ id: "c", name, arguments: JSON.stringify(args) });
  const call = read("post", { url: "https://a.example/", text: "x" });
  const { tool } = posting();
  const unnamed = "Open “https://a.example/”, which you did not name";
  const kinds = [undefined, unnamed, unjudged("post")].map((risk) => permissionFor(call, tool, risk));
  expect(kinds).toEqual([
    "every call of post with pages of a.example",
    "every call of post with pages of a.example, which you did not name and to which addresses can carry data",
    undefined,
  ]);
  // A risk that is not the same for every address of the host.
  const far = "Go on at “a.example”, which you did not name; so many choices there could carry data away";
  expect(permissionFor(call, tool, far)).toBeUndefined();
});

test("a tool that names no kind can be allowed for a task with the very same arguments and risk", () => {
  const { sameKind: _, ...plain } = posting().tool;
  const of = (args: string, tool: Tool) =>
    permissionFor(readCall({ id: "c", name: "post", arguments: args }), tool, undefined);
  expect(of('{"url":"u","text":"x"}', plain)).toBe(of('{ "text": "x", "url": "u" }', plain));
  expect(of('{"url":"u","text":"x"}', plain)).not.toBe(of('{"url":"u","text":"y"}', plain));
  expect(of('{"url":"u","text":"x"}', { ...plain, sameKind: () => undefined })).toBeUndefined();
  expect(of('{"url":', plain)).toBeUndefined();
});

test("arguments are the same by their values: names in any order, lists in theirs, and at most 4,000 characters", () => {
  const { sameKind: _, ...plain } = posting().tool;
  const of = (args: string, tool: Tool | undefined = plain, risk?: string) =>
    permissionFor(readCall({ id: "c", name: "post", arguments: args }), tool, risk);
  const same = '{"a":{"b":[1,null],"c":2},"d":null}';
  const ways = [
    same,
    '{"d":null,"a":{"c":2,"b":[1,null]}}',
    '{"a":{"b":[null,1],"c":2},"d":null}',
    '{"a":{"b":{"0":1,"1":null},"c":2},"d":null}',
  ];
  expect(ways.map((args) => of(args) === of(same))).toEqual([true, true, false, false]);
  const long = (length: number) => JSON.stringify({ x: "y".repeat(length - 8) });
  expect([long(4_000).length, of(long(4_000)) === undefined, of(long(4_001)) === undefined]).toEqual([
    4_000,
    false,
    true,
  ]);
  for (const risk of ["Send it", "Send it."])
    expect(of(same, plain, risk)).toBe(
      'every call of post with exactly these arguments, each of which would do this: Send it, {"a":{"b":[1,null],"c":2},"d":null}',
    );
});

test("a call that could not be judged, or of a tool that is not there, is allowed once only", () => {
  const { sameKind: _, ...plain } = posting().tool;
  const call = readCall({ id: "c", name: "post", arguments: "{}" });
  expect(permissionFor(call, plain, unjudged("post"))).toBeUndefined();
  expect(permissionFor(call, undefined, undefined)).toBeUndefined();
});

test("a click is of a kind only by words and host, a file only by its plain name", () => {
  expect(sameClick("Click “Delete” on shop.example")).toBe("that clicks “Delete” on shop.example");
  expect(sameClick("Click something without a name on shop.example; what it does cannot be told")).toBeUndefined();
  expect(sameClick("Click “🗑” on shop.example")).toBeUndefined();
  expect(sameClick("Click “OK” on a.example, which sends a form and does not say what for")).toBeUndefined();
  expect(sameFile("notes.md", false, undefined)).toBe("that changes notes.md");
  expect(sameFile("notes.md", true, undefined)).toBe("that reads notes.md");
  for (const path of ["a/../notes.md", "./notes.md", "notes.md\u202e", "no\ntes"])
    expect(sameFile(path, false, undefined)).toBeUndefined();
  expect(sameHosts(["file:///etc/passwd"], undefined)).toBeUndefined();
  expect(sameHosts([], undefined)).toBeUndefined();
});
