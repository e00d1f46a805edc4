import { expect, test } from "bun:test";
import type { ReadEvent } from "../../core/events/events.ts";
import type { Run } from "../../core/runs/run.ts";
import { ModelAway } from "../../models/model-failure.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import type { ScriptedReply } from "../../testing/models/scripted-model.ts";
import { retryingStep } from "./retrying-step.ts";

const modelPauses = { firstMs: 30, longestMs: 60 };
const once = { maxRetries: 0 };
const busy: ScriptedReply = { status: 503, error: { message: "overloaded" } };
const waits = (events: readonly ReadEvent[]) =>
  events.filter((event) => event.type === "notice-given").filter(({ kind }) => kind === "waiting");

test("a model that answers 503 for a while is retried after growing pauses, each of them reported, and the task continues", async () => {
  await using agent = await agentForTest({
    script: (_, n) => (n < 4 ? busy : { text: "Back." }),
    model: once,
    modelPauses,
  });
  const { record, events } = await agent.run("Go.");
  expect(record).toMatchObject({ status: "completed", output: { answer: "Back." } });
  const told = waits(events);
  expect(told).toHaveLength(4);
  expect(told[0]?.text).toMatch(/overloaded. Retrying in 1 s\.$/);
  const pauses = told.map(({ pauseMs = 0 }) => pauseMs);
  expect(pauses[0]).toBeWithin(30, 37);
  expect(pauses[1]).toBeWithin(60, 73);
  expect(pauses[3]).toBeWithin(60, 73);
});

