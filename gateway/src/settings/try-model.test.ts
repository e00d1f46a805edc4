import { afterEach, expect, spyOn, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import type { ModelRequest } from "manyhands/internal/core/model";
import { modelConfigSchema } from "manyhands/internal/models/config";
import * as making from "manyhands/internal/models/create-model";
import * as lists from "manyhands/internal/models/list-models";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { tryModel } from "./try-model.ts";

type Script = Parameters<typeof startScriptedModel>[0];
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

async function modelWith(script: Script, over: object = {}) {
  const model = await startScriptedModel(script);
  open.push({ [Symbol.asyncDispose]: () => model.close() });
  const config = modelConfigSchema.parse({ name: "scripted", baseUrl: model.url, apiKey: "sk-very-secret", ...over });
  return { model, config };
}
const never = new AbortController().signal;

test("a failure is told after one request, though retries and another model are set", async () => {
  const { model, config } = await modelWith([{ status: 503, error: { message: "Overloaded." } }, { text: "late" }]);
  const trial = await tryModel({ ...config, maxRetries: 3, fallback: config }, never);
  expect(trial).toMatchObject({ ok: false, model: "scripted", endpoint: new URL(model.url).host, tools: "no" });
  expect(trial.error).toContain("Overloaded.");
  expect(model.requests).toHaveLength(1);
});

test("a call that came as text in the answer is told from one as the protocol has it", async () => {
  const call = [{ name: "report_ready", args: { word: "ready" } }];
  const native = await modelWith([{ calls: call }]);
  expect(await tryModel(native.config, never)).toMatchObject({ ok: true, tools: "native", streaming: true });
  const other = await modelWith([{ calls: [{ name: "other", args: {} }] }]);
  expect(await tryModel(other.config, never)).toMatchObject({ ok: true, tools: "no" });
});

test("a person who leaves ends the trial; the time to the first piece is not that to the last", async () => {
  const { config } = await modelWith([{ text: "I am ready" }]);
  await expect(tryModel(config, AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
  const { firstMs = -1, totalMs = -1 } = await tryModel(config, never);
  expect(firstMs).toBeGreaterThanOrEqual(0);
  expect(firstMs).toBeLessThanOrEqual(totalMs);
});

test("a model has a minute to answer, from its first piece to its last, and its endpoint eight seconds to list it", async () => {
  const limits = new Map<number | undefined, AbortController>();
  using _ = spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const limit = new AbortController();
    limits.set(ms, limit);
    return limit.signal;
  });
  let listing: AbortSignal | undefined;
  using __ = spyOn(lists, "listModels").mockImplementation(async (_, signal) => {
    listing = signal;
    return { status: 200, models: [] };
  });
  const asking = Promise.withResolvers<AbortSignal>();
  using creating = spyOn(making, "createModel").mockReturnValue({
    async *ask(_: unknown, { signal }: { readonly signal: AbortSignal }) {
      asking.resolve(signal);
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  } as never);
  const config = modelConfigSchema.parse({ name: "m", baseUrl: "http://127.0.0.1:9/v1", maxRetries: 3 });
  const trial = tryModel({ ...config, fallback: config }, never);
  const signal = await asking.promise;
  expect(creating.mock.calls[0]?.[0]).toMatchObject({
    maxRetries: 0,
    firstDeltaTimeoutMs: 60_000,
    fallback: undefined,
  });
  expect([...limits.keys()]).toEqual([60_000, 8_000]);
  limits.get(8_000)?.abort();
  expect([listing?.aborted, signal.aborted]).toEqual([true, false]);
  limits.get(60_000)?.abort();
  expect(await trial).toMatchObject({ ok: false, found: "unknown", error: "no answer within 60 seconds." });
});

/**
 * What a trial finds of a model whose endpoint answers with these contents, in order, to requests
 * with these bodies, and which calls these tools.
 */
async function trialOf(given: {
  exchanges?: readonly { readonly body: object; readonly content: string; readonly status?: number }[];
  calls?: readonly string[];
  listed?: readonly string[] | Error;
  error?: Error;
}) {
  const { exchanges = [], calls = ["report_ready"], listed = [], error } = given;
  let n = 0;
  using endpoint = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      const { content = "", status = 200 } = exchanges[n++] ?? {};
      return new Response("", { status, headers: { "Content-Type": content } });
    },
  });
  using _ = spyOn(lists, "listModels").mockImplementation(async () => {
    if (listed instanceof Error) throw listed;
    return { status: 200, models: listed.map((id) => ({ id, window: undefined })) };
  });
  // A second passes from each look at the clock to the next.
  let second = 5;
  using __ = spyOn(performance, "now").mockImplementation(() => second++ * 1_000);
  const asked: ModelRequest[] = [];
  using ___ = spyOn(making, "createModel").mockImplementation(((_: unknown, deps: { fetch: typeof fetch }) => ({
    async *ask(request: ModelRequest) {
      asked.push(request);
      for (const { body } of exchanges)
        await deps.fetch(endpoint.url.href, { method: "POST", body: JSON.stringify(body) });
      if (error !== undefined) throw error;
      yield { type: "text", text: "I" };
      yield { type: "text", text: " am" };
      yield { type: "reply", reply: { toolCalls: calls.map((name) => ({ name })) } };
    },
  })) as never);
  const config = modelConfigSchema.parse({ name: "m", baseUrl: endpoint.url.href });
  return { trial: await tryModel(config, never), asked };
}

