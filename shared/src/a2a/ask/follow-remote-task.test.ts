import { expect, spyOn, test } from "bun:test";
import { Task, TaskState } from "@a2a-js/sdk";
import * as sleeping from "../../core/async/sleep.ts";
import { AppError } from "../../core/errors.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import type { TaskUpdate } from "../client/task-update.ts";
import type { RemoteTask } from "./ask.ts";
import { type Followed, followRemoteTask, untilEvent } from "./follow-remote-task.ts";
import type { Peers } from "./peers.ts";

const live = new AbortController().signal;
const theTask = (state: string, more: object = {}) =>
  Task.fromJSON({ id: "t", contextId: "c", status: { state: `TASK_STATE_${state}`, ...more } });
const asking = (messageId: string, text = "Which?") => ({
  message: { messageId, role: "ROLE_AGENT", parts: [{ text }] },
});
const status = (seq: number, event?: RunEvent): TaskUpdate => ({
  ...{ kind: "status", state: TaskState.TASK_STATE_WORKING, text: "", seq },
  ...(event && { journal: { at: 0, event } }),
});
const written: TaskUpdate = { kind: "progress", progress: { type: "text-delta", text: "x" } };

type Changes = {
  readonly task?: Task;
  /** What the task's stream brings; then it is quiet, or breaks with `fails`. */
  readonly updates?: readonly TaskUpdate[];
  readonly fails?: Error;
  /** Whether the task is in our own store. */
  readonly isKnown?: boolean;
  readonly from?: Partial<Followed>;
};

