import { expect, test } from "bun:test";
import * as z from "zod";
import type { ReadEvent } from "../../core/events/events.ts";
import type { Model, ModelEvent, Usage } from "../../core/model.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { answerInquiries } from "./answer-inquiries.ts";

/** A prompt of about as many tokens as the model here counts. */
const text = "word ".repeat(1_000);

/** Asks the model as often as it was told. */
const asker = defineTool({
  name: "summarise",
  description: "Asks.",
  input: z.strictObject({ times: z.int() }),
  effect: "pure",
  async run({ times }, { ask }) {
    const answers: string[] = [];
    for (let n = 0; n < times; n++) answers.push(await ask({ instructions: "INSIDE", text, maxOutputTokens: 300 }));
    return answers.join(", ");
  },
});
const inside = (request: { messages: readonly object[] }) => JSON.stringify(request.messages[0]).includes("INSIDE");
const usage = { prompt_tokens: 1_000, completion_tokens: 10 };
const price = { inputPerMillion: 1_000, outputPerMillion: 1 };
const asked = (events: readonly ReadEvent[]) => events.filter((event) => event.type === "model-asked");

test("a tool may ask the model outside the conversation, and the usage counts towards the task", async () => {
  let turn = 0;
  await using agent = await agentForTest({
    script: (request) => {
      if (inside(request)) return { text: "gist", usage };
      return turn++ === 0 ? { calls: [{ name: "summarise", args: { times: 2 } }], usage } : { text: "done", usage };
    },
    tools: [asker],
  });
  const { record, events } = await agent.run("Go.");
  expect(record.status).toBe("completed");
  expect(events.find((event) => event.type === "tool-ended")).toMatchObject({ text: "gist, gist" });
  expect(asked(events).map((event) => event.usage.inputTokens)).toEqual([1_000, 1_000]);
  // Each has a name of its own, under which what was asked is found again.
  expect(new Set(asked(events).map(({ request }) => request)).size).toBe(2);
  const prompt = agent.model.requests.map(({ body }) => body).find(inside);
  expect(prompt?.tools ?? []).toEqual([]);
  expect(JSON.stringify(prompt)).not.toContain("Go.");
});

test("an exhausted budget is reported to the tool, and never exceeded", async () => {
  let spent = 0;
  await using agent = await agentForTest({
    script: (request) => {
      spent += 1_010;
      return inside(request) ? { text: "gist", usage } : { calls: [{ name: "summarise", args: { times: 9 } }], usage };
    },
    tools: [asker],
  });
  const { record, events } = await agent.run("Go.", { budget: { tokens: 5_000 } });
  const [ended] = events.filter((event) => event.type === "tool-ended");
  expect(ended).toMatchObject({ isError: true, text: expect.stringContaining("limit of 5000 tokens") });
  expect(record.error?.code).toBe("token_limit");
  expect(spent).toBeLessThanOrEqual(5_000);
});

test("calls that ask at the same time share one budget", async () => {
  let spent = 0;
  await using agent = await agentForTest({
    script: (request) => {
      spent += 1_010;
      const calls = Array.from({ length: 4 }, () => ({ name: "summarise", args: { times: 3 } }));
      return inside(request) ? { text: "gist", usage, delayMs: 20 } : { calls, usage };
    },
    tools: [asker],
    model: { price },
  });
  const { record } = await agent.run("Go.", { budget: { usd: 4.5 } });
  expect(record.error?.code).toBe("cost_limit");
  expect(spent / 1_010).toBeLessThanOrEqual(4.5);
  expect(asked(await agent.events(record.id)).length).toBeGreaterThan(0);
});

test("after a restart no question to the model is repeated or paid for again", async () => {
  let turn = 0;
  await using agent = await agentForTest({
    script: (request) => {
      if (inside(request)) return { text: "gist", usage };
      return turn++ === 0
        ? { calls: [{ name: "summarise", args: { times: 1 } }], usage }
        : turn === 2
          ? { text: "never heard", delayMs: 5_000 }
          : { calls: [{ name: "summarise", args: { times: 1 } }], usage };
    },
    tools: [asker],
  });
  const id = await agent.start("Go.", { budget: { tokens: 4_500 } });
  for (const end = Date.now() + 60_000; agent.model.requests.length < 3 && Date.now() < end; ) await Bun.sleep(5);
  await agent.restart({});
  // Were the first inquiry forgotten, there would be room for another turn with a third.
  const record = await agent.until(id, "failed");
  expect(record.error?.code).toBe("token_limit");
  expect(agent.model.requests.filter(({ body }) => inside(body)).length).toBe(2);
});

test("cancelling ends a tool's question to the model", async () => {
  await using agent = await agentForTest({
    script: (request) =>
      inside(request) ? { text: "late", delayMs: 120_000 } : { calls: [{ name: "summarise", args: { times: 1 } }] },
    tools: [asker],
  });
  const id = await agent.start("Go.");
  for (const end = Date.now() + 60_000; agent.model.requests.length < 2 && Date.now() < end; ) await Bun.sleep(5);
  const begun = Date.now();
  await agent.engine.cancel(id);
  await agent.until(id, "canceled");
  expect(Date.now() - begun).toBeLessThan(60_000);
});

test("a tool's questions to the model count both before and after it asks the person", async () => {
  const careful: Tool = {
    ...asker,
    async call(_, { ask, answer }) {
      const text = await ask({ instructions: "INSIDE", text: "short", maxOutputTokens: 300 });
      if (answer === undefined) return { text: "", isError: false, asks: { question: "Go on?", state: null } };
      return { text, isError: false };
    },
  };
  let turn = 0;
  await using agent = await agentForTest({
    script: (request) => {
      if (inside(request)) return { text: "gist", usage: { prompt_tokens: 40_000, completion_tokens: 10 } };
      return turn++ === 0 ? { calls: [{ name: "summarise", args: { times: 1 } }], usage } : { text: "done", usage };
    },
    tools: [careful],
  });
  const id = await agent.start("Go.", { budget: { tokens: 60_000 } });
  await agent.until(id, "waiting");
  await agent.say(id, "yes");
  expect((await agent.until(id, "completed", "failed")).error?.code).toBe("token_limit");
});

