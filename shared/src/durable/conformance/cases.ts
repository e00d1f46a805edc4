import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Engine, FollowItem, RunRecord, RunStatus } from "../../core/runs/engine.ts";
import type { Run, RunDefinition, RunEvent } from "../../core/runs/run.ts";

/** One store under test; every `open` returns another engine over it, like another process's. */
export type ConformanceStore = {
  /**
   * Where engines notify each other, one that does not `look` learns of nothing else in time; one
   * that does soon finds what no notification announced.
   */
  open(options?: { readonly looks?: boolean }): Engine;
  /** Whether the store is a file, which the engine copies. */
  readonly isFile: boolean;
  /**
   * Resolves once workers have been asked for so many runs that have not ended, where that happens
   * some time after a run was accepted.
   */
  asked?(runs: number): Promise<void>;
  /** Closes every engine that was opened, and removes the store. */
  dispose(): Promise<void>;
};

/** What each group of cases gets: engines over a store made for the current case. */
export type Cases = {
  open: ConformanceStore["open"];
  /** Whether the store is a file, which the engine copies. */
  readonly isFile: boolean;
  /** Resolves once workers have been asked for so many runs that have not ended. */
  asked(runs: number): Promise<void>;
  /** An engine that executes this body as kind "test". */
  working(execute: (run: Run, input: Json) => Promise<Json>, options?: { concurrency: number }): Engine;
};

/** An ordinary start request. */
export const request = { kind: "test", input: null, principal: "ann", contextId: "c1" } as const;

/** Longer than anything here takes on a busy machine. */
export const withinMs = 10_000;

/** A definition of kind "test". */
export function body(execute: (run: Run, input: Json) => Promise<Json>): RunDefinition {
  return { kind: "test", execute };
}

/** Starts a run of kind "test", or as `over` says. */
export async function start(
  engine: Engine,
  over: { kind?: string; input?: Json; events?: RunEvent[] } = {},
): Promise<RunRecord> {
  return (await engine.start({ ...request, ...over })).run;
}

/** The run once it has this status; fails after `withinMs`. */
export function until(engine: Engine, id: string, status: RunStatus): Promise<RunRecord> {
  return untilAny(engine, id, [status]);
}

/** The run once it has one of these statuses; fails after `withinMs`. */
export async function untilAny(engine: Engine, id: string, statuses: readonly RunStatus[]): Promise<RunRecord> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const run = await engine.get(id);
    if (run !== undefined && statuses.includes(run.status)) return run;
    if (performance.now() > deadline)
      throw new Error(`Run ${id} is ${run?.status}, not ${statuses.join(" or ")}: ${run?.error?.message}`);
    await Bun.sleep(2);
  }
}

/** The code of the AppError a promise rejects with, or what happened instead. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return error instanceof AppError ? error.code : `not an AppError: ${error}`;
  }
  return "no error";
}

/** Everything a follower sees until the run's end. */
export async function collect(engine: Engine, id: string, after = 0): Promise<FollowItem[]> {
  const items: FollowItem[] = [];
  for await (const item of engine.follow(id, { after, signal: AbortSignal.timeout(withinMs) })) items.push(item);
  return items;
}
