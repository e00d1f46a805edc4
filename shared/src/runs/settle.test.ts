import { expect, spyOn, test } from "bun:test";
import type { Engine, FollowItem, Following, RunRecord } from "../core/runs/engine.ts";
import type { RunEvent } from "../core/runs/run.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { scratch } from "../testing/durable/scratch.ts";
import { createProjectionCache } from "./projection-cache.ts";
import { cancelRun, untilSettled, whileQuiet } from "./settle.ts";

test("a caller stops waiting for a paused run, whether it was paused before or is paused now", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const watching = Promise.withResolvers<void>();
  // An event that cannot be stored pauses a run.
  const unwritable = { type: "told", amount: 1n as never };
  engine.work([
    {
      kind: "pausing",
      async execute(run) {
        await watching.promise;
        await run.step("tell", async (step) => void step.emit(unwritable));
        return null;
      },
    },
  ]);
  const watched = { engine, projections: createProjectionCache(engine) };
  const deadline = AbortSignal.timeout(60_000);
  const { run } = await engine.start({ kind: "pausing", input: null, principal: "ann", contextId: "c" });
  const settled = untilSettled(watched, run, deadline);
  watching.resolve();
  await settled;
  const paused = await engine.get(run.id);
  expect(paused?.status).toBe("paused");
  await untilSettled(watched, paused ?? run, deadline);
  expect(deadline.aborted).toBe(false);
  await engine.close({ graceMs: 0 });
});

const message = { type: "message-received", messageId: "m", parts: [] };
const asked = { type: "question-asked", question: "Which?", kind: "question" };
const ended = { type: "run-ended", status: "completed" };

/** What an engine's `follow` returns, with a page for each item. */
function following(items: AsyncGenerator<FollowItem>): Following {
  async function* pages() {
    for await (const item of items) yield [item];
  }
  return { pages, [Symbol.asyncIterator]: () => items };
}

/**
 * An engine whose run has these events and is then silent; `seen.read` is how many of them were
 * read.
 */
function watching(...events: readonly RunEvent[]) {
  const seen = { read: 0 };
  async function* follow(after: number): AsyncGenerator<FollowItem> {
    for (const [at, event] of events.entries()) {
      if (at < after) continue;
      seen.read = at + 1;
      if (event.type === "text-delta") yield { kind: "progress", event };
      else yield { kind: "event", runId: "r", seq: at + 1, at: 0, event };
    }
  }
  const engine = {
    follow: (_: string, { after = 0 }) => following(follow(after)),
    cancel: async () => undefined,
  } as unknown as Engine;
  return { engine, projections: createProjectionCache(engine), seen };
}
const idle = { id: "r", status: "running", lastEvent: 0 } as RunRecord;
const never = new AbortController().signal;

test.each<readonly [string, Partial<RunRecord>, boolean]>([
  ["running", {}, false],
  ["queued", { status: "queued" }, false],
  ["completed", { status: "completed" }, true],
  ["failed", { status: "failed" }, true],
  ["canceled", { status: "canceled" }, true],
  ["waiting for an answer", { status: "waiting", waiting: { signal: "m", reason: "input-required" } }, true],
  ["waiting for a sign-in", { status: "waiting", waiting: { signal: "m", reason: "auth-required" } }, true],
  ["waiting for an agent", { status: "waiting", waiting: { signal: "m", reason: "agent" } }, false],
  ["waiting for time to pass", { status: "waiting" }, false],
  ["at work again after an answer", { waiting: { signal: "m", reason: "input-required" } }, false],
])("nobody waits any longer for a run that is %s: its record says enough", async (_, record, settled) => {
  const watched = watching(message);
  await untilSettled(watched, { ...idle, ...record } as RunRecord, never);
  expect(watched.seen.read).toBe(settled ? 0 : 1);
});

const delta = { type: "text-delta", text: "x" };
const step = { type: "step-started", step: 1, maxSteps: 2 };

test.each<readonly [string, readonly RunEvent[], number]>([
  ["a question", [message, delta, step, asked, step], 4],
  ["its end", [message, step, ended, step], 3],
  ["a pause", [message, { type: "run-paused" }, step], 2],
])("a caller waits through a run's work until %s", async (_, events, read) => {
  const watched = watching(...events);
  await untilSettled(watched, idle, never);
  expect(watched.seen.read).toBe(read);
});