test("a model is asked to call one tool, as an agent would ask it", async () => {
  const { asked, trial } = await trialOf({});
  const [{ messages = [], tools = [], ...how } = {}] = asked as Partial<ModelRequest>[];
  expect([asked.length, how]).toEqual([1, { toolChoice: "auto", maxOutputTokens: 1_000 }]);
  expect(JSON.stringify(messages)).toContain("Call the tool report_ready with the word ready.");
  const inputSchema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
  expect(tools).toEqual([{ name: "report_ready", description: expect.any(String), inputSchema }]);
  expect(trial).toMatchObject({ firstMs: 1_000, totalMs: 2_000 });
});

test("of the exchange that succeeded it is told whether the answer came in pieces and the tools were sent as such", async () => {
  const [tools, toolConfig, neither] = [{ tools: [] }, { toolConfig: {} }, { messages: [] }];
  const [sse, events, json] = ["text/event-stream", "application/vnd.amazon.eventstream", "application/json"];
  for (const [exchanges, streaming, found] of [
    [[{ body: tools, content: sse }], true, "native"],
    [[{ body: toolConfig, content: events }], true, "native"],
    [[{ body: neither, content: json }], false, "text"],
    [
      [
        { body: tools, content: sse, status: 400 },
        { body: neither, content: json },
      ],
      ...[false, "text"],
    ],
    [
      [
        { body: neither, content: json },
        { body: tools, content: sse, status: 400 },
      ],
      ...[false, "text"],
    ],
  ] as const)
    expect((await trialOf({ exchanges })).trial).toMatchObject({ ok: true, streaming, tools: found });
  for (const calls of [[], ["another"]]) expect((await trialOf({ calls })).trial).toMatchObject({ tools: "no" });
});

test("whether the endpoint lists the model is told, also of one that fails, and a list that does not come is no failure", async () => {
  const error = new AppError("unavailable", "It is away.");
  for (const [listed, found] of [
    [[], "unknown"],
    [new Error("no list"), "unknown"],
    [["other", "m"], "yes"],
    [["other"], "no"],
  ] as const) {
    expect((await trialOf({ listed })).trial).toMatchObject({ ok: true, found });
    expect((await trialOf({ listed, error })).trial).toMatchObject({ ok: false, found, error: "It is away." });
  }
  await expect(trialOf({ error: new TypeError("a bug") })).rejects.toThrow("a bug");
});

test("a person who leaves waits for no list either", async () => {
  const left = new AbortController();
  let listing: AbortSignal | undefined;
  using _ = spyOn(lists, "listModels").mockImplementation(async (_, signal) => {
    listing = signal;
    left.abort(new Error("left"));
    return { status: 200 };
  });
  const config = modelConfigSchema.parse({ name: "m", baseUrl: "http://127.0.0.1:9/v1" });
  await expect(tryModel(config, left.signal)).rejects.toThrow("left");
  expect(listing?.aborted).toBe(true);
});
