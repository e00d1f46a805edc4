import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { defineAgent } from "../../agent/define-agent.ts";
import { foreignTask } from "../../core/taken-in.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { modelConfigSchema } from "../../models/config.ts";
import { createModel } from "../../models/create-model.ts";
import { createQuotas } from "../../runs/quotas.ts";
import { type ScriptedModel, startScriptedModel } from "../../testing/models/scripted-model.ts";
import type { ServedCall } from "./call-run.ts";
import { type DirectOutcome, type DirectToolsDeps, directTools } from "./direct-tools.ts";
import type { GivenAnswers } from "./questions.ts";

let home: string;
let scripted: ScriptedModel;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-direct-"));
  scripted = await startScriptedModel(() => ({ text: "a word of the model" }));
});

afterAll(async () => {
  await scripted.close();
  await rm(home, { recursive: true });
});

const say = defineTool({
  name: "say",
  description: "Says it.",
  input: z.strictObject({ what: z.string() }),
  effect: "once",
  run: async ({ what }) => what,
});

const call: ServedCall = {
  principal: "ann",
  contextId: undefined,
  signal: new AbortController().signal,
  client: { elicitation: {} },
  progress: () => undefined,
};

/** A person's decision about a call, as the repeated call carries it. */
const decided = (asked: DirectOutcome, allow: boolean): GivenAnswers => ({
  responses: { allow: { action: "accept", content: { allow } } },
  state: "state" in asked ? asked.state : undefined,
});

function helper(tools: readonly Tool[], tokens = 100_000) {
  return defineAgent({
    name: "helper",
    title: "Helper",
    description: "Helps.",
    version: "1.0.0",
    skills: [],
    instructions: "Help.",
    tools,
    limits: { resultCharacters: 1000, tokens },
  });
}

function toolsOf(tools: readonly Tool[], rest: Partial<DirectToolsDeps> = {}) {
  return directTools({
    definition: helper(tools),
    model: createModel(modelConfigSchema.parse({ name: "scripted", baseUrl: scripted.url })),
    approval: () => "allow",
    risky: "ask",
    openWorkspace: (principal, contextId) => openWorkspace({ home, principal, contextId }),
    engine: { admit: async () => undefined, spend: async () => undefined },
    quotas: createQuotas(),
    ...rest,
  });
}

const risky: Tool = { ...say, risk: async (input) => `it says ${JSON.stringify(input)}` };

test("a risky call is made only with a person's yes to this exact call", async () => {
  const tools = toolsOf([risky]);
  const asked = await tools.call("say", { what: "a" }, call);
  expect(asked).toMatchObject({
    asks: { allow: { params: { message: expect.stringContaining('it says {"what":"a"}') } } },
  });
  const yes = decided(asked, true);
  const elsewhere = "not that of this call";
  await expect(tools.call("say", { what: "b" }, call, yes)).rejects.toThrow(elsewhere);
  await expect(tools.call("say", { what: "a" }, { ...call, principal: "bob" }, yes)).rejects.toThrow(elsewhere);
  await expect(tools.call("say", { what: "a" }, { ...call, contextId: "other" }, yes)).rejects.toThrow(elsewhere);
  expect(await tools.call("say", { what: "a" }, call, { ...yes, state: undefined })).toHaveProperty("asks");
  expect(await tools.call("say", { what: "a" }, call, { ...yes, responses: {} })).toHaveProperty("asks");
  expect(await tools.call("say", { what: "a" }, call, decided(asked, false))).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringContaining("did not allow") }] },
  });
  expect(await tools.call("say", { what: "a" }, call, yes)).toMatchObject({ result: { content: [{ text: "a" }] } });
});

test("a person's yes is for the very arguments that were shown, also where the call risks nothing", async () => {
  const tools = toolsOf([say], { approval: () => "ask" });
  const yes = decided(await tools.call("say", { what: "a" }, call), true);
  await expect(tools.call("say", { what: "b" }, call, yes)).rejects.toThrow("not that of this call");
  expect(await tools.call("say", { what: "a" }, call, yes)).toMatchObject({ result: { content: [{ text: "a" }] } });
});

test("for a client that cannot ask a person, the result says what to do instead", async () => {
  const refused = await toolsOf([risky]).call("say", { what: "a" }, { ...call, client: { elicitation: { url: {} } } });
  expect(refused).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringContaining("Give the agent the whole task") }] },
  });
});

