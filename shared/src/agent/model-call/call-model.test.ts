import { afterEach, expect, test } from "bun:test";
import type { JournalEvent } from "../../core/events.ts";
import { modelConfigSchema } from "../../models/config.ts";
import { createModel } from "../../models/create-model.ts";
import { type ScriptedModel, type ScriptedReply, startScriptedModel } from "../../testing/scripted-model.ts";
import { callModel } from "./call-model.ts";

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
  const hearing = { signal: AbortSignal.timeout(60_000), emit: (event: object) => told.push(event as JournalEvent) };
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
