import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import type { A2aClient } from "../client/client.ts";
import { cancelChildrenRun } from "./cancel-children.ts";
import { cancelOpen, cancelRemoteTask, type OpenAsk, openAsks } from "./cancel-remote-tasks.ts";
import type { Peers } from "./peers.ts";

const asked = (askId: string, contextId?: string): RunEvent => ({
  type: "agent-asked",
  askId,
  agent: "swe",
  url: "http://swe.example",
  text: "do",
  parts: [],
  hops: 1,
  ...(contextId !== undefined && { contextId }),
});
const accepted = (askId: string): RunEvent => ({
  type: "agent-accepted",
  askId,
  agent: "swe",
  taskId: `task of ${askId}`,
  contextId: "theirs",
});
const answered = (askId: string, left?: boolean): RunEvent => ({
  type: "agent-answered",
  askId,
  agent: "swe",
  state: "timed-out",
  files: [],
  ...(left !== undefined && { left }),
});
const agent = { name: "swe", url: "http://swe.example" };

test.each<readonly [string, readonly RunEvent[], readonly OpenAsk[]]>([
  ["nothing asked", [], []],
  ["asked", [asked("a", "c")], [{ askId: "a", agent, contextId: "c" }]],
  ["accepted", [asked("a"), accepted("a")], [{ askId: "a", agent, taskId: "task of a" }]],
  ["answered", [asked("a"), accepted("a"), answered("a")], []],
  ["answered before it was accepted", [asked("a"), answered("a"), accepted("a")], []],
  ["left running", [asked("a"), accepted("a"), answered("a", true)], [{ askId: "a", agent, taskId: "task of a" }]],
  ["not left", [asked("a"), accepted("a"), answered("a", false)], []],
  [
    "one of two answered",
    [asked("a"), asked("b"), accepted("b"), answered("a")],
    [{ askId: "b", agent, taskId: "task of b" }],
  ],
])("an ask is open until it is answered and nothing is left of it: %s", (_, events, open) => {
  expect(openAsks(events)).toEqual([...open]);
});

const used = { tokens: 3, outputTokens: 1, usd: 0, unpriced: false };
const task = { id: "t", metadata: { "manyhands/usage": used } };
const fails = (error: unknown) => async () => Promise.reject(error);

/** A client whose calls answer with the task, or as said. */
function peersWith(
  over: Partial<Record<"cancel" | "cancelMessage" | "get" | "connect", (...given: never[]) => unknown>> = {},
) {
  const calls: unknown[] = [];
  const answering =
    (name: "cancel" | "cancelMessage" | "get") =>
    async (id: string, { signal: _, ...more }: object & { signal: unknown }) => {
      calls.push([name, id, more]);
      return over[name] === undefined ? task : over[name]();
    };
  const client = { cancel: answering("cancel"), cancelMessage: answering("cancelMessage"), get: answering("get") };
  const peers = { client: over.connect ?? (async () => client as unknown as A2aClient) } as unknown as Peers;
  return { calls, peers };
}
const live = new AbortController().signal;
const openAsk: OpenAsk = { askId: "a", agent, taskId: "t", contextId: "c" };

test("a task is canceled by its id, a message whose answer was lost by the message's, in its conversation", async () => {
  const known = peersWith();
  expect(await cancelRemoteTask(openAsk, known.peers, live)).toEqual({ done: true, usage: used });
  const { taskId: _, ...lost } = openAsk;
  expect(await cancelRemoteTask(lost, known.peers, live)).toEqual({ done: true, usage: used });
  const { contextId: __, ...fresh } = lost;
  await cancelRemoteTask(fresh, known.peers, live);
  expect(known.calls).toEqual([
    ["cancel", "t", {}],
    ["cancelMessage", "a", { contextId: "c" }],
    ["cancelMessage", "a", {}],
  ]);
  const unknown = peersWith({ cancelMessage: () => undefined });
  expect(await cancelRemoteTask(lost, unknown.peers, live)).toEqual({ done: true });
});

test("a task that has ended by itself is done, and what it used is read", async () => {
  const { peers, calls } = peersWith({ cancel: fails(new AppError("run_ended", "x")) });
  expect(await cancelRemoteTask(openAsk, peers, live)).toEqual({ done: true, usage: used });
  expect(calls.map((call) => (call as unknown[])[0])).toEqual(["cancel", "get"]);
});

test.each<readonly [string, boolean | "thrown", unknown]>([
  ["an unknown task", true, new AppError("not_found", "x")],
  ["a refusal", true, new AppError("forbidden", "x")],
  ["an agent that fails", false, new AppError("unavailable", "x")],
  ["an agent that is away", false, new AppError("unreachable", "x")],
  ["an agent that hangs", false, new DOMException("late", "TimeoutError")],
  ["a bug", "thrown", new TypeError("bug")],
])("after %s nothing is left to do: %p", async (_, done, error) => {
  for (const where of ["cancel", "connect"] as const) {
    const { peers } = peersWith({ [where]: fails(error) });
    const outcome = await cancelRemoteTask(openAsk, peers, live).catch(() => ({ done: "thrown" }));
    expect(outcome).toEqual({ done } as never);
  }
});

