import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../core/errors.ts";
import type { Run, RunDefinition, RunEvent, StepContext } from "../core/runs/run.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { until } from "../testing/durable/until.ts";
import { createWorkMetrics } from "./work-metrics.ts";

const usage = { inputTokens: 10, cachedInputTokens: 4, outputTokens: 2, costUsd: 0.5, source: "provider" };
const replied = { type: "model-replied", text: "", toolCalls: [], usage, model: "m", milliseconds: 700 };
const ended = (name: string, milliseconds: number, isError = false) =>
  ({ type: "tool-ended", callId: "c", name, text: "", isError, milliseconds }) satisfies RunEvent;

const tell =
  (...events: readonly RunEvent[]) =>
  async (step: StepContext) => {
    for (const event of events) step.emit(event);
    return null;
  };

/** Runs of these bodies, one each, over a store of their own; `goOn` sends each waiting run on. */
async function countedRuns(bodies: readonly RunDefinition["execute"][]) {
  const folder = await mkdtemp(join(tmpdir(), "work-metrics-"));
  const engine = createEmbeddedEngine({ path: join(folder, "runs.db"), pollMs: 5 });
  const metrics = createWorkMetrics();
  engine.work(bodies.map((execute, n) => metrics.counted({ kind: `kind${n}`, execute })));
  for (const n of bodies.keys()) {
    const { run } = await engine.start({ kind: `kind${n}`, input: null, principal: "me", contextId: "c" });
    await until(async () => ["completed", "failed", "waiting"].includes((await engine.get(run.id))?.status ?? ""));
    if ((await engine.get(run.id))?.status !== "waiting") continue;
    await engine.deliver(run.id, "go on", null);
    await until(async () => (await engine.get(run.id))?.status === "completed");
  }
  await engine.close();
  await rm(folder, { recursive: true });
  const samples = metrics
    .families()
    .flatMap(({ name, samples }) =>
      samples.map(({ labels, value, suffix = "" }) => [
        `${name.replace("manyhands_", "")}${suffix} ${Object.values(labels).join(" ")}`,
        value,
      ]),
    );
  return Object.fromEntries(samples) as Record<string, number>;
}

test("what a run did counts once, though its body is replayed from the top after each wait", async () => {
  const counts = await countedRuns([
    async (run) => {
      await run.step("ask", tell(replied, ended("bash", 20)));
      await run.signal("go on");
      await run.step("ask again", tell({ ...replied, type: "model-asked", callId: "c", discarded: usage }));
      return null;
    },
  ]);
  expect(counts).toMatchObject({
    ...{ "executions_total kind0": 2, "steps_total kind0": 2, "runs_ended_total kind0 completed": 1 },
    ...{ "model_tokens_total m input": 30, "model_tokens_total m cached": 12, "model_tokens_total m output": 6 },
    ...{ "model_usd_total m": 1.5, "model_call_seconds_count m": 2, "tool_call_seconds_count bash ok": 1 },
  });
});

test("steps of branches count, and so do failed ones and how a run failed", async () => {
  const fails = async () => {
    throw new AppError("token_limit", "Too many.");
  };
  const counts = await countedRuns([
    async (run) => {
      await run.all(["a", "b"].map((name) => (inner) => inner.step(name, tell(ended(name, 5)))));
      await run.race([(inner) => inner.step("c", tell(ended("c", 5)))]);
      return null;
    },
    async (run) => run.step("fails", fails),
  ]);
  expect(counts["steps_total kind0"]).toBe(3);
  expect(counts["steps_total kind1"]).toBe(1);
  expect(counts["runs_ended_total kind1 token_limit"]).toBe(1);
  expect(["a", "b", "c"].map((name) => counts[`tool_call_seconds_count ${name} ok`])).toEqual([1, 1, 1]);
});

