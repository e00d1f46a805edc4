import { expect, test } from "bun:test";
import type { ModelRequest } from "../core/model.ts";
import { reply } from "../testing/models/reply.ts";
import { startScriptedModel } from "../testing/models/scripted-model.ts";
import { modelConfigSchema } from "./config.ts";
import { createModel } from "./create-model.ts";
import { estimateTokens } from "./tokens.ts";

const request: ModelRequest = {
  messages: [{ role: "user", parts: [{ type: "text", text: "word ".repeat(200) }] }],
  tools: [],
  toolChoice: "auto",
};
const { signal } = new AbortController();

/** A clock whose waits are recorded and short. */
function shortClock() {
  const waits: number[] = [];
  const sleep = async (ms: number) => {
    waits.push(ms);
    await Bun.sleep(1);
  };
  return { waits, now: () => 0, sleep };
}

function modelAt(baseUrl: string, config: object, clock: ReturnType<typeof shortClock>) {
  return createModel(modelConfigSchema.parse({ name: "m", baseUrl, ...config }), { clock, random: () => 1 });
}

test("a model that asks for long waits is given up when they add up to too much", async () => {
  const server = await startScriptedModel(() => ({ status: 429, headers: { "Retry-After": "60" } }));
  const clock = shortClock();
  try {
    await expect(reply(modelAt(server.url, { maxRetries: 9 }, clock), request, { signal })).rejects.toThrow("429");
    expect([clock.waits, server.requests.length]).toEqual([[60_500, 61_000], 3]);
  } finally {
    await server.close();
  }
});

test("a call waits for room in the minute for what it will need, before it is made", async () => {
  const gate = Promise.withResolvers<void>();
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  const server = await startScriptedModel((_, n) => ({ text: "ok", usage, ...(n === 0 && { after: gate.promise }) }));
  const clock = shortClock();
  const tokensPerMinute = Math.ceil(estimateTokens(request.messages, []) * 1.5);
  try {
    const model = modelAt(server.url, { tokensPerMinute }, clock);
    const calls = [reply(model, request, { signal }), reply(model, request, { signal })];
    const deadline = Date.now() + 10_000;
    const isSettled = () => server.requests.length > 1 || (server.requests.length > 0 && clock.waits.length > 0);
    while (!isSettled() && Date.now() < deadline) await Bun.sleep(1);
    expect(server.requests).toHaveLength(1);
    gate.resolve();
    await Promise.all(calls);
    expect(server.requests).toHaveLength(2);
    expect(clock.waits[0]).toBe(60_000);
  } finally {
    gate.resolve();
    await server.close();
  }
});
