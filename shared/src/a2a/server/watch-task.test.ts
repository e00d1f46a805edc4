import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StreamResponse, TaskState } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import type { Engine, FollowItem, RunRecord } from "../../core/runs/engine.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createProjectionCache } from "../../runs/projection-cache.ts";
import { hitlExtension } from "../extensions.ts";
import type { TaskDeps } from "./task-access.ts";
import { type WatchOptions, watchTask } from "./watch-task.ts";

const received = { type: "message-received", messageId: "m", parts: [] };
const step = { type: "step-started", step: 1, maxSteps: 2 };
const asked = (kind = "question") => ({ type: "question-asked", question: "Which?", kind });
const ended = { type: "run-ended", status: "completed" };
const delta = (text: string, at: number) => ({ type: "text-delta", text, at });

/**
 * What a reader sees of a task that has `before` when it comes; then `later` happens, live text
 * among it.
 */
async function watch(...seen: Parameters<typeof updates>) {
  return (await updates(...seen)).map(shown);
}

/** What else may be said of a run and its reader; `left` gets the signal of who followed it. */
type Odd = { readonly input?: object; readonly run?: Partial<RunRecord>; readonly left?: AbortSignal[] };

async function updates(
  before: readonly RunEvent[],
  later: readonly RunEvent[],
  { input = {}, run: record, left, ...over }: Partial<WatchOptions> & Odd = {},
): Promise<StreamResponse[]> {
  const stored = [...before, ...later.filter(({ type }) => type !== "text-delta")];
  const events = stored.map((event, at) => ({ runId: "r", seq: at + 1, at: 0, event }));
  async function* pages(after: number): AsyncGenerator<readonly FollowItem[]> {
    let seq = after;
    for (const event of [...before.slice(after), ...later.slice(Math.max(0, after - before.length))]) {
      const item = event.type === "text-delta" ? undefined : events[seq++];
      yield [item === undefined ? { kind: "progress", event } : { kind: "event", ...item }];
    }
  }
  const engine = {
    follow(_: string, { after = 0, signal }: { readonly after?: number; readonly signal: AbortSignal }) {
      left?.push(signal);
      return { pages: () => pages(after) };
    },
    events: async (_: string, after = 0, last = events.length) => events.slice(after, last),
  } as unknown as Engine;
  const deps = { engine, projections: createProjectionCache(engine), publicUrl: "http://a.example", draft: "replies" };
  const run = {
    id: "r",
    contextId: "c",
    status: "running",
    lastEvent: before.length,
    input,
    createdAt: 0,
    updatedAt: 0,
    ...record,
  };
  const options = {
    signal: new AbortController().signal,
    journal: false,
    hitl: false,
    until: "task",
    ...over,
  } as const;
  const batches = await Array.fromAsync(watchTask(deps as unknown as TaskDeps, run as unknown as RunRecord, options));
  return batches.flat();
}

test("the task comes with its artifacts, as many messages as wanted, and questions in the form that is wanted", async () => {
  const artifact = { type: "artifact-added", artifactId: "r/a", name: "a", parts: [] };
  const before = [received, { ...received, messageId: "m2" }, artifact, asked()];
  const first = async (over: Partial<WatchOptions>) => {
    const [update] = await updates(before, [], { until: "turn", ...over });
    const task = update?.payload?.$case === "task" ? update.payload.value : undefined;
    const form = task?.status?.message?.metadata?.[hitlExtension] !== undefined;
    return [task?.artifacts.length, task?.history.length, form];
  };
  expect(await first({})).toEqual([1, 3, false]);
  expect(await first({ hitl: true, historyLength: 2 })).toEqual([1, 2, true]);
  const later = async (hitl: boolean) =>
    JSON.stringify((await updates([received], [asked()], { until: "turn", hitl })).at(-1)).includes(hitlExtension);
  expect([await later(true), await later(false)]).toEqual([true, false]);
});

test("who comes back sees the state of then, and whose turn is over follows the task no longer", async () => {
  const run = { status: "waiting", waiting: { signal: "message", reason: "auth-required" } } as const;
  const stateOf = async (over: Partial<WatchOptions>) => {
    const [update] = await updates([received, step], [ended], { run, ...over });
    return update?.payload?.$case === "task" ? update.payload.value.status?.state : undefined;
  };
  expect(await stateOf({})).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
  expect(await stateOf({ after: 1 })).toBe(TaskState.TASK_STATE_SUBMITTED);
  const [first] = await updates([received], [ended], { after: 0, run: { createdAt: 7_000 } });
  const accepted = first?.payload?.$case === "task" ? first.payload.value.status : undefined;
  expect(accepted?.timestamp).toBe("1970-01-01T00:00:07.000Z");
  const left: AbortSignal[] = [];
  await updates([received], [asked(), step], { until: "turn", left });
  expect(left.map(({ aborted }) => aborted)).toEqual([true]);
});