const costs = { inputTokens: 100, cachedInputTokens: 0, outputTokens: 20, costUsd: 2, source: "provider" } as const;
/** The head of a PNG of 512 by 512, which is all that an estimate reads. */
const png = Buffer.from("89504e470d0a1a0a0000000d494844520000020000000200", "hex").toString("base64");
const image = { type: "image", mediaType: "image/png", data: png } as const;

/**
 * Inquiries of a model that is away, or breaks off once and then answers, and what they leave
 * pending.
 */
function inquiring(isAway = false, tokens = 100_000) {
  const pending = { tokens: 0, usd: 0 };
  const during: { tokens: number; usd: number }[] = [];
  const emitted: object[] = [];
  const model = {
    name: "m",
    capabilities: { maxOutputTokens: 5_000, vision: true },
    imageRule: { kind: "tiles", tile: 512, base: 10_000, each: 0, square: 2_048 },
    cost: ({ inputTokens, outputTokens }: Usage) => (inputTokens + outputTokens) / 1_000,
    async *ask(): AsyncGenerator<ModelEvent> {
      during.push({ ...pending });
      if (isAway) throw new Error("away");
      yield { type: "retry", attempt: 1, waitMs: 0, cause: "it broke off", usage: costs };
      yield { type: "reply", reply: { text: "gist", toolCalls: [], finish: "stop", usage: costs, model: "m" } };
    },
  } as unknown as Model;
  const task = {
    limits: { tokens, usd: 1_000, wallMs: 1_000 },
    spent: { tokens: 0, usd: 0, unpriced: false, workMs: 0 },
    contextWindow: 100_000,
  };
  const emit = (event: object) => void emitted.push(event);
  return {
    pending,
    during,
    emitted,
    ...answerInquiries("call-1", { task, pending }, model, { emit, key: "run/1", principal: "ann" }),
  };
}
const question = { instructions: "Say.", text: "What?", maxOutputTokens: 300 };
const { signal } = new AbortController();

test("an inquiry reserves what it may use, and then counts what it used, with the answer that broke off", async () => {
  const { ask, pending, during, usage, emitted } = inquiring();
  expect(await ask(question, signal)).toBe("gist");
  const [reserved] = during;
  expect(reserved?.tokens).toBeWithin(301, 340);
  expect(reserved?.usd).toBeCloseTo((reserved?.tokens ?? 0) / 1_000);
  expect(pending).toEqual({ tokens: 240, usd: 4 });
  expect(usage).toEqual([costs, costs]);
  expect(emitted).toMatchObject([
    { type: "model-asked", callId: "call-1", usage: costs, discarded: costs, model: "m" },
  ]);
  await ask({ ...question, images: [image] }, signal);
  expect((during[1]?.tokens ?? 0) - 240).toBeGreaterThan(10_000);
});

test("an inquiry may use no more than its task has left, whatever its tool wants", async () => {
  const { ask, during } = inquiring(false, 700);
  await ask({ ...question, maxOutputTokens: 5_000 }, signal);
  expect(during[0]?.tokens).toBe(700);
});

test("an inquiry that fails, or of a call that was given up, leaves nothing pending", async () => {
  const failing = inquiring(true);
  await expect(failing.ask(question, signal)).rejects.toThrow("away");
  expect([failing.pending, failing.usage]).toEqual([{ tokens: 0, usd: 0 }, []]);
  const late = inquiring();
  await expect(late.ask(question, AbortSignal.abort("given up"))).rejects.toBe("given up");
  expect([late.pending, late.during]).toEqual([{ tokens: 0, usd: 0 }, []]);
});

test("the model that the settings name for tools' inquiries answers them, if it can see and has room", async () => {
  const asked: string[] = [];
  const named = (name: string, capabilities: object, roles = {}) =>
    ({
      ...{ name, capabilities: { maxOutputTokens: 5_000, ...capabilities }, roles, cost: () => 0 },
      imageRule: { kind: "tiles", tile: 512, base: 100, each: 0, square: 2_048 },
      async *ask(): AsyncGenerator<ModelEvent> {
        asked.push(name);
        yield { type: "reply", reply: { text: name, toolCalls: [], finish: "stop", usage: costs, model: name } };
      },
    }) as unknown as Model;
  const extract = named("small", { vision: false, contextWindow: 2_000 });
  const own = named("large", { vision: true, contextWindow: 100_000 }, { extract });
  const task = {
    limits: { tokens: 1_000_000, usd: 1_000, wallMs: 1_000 },
    spent: { tokens: 0, usd: 0, unpriced: false, workMs: 0 },
    contextWindow: 100_000,
  };
  const { ask } = answerInquiries("c", { task, pending: { tokens: 0, usd: 0 } }, own, {
    emit: () => undefined,
    key: "run/1",
    principal: "ann",
  });
  const image = { type: "image", mediaType: "image/png", data: "" } as const;
  expect(await ask(question, signal)).toBe("small");
  expect(await ask({ ...question, images: [image] }, signal)).toBe("large");
  expect(await ask({ ...question, text: "word ".repeat(2_000) }, signal)).toBe("large");
  // A prompt that fits leaves no room for the answer.
  expect(await ask({ ...question, text: "word ".repeat(1_400) }, signal)).toBe("large");
  expect(asked).toEqual(["small", "large", "large", "large"]);
});
