import { expect, test } from "bun:test";
import * as z from "zod";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { AppError } from "../errors.ts";
import { defineTool } from "./define-tool.ts";
import type { ToolContext } from "./tool.ts";

function repeatTool(run: (input: { phrase: string; times: number }, context: ToolContext) => Promise<string>) {
  return defineTool({
    name: "repeat",
    description: "Says a phrase again.",
    input: z.strictObject({
      phrase: z.string().min(1).describe("What to say"),
      times: z.int().min(1).max(5).default(2),
      seed: z.int().optional(),
    }),
    effect: ({ times }) => (times > 2 ? "once" : "idempotent"),
    run,
  });
}

const repeat = repeatTool(async ({ phrase, times }) => phrase.repeat(times));

test("the schema is a plain object schema that every provider accepts, without keywords that do not help a model", () => {
  expect(repeat.inputSchema).toEqual({
    type: "object",
    properties: {
      phrase: { type: "string", description: "What to say" },
      times: { type: "integer" },
      seed: { type: "integer" },
    },
    required: ["phrase"],
  });
});

test("good input reaches the function with defaults filled in", async () => {
  await using place = await workspaceForTest();
  expect(await repeat.call({ phrase: "a" }, contextForTest(place.workspace))).toEqual({ text: "aa", isError: false });
});

test("a null counts as a field left out", async () => {
  await using place = await workspaceForTest();
  const result = await repeat.call({ phrase: "a", times: null, seed: null }, contextForTest(place.workspace));
  expect(result).toEqual({ text: "aa", isError: false });
});

test("texts that spell numbers and booleans are converted only where a number or boolean is expected", async () => {
  await using place = await workspaceForTest();
  const tool = defineTool({
    name: "show",
    description: "Shows its input.",
    input: z.strictObject({
      times: z.int().min(1).max(5).optional(),
      seconds: z.number().optional(),
      loud: z.boolean().optional(),
      range: z.array(z.int()).optional(),
      nested: z.strictObject({ deep: z.number() }).optional(),
      phrase: z.string().optional(),
    }),
    effect: "pure",
    run: async (input) => JSON.stringify(input),
  });
  const shown = async (input: unknown) => (await tool.call(input, contextForTest(place.workspace))).text;
  const texts = {
    times: "3",
    seconds: " 0.5 ",
    loud: "True",
    range: ["1", 2, "-1"],
    nested: { deep: "1e3" },
    phrase: "7",
  };
  expect(await shown(texts)).toBe(
    '{"times":3,"seconds":0.5,"loud":true,"range":[1,2,-1],"nested":{"deep":1000},"phrase":"7"}',
  );
  expect(await shown({ loud: "false", times: null, seconds: "0" })).toBe('{"seconds":0,"loud":false}');
  expect(await shown({ times: "6" })).toContain("<=5");
  for (const input of [{ times: "1.5" }, { seconds: "" }, { seconds: "5 s" }, { loud: "yes" }, { times: "0x3" }])
    expect(await shown(input)).toStartWith("Invalid arguments for show:");
});

test("bad input comes back as a result that names the tool and the fields", async () => {
  await using place = await workspaceForTest();
  const shown = async (input: unknown) => {
    const result = await repeat.call(input, contextForTest(place.workspace));
    // No call was made, so that nothing came of it.
    expect([result.isError, result.takenIn]).toEqual([true, []]);
    expect(result.text).toStartWith("Invalid arguments for repeat:\n");
    return result.text;
  };
  expect(await shown({})).toContain("phrase");
  expect(await shown({ phrase: null })).toContain("phrase");
  // A null that means "left out" is no fault beside one.
  expect(await shown({ phrase: "a", times: null, seed: null, other: 1 })).not.toContain("null");
  expect(await shown({ phrase: "a", extra: 1, more: 2 })).toMatch(/extra.*more/s);
  // The names that there are help only who used another one.
  expect(await shown({ phrase: "a", extra: 1 })).toEndWith("\nThe arguments are: phrase, times, seed.");
  expect(await shown({ phrase: 1 })).not.toContain("The arguments are");
  for (const input of ["text", null, undefined, [], 7]) expect(await shown(input)).toContain("expected object");
});