test("what a compaction cost counts, as the summary's", async () => {
  const compacted = { type: "context-compacted", summary: "", kept: 1, usage, discarded: usage };
  const counts = await countedRuns([async (run) => run.step("compact", tell(compacted))]);
  expect(counts).toMatchObject({ "model_tokens_total summary input": 20, "model_usd_total summary": 1 });
});

test("a step that is aborted counts when it is done again, and a run that a bug ends here has not ended", async () => {
  const metrics = createWorkMetrics();
  const { execute } = metrics.counted({
    kind: "kind",
    async execute(run) {
      await run.step("work", tell(ended("bash", 1)));
      throw new Error("a bug");
    },
  });
  const steps = async (signal: AbortSignal) => {
    const step = async (_: string, work: (step: StepContext) => Promise<unknown>) =>
      work({ signal, emit: () => undefined } as unknown as StepContext);
    await expect(execute({ step } as unknown as Run, null)).rejects.toThrow("a bug");
    return metrics.families().flatMap(({ name, samples }) => samples.map(({ value }) => [name, value] as const));
  };
  expect(await steps(AbortSignal.abort())).toEqual([["manyhands_executions_total", 1]]);
  expect(await steps(new AbortController().signal)).toContainEqual(["manyhands_steps_total", 1]);
  expect((await steps(AbortSignal.abort())).map(([name]) => name)).not.toContain("manyhands_runs_ended_total");
});

test("durations are in buckets up to each bound, by tool and outcome, with their sum", async () => {
  const counts = await countedRuns([
    async (run) =>
      run.step("call", tell(ended("bash", 100), ended("bash", 101), ended("bash", 400_000), ended("bash", 1, true))),
  ]);
  const of = (end: string) => counts[`tool_call_seconds${end}`];
  expect(of("_bucket bash ok 0.1")).toBe(1);
  expect(of("_bucket bash ok 0.25")).toBe(2);
  expect(of("_bucket bash ok 300")).toBe(2);
  expect(of("_bucket bash ok +Inf")).toBe(3);
  expect(of("_count bash ok")).toBe(3);
  expect(of("_sum bash ok")).toBeCloseTo(400.201);
  expect(of("_count bash error")).toBe(1);
});

test("a model that invents names of tools adds two hundred of them at most", async () => {
  const counts = await countedRuns([
    async (run) => run.step("call", tell(...Array.from({ length: 300 }, (_, n) => ended(`tool${n}`, 1)))),
  ]);
  const names = Object.keys(counts).filter((name) => name.startsWith("tool_call_seconds_count"));
  expect(names.length).toBe(201);
  expect(counts["tool_call_seconds_count other ok"]).toBe(100);
  const invented = Array.from({ length: 300 }, (_, n) => ended(`tool${n}`, 1, true));
  const strange = ["x".repeat(100_000), "two words", 'a"} 1\nmanyhands_runs 9'].map((name) => ended(name, 1, true));
  const among = await countedRuns([async (run) => run.step("call", tell(...invented, ended("bash", 1), ...strange))]);
  expect([among["tool_call_seconds_count bash ok"], among["tool_call_seconds_count other error"]]).toEqual([1, 103]);
  expect(Math.max(...Object.keys(among).map(({ length }) => length))).toBeLessThan(200);
});

test("what recalling cost counts as the embeddings', cached and written tokens each, and an unknown price as nothing", async () => {
  const recalled = { type: "memory-recalled", entries: [], takenIn: [], by: "meaning", usage };
  const written = { ...replied, usage: { ...usage, cacheWriteTokens: 3, costUsd: null } };
  const counts = await countedRuns([async (run) => run.step("work", tell(recalled, written))]);
  expect(counts).toMatchObject({
    ...{ "model_tokens_total embeddings input": 10, "model_usd_total embeddings": 0.5 },
    ...{ "model_tokens_total m cache_write": 3, "model_usd_total m": 0, "model_call_seconds_sum m": 0.7 },
  });
});
