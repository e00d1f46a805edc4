import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { decodeJwt } from "jose";
import { AppError } from "../../core/errors.ts";
import type { Engine, FollowItem, RunRecord } from "../../core/runs/engine.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { until } from "../../testing/durable/until.ts";
import type { HomeKeys } from "../signing/home-keys.ts";
import { signatureHeader } from "../signing/notification-signature.ts";
import { gaveUp, type PushBounds, type PushInput, pushKind, pushRun } from "./push-run.ts";
import type { Refusal, Webhooks } from "./webhooks.ts";

const bounds = { firstPauseMs: 10, longestPauseMs: 35, patienceMs: 100, keptMs: 7_000 };
const received: RunEvent = { type: "message-received", messageId: "m", parts: [] };
const step: RunEvent = { type: "step-started", step: 1, maxSteps: 99 };
const ended: RunEvent = { type: "run-ended", status: "completed" };
const later: Refusal = { reason: "it is down", final: false };

/** What a receiver is told of a task with these events, and how long its run sleeps in between. */
async function notify(
  events: readonly RunEvent[],
  answers: readonly (Refusal | undefined)[],
  over: Partial<PushInput> = {},
  isThere = true,
  limits: Partial<PushBounds> | undefined = bounds,
  keys?: HomeKeys,
  /** What the task does while it is waited for. */
  news: readonly RunEvent[] = [],
) {
  const told: (number | "task")[] = [];
  const slept: number[] = [];
  const emitted: RunEvent[] = [];
  const reads: number[] = [];
  const steps: string[] = [];
  const warned: object[] = [];
  const watched: object[] = [];
  const sent: { readonly jwt: string | undefined; readonly signal: AbortSignal }[] = [];
  const stored = events.map((event, at) => ({ runId: "t", seq: at + 1, at: 0, event }));
  const coming = [...news];
  async function* follow(_: string, { after = 0 }): AsyncGenerator<FollowItem> {
    yield { kind: "progress", event: { type: "text-delta", text: "x" } };
    for (const one of stored.slice(after)) yield { kind: "event", ...one };
  }
  const engine = {
    get: async () => (isThere ? ({ id: "t", contextId: "c" } as RunRecord) : undefined),
    events: async (_: string, after = 0, last = stored.length) => {
      reads.push(after);
      return stored.slice(after, last);
    },
    follow,
    watch: async (taskId: string, what: object) => void watched.push({ taskId, ...what }),
  } as unknown as Engine;
  const left = [...answers];
  const webhooks: Webhooks = {
    admit: async () => undefined,
    async post(_, { headers, body }, until) {
      sent.push({ jwt: headers[signatureHeader], signal: until });
      const { task: whole, statusUpdate, artifactUpdate } = JSON.parse(body);
      told.push(whole ? "task" : (statusUpdate ?? artifactUpdate).metadata["manyhands/seq"]);
      return left.shift();
    },
  };
  const { signal } = new AbortController();
  const run = {
    id: "r1",
    async signal(name: string) {
      const event = coming.shift();
      if (event === undefined) throw new AppError("interrupted", name);
      stored.push({ runId: "t", seq: stored.length + 1, at: 0, event });
    },
    step: (name: string, work: (context: object) => Promise<unknown>) => {
      steps.push(name);
      return work({ signal, emit: (event: RunEvent) => emitted.push(event) });
    },
    sleep: async (ms: number) => void slept.push(ms),
  } as unknown as Run;
  const config = { id: "r", url: "https://r.example/x", token: "", wire: "1.0" } as const;
  const input: PushInput = { taskId: "t", config, after: 0, snapshot: false, ...over };
  const outcome = await pushRun({
    kind: "k",
    engine,
    webhooks,
    publicUrl: "http://a.example",
    log: { warn: (about) => void warned.push(about), error: (about) => void warned.push(about) },
    ...(limits && { bounds: limits }),
    ...(keys && { keys }),
  })
    .execute(run, input as never)
    .catch((error: unknown) => error as Error & { code: string });
  return { told, slept, emitted, reads, steps, warned, watched, sent, signal, outcome };
}

test("every event is told once and in order, and the receiver is kept for its time after the end", async () => {
  const { told, slept, emitted } = await notify([received, step, ended], []);
  expect(told).toEqual([1, 2, 3]);
  expect(slept).toEqual([bounds.keptMs]);
  expect(emitted).toEqual([]);
});

test("a receiver that has heard the end hears nothing again, and one of a task that is gone nothing at all", async () => {
  expect((await notify([received, ended], [], { after: 2 })).told).toEqual([]);
  expect(await notify([received], [], {}, false)).toMatchObject({ told: [], slept: [bounds.keptMs] });
});