test("with `deny` a risky call is never made, whoever says yes; with `allow` nobody is asked", async () => {
  const asked = await toolsOf([risky]).call("say", { what: "a" }, call);
  const denied = await toolsOf([risky], { risky: "deny" }).call("say", { what: "a" }, call, decided(asked, true));
  expect(denied).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringContaining("Not allowed") }] },
  });
  const made = await toolsOf([risky], { risky: "allow" }).call("say", { what: "a" }, call);
  expect(made).toMatchObject({ result: { isError: false } });
  const judged = { ...risky, alwaysJudged: true } as const;
  expect(await toolsOf([judged], { risky: "allow" }).call("say", { what: "a" }, call)).toHaveProperty("asks");
});

test("the model usage of a call's tool is in its result and counted, even if the tool failed", async () => {
  const asks: Tool = {
    ...say,
    async call(_, { ask }) {
      const said = await ask({ instructions: "Say.", text: "x" });
      return { text: said, isError: true };
    },
  };
  const priced = { name: "scripted", baseUrl: scripted.url, price: { inputPerMillion: 1, outputPerMillion: 2 } };
  const tools = toolsOf(
    [say, asks].map((tool, n) => ({ ...tool, name: `tool_${n}` })),
    {
      model: createModel(modelConfigSchema.parse(priced)),
    },
  );
  const plain = await tools.call("tool_0", { what: "a" }, call);
  expect("result" in plain && plain.result._meta).toBeUndefined();
  const usages = [];
  for (let n = 0; n < 2; n++) {
    const outcome = await tools.call("tool_1", { what: "a" }, call);
    usages.push("result" in outcome ? outcome.result._meta?.["manyhands/usage"] : undefined);
  }
  const [usage] = usages as { tokens: number; outputTokens: number; usd: number }[];
  expect(usage?.tokens).toBeGreaterThan(usage?.outputTokens ?? Number.POSITIVE_INFINITY);
  expect(tools.used()).toMatchObject({ tokens: 2 * (usage?.tokens ?? 0), usd: 2 * (usage?.usd ?? 0) });
});

test("long texts go to a file, and images come as images", async () => {
  const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
  const show: Tool = { ...say, call: async () => ({ text: "x".repeat(2000), isError: false, images: [image] }) };
  const outcome = await toolsOf([show]).call("say", { what: "" }, call);
  const [text, shown] = "result" in outcome ? outcome.result.content : [];
  expect(shown).toEqual({ type: "image", data: "AAAA", mimeType: "image/png" });
  const said = text?.type === "text" ? text.text : "";
  expect(said.length).toBeLessThanOrEqual(1000);
  const path = /whole is in (\S+?)\]/.exec(said)?.[1] ?? "";
  const { root } = await openWorkspace({ home, principal: "ann", contextId: "mcp" });
  expect(await readFile(join(root, path), "utf8")).toBe("x".repeat(2000));
});

test("calls that change something wait for each other within a workspace, not across workspaces", async () => {
  const running: string[] = [];
  const most: Record<string, number> = {};
  const slow = defineTool({
    name: "slow",
    description: "Takes a while.",
    input: z.strictObject({}),
    effect: "once",
    async run(_, { workspace: { root } }) {
      running.push(root);
      most[root] = Math.max(most[root] ?? 0, running.filter((one) => one === root).length);
      const before = running.length;
      await Bun.sleep(20);
      running.splice(running.indexOf(root), 1);
      return String(before);
    },
  });
  const tools = toolsOf([slow]);
  const contexts = ["one", "one", "two"];
  const outcomes = await Promise.all(contexts.map((contextId) => tools.call("slow", {}, { ...call, contextId })));
  expect(Object.values(most)).toEqual([1, 1]);
  expect(JSON.stringify(outcomes)).toContain('"2"');
});

test("a tool that asks the model gets its answer, within the limit of one call", async () => {
  const ask = { instructions: "One word.", text: "which?", maxOutputTokens: 300 };
  const asks: Tool = { ...say, call: async (_, context) => ({ text: await context.ask(ask), isError: false }) };
  expect(await toolsOf([asks]).call("say", {}, call)).toMatchObject({
    result: { content: [{ text: "a word of the model" }] },
  });
  await expect(toolsOf([asks], { definition: helper([asks], 10) }).call("say", {}, call)).rejects.toThrow(
    "limit of 10 tokens",
  );
});

test("a tool's question to a person is an error, and an abort is not a result", async () => {
  const wants: Tool = {
    ...say,
    call: async () => ({ text: "", isError: false, asks: { question: "?", state: null } }),
  };
  expect(await toolsOf([wants]).call("say", {}, call)).toMatchObject({ result: { isError: true } });
  const signal = AbortSignal.abort(new Error("gone"));
  await expect(toolsOf([say]).call("say", { what: "a" }, { ...call, signal })).rejects.toThrow("gone");
});

