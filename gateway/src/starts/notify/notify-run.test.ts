import { expect, spyOn, test } from "bun:test";
import type { Refusal } from "manyhands/internal/a2a/push/webhooks";
import type { NotifyTarget } from "manyhands/internal/config/triggers/trigger-config";
import { type FollowItem, type RunRecord, silentLog } from "manyhands/internal/core/runs/engine";
import type { Run, RunEvent } from "manyhands/internal/core/runs/run";
import { type NotifyBounds, type NotifyDeps, notifyRun } from "./notify-run.ts";

const asked: RunEvent = { type: "question-asked", text: "Which?" } as never;
const step: RunEvent = { type: "step-started", step: 1, maxSteps: 9 };
const ended: RunEvent = { type: "run-ended", status: "completed" };
const busy: Refusal = { reason: "it is busy", final: false };
const targets: NotifyTarget[] = [
  { name: "ci", type: "webhook", url: "https://there/in", secret: undefined, principals: ["ann"] },
];

/**
 * What a target is told of a task that has these events, one more part of them at each sleep or
 * signal, and how long its run sleeps in between.
 */
async function notify(
  parts: readonly (readonly RunEvent[])[],
  given: {
    answers?: readonly (Refusal | undefined)[];
    bounds?: Partial<NotifyBounds> | "usual";
    target?: string;
    principal?: string;
    isThere?: boolean;
    /** The place in the log from which it is told. */
    after?: number;
    /** Whether the next part comes while the log is followed, too. */
    isLive?: boolean;
    /** Ends its steps; it is aborted once the log has been followed to its end. */
    leaving?: AbortController;
  } = {},
) {
  const told: [type: string, id: string][] = [];
  const slept: number[] = [];
  const watched: object[] = [];
  const warned: object[] = [];
  const signals: string[] = [];
  const steps: string[] = [];
  const texts: string[] = [];
  const sending: AbortSignal[] = [];
  const stepped = given.leaving?.signal ?? new AbortController().signal;
  let part = 1;
  const events = () => parts.slice(0, part).flat();
  const stored = () => events().map((event, at) => ({ runId: "t", seq: at + 1, at: 0, event }));
  const statusOf = () =>
    events().at(-1) === ended ? "completed" : events().includes(asked) ? "input-required" : "working";
  async function* follow(
    _: string,
    { after = 0, signal }: { after?: number; signal: AbortSignal },
  ): AsyncGenerator<FollowItem> {
    for (let told = after; ; part++) {
      for (const one of stored().slice(told)) yield { kind: "event", ...one };
      told = events().length;
      if (given.isLive !== true || part >= parts.length) break;
    }
    given.leaving?.abort(new Error("replaced"));
    if (!signal.aborted) await new Promise((wake) => signal.addEventListener("abort", wake, { once: true }));
  }
  const record = () => ({ id: "t", status: statusOf(), lastEvent: events().length }) as RunRecord;
  const engine = {
    get: async () => (given.isThere === false ? undefined : record()),
    events: async (_: string, after = 0) => stored().slice(after),
    follow,
    watch: async (_: string, options: object) => void watched.push(options),
  } as unknown as NotifyDeps["engine"];
  const left = [...(given.answers ?? [])];
  const run = {
    id: "n",
    principal: given.principal ?? "ann",
    step(name: string, work: (context: object) => Promise<unknown>) {
      steps.push(name);
      return work({ signal: stepped });
    },
    async sleep(ms: number) {
      slept.push(ms);
      part++;
    },
    async signal(name: string) {
      signals.push(name);
      part++;
    },
  } as unknown as Run;
  const definition = notifyRun({
    engine,
    runs: { view: async () => ({ ...record(), input: "x", question: "Which?", answer: "Done." }) as never },
    targets,
    publicUrl: "https://a",
    log: { ...silentLog, warn: (fields) => void warned.push(fields) },
    webhooks: {
      async post(_, { headers, body }, signal) {
        told.push([JSON.parse(body).type, headers["webhook-id"] ?? ""]);
        texts.push(body);
        sending.push(signal);
        return left.shift();
      },
    },
    ...(given.bounds !== "usual" && {
      bounds: { quietMs: 1, firstPauseMs: 10, longestPauseMs: 35, patienceMs: 100, ...given.bounds },
    }),
  });
  const input = {
    taskId: "t",
    config: { url: `notify:${given.target ?? "ci"}` },
    after: given.after ?? 0,
    snapshot: false,
  };
  const outcome = await definition.execute(run, input).catch((error) => [error.code, error.message]);
  const { kind } = definition;
  return { told, slept, watched, signals, warned, outcome, steps, texts, sending, stepped, kind };
}

