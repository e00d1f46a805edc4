import { expect, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import { silentLog } from "../../../core/runs/engine.ts";
import type { Run } from "../../../core/runs/run.ts";
import { until } from "../../../testing/durable/until.ts";
import type { RunRow } from "../run-row.ts";
import { Executor, type ExecutorOptions, type Pool } from "./executor.ts";

type Operation = { readonly do: string; readonly [field: string]: unknown };

/** What a commit of these operations answers; nothing special where it says nothing. */
type Answer = {
  readonly last?: number;
  readonly signaled?: readonly string[];
  readonly parked?: boolean;
  readonly canceled?: boolean;
};

/**
 * An executor over a database that answers as it is told, so that a test decides what happens
 * first; with all that it wrote, showed and told.
 */
function executing(
  bodies: Readonly<Record<string, (run: Run) => Promise<unknown>>>,
  {
    answer = () => ({}),
    heads = [],
    loading = Promise.resolve(),
    journal = [],
    isCanceled = false,
    isOthers = false,
  }: {
    readonly answer?: (operations: readonly Operation[]) => Answer;
    readonly heads?: readonly object[];
    readonly loading?: Promise<void>;
    readonly journal?: readonly object[];
    readonly isCanceled?: boolean;
    readonly isOthers?: boolean;
  } = {},
) {
  const written: Record<string, Operation[]> = {};
  const shown: (readonly [string, number])[] = [];
  const shownHere: unknown[] = [];
  const executed: unknown[] = [];
  const told: unknown[] = [];
  const stays: (readonly [string, number])[] = [];
  const runnable: (readonly [string, number | undefined])[] = [];
  const database = {
    sql: { array: (values: unknown) => values },
    async query(text: string) {
      if (text.includes("FROM journal")) return loading.then(() => journal);
      if (text.includes("ANY ($1)")) return heads;
      return text.includes("FROM heads") && !isOthers ? [{ canceled: isCanceled }] : [];
    },
    async call(_: string, text: string) {
      const { run, ops } = JSON.parse(text);
      written[run] = [...(written[run] ?? []), ...ops];
      const { last = 0, signaled = [], parked = false, canceled = false } = answer(ops);
      return { last, signaled, canceled, answers: ops.map(() => ({ parked, canceled: false })) };
    },
  };
  const executor = new Executor({
    database,
    clock: { now: () => 0 },
    live: {
      execute: (runId: string, lastEvent: number) => {
        executed.push([runId, lastEvent]);
        return () => void executed.push(runId);
      },
      progress: (runId: string, { text }: { text?: string }) => void shownHere.push([runId, text]),
    },
    shared: { show: (runId: string, after: number) => void shown.push([runId, after]) },
    conversations: {
      enter: ({ context_id }: RunRow) => void stays.push([`enters ${context_id}`, pool.running]),
      leave: async ({ context_id }: RunRow) => void stays.push([`leaves ${context_id}`, pool.running]),
    },
    news: { tell: (runId: string, about: object) => void told.push([runId, about]) },
    log: silentLog,
    stopMs: 1_000,
    onRunnable: (runId: string, due?: number) => void runnable.push([runId, due]),
  } as unknown as ExecutorOptions);
  const definitions = Object.entries(bodies).map(([kind, execute]) => ({ kind, execute: execute as never }));
  const pool: Pool = executor.add(definitions, { concurrency: 9, dedicatedPool: false });
  /** Executes a run of the kind, whose name is its id and its number's text too. */
  const execute = (kind: string, changes: object = {}) =>
    executor.execute(
      {
        n: kind,
        id: kind,
        kind,
        principal: "ann",
        context_id: "c",
        input: "null",
        epoch: 1,
        body: 1,
        last_event: 2,
        ...changes,
      } as never,
      "me",
      pool,
    );
  const wrote = (n: string) => (written[n] ?? []).map((operation) => operation.do);
  return { executor, execute, wrote, shown, shownHere, executed, told, stays, runnable, pool };
}

/** Waits for a signal while it does something else, and so is never parked. */
const waiting = (run: Run) =>
  run.all([
    (own: Run) => own.signal("go"),
    (own: Run) =>
      own.step("busy", ({ signal }) => new Promise<never>((_, reject) => signal.addEventListener("abort", reject))),
  ]);

test("what was canceled or taken over elsewhere ends here, what leaves by itself does, and the rest looks for signals", async () => {
  const heads = [
    { run: "canceled", owner: "me", epoch: "1", canceled: true },
    { run: "taken", owner: "other", epoch: "2", canceled: true },
    { run: "leaving", owner: null, epoch: "1", canceled: true },
    { run: "mine", owner: "me", epoch: "1", canceled: false },
  ];
  const all = ["canceled", "taken", "gone", "leaving", "mine"];
  const { executor, execute, wrote } = executing(Object.fromEntries(all.map((kind) => [kind, waiting])), { heads });
  for (const kind of all) void execute(kind);
  const asked = (kind: string) => wrote(kind).filter((name) => name === "wait").length;
  await until(() => all.every((kind) => asked(kind) === 1));
  await executor.catchUp("any");
  await until(() => asked("mine") === 2 && asked("leaving") === 2 && wrote("canceled").includes("end"));
  await until(() => ["canceled", "taken", "gone"].every((kind) => !executor.holds(kind)));
  expect(["taken", "gone"].map((kind) => [asked(kind), wrote(kind).includes("end")])).toEqual([
    [1, false],
    [1, false],
  ]);
  expect(["leaving", "mine"].map((kind) => wrote(kind).includes("end"))).toEqual([false, false]);
  expect(["leaving", "mine"].map((kind) => executor.holds(kind))).toEqual([true, true]);
});

test("a run that was canceled before it is held here is told so", async () => {
  const work = async (run: Run) => run.abortSignal.aborted || new Promise(() => undefined);
  const { execute, wrote } = executing({ work }, { isCanceled: true });
  await execute("work");
  expect(wrote("work")).toEqual(["end"]);
});

test("a run that is another's before it is held here is left as it is", async () => {
  const { executor, execute, wrote, runnable } = executing({ work: async () => "went on" }, { isOthers: true });
  await execute("work");
  expect([wrote("work"), runnable, executor.holds("work")]).toEqual([[], [], false]);
});

test("a run that a commit of its own finds canceled stops, and ends", async () => {
  const work = async (run: Run) => {
    await run.step("work", async () => 1);
    return new Promise((_, reject) => run.abortSignal.addEventListener("abort", reject));
  };
  const { execute, wrote } = executing({ work }, { answer: () => ({ canceled: true }) });
  void execute("work");
  await until(() => wrote("work").includes("end"), 5_000);
});

test("a run that cannot be read because the store is away is given back, for whoever can", async () => {
  const away = Promise.reject(new AppError("storage_unavailable", "It is away."));
  away.catch(() => undefined);
  const { execute, wrote } = executing({ work: async () => null }, { loading: away });
  await execute("work");
  expect(wrote("work")).toEqual(["release"]);
});

test("a run keeps its place until its conversation is given up, which it enters before it begins", async () => {
  const { execute, stays, pool } = executing({ work: async () => void stays.push(["works", pool.running]) });
  await execute("work");
  expect(stays).toEqual([
    ["enters c", 1],
    ["works", 1],
    ["leaves c", 1],
  ]);
  expect(pool.running).toBe(0);
});

test("a run whose journal comes while the process is stopping is handed back untouched", async () => {
  const { promise: loading, resolve: load } = Promise.withResolvers<void>();
  let did = 0;
  const work = (run: Run) => run.step("work", async () => ++did);
  const { executor, execute, wrote, runnable } = executing({ work }, { loading });
  const executed = execute("work");
  const drained = executor.drain(60_000, () => true);
  load();
  await Promise.all([executed, drained]);
  expect([wrote("work"), did]).toEqual([["release"], 0]);
  // Whoever else is there learns of it at once.
  expect(runnable).toEqual([["work", undefined]]);
});

test("a step that does not end in its time is told to stop, and its run handed back", async () => {
  const { executor, execute, wrote } = executing({ work: waiting });
  const executed = execute("work");
  await until(() => executor.holds("work") && wrote("work").includes("wait"));
  await Promise.all([executor.drain(10, () => true), executed]);
  expect(wrote("work").at(-1)).toBe("release");
}, 10_000);

test("a run whose journal cannot be read is paused with what is wrong, and not given to others", async () => {
  const work = (run: Run) => run.signal("go");
  const row = { path: "0", kind: "step", name: "try", state: "done", out: null, error: "{" };
  const { executor, execute, wrote, runnable } = executing({ work }, { journal: [row] });
  await execute("work");
  expect([wrote("work"), runnable, executor.holds("work")]).toEqual([["pause"], [], false]);
});

test("a run claimed again is held here when its former execution has left", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  const work = () => gates[begun++]?.promise ?? Promise.reject(new Error("Once too often."));
  const { executor, execute, wrote } = executing({ work });
  const former = execute("work");
  await until(() => begun === 1);
  const newer = execute("work", { epoch: 2 });
  await until(() => begun === 2);
  gates[0]?.resolve();
  await former;
  expect(executor.holds("work")).toBe(true);
  gates[1]?.resolve();
  await newer;
  expect([executor.holds("work"), wrote("work")]).toEqual([false, ["end", "end"]]);
});