test("a receiver that registers late gets the task as it is, once, also if it does not take it at first", async () => {
  expect((await notify([received, step, ended], [], { after: 2, snapshot: true })).told).toEqual(["task", 3]);
  expect((await notify([received, ended], [], { after: 2, snapshot: true })).told).toEqual(["task"]);
  const refused = await notify([received, step, ended], [later], { after: 2, snapshot: true });
  expect(refused.told).toEqual(["task", "task", 3]);
  expect(
    (await notify([received, step, ended], [undefined, undefined, later], { after: 1, snapshot: true })).told,
  ).toEqual(["task", 2, 3, 3]);
});

test("a receiver that took the task as it is and refuses what comes next is told only that again", async () => {
  const late = { after: 1, snapshot: true };
  const { told, slept } = await notify([received, step, ended], [later, later, undefined, later, later], late);
  expect(told).toEqual(["task", "task", "task", 2, 2, 2, 3]);
  expect(slept).toEqual([10, 20, 10, 20, bounds.keptMs]);
  const gone = await notify([received, step, ended], [undefined, { reason: "it is gone", final: true }], late);
  expect(gone.emitted).toEqual([{ type: gaveUp, after: 1, hasTask: true }]);
  const never = await notify([received, step, ended], [{ reason: "it is gone", final: true }], late);
  expect(never.emitted).toEqual([{ type: gaveUp, after: 1 }]);
});

test("each refusal in a row doubles the pause up to its limit, and one that is accepted starts it afresh", async () => {
  const inARow = await notify([received, ended], [later, later, later, later]);
  expect(inARow.told).toEqual([1, 1, 1, 1, 1, 2]);
  expect(inARow.slept).toEqual([10, 20, 35, 35, bounds.keptMs]);
  const between = await notify([received, step, ended], [later, later, undefined, later, later]);
  expect(between.told).toEqual([1, 1, 1, 2, 2, 2, 3]);
  expect(between.slept).toEqual([10, 20, 10, 20, bounds.keptMs]);
});

test("a receiver that took the task as it is at last is tried soon again when it refuses what comes next", async () => {
  const late = { after: 1, snapshot: true };
  const { told, slept } = await notify([received], [later, later, undefined, later], late, true, bounds, undefined, [
    ended,
  ]);
  expect(told).toEqual(["task", "task", "task", 2, 2]);
  expect(slept).toEqual([10, 20, 10, bounds.keptMs]);
});

test("a receiver that is removed while its task is quiet is told nothing more, and its task not watched", async () => {
  const removed = new AbortController();
  const heard: string[] = [];
  const engine = {
    get: async () => ({ id: "t", contextId: "c" }),
    async *follow(_: string, { signal }: { readonly signal: AbortSignal }) {
      removed.abort(new Error("It is removed."));
      if (!signal.aborted) yield { kind: "event", runId: "t", seq: 1, at: 0, event: received };
    },
    watch: async () => void heard.push("watched"),
  } as unknown as Engine;
  const webhooks = { admit: async () => undefined, post: async () => void heard.push("told") };
  const step = (_: string, work: (context: object) => Promise<unknown>) => work({ signal: removed.signal });
  const config = { id: "r", url: "https://r.example/x", token: "", wire: "1.0" } as const;
  const input: PushInput = { taskId: "t", config, after: 0, snapshot: false };
  const { execute } = pushRun({ kind: "k", engine, webhooks: webhooks as never, publicUrl: "http://a.example" });
  await expect(execute({ id: "r1", step } as unknown as Run, input as never)).rejects.toThrow("It is removed.");
  expect(heard).toEqual([]);
});

test("patience ends once the pauses in a row have reached it, with the place that was told last", async () => {
  const { slept, emitted, outcome, told } = await notify([received, step, ended], [undefined, ...Array(9).fill(later)]);
  expect(slept).toEqual([10, 20, 35, 35]);
  expect(told).toEqual([1, 2, 2, 2, 2, 2]);
  expect(emitted).toEqual([{ type: gaveUp, after: 1 }]);
  expect(outcome).toMatchObject({
    code: "unavailable",
    message: "r.example was not notified of task t: it is down",
  });
});

test("a receiver is tried for a day, at first after a second and then every ten minutes, and kept for a week", async () => {
  const second = 1_000;
  const { slept, outcome } = await notify([received], Array(500).fill(later), {}, true, {});
  expect(slept.slice(0, 12)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map((each) => each * second));
  const waited = slept.reduce((sum, one) => sum + one, 0);
  expect([waited >= 86_400 * second, waited < 87_000 * second]).toEqual([true, true]);
  expect(outcome).toMatchObject({ code: "unavailable" });
  expect((await notify([received, ended], [], {}, true, {})).slept).toEqual([7 * 86_400 * second]);
});

test("a final refusal ends it at once, and the log names the task, the receiver's host and why", async () => {
  const { slept, emitted, warned, outcome } = await notify([received, ended], [{ reason: "it is gone", final: true }]);
  expect([slept, emitted]).toEqual([[], [{ type: gaveUp, after: 0 }]]);
  expect(outcome).toMatchObject({ code: "rejected", message: "r.example was not notified of task t: it is gone" });
  expect(warned).toEqual([{ taskId: "t", host: "r.example", reason: "it is gone" }]);
  expect((await notify([received, ended], [later])).warned).toEqual([]);
});