/** A task with its place, an event by its place, live text as it is. */
function shown({ payload }: StreamResponse): string | number {
  const seq = (metadata: Record<string, unknown> | undefined) => Number(metadata?.["manyhands/seq"]);
  if (payload?.$case === "task") return `task ${seq(payload.value.metadata)}`;
  if (payload?.$case === "artifactUpdate")
    return `text ${payload.value.artifact?.parts.map(({ content }) => content?.value).join("")}`;
  const metadata = payload?.$case === "statusUpdate" ? payload.value.metadata : undefined;
  return metadata?.["manyhands/progress"] === undefined ? seq(metadata) : "progress";
}

test("a reader sees the task as it is and then every event, once and in order, to the end", async () => {
  expect(await watch([received], [step, ended, step])).toEqual(["task 1", 2, 3]);
  expect(await watch([received, ended], [step])).toEqual(["task 2"]);
});

test("who comes back sees the task as of the last event it has, and the rest, also of a task that has ended", async () => {
  expect(await watch([received, step, step], [ended], { after: 1 })).toEqual(["task 1", 2, 3, 4]);
  expect(await watch([received, step, ended], [], { after: 1 })).toEqual(["task 1", 2, 3]);
  expect(await watch([received, step], [ended], { after: 0 })).toEqual(["task 0", 1, 2, 3]);
  // Who has them all, or claims more than there are, has missed nothing.
  for (const after of [2, 9]) expect(await watch([received, step], [ended], { after })).toEqual(["task 2", 3]);
  expect(await watch([received, ended], [], { after: 2 })).toEqual(["task 2"]);
  // What was asked then has been answered since.
  expect(await watch([received, asked(), step], [ended], { after: 2, until: "turn" })).toEqual(["task 2", 3, 4]);
  // What it asks is nothing new to them, and ends the turn all the same.
  expect(await watch([received, asked()], [step, ended], { after: 2, until: "turn" })).toEqual(["task 2"]);
});

test.each([
  ["turn", "question", [1, 2]],
  ["turn", "approval", [1, 2]],
  // Once authorized it continues by itself.
  ["turn", "authorization", [1, 2, 3, 4]],
  ["task", "question", [1, 2, 3, 4]],
] as const)("who watches a %s is done, or is not, when the task asks: %s", async (until, kind, seen) => {
  const places = (await watch([received], [asked(kind), step, ended], { until })).slice(1);
  expect([1, ...places]).toEqual([...seen]);
  const already = await watch([received, asked(kind)], [step, ended], { until });
  expect(already).toEqual(seen.length === 2 ? ["task 2"] : ["task 2", 3, 4]);
});

test("live text is shown as the growing answer, as progress to readers of the journal, and not where data is wanted", async () => {
  const live = [delta("Hm", 0), step, ended];
  expect(await watch([received], live)).toEqual(["task 1", "text ", "text Hm", 2, 3]);
  expect(await watch([received], live, { journal: true })).toEqual(["task 1", "progress", 2, 3]);
  expect(await watch([received], live, { input: { answerAs: "data" } })).toEqual(["task 1", 2, 3]);
  expect(await watch([received], [delta("Hm", 0), asked(), ended])).toEqual([
    "task 1",
    "text ",
    "text Hm",
    "text ",
    2,
    3,
  ]);
});

test("a store that is away when a reader comes is the reader's failure, once", async () => {
  const away = () => Promise.reject(new AppError("storage_unavailable", "It is away."));
  async function* pages(): AsyncGenerator<never> {
    yield await away();
  }
  const engine = { follow: () => ({ pages }), events: away } as unknown as Engine;
  const deps = { engine, projections: createProjectionCache(engine) } as unknown as TaskDeps;
  const run = { id: "r", lastEvent: 1 } as unknown as RunRecord;
  const options = { signal: new AbortController().signal, journal: false, hitl: false, until: "task" } as const;
  const watching = Array.fromAsync(watchTask(deps, run, options));
  await expect(watching).rejects.toMatchObject({ code: "storage_unavailable" });
});

test("a reader that reads the task slowly misses no live text of it", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-watch-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const read = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const execute = (body: Run) =>
    body.step("model", async (step) => {
      await read.promise;
      step.progress(delta("Hm", 0));
      written.resolve();
      return null;
    });
  engine.work([{ kind: "test", execute }], { concurrency: 1 });
  const slow: Pick<Engine, "events"> = {
    async events(...range) {
      read.resolve();
      await written.promise;
      return engine.events(...range);
    },
  };
  const { run } = await engine.start({ kind: "test", input: {}, principal: "p", contextId: "c", events: [received] });
  const deps = { engine, projections: createProjectionCache(slow), publicUrl: "http://a.example", draft: "replies" };
  const options = { signal: AbortSignal.timeout(20_000), journal: true, hitl: false, until: "task" } as const;
  const batches = await Array.fromAsync(watchTask(deps as unknown as TaskDeps, run, options));
  await engine.close();
  await rm(home, { recursive: true });
  expect(batches.flat().map(shown)).toEqual(["task 1", "progress", 2]);
});
