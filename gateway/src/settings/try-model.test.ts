import { afterEach, expect, spyOn, test } from "bun:test";
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