test("a receiver of a quiet task waits for the event after the one that it was told last", async () => {
  const { watched, outcome } = await notify([received, step], []);
  expect(watched).toEqual([{ taskId: "t", after: 2, watcher: "r1", signal: "events of t" }]);
  expect(outcome).toMatchObject({ message: "events of t" });
});

test("each notification has a signature of its own for its receiver, and ends with the step that sends it", async () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  let rings = 0;
  const keys = {
    async ring() {
      rings++;
      return [{ alg: "EdDSA", key: privateKey, publicKey: { kid: "k", kty: "OKP" } }] as never;
    },
  };
  const { sent, signal } = await notify([received, step, ended], [later], {}, true, bounds, keys);
  const claims = sent.map(({ jwt = "" }) => decodeJwt(jwt));
  expect(claims.map(({ iss, aud }) => [iss, aud])).toEqual(Array(4).fill(["http://a.example", "https://r.example/x"]));
  expect([rings, new Set(claims.map(({ jti }) => jti)).size]).toEqual([4, 4]);
  expect(sent.every((one) => one.signal === signal)).toBe(true);
  const plain = await notify([received, ended], []);
  expect(plain.sent.map(({ jwt }) => jwt)).toEqual([undefined, undefined]);
});

test("the place is recorded after twenty notifications, and what a process knows already it does not read again", async () => {
  const events = [received, ...Array.from({ length: 39 }, () => step), ended];
  const { told, reads, steps } = await notify(events, []);
  expect(told).toEqual(events.map((_, at) => at + 1));
  expect(steps).toEqual(["tell", "tell", "tell"]);
  expect(reads).toEqual([]);
  expect((await notify(events, [], { after: 30 })).reads).toEqual([0]);
});

test("a journal of an earlier version, which looked again each half minute, is continued", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path, pollMs: 5 });
  const task = (await engine.start({ kind: "k", input: null, principal: "p", contextId: "c", events: [received] })).run;
  const config = { id: "r", url: "https://r.example/x", token: "", wire: "1.0" } as const;
  const input: PushInput = { taskId: task.id, config, after: 1, snapshot: false };
  const { run } = await engine.start({ kind: pushKind("k"), input, principal: "p", contextId: task.id });
  using db = new Database(store.path);
  const put = db.query(
    "INSERT INTO journal (run, path, kind, name, state, out) SELECT n, ?, 'step', 'tell', 'done', ? FROM runs WHERE id = ?",
  );
  for (const path of ["0", "1", "2"]) put.run(path, '{"after":1,"isOver":false}', run.id);
  const told: unknown[] = [];
  const webhooks: Webhooks = {
    admit: async () => undefined,
    async post(_, { body }) {
      told.push(JSON.parse(body).statusUpdate?.metadata["manyhands/seq"]);
      return undefined;
    },
  };
  const deps = { kind: "k", engine, webhooks, publicUrl: "http://a.example" };
  engine.work([pushRun({ ...deps, bounds: { ...bounds, quietMs: 5 } })]);
  try {
    await until(async () => (await engine.get(run.id))?.waiting !== undefined);
    await engine.cancel(task.id);
    await until(() => told.length > 0);
    await until(async () => (await engine.get(run.id))?.status === "waiting");
    expect(told).toEqual([2]);
    const rows = db.query("SELECT journal.kind FROM journal JOIN runs ON run = n WHERE id = ?").values(run.id);
    expect(rows.flat()).toEqual(["step", "step", "step", "step", "signal", "step", "sleep"]);
  } finally {
    await engine.close({ graceMs: 0 });
  }
});

test("a receiver that got the task as it is does not get it again when the task goes on after a long quiet", async () => {
  const engine = createEmbeddedEngine({ path: ":memory:" });
  const task = (await engine.start({ kind: "k", input: null, principal: "p", contextId: "c", events: [received] })).run;
  const config = { id: "r", url: "https://r.example/x", token: "", wire: "1.0" } as const;
  const told: unknown[] = [];
  const webhooks: Webhooks = {
    admit: async () => undefined,
    async post(_, { body }) {
      const { task: whole, statusUpdate } = JSON.parse(body);
      told.push(whole ? "task" : statusUpdate?.metadata["manyhands/seq"]);
      return undefined;
    },
  };
  engine.work([
    pushRun({ kind: "k", engine, webhooks, publicUrl: "http://a.example", bounds: { ...bounds, quietMs: 5 } }),
  ]);
  try {
    const input: PushInput = { taskId: task.id, config, after: 1, snapshot: true };
    const { run } = await engine.start({ kind: pushKind("k"), input, principal: "p", contextId: task.id });
    await until(async () => (await engine.get(run.id))?.waiting !== undefined);
    await engine.cancel(task.id);
    await until(() => told.includes(2));
    expect(told).toEqual(["task", 2]);
  } finally {
    await engine.close({ graceMs: 0 });
  }
});