test("the wait a provider asks for is respected, however long it is", async () => {
  const asked: ScriptedReply = { status: 429, headers: { "retry-after": "120" }, error: { message: "slow down" } };
  let later = 0;
  await using agent = await agentForTest({
    script: (_, n) => (n === 0 ? asked : { text: "ok" }),
    modelPauses,
    passed: () => later,
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  expect(waits(await agent.events(id))).toMatchObject([{ text: expect.stringContaining("in 2 min") }]);
  expect(agent.model.requests).toHaveLength(1);
  later = 130_000;
  await agent.until(id, "completed");
});

test("a run that waits for its model keeps waiting after a restart, and does not ask earlier", async () => {
  let later = 0;
  await using agent = await agentForTest({
    script: (_, n) => (n === 0 ? busy : { text: "ok" }),
    model: once,
    modelPauses: { firstMs: 60_000, longestMs: 60_000 },
    passed: () => later,
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.restart({});
  await Bun.sleep(200);
  expect(agent.model.requests).toHaveLength(1);
  later = 80_000;
  await agent.until(id, "completed");
  expect(waits(await agent.events(id))).toHaveLength(1);
});

test("a cancel ends the wait for a model", async () => {
  await using agent = await agentForTest({ script: () => busy, model: once });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.engine.cancel(id);
  await agent.until(id, "canceled");
});

test("a wait longer than the task's remaining time does not start, and waits count towards the task's time", async () => {
  await using agent = await agentForTest({
    script: () => busy,
    model: once,
    modelPauses: { firstMs: 3_000, longestMs: 3_000 },
  });
  const { record, events } = await agent.run("Go.", { budget: { wallMs: 5_500 } });
  expect(record).toMatchObject({ status: "failed", error: { code: "model_unavailable" } });
  expect(record.error?.message).toContain("overloaded");
  expect(waits(events)).toHaveLength(1);
});

test("a summary waits for its model too, and is not made without it", async () => {
  let summaries = 0;
  await using agent = await agentForTest({
    script: (request, n) => {
      const wanted = JSON.stringify(request.messages[0]).includes("working memory");
      if (wanted) return summaries++ === 0 ? busy : { text: "SUMMED UP" };
      return n < 16 ? { text: `${n} ${"lorem ipsum dolor ".repeat(200)}`, finish: "length" } : { text: "end" };
    },
    model: { ...once, capabilities: { contextWindow: 8_000, maxOutputTokens: 2_000 } },
    modelPauses,
  });
  const { events } = await agent.run("Go.");
  expect(waits(events)).toHaveLength(1);
  expect(events.find((event) => event.type === "context-compacted")).toMatchObject({ summary: "SUMMED UP" });
});

const lasting: [string, ScriptedReply, RegExp][] = [
  ["a key that is not taken", { status: 401, error: { message: "bad key" } }, /bad key.*llm\.api_key/],
  ["a request that is refused", { status: 400, error: { message: "bad schema" } }, /bad schema.*refused again/],
  ["a model that is not there", { status: 404, error: { message: "no such model" } }, /no such model.*llm\.model/],
  [
    "an account with nothing left",
    { status: 429, error: { message: "You exceeded your current quota", code: "insufficient_quota" } },
    /quota.*top it up/,
  ],
];
test.each(lasting)("%s fails the task at once and says what to do", async (_, answer, words) => {
  await using agent = await agentForTest({ script: () => answer, modelPauses });
  const { record, events } = await agent.run("Go.");
  expect(record).toMatchObject({ status: "failed", error: { code: "model_rejected" } });
  expect(record.error?.message).toMatch(words);
  expect(waits(events)).toEqual([]);
  expect(agent.model.requests).toHaveLength(1);
});

test("a per-minute limit called a quota is waited for, as long as its message says", async () => {
  const message = "You exceeded your current quota, please check your plan. Please retry in 0.05s.";
  await using agent = await agentForTest({
    script: (_, n) => (n === 0 ? { status: 429, error: { message } } : { text: "ok" }),
    model: once,
    modelPauses,
  });
  expect((await agent.run("Go.")).record.status).toBe("completed");
});

test("an address that has never answered is not waited for: the task fails and says where to look", async () => {
  // The memory's embeddings, which may be another model's, answered.
  const usage = { inputTokens: 9, cachedInputTokens: 0, outputTokens: 0, costUsd: 0, source: "provider" } as const;
  await using agent = await agentForTest({
    script: [],
    model: { ...once, baseUrl: "http://127.0.0.1:9/v1" },
    modelPauses,
    recall: async () => ({ entries: [], takenIn: [], by: "meaning", usage }),
  });
  const { record, events } = await agent.run("Go.");
  expect(record).toMatchObject({ status: "failed", error: { code: "model_unavailable" } });
  expect(record.error?.message).toContain("llm.base_url");
  expect(waits(events)).toEqual([]);
});

/** A step whose model is away for so many attempts: its pauses, or the error it ends with. */
async function pausing(
  {
    wasReached = true,
    hasAnswered = true,
    leftMs = 1e9,
    retryAfterMs = undefined as number | undefined,
    attemptMs = 0,
  },
  attempts = 1,
) {
  const slept: number[] = [];
  const notices: string[] = [];
  let spent = 0;
  const run = {
    step: (_: string, work: (step: object) => Promise<unknown>) =>
      work({ emit: ({ text }: { readonly text: string }) => void notices.push(text) }),
    sleep: async (ms: number) => void slept.push(ms),
  } as unknown as Run;
  const waiting = {
    pauses: { firstMs: 1_000, longestMs: 4_000 },
    hasAnswered,
    leftMs: () => leftMs,
    spent: (ms: number) => {
      spent += ms;
    },
  };
  let left = attempts;
  const answer = await retryingStep(run, "model", waiting, async () => {
    await Bun.sleep(attemptMs);
    if (left-- > 0) throw new ModelAway("model_unavailable", "gone...", { wasReached, retryAfterMs });
    return { text: "here" };
  }).then(
    ({ text }) => text,
    (error) => error.message,
  );
  return { answer, slept, spent, notices };
}

test.each([
  [true, true, "here"],
  [true, false, "here"],
  [false, true, "here"],
  [false, false, "gone..."],
])(
  "a model that was reached now (%p) or has answered before (%p) is waited for: %s",
  async (wasReached, hasAnswered, end) => {
    const { answer, slept } = await pausing({ wasReached, hasAnswered });
    expect(answer).toBe(end);
    expect(slept).toHaveLength(end === "here" ? 1 : 0);
  },
);

test("pauses double from the first to the longest, with up to a fifth more, and count as time", async () => {
  const { slept, spent, notices } = await pausing({}, 4);
  for (const [n, least] of [1_000, 2_000, 4_000, 4_000].entries()) expect(slept[n]).toBeWithin(least, least * 1.2 + 1);
  expect(spent).toBeGreaterThanOrEqual(slept.reduce((sum, ms) => sum + ms, 0));
  const slow = await pausing({ attemptMs: 30 });
  expect(slow.spent).toBeGreaterThanOrEqual((slow.slept[0] ?? 0) + 29);
  expect(notices[0]).toBe("The model cannot answer now: gone. Retrying in 2 s.");
});

test("a pause is at least what the provider asks for, and fits into the time that is left", async () => {
  const asked = await pausing({ retryAfterMs: 99_000 });
  expect(asked.slept[0]).toBeWithin(99_000, 99_201);
  expect((await pausing({ retryAfterMs: 500 })).slept[0]).toBeWithin(1_000, 1_201);
  expect((await pausing({ retryAfterMs: 119_500 })).notices[0]).toEndWith("Retrying in 2 min.");
  expect((await pausing({ leftMs: 1_202 })).answer).toBe("here");
  expect((await pausing({ leftMs: 1_000 })).answer).toBe("gone...");
});

test("any other failure of the step ends it", async () => {
  const run = { step: (_: string, work: (step: object) => Promise<unknown>) => work({}) } as unknown as Run;
  const waiting = { hasAnswered: true, leftMs: () => 1e9, spent: () => undefined };
  const failing = retryingStep(run, "model", waiting, () => Promise.reject(new Error("a bug")));
  await expect(failing).rejects.toThrow("a bug");
});

test("unless the settings say otherwise the pauses grow from 15 s to 5 min", async () => {
  const told: number[] = [];
  const slept: number[] = [];
  const step = {
    signal: new AbortController().signal,
    emit: (event: { readonly pauseMs?: number }) => void told.push(event.pauseMs ?? 0),
    progress: () => undefined,
  };
  let attempts = 0;
  const run = {
    step: async (_: string, work: (step: never) => Promise<unknown>) => work(step as never),
    sleep: async (milliseconds: number) => void slept.push(milliseconds),
  };
  const waiting = { hasAnswered: true, leftMs: () => Number.POSITIVE_INFINITY, spent: () => undefined };
  await retryingStep(run as never as Run, "model", waiting, async () => {
    if (++attempts <= 7)
      throw new ModelAway("unavailable", "overloaded", { wasReached: true, retryAfterMs: undefined });
    return { text: "ok" };
  });
  const [first = 0, second = 0] = slept;
  expect(first).toBeWithin(15_000, 18_800);
  expect(second).toBeWithin(30_000, 37_600);
  expect(slept.at(-1)).toBeWithin(300_000, 375_001);
  expect(told).toEqual(slept);
});