test("progress says after which event it came, whatever was committed without one", async () => {
  const work = async (run: Run) => {
    for (const name of ["first", "second", "third"])
      await run.step(name, async ({ progress }) => void progress({ type: "text-delta", text: name } as never));
  };
  const answer = (operations: readonly Operation[]) =>
    ({ last: JSON.stringify(operations).includes("first") ? 7 : 0 }) as Answer;
  const { execute, shown, shownHere, executed, told } = executing({ work }, { answer });
  await execute("work");
  // Others are told of what they can read.
  expect(told).toEqual([["work", { last: 7 }]]);
  expect(shownHere).toEqual(["first", "second", "third"].map((text) => ["work", text]));
  // It is kept for who comes late from the run's last event on, as long as the run is executed.
  expect(executed).toEqual([["work", 2], "work"]);
  expect(shown).toEqual([
    ["work", 2],
    ["work", 7],
    ["work", 7],
  ]);
});

test("runs that a commit signaled can go on, and one that parks goes on when its time comes", async () => {
  const asleep = async (run: Run) => run.sleep(5_000);
  const worked = async (run: Run) => run.step("work", async () => 1);
  let asked = 0;
  const parks = ({ do: name, park }: Operation) => name === "wait" && park !== undefined && ++asked === 2;
  const { execute, runnable, wrote } = executing(
    { asleep, worked },
    { answer: (all) => ({ parked: all.some(parks), signaled: all.some((one) => one.do === "end") ? ["a", "b"] : [] }) },
  );
  await execute("worked");
  expect(runnable.splice(0)).toEqual([
    ["a", undefined],
    ["b", undefined],
  ]);
  await execute("asleep");
  // The first time something had arrived for it.
  expect(wrote("asleep")).toEqual(["wait", "wait"]);
  expect(runnable).toEqual([["asleep", 5_000]]);
});