test("what was settled before the newest event known says nothing, and what is known already is not read again", async () => {
  const watched = watching(message, asked, step, step, ended);
  const newer = { ...idle, lastEvent: 4 };
  await untilSettled(watched, idle, never);
  expect([watched.seen.read, watched.projections.known("r").seq]).toEqual([2, 2]);
  // A record with later events: its question may have been answered since.
  await untilSettled(watched, newer, never);
  expect([watched.seen.read, watched.projections.known("r").seq]).toEqual([5, 5]);
  watched.seen.read = 0;
  await untilSettled(watched, newer, never);
  expect(watched.seen.read).toBe(0);
  const fresh = watching(message, asked, step, asked, step);
  await untilSettled(fresh, newer, never);
  expect(fresh.seen.read).toBe(4);
  const known = watching(message, step, ended);
  known.projections.keep("r", { ...known.projections.known("r"), seq: 2 });
  const from: unknown[] = [];
  const { follow } = known.engine;
  const engine = {
    ...known.engine,
    follow: (id: string, how: { after?: number; signal: AbortSignal }) => {
      from.push(how.after);
      return follow(id, how);
    },
  };
  await untilSettled({ ...known, engine }, idle, never);
  expect(from).toEqual([2]);
  from.length = 0;
  await untilSettled({ ...known, engine }, { ...idle, id: "other" }, never, 0);
  expect(from).toEqual([]);
});

const heard = { type: "message-heard", messageId: "m", as: "message" };
const artifact = { type: "artifact-added", artifactId: "r/a", name: "answer", parts: [] };

test.each<readonly [string, readonly RunEvent[], number]>([
  ["a step", [message, step, ended], 2],
  ["the first words", [message, delta, ended], 2],
  ["a notice", [message, { type: "notice-given", kind: "budget", text: "x" }, ended], 2],
  ["its end, with nothing to watch but the answer", [message, heard, artifact, ended, step], 4],
  ["a question", [message, asked, ended], 2],
])("a run is quiet until %s", async (_, events, read) => {
  const watched = watching(...events);
  await whileQuiet(watched, idle, never, 60_000);
  expect(watched.seen.read).toBe(read);
});

test("who cancels waits for the end, not for the words that come before it", async () => {
  const watched = watching(step, delta, { type: "run-paused" }, ended, step);
  await cancelRun(watched, idle, never);
  expect(watched.seen.read).toBe(4);
});

/** An engine whose runs go on for ever; what was asked of it, in order. */
function endless() {
  const done: string[] = [];
  async function* follow(id: string, options: { after?: number; signal?: AbortSignal }): AsyncGenerator<FollowItem> {
    done.push(`follow ${id} after ${options.after ?? 0}`);
    for (; options.signal?.aborted === false; await Bun.sleep(1)) yield { kind: "progress", event: { type: "x" } };
    done.push(options.signal === undefined ? "for ever" : "let go");
  }
  const cancel = (id: string) => Bun.sleep(1).then(() => void done.push(`cancel ${id}`));
  return { engine: { follow, cancel, events: async () => [] } as unknown as Engine, done };
}

test("a run is canceled before its end is waited for, only what comes from then on counts, and a caller may go", async () => {
  const { engine, done } = endless();
  const caller = new AbortController();
  const began = performance.now();
  const canceled = cancelRun({ engine }, { ...idle, lastEvent: 7 }, caller.signal);
  setTimeout(() => caller.abort(), 20);
  await canceled;
  expect(performance.now() - began).toBeLessThan(9_000);
  expect(done).toEqual(["cancel r", "follow r after 7", "let go"]);
});

test("who cancels a run that does not stop is answered after ten seconds", async () => {
  const { engine, done } = endless();
  const inTime = AbortSignal.timeout;
  // A thousandth of the time.
  using timeout = spyOn(AbortSignal, "timeout").mockImplementation((ms) => inTime(ms / 1_000));
  await cancelRun({ engine }, idle, never);
  expect(timeout.mock.calls).toEqual([[10_000]]);
  expect(done.at(-1)).toBe("let go");
});

test("a caller who waits while nothing happens is answered when its time is over, or lets go", async () => {
  async function* follow(_: string, { signal }: { signal?: AbortSignal }): AsyncGenerator<FollowItem> {
    for (; signal?.aborted === false; await Bun.sleep(1))
      yield { kind: "event", runId: "r", seq: 1, at: 0, event: heard };
    if (signal === undefined) throw new Error("for ever");
  }
  const engine = {
    follow: (id: string, options: { signal?: AbortSignal }) => following(follow(id, options)),
  } as unknown as Engine;
  const watched = { engine, projections: createProjectionCache(engine) };
  await whileQuiet(watched, idle, never, 5);
  await whileQuiet(watched, idle, AbortSignal.timeout(5), 60_000);
});