test("tools that belong to a task are absent", async () => {
  const waits: Tool = { ...say, name: "waits", callDurably: async () => ({ text: "", isError: false }) };
  const tools = toolsOf([say, waits, { ...say, name: "terminate", endsTask: true }]);
  expect(tools.list().map(({ name }) => name)).toEqual(["say"]);
  expect([tools.has("say"), tools.has("waits"), tools.has("terminate")]).toEqual([true, false, false]);
});

test("sources taken in by calls count for their caller's next ones, in the next process too, and for no other caller", async () => {
  const seen: (readonly string[])[] = [];
  const watcher: Tool = { ...say, risk: async (_, { takenIn }) => void seen.push(takenIn) };
  const tools = [watcher, { ...say, name: "bash" }, { ...say, name: "web_fetch", brings: ["web"] }];
  const make = (name: string, contextId = "taken") => toolsOf(tools).call(name, { what: "x" }, { ...call, contextId });
  for (const name of ["say", "web_fetch", "bash"]) await make(name);
  await make("say");
  await make("say", "another");
  expect(seen).toEqual([[], ["say", "web", "bash"], []]);
});

test("concurrent calls all count for the next one", async () => {
  const seen: (readonly string[])[] = [];
  const watcher: Tool = { ...say, risk: async (_, { takenIn }) => void seen.push(takenIn) };
  const names = Array.from({ length: 10 }, (_, n) => `reads_${n}`);
  const readers = names.map((name): Tool => ({ ...say, name, brings: [name], effect: () => "pure" }));
  const tools = toolsOf([watcher, ...readers]);
  const within = { ...call, contextId: "at-once" };
  await Promise.all(names.map((name) => tools.call(name, { what: "x" }, within)));
  await tools.call("say", { what: "x" }, within);
  expect(seen[0]?.toSorted()).toEqual(names);
});

test("if the record of sources is damaged, the next calls count as having taken in someone else's task", async () => {
  const seen: (readonly string[])[] = [];
  const watcher: Tool = { ...say, risk: async (_, { takenIn }) => void seen.push(takenIn) };
  const within = { ...call, contextId: "damaged" };
  const { metaRoot } = await openWorkspace({ home, principal: "ann", contextId: "damaged" });
  for (const note of ['["web', '{"web":true}']) {
    await Bun.write(join(metaRoot, "taken-in.json"), note);
    await toolsOf([watcher]).call("say", { what: "x" }, within);
  }
  expect(seen).toEqual([[foreignTask], [foreignTask]]);
});

test("what a call's model calls use counts for its principal like a run's, and limits the next call", async () => {
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const asks = defineTool({
    name: "think",
    description: "Asks the model.",
    input: z.strictObject({}),
    effect: "once",
    run: async (_, { ask }) => (await ask({ instructions: "Think.", text: "What?" })) ?? "",
  });
  const quotas = createQuotas({ named: { ann: { tokensPerDay: 1 }, bob: { requestsPerMinute: 1 } } });
  const tools = toolsOf([asks, say], { engine, quotas });
  expect(await tools.call("think", {}, call)).toMatchObject({ result: { isError: false } });
  const { tokens } = await engine.usage("ann");
  expect(tokens).toBe(tools.used().tokens);
  expect(tokens).toBeGreaterThan(0);
  const beyond = { code: "quota_exceeded", message: expect.stringContaining("1 tokens a day") };
  await expect(tools.call("think", {}, call)).rejects.toMatchObject(beyond);
  await expect(tools.call("say", { what: "a" }, call)).rejects.toMatchObject(beyond);
  const bob = { ...call, principal: "bob" };
  expect(await tools.call("say", { what: "a" }, bob)).toMatchObject({ result: { isError: false } });
  await expect(tools.call("say", { what: "a" }, bob)).rejects.toMatchObject({ code: "quota_exceeded" });
  expect(await engine.usage("bob")).toMatchObject({ tokens: 0 });
  await engine.close({ graceMs: 0 });
});

/** A tool that does this with its context, and what `bounded` allows a call of it. */
const doing = (act: (context: Parameters<Tool["call"]>[1]) => Promise<unknown>, more: Partial<Tool> = {}): Tool => ({
  ...say,
  ...more,
  call: async (_, context) => ({ text: String(await act(context)), isError: false }),
});
const whenAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const bounded = (tool: Tool, wallMs: number) => {
  const definition = helper([tool]);
  return { definition: { ...definition, limits: { ...definition.limits, wallMs } } };
};