test("a tool that takes no arguments says so, and one that returns no text says what it returned", async () => {
  await using place = await workspaceForTest();
  const returning = (value: unknown) =>
    defineTool({
      name: "ask",
      description: "Asks a service.",
      input: z.strictObject({}),
      effect: "pure",
      // What `response.json()` resolves to passes every type.
      // biome-ignore lint/suspicious/noExplicitAny: so it comes from a service
      run: async (): Promise<any> => value,
    });
  const said = async (value: unknown, input = {}) =>
    (await returning(value).call(input, contextForTest(place.workspace))) as { text: string; isError: boolean };
  expect((await said("x", { extra: 1 })).text).toEndWith("\nIt takes no arguments.");
  for (const [value, got] of [
    [undefined, "undefined"],
    [null, "null"],
    [3, "a value of type number"],
    [{ ok: true }, "a value of type object"],
  ])
    expect(await said(value)).toMatchObject({ isError: true, text: expect.stringContaining(`returned ${got};`) });
});

test("prototype keys in the input are refused and pollute nothing", async () => {
  await using place = await workspaceForTest();
  for (const key of ["__proto__", "constructor", "prototype"]) {
    const input: unknown = JSON.parse(`{"phrase":"a","${key}":{"polluted":true},"seed":null}`);
    expect((await repeat.call(input, contextForTest(place.workspace))).isError).toBe(true);
  }
  expect("polluted" in {}).toBe(false);
});

test("an error thrown by the function becomes a result with its message", async () => {
  await using place = await workspaceForTest();
  const context = contextForTest(place.workspace);
  const tool = repeatTool(async () => {
    throw new AppError("not_found", "No such phrase.");
  });
  expect(await tool.call({ phrase: "a" }, context)).toEqual({ text: "No such phrase.", isError: true });
});

test("an abort rejects with the signal's own reason, during the call and before it", async () => {
  await using place = await workspaceForTest();
  const controller = new AbortController();
  const reason = new Error("cancelled by the user");
  let calls = 0;
  const tool = repeatTool(async () => {
    calls++;
    controller.abort(reason);
    throw new Error("connection closed");
  });
  const context = contextForTest(place.workspace, { signal: controller.signal });
  await expect(tool.call({ phrase: "a" }, context)).rejects.toBe(reason);
  await expect(tool.call({ phrase: "a" }, context)).rejects.toBe(reason);
  expect(calls).toBe(1);
});

test("the effect may depend on the input, and bad input counts as pure", () => {
  expect(repeat.effect({ phrase: "a" })).toBe("idempotent");
  expect(repeat.effect({ phrase: "a", times: 3 })).toBe("once");
  expect(repeat.effect({ nonsense: true })).toBe("pure");
});

