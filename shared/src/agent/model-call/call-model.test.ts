import { afterEach, expect, test } from "bun:test";
import type { JournalEvent } from "../../core/events/events.ts";
import type { Progress } from "../../core/events/progress.ts";
import type { Model, ModelEvent, Usage } from "../../core/model.ts";
import type { StepContext } from "../../core/runs/run.ts";
import { modelConfigSchema } from "../../models/config.ts";
import { createModel } from "../../models/create-model.ts";
import { type ScriptedModel, type ScriptedReply, startScriptedModel } from "../../testing/models/scripted-model.ts";
import { callModel, recordReply } from "./call-model.ts";

const running: ScriptedModel[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function urlOf(...replies: ScriptedReply[]): Promise<string> {
  const server = await startScriptedModel(replies);
  running.push(server);
  return server.url;
}

const brokenOff: ScriptedReply = { text: "one two three four", cutAfter: 2 };
const whole: ScriptedReply = { text: "whole" };
const clock = { now: () => Date.now(), sleep: async () => undefined };

/** What was thrown away for one answer, and what the journal is told of that. */
async function discardedAt(config: object) {
  const model = createModel(modelConfigSchema.parse({ name: "scripted", maxRetries: 1, ...config }), { clock });
  const parts = [{ type: "text" as const, text: "Hello" }];
  const request = { messages: [{ role: "user" as const, parts }], tools: [], toolChoice: "none" as const };
  const told: JournalEvent[] = [];
  const emit = (event: object) => told.push(event as JournalEvent);
  const hearing = { signal: AbortSignal.timeout(60_000), emit, key: "run/1", principal: "ann" };
  const { discarded } = await callModel(request, model, hearing, ({ usage, milliseconds }) => ({
    type: "model-asked",
    callId: "c",
    usage,
    model: "scripted",
    milliseconds,
  }));
  expect(told).toMatchObject([{ type: "model-asked", ...(discarded && { discarded }) }]);
  return discarded;
}

test("every answer that broke off is counted, including those of a model that a fallback replaced", async () => {
  expect(await discardedAt({ baseUrl: await urlOf(whole) })).toBeUndefined();
  const one = await discardedAt({ baseUrl: await urlOf(brokenOff, whole) });
  const fallback = { name: "scripted", baseUrl: await urlOf(brokenOff, whole), maxRetries: 1 };
  const two = await discardedAt({ baseUrl: await urlOf(brokenOff, { status: 503 }), fallback });
  expect(one?.inputTokens).toBeGreaterThan(0);
  expect(two?.inputTokens).toBe(2 * (one?.inputTokens ?? 0));
  expect(two?.outputTokens).toBe(2 * (one?.outputTokens ?? 0));
});

const usage = (costUsd: number | null): Usage => ({
  inputTokens: 10,
  cachedInputTokens: 4,
  outputTokens: 5,
  costUsd,
  source: "provider",
});
const reply = { text: "ab", toolCalls: [], finish: "stop", usage: usage(1), model: "m" } as const;

/** What a call of a model that answers with these events told, showed and returned. */
async function calling(events: readonly ModelEvent[]) {
  const model = {
    async *ask() {
      yield* events;
    },
  } as unknown as Model;
  const shown: Progress[] = [];
  const emitted: JournalEvent[] = [];
  const context = {
    signal: AbortSignal.timeout(60_000),
    key: "run/1",
    principal: "ann",
    emit: (event: object) => void emitted.push(event as JournalEvent),
    progress: (event: Progress) => void shown.push(event),
  };
  const called = await callModel({ messages: [], tools: [], toolChoice: "none" }, model, context, (it) => ({
    type: "model-asked",
    callId: "c",
    usage: it.usage,
    model: "m",
    milliseconds: it.milliseconds,
  }));
  return { called, shown, emitted };
}

test("an answer that begins anew is shown from its start, after the one before is declared void", async () => {
  const delta = (text: string) => ({ type: "text-delta", text }) as const;
  const retry = { type: "retry", cause: "it broke off", usage: usage(1) } as ModelEvent;
  const { shown } = await calling([delta("abc"), delta("d"), retry, delta("ab"), delta("c"), { type: "reply", reply }]);
  expect(shown).toEqual([
    { type: "text-delta", text: "abc", at: 0 },
    { type: "text-delta", text: "d", at: 3 },
    { type: "deltas-void", cause: "it broke off" },
    { type: "text-delta", text: "ab", at: 0 },
    { type: "text-delta", text: "c", at: 2 },
  ]);
});

test.each([
  [1, 2, 3],
  [null, 2, null],
  [1, null, null],
])("of two answers that broke off, at $%p and $%p, the sum costs $%p", async (first, second, sum) => {
  const retry = (costUsd: number | null) => ({ type: "retry", cause: "x", usage: usage(costUsd) }) as ModelEvent;
  const { called, emitted } = await calling([retry(first), retry(second), { type: "reply", reply }]);
  const discarded = { inputTokens: 20, cachedInputTokens: 8, outputTokens: 10, costUsd: sum, source: "estimate" };
  expect(called.discarded).toEqual(discarded as Usage);
  expect(emitted).toMatchObject([{ usage: usage(1), discarded }]);
});

test("what answers that broke off wrote to the provider's cache is added up too", async () => {
  const retry = (cacheWriteTokens?: number) =>
    ({
      type: "retry",
      cause: "x",
      usage: { ...usage(1), ...(cacheWriteTokens && { cacheWriteTokens }) },
    }) as ModelEvent;
  const { called } = await calling([retry(3), retry(), retry(4), { type: "reply", reply }]);
  expect(called.discarded?.cacheWriteTokens).toBe(7);
});

test("a model whose answer just ends has not answered", async () => {
  await expect(calling([{ type: "text-delta", text: "ab" }])).rejects.toMatchObject({ code: "model_unavailable" });
});

test("a model that does not answer within the task's time is stopped as that; a cancel keeps its own reason", async () => {
  const model = {
    async *ask(_: object, { signal }: { readonly signal: AbortSignal }) {
      yield await new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
      );
    },
  } as unknown as Model;
  const request = { messages: [], tools: [], toolChoice: "none" } as const;
  const asking = (wallMs: number, signal: AbortSignal) =>
    recordReply(
      {
        limits: { tokens: 1, usd: 1, wallMs },
        spent: { tokens: 0, usd: 0, unpriced: false, workMs: 0 },
        contextWindow: 1,
      },
      request,
      model,
      { signal, key: "run/1", emit: () => undefined } as unknown as StepContext,
      { principal: "ann" },
    );
  await expect(asking(20, new AbortController().signal)).rejects.toMatchObject({ code: "time_limit" });
  const canceling = new AbortController();
  const asked = asking(60_000, canceling.signal);
  canceling.abort("canceled");
  await expect(asked).rejects.toBe("canceled");
});