test("a call that takes longer than a task may is stopped, with all that it waits for; its caller's end keeps its reason", async () => {
  const signals: AbortSignal[] = [];
  const fetch = (async (signal: AbortSignal) => {
    signals.push(signal);
    return whenAborted(signal);
  }) as unknown as NonNullable<DirectToolsDeps["fetch"]>;
  const slow = doing(({ fetch: get }) => get(new URL("http://x.example") as never, {} as never));
  const stopped = await toolsOf([slow], { fetch, ...bounded(slow, 30) }).call("say", {}, call);
  expect(stopped).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringMatching(/^Stopped: /) }] },
  });
  expect(signals[0]?.aborted).toBe(true);
  const leaving = new AbortController();
  const going = toolsOf([slow], { fetch }).call("say", {}, { ...call, signal: leaving.signal });
  while (signals.length < 2) await Bun.sleep(1);
  leaving.abort(new Error("gone"));
  await expect(going).rejects.toThrow("gone");
  let judged = 0;
  const watched: Tool = { ...say, risk: async () => void judged++ };
  const over = { ...call, signal: AbortSignal.abort(new Error("gone")) };
  await expect(toolsOf([watched]).call("say", { what: "a" }, over)).rejects.toThrow("gone");
  expect(judged).toBe(0);
});

test("what a call asks the model is asked for its principal, and ends with the call's time", async () => {
  const heard: { principal?: string | undefined; aborted: boolean }[] = [];
  const model = {
    ...createModel(modelConfigSchema.parse({ name: "scripted", baseUrl: scripted.url })),
    async *ask(_: object, { signal, principal }: { signal: AbortSignal; principal?: string }) {
      await whenAborted(signal).catch(() => undefined);
      heard.push({ principal, aborted: signal.aborted });
      yield* [];
    },
  } as unknown as DirectToolsDeps["model"];
  const slow = doing(({ ask }) => ask({ instructions: "Think.", text: "What?" }));
  expect(await toolsOf([slow], { model, ...bounded(slow, 30) }).call("say", {}, call)).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringMatching(/^Stopped: /) }] },
  });
  expect(heard).toEqual([{ principal: "ann", aborted: true }]);
});

test("a call has a key of its own, the agent's bound for its result, and no web unless it is given one", async () => {
  const seen: unknown[] = [];
  const tool = doing(async ({ key, resultCharacters, fetch }) => {
    seen.push(key, resultCharacters);
    return fetch(new URL("http://x.example") as never, {} as never).catch(() => "no web");
  });
  const tools = toolsOf([tool]);
  for (let n = 0; n < 2; n++)
    expect(await tools.call("say", {}, call)).toMatchObject({ result: { content: [{ text: "no web" }] } });
  const [first, bound, second] = seen;
  expect([first === second, bound]).toEqual([false, 1_000]);
});

test("a tool that may run beside others does, although it changes something", async () => {
  const both = Promise.withResolvers<string>();
  let running = 0;
  const beside = doing(
    async () => {
      if (++running === 2) both.resolve("together");
      return Promise.race([both.promise, Bun.sleep(2_000).then(() => "one after another")]);
    },
    { parallel: true },
  );
  const tools = toolsOf([beside]);
  const outcomes = await Promise.all([1, 2].map(() => tools.call("say", {}, call)));
  expect(JSON.stringify(outcomes)).not.toContain("one after another");
});

test("a call that the settings deny is not made, though it risks nothing; a person's yes is for the risk that was shown", async () => {
  const denied = await toolsOf([say], { approval: () => "deny" }).call("say", { what: "a" }, call);
  expect(denied).toMatchObject({
    result: { isError: true, content: [{ text: "Not allowed by the configuration of this agent." }] },
  });
  let risk = "deletes a file";
  const changing = toolsOf([{ ...say, risk: async () => risk }]);
  const yes = decided(await changing.call("say", { what: "a" }, call), true);
  risk = "deletes all files";
  await expect(changing.call("say", { what: "a" }, call, yes)).rejects.toThrow("not that of this call");
});

test("what a result says that it took in counts in place of what its tool brings, and a call starts no run", async () => {
  const seen: (readonly string[])[] = [];
  const watcher: Tool = { ...say, name: "look", risk: async (_, { takenIn }) => void seen.push(takenIn) };
  const reads: Tool = {
    ...say,
    brings: ["web"],
    call: async () => ({ text: "", isError: false, takenIn: ["one page"] }),
  };
  const admitted: object[] = [];
  const engine = { admit: async (asked: object) => void admitted.push(asked), spend: async () => undefined };
  const quotas = createQuotas({ named: { ann: { tokensPerDay: 1_000 } } });
  const tools = toolsOf([watcher, reads], { engine, quotas });
  const within = { ...call, contextId: "says-itself" };
  await tools.call("say", {}, within);
  await tools.call("look", { what: "x" }, within);
  expect(seen).toEqual([["one page"]]);
  expect(admitted).toMatchObject([1, 2].map(() => ({ principal: "ann", contextId: "says-itself", starts: false })));
});