/** Follows a task of an agent of ours for a moment; what was seen, and what was asked of whom. */
async function followed({ task = theTask("WORKING"), updates = [], fails, isKnown = true, from }: Changes = {}) {
  const [got, watched, read]: [unknown[], unknown[], unknown[]] = [[], [], []];
  const run = {
    id: "r",
    principal: "ann",
    step: (_: string, work: (step: object) => unknown) =>
      work({ signal: live, now: () => 0, emit: () => undefined, progress: () => undefined }),
  } as unknown as Run;
  const client = {
    ours: true,
    async *watch(id: string, { after, signal }: { readonly after: number; readonly signal: AbortSignal }) {
      read.push([id, after]);
      yield* updates;
      if (fails !== undefined) throw fails;
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    async get() {
      // By then the time to follow it is over.
      await Bun.sleep(30);
      return task;
    },
  };
  const peers = {
    bounds: { followMs: 15, files: 1, fileBytes: 1 },
    client: async () => client,
    engine: {
      async get(...asked: unknown[]) {
        got.push(asked);
        return isKnown ? { id: "t", lastEvent: 4 } : undefined;
      },
      watch: async (...asked: unknown[]) => void watched.push(asked),
    },
  } as unknown as Peers;
  const ask = { askId: "a", agent: { name: "swe", url: "http://swe.example" }, endsAt: undefined };
  const remote = { ours: true, title: "Swe", taskId: "t", contextId: "c", ask } as unknown as RemoteTask;
  const seen = await followRemoteTask(run, remote, { after: 3, told: 0, ...from }, peers);
  return { seen: "value" in seen ? seen.value : seen, got, watched, read };
}

test("a quiet task in our own store is watched from its last event there, in the principal's name", async () => {
  const { seen, got, watched, read } = await followed();
  expect(seen).toEqual({ after: 3, told: 0, state: "working", waits: true });
  expect([got, read]).toEqual([[["t", "ann"]], [["t", 3]]]);
  expect(watched).toEqual([["t", { after: 4, watcher: "r", signal: "events of t" }]]);
});

test.each<readonly [string, Changes, number]>([
  ["had events", { updates: [status(5), status(4)] }, 5],
  ["writes", { updates: [written] }, 3],
  // What the task came to has not been read event by event.
  ["comes whole before its events", { updates: [{ kind: "task", seq: 9, task: theTask("WORKING") }, status(5)] }, 5],
  ["is in another store", { isKnown: false }, 3],
  ["has a broken stream", { fails: new AppError("unavailable", "x") }, 3],
])("a task that %s is looked at again, from its last event on", async (_, changes, after) => {
  const { seen, watched } = await followed(changes);
  expect(seen).toEqual({ after, told: 0, state: "working" });
  expect(watched).toEqual([]);
});

test("a task that ended has its result at once, unless there are files to fetch", async () => {
  const artifact = (part: object) => ({ artifactId: "x", name: "answer", parts: [part] });
  const ended = (part: object) =>
    Task.fromJSON({ ...{ id: "t", status: { state: "TASK_STATE_COMPLETED" } }, artifacts: [artifact(part)] });
  const { seen, watched } = await followed({ task: ended({ text: "done" }) });
  expect(seen).toMatchObject({ state: "completed", result: { state: "completed", answer: "done" } });
  expect(watched).toEqual([]);
  expect((await followed({ task: ended({ raw: "eA==", filename: "x" }) })).seen).toEqual({
    ...{ after: 3, told: 0, state: "completed" },
  });
});

const approval = { id: "x1", callId: "1", name: "bash", arguments: "{}" };
test.each<readonly [string, Changes, object]>([
  ["in words", { task: theTask("INPUT_REQUIRED", asking("q")) }, { id: "q", text: "Which?", kind: "question" }],
  [
    "about a call, by its journal",
    {
      task: theTask("INPUT_REQUIRED", asking("q")),
      updates: [
        status(4, { type: "question-asked", question: "Which?", kind: "question" }),
        status(5, { type: "question-asked", question: "May I?", kind: "approval", approval }),
      ],
    },
    { id: "q", text: "Which?", kind: "approval", approval },
  ],
  ["for leave", { task: theTask("AUTH_REQUIRED", asking("q")) }, { id: "q", text: "Which?", kind: "authorization" }],
  [
    "anew after an answer",
    { task: theTask("INPUT_REQUIRED", asking("q2")), from: { answered: "q1" } },
    { id: "q2", text: "Which?", kind: "question" },
  ],
])("a task that asks %s has its question", async (_, changes, question) => {
  const { seen, watched } = await followed(changes);
  expect("question" in seen && seen.question).toEqual(question as never);
  expect(watched).toEqual([]);
});

test("a question that was answered is none, also if the agent has not noticed yet", async () => {
  const { seen } = await followed({ task: theTask("INPUT_REQUIRED", asking("q")), from: { answered: "q" } });
  expect(seen).toEqual({ after: 3, told: 0, answered: "q", state: "working", waits: true });
});

test("an answer about another task is a fault that may pass", async () => {
  const other = Task.fromJSON({ id: "u", status: { state: "TASK_STATE_COMPLETED" } });
  expect((await followed({ task: other })).seen).toMatchObject({ fault: { code: "unavailable" } });
});

test.each([
  ["quiet agents are looked at", undefined, 600],
  ["its deadline passes before", 1_250, 250],
  ["its deadline has passed", 900, 0],
])("who waits for an event wakes when %s", async (_, endsAt, ms) => {
  const waits: unknown[] = [];
  const own = {
    signal: async (name: string) => void waits.push(name),
    sleep: async (one: number) => void waits.push(one),
  };
  const run = {
    race: (branches: readonly ((branch: object) => unknown)[]) => Promise.all(branches.map((branch) => branch(own))),
  } as unknown as Run;
  const remote = { taskId: "t", ask: { endsAt } } as unknown as RemoteTask;
  await untilEvent(run, remote, 1_000, { bounds: { quietMs: 600 } } as Peers);
  expect(waits).toEqual(["events of t", ms]);
});

/**
 * Polls a task of an agent of another system that works for so many looks; `rings` at each pause.
 */
async function polled(
  looks: number,
  { endsAt, rings = false }: { readonly endsAt?: number; readonly rings?: boolean } = {},
) {
  const slept: number[] = [];
  const woken: boolean[] = [];
  const calls: unknown[] = [];
  let bell = new AbortController();
  using _ = spyOn(sleeping, "sleep").mockImplementation(async (ms, signal) => {
    slept.push(ms);
    if (rings) bell.abort();
    woken.push(signal?.aborted === true);
  });
  using bounding = spyOn(AbortSignal, "timeout");
  let left = looks;
  const client = { ours: false, get: async () => (left-- > 0 ? theTask("WORKING") : theTask("COMPLETED")) };
  const pushCallbacks = {
    next() {
      bell = new AbortController();
      return bell.signal;
    },
    async subscribe(_client: object, what: object) {
      calls.push(what);
      return true;
    },
    knows: () => calls.length > 0,
    leave: (askId: string) => void calls.push(`left ${askId}`),
  };
  const peers = {
    bounds: { followMs: 20_000, files: 1, fileBytes: 1 },
    at: ({ url }: { readonly url: string }) => ({ url: `${url}/now` }),
    client: async () => client,
    pushCallbacks,
  } as unknown as Peers;
  const run = { id: "r", step: (_: string, work: (step: object) => unknown) => work({ signal: live, now: () => 0 }) };
  const ask = { askId: "a", agent: { name: "far", url: "http://far.example" }, endsAt };
  const remote = { ours: false, title: "Far", taskId: "t", contextId: "c", ask } as unknown as RemoteTask;
  const seen = await followRemoteTask(run as unknown as Run, remote, { after: 0, told: 0 }, peers);
  return { state: "value" in seen && seen.value.state, slept, woken, calls, bounds: bounding.mock.calls.flat() };
}

test("an agent of another system is polled ever more rarely, and once it notifies, only then", async () => {
  const subscribed = { taskId: "t", askId: "a", agentUrl: "http://far.example/now" };
  const long = await polled(6);
  expect(long).toMatchObject({ state: "completed", slept: [250, 375, 562.5, 843.75, 60_000, 60_000] });
  expect(long.calls).toEqual([subscribed, subscribed, "left a"]);
  expect([(await polled(3)).calls, long.woken]).toEqual([["left a"], Array(6).fill(false)]);
  expect((await polled(3, { rings: true })).woken).toEqual([true, true, true]);
});

test("a task is followed for as long as a step may take, or until its ask's deadline and a moment more", async () => {
  expect((await polled(1)).bounds).toEqual([20_000]);
  expect((await polled(1, { endsAt: 5_000 })).bounds).toEqual([7_000, 5_000]);
});

test("an agent whose stream ends before there is anything is not asked again at once", async () => {
  const slept: number[] = [];
  using _ = spyOn(sleeping, "sleep").mockImplementation(async (ms) => void slept.push(ms));
  async function* watch() {}
  const peers = {
    bounds: { followMs: 20_000, files: 1, fileBytes: 1 },
    client: async () => ({ ours: true, watch, get: async () => theTask("WORKING") }),
    engine: { get: async () => undefined },
  } as unknown as Peers;
  const run = { id: "r", step: (_: string, work: (step: object) => unknown) => work({ signal: live, now: () => 0 }) };
  const ask = { askId: "a", agent: { name: "swe", url: "http://swe.example" }, endsAt: undefined };
  const remote = { ours: true, taskId: "t", contextId: "c", ask } as unknown as RemoteTask;
  await followRemoteTask(run as unknown as Run, remote, { after: 0, told: 0 }, peers);
  expect(slept).toHaveLength(1);
  expect(slept[0]).toBeWithin(1, 1_001);
});