test("who gives up the cancellation itself learns nothing from it", async () => {
  const gone = AbortSignal.abort(new Error("the step is over"));
  const { peers } = peersWith({ cancel: fails(new AppError("unavailable", "x")) });
  await expect(cancelRemoteTask(openAsk, peers, gone)).rejects.toThrow("the step is over");
});

/** The clean-up of a run with one open ask, on a clock that only the pauses move. */
async function cleanUp(failures: number, { older = false, status = "canceled", why = "canceled" } = {}) {
  let [now, tries] = [1_000, 0];
  const slept: number[] = [];
  const steps: string[] = [];
  const { peers } = peersWith({
    cancel: async () => (tries++ < failures ? fails(new AppError("unavailable", "x"))() : task),
  });
  const engine = {
    get: async () => ({ status }),
    events: async () => [asked("a"), accepted("a")].map((event, at) => ({ runId: "r", seq: at + 1, at: 0, event })),
    cancel: fails(new AppError("run_ended", "x")),
  };
  const acting: string[] = [];
  const all = {
    ...peers,
    engine,
    retrySignal: () => undefined,
    actingFor(principal: string) {
      acting.push(principal);
      return all;
    },
  };
  const run = {
    principal: "ann",
    async step(name: string, work: (context: object) => Promise<unknown>) {
      steps.push(name);
      const told = await work({ signal: live, now: () => now });
      return older && typeof told === "object" && told !== null ? (told as { left: number }).left : told;
    },
    async sleep(ms: number) {
      slept.push(ms);
      now += ms;
    },
  };
  const outcome = await cancelChildrenRun("k", all as unknown as Peers)
    .execute(run as never, { runId: "r", why })
    .catch((error: unknown) => (error as AppError).code);
  return { outcome, slept, steps, acting: new Set(acting), waited: now - 1_000 };
}

test("what a run left open is canceled in its principal's name, after pauses that double up to ten minutes", async () => {
  const { outcome, slept, steps, acting } = await cleanUp(16);
  expect(outcome).toBeNull();
  expect(slept.slice(0, 3)).toEqual([50, 100, 200]);
  expect(slept.slice(-2)).toEqual([600_000, 600_000]);
  expect(steps.slice(0, 2)).toEqual(["cancel", "recall"]);
  expect(acting).toEqual(new Set(["ann"]));
  expect((await cleanUp(0, { why: "ending" })).steps).toEqual(["recall"]);
});

test("it is given up after a day, and not before", async () => {
  const day = 24 * 3_600_000;
  const { outcome, waited, slept } = await cleanUp(1_000);
  expect(outcome).toBe("unavailable");
  expect(waited).toBeGreaterThan(day);
  expect(waited - (slept.at(-1) ?? 0)).toBeLessThanOrEqual(day);
});

test("the journal of an earlier version, which has only how many were left, goes on", async () => {
  expect(await cleanUp(2, { older: true })).toMatchObject({ outcome: null, slept: [50, 100] });
});

test("a branch settles the asks below it once their events are stored, tells those it canceled, and says how many are left", async () => {
  const [steps, told, acting]: [unknown[], RunEvent[], string[]] = [[], [], []];
  const { calls, peers } = peersWith({
    cancel: async () => (calls.length === 1 ? task : fails(new AppError("unavailable", "x"))()),
  });
  let isStored = false;
  const below = ["r/1/0", "r/1/2/0"].flatMap((askId) => [asked(askId), accepted(askId)]);
  const beside = ["r/10/0", "r/2/0", "r/1"].map((askId) => asked(askId));
  const all = {
    ...peers,
    engine: {
      events: async (id: string) =>
        (isStored && id === "r" ? [...beside, ...below] : []).map((event, at) => ({
          runId: "r",
          seq: at,
          at: 0,
          event,
        })),
    },
    actingFor(principal: string) {
      acting.push(principal);
      return all;
    },
  };
  const run = {
    ...{ id: "r", principal: "ann" },
    step(name: string, work: (context: object) => Promise<unknown>, how?: object) {
      steps.push([name, how]);
      const done = work({ key: `r/1/${steps.length}`, signal: live, emit: (event: RunEvent) => told.push(event) });
      isStored = true;
      return done;
    },
  };
  expect(await cancelOpen(run as unknown as Run, all as unknown as Peers)).toBe(1);
  expect(calls).toEqual([
    ["cancel", "task of r/1/0", {}],
    ["cancel", "task of r/1/2/0", {}],
  ]);
  expect(told).toEqual([
    { type: "agent-answered", askId: "r/1/0", agent: "swe", state: "canceled", files: [], usage: used },
  ]);
  expect([steps, acting]).toEqual([
    [
      ["settle asks", { effect: "pure" }],
      ["cancel open asks", undefined],
    ],
    ["ann"],
  ]);
});