test("each question is told once, by its own id, and the end once; in between its run waits outside of memory", async () => {
  const parts = [[step, asked, asked, step], [step], [asked], [step, ended]];
  const { told, slept, watched, signals, outcome } = await notify(parts);
  expect(outcome).toBeNull();
  expect(told).toEqual([
    ["run.waiting", "n-3"],
    ["run.waiting", "n-6"],
    ["run.completed", "n-8"],
  ]);
  expect(slept).toEqual([]);
  const signal = "events of t";
  expect(watched).toEqual([4, 5, 6].map((after) => ({ after, watcher: "n", signal })));
  expect(signals).toEqual([signal, signal, signal]);
});

test("a target that is busy is tried again under the same id, after pauses that double up to a bound and begin anew", async () => {
  const { told, slept } = await notify([[asked], [], [], [], [ended], [], []], {
    answers: [busy, busy, busy, undefined, busy, busy],
  });
  expect(slept).toEqual([10, 20, 35, 10, 20]);
  expect(told.map(([, id]) => id)).toEqual(["n-1", "n-1", "n-1", "n-1", "n-2", "n-2", "n-2"]);
});

test("a target is given up when it refuses for good, or has taken nothing for too long", async () => {
  const forGood = await notify([[ended]], { answers: [{ reason: "it is gone", final: true }] });
  expect(forGood).toMatchObject({ outcome: ["rejected", "notify:ci was not told of t: it is gone"], slept: [] });
  // Written once, whoever carries on.
  expect(forGood.steps).toEqual(["tell", "give up"]);
  expect(forGood.warned).toEqual([{ taskId: "t", target: "notify:ci", reason: "it is gone" }]);
  const busyForEver = await notify([[ended]], { answers: Array(20).fill(busy) });
  expect(busyForEver.outcome).toEqual(["unavailable", "notify:ci was not told of t: it is busy"]);
  expect(busyForEver.slept).toEqual([10, 20, 35, 35]);
});

test("the end has its own id, also where a question before it was never told, and patience begins anew with what was taken", async () => {
  expect((await notify([[asked, ended]])).told).toEqual([["run.completed", "n-2"]]);
  const answers = [busy, busy, busy, undefined, ...Array<Refusal>(20).fill(busy)];
  const { slept, outcome } = await notify([[asked], [], [], [], [ended]], { answers });
  expect(slept).toEqual([10, 20, 35, 10, 20, 35, 35]);
  expect(outcome).toEqual(["unavailable", expect.any(String)]);
});

test("who may not be named any more is told nothing, and of a run that is gone nobody is", async () => {
  const unknown = "the settings do not name it any more";
  for (const given of [{ target: "other" }, { principal: "bob" }]) {
    const { told, outcome } = await notify([[ended]], given);
    expect([told, outcome]).toEqual([[], ["rejected", expect.stringContaining(unknown)]]);
  }
  expect(await notify([[ended]], { isThere: false })).toMatchObject({ told: [], outcome: null });
});

test("of one run twenty questions are told, and then its end", async () => {
  const { told } = await notify([...Array(25).fill([asked]), [ended]]);
  expect(told.map(([type]) => type)).toEqual([...Array(20).fill("run.waiting"), "run.completed"]);
});

test("usually a target is tried for a day, at first after a second and then every ten minutes at most", async () => {
  const { slept, outcome } = await notify([[ended]], { answers: Array(400).fill(busy), bounds: "usual" });
  expect(slept.slice(0, 12)).toEqual(
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map((seconds) => seconds * 1_000),
  );
  const day = 86_400_000;
  expect(slept.reduce((sum, ms) => sum + ms)).toBeWithin(day, day + 600_000);
  expect(outcome).toEqual(["unavailable", expect.any(String)]);
  using timeout = spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
  await notify([[step], [ended]], { bounds: "usual" });
  expect(timeout.mock.calls[0]).toEqual([30_000]);
});

test("what is asked and what ends while it listens is told at once, and what was before it was named is not", async () => {
  const bounds = { quietMs: 60_000_000 };
  const parts = [[step], [step], [asked], [step], [ended]];
  const { told, watched, texts, sending, stepped, kind } = await notify(parts, { isLive: true, bounds });
  expect(told).toEqual([
    ["run.waiting", "n-3"],
    ["run.completed", "n-5"],
  ]);
  expect([watched, sending.map((one) => one === stepped), kind]).toEqual([[], [true, true], "gateway/notify"]);
  expect(texts.every((text) => JSON.parse(text).url === "https://a/#/runs/t")).toBe(true);
  const later = await notify([[asked, step], [asked], [ended]], { after: 1, bounds, isLive: true });
  expect(later.told.map(([, id]) => id)).toEqual(["n-3", "n-4"]);
});

test("a process that is replaced leaves at once, and another carries on where it was", async () => {
  const bounds = { quietMs: 60_000_000 };
  const { outcome, watched, steps } = await notify([[step]], { leaving: new AbortController(), bounds });
  expect([outcome, watched, steps]).toEqual([[undefined, "replaced"], [], ["tell"]]);
});