test("what a tool declares of a call gets the parsed input; a call with bad input has no effect, risk, reach or edits", async () => {
  const tool = defineTool({
    name: "act",
    description: "",
    input: z.strictObject({ n: z.int().default(1) }),
    effect: ({ n }) => (n === 2 ? "once" : "idempotent"),
    risk: async ({ n }, { said }) => `${n} ${said.join()}`,
    edits: ({ n }) => [`${n}.txt`],
    sameKind: ({ n }, risk) => `${n} ${risk}`,
    views: ({ n }) => `${n}.md`,
    reach: {
      opens: ({ n }) => [`http://${n}.example/`],
      asks: ({ n }) => `q${n}`,
      writes: ({ n }) => `w${n}`,
      led: true,
    },
    run: async ({ n }) => `ran ${n}`,
    runDurably: async ({ n }) => (n === 2 ? { text: "two", isError: true } : `waited ${n}`),
    parallel: true,
    family: "acts",
  });
  const risk = (input: unknown) => tool.risk?.(input, { said: ["Go."] } as never);
  const edits = (input: unknown) => (typeof tool.edits === "function" ? tool.edits(input) : tool.edits);
  const opens = (input: unknown) => (typeof tool.reach?.opens === "function" ? tool.reach.opens(input) : undefined);
  const waited = (input: unknown) => tool.callDurably?.(input, {} as never, {} as never);
  expect([tool.effect({}), tool.effect({ n: "2" }), tool.effect({ n: "x" })]).toEqual(["idempotent", "once", "pure"]);
  expect([await risk({}), await risk({ n: 2 }), await risk({ n: "x" })]).toEqual(["1 Go.", "2 Go.", undefined]);
  expect([edits({}), edits({ n: 2 }), edits({ n: "x" })]).toEqual([["1.txt"], ["2.txt"], []]);
  expect([tool.sameKind?.({ n: "3" }, "r"), tool.sameKind?.({ n: "x" }, "r")]).toEqual(["3 r", undefined]);
  expect([tool.views?.({}), tool.views?.({ n: "x" })]).toEqual(["1.md", undefined]);
  expect([opens({}), opens({ n: "x" })]).toEqual([["http://1.example/"], []]);
  expect([tool.reach?.asks?.({ n: 3 }), tool.reach?.asks?.({ n: "x" }), tool.reach?.led]).toEqual(["q3", "", true]);
  expect([tool.reach?.writes?.({ n: "3" }), tool.reach?.writes?.({ n: "x" })]).toEqual(["w3", ""]);
  expect(await waited({ n: null })).toEqual({ text: "waited 1", isError: false });
  expect(await waited({ n: 2 })).toEqual({ text: "two", isError: true });
  expect(await waited({ n: "x" })).toMatchObject({ isError: true, text: expect.stringContaining("Invalid arguments") });
  expect(tool).toMatchObject({ parallel: true, family: "acts" });
});

test("a tool that declares none of it has none of it, and one that may edit anything says so", () => {
  for (const part of ["risk", "reach", "edits", "callDurably", "sameKind", "views"])
    expect([part, part in repeat]).toEqual([part, false]);
  const anything = { name: "bash", description: "", input: z.strictObject({}), effect: "once", edits: true } as const;
  expect(defineTool({ ...anything, run: async () => "" }).edits).toBe(true);
  const named = defineTool({ ...anything, reach: { opens: "named", reads: true }, run: async () => "" });
  expect(named.reach).toEqual({ opens: "named", reads: true });
});

test("only the item of a list that is spelt out is converted, and one text where a list is wanted becomes a list", async () => {
  await using place = await workspaceForTest();
  const tool = defineTool({
    name: "show",
    description: "",
    input: z.strictObject({
      list: z.array(z.union([z.int(), z.null()])).optional(),
      names: z.array(z.string()).optional(),
    }),
    effect: "pure",
    run: async (input) => JSON.stringify(input),
  });
  const pair = defineTool({
    name: "pair",
    description: "",
    input: z.strictObject({ pair: z.tuple([z.int(), z.string()]) }),
    effect: "pure",
    run: async (input) => JSON.stringify(input),
  });
  const context = contextForTest(place.workspace);
  expect((await tool.call({ names: "a" }, context)).text).toBe('{"names":["a"]}');
  const wrong = async (given: object) => (await tool.call(given, context)).text;
  // What would have been accepted as it was meant is no fault beside one.
  expect(await wrong({ names: "a", list: ["x"] })).not.toContain("names");
  expect(await wrong({ list: "x" })).toMatch(/expected array.*\n.*at list$/);
  expect((await tool.call({ list: [1, null] }, context)).text).toBe('{"list":[1,null]}');
  expect((await pair.call({ pair: ["7", "8"] }, context)).text).toBe('{"pair":[7,"8"]}');
});

test("a tool's name has at most 64 characters", () => {
  const named = (name: string) =>
    defineTool({ name, description: "", input: z.strictObject({}), effect: "pure", run: async () => "" }).name;
  expect(named("a".repeat(64))).toHaveLength(64);
  expect(() => named("a".repeat(65))).toThrow("at most 64");
  const texts = { name: "t", description: "", input: z.string(), effect: "pure", run: async () => "" } as never;
  expect(() => defineTool(texts)).toThrow("needs a Zod object as its input");
});
