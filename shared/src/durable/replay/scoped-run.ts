import type { Json } from "../../core/json.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import { never } from "./aborts.ts";
import { runAll, runRace } from "./branches.ts";
import type { ExecutionContext } from "./execution-context.ts";
import type { JournalRow } from "./run-store.ts";
import type { BranchScope } from "./scope.ts";
import { assertNotReserved, runStep } from "./step.ts";

/** The durable verbs for the body or one of its branches. */
export function scopedRun(execution: ExecutionContext, scope: BranchScope): Run {
  return {
    id: execution.options.runId,
    principal: execution.options.principal,
    contextId: execution.options.contextId,
    get abortSignal() {
      return scope.signal;
    },
    // The caller's function and its journal guarantee T; the engine only passes the value on.
    step: <T>(name: string, fn: Parameters<Run["step"]>[1], options?: Parameters<Run["step"]>[2]) =>
      handled(runStep(execution, scope, name, fn, options?.effect ?? "idempotent")) as Promise<T>,
    sleep: (milliseconds, options) => handled(runSleep(execution, scope, milliseconds, options?.until)),
    signal: <T extends Json>(name: string, options?: Parameters<Run["signal"]>[1]) =>
      handled(runSignal(execution, scope, name, options ?? {})) as Promise<T>,
    poll: <T extends Json>(name: string) => handled(runPoll(execution, scope, name)) as Promise<readonly T[]>,
    all: (branches) => handled(runAll(execution, scope, branches)),
    race: (branches) => handled(runRace(execution, scope, branches)),
    emit: (event) => runEmit(execution, scope, event),
  };
}

/** Marks a promise as handled: a rejection the body never awaits must not end the process. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

async function runSleep(
  execution: ExecutionContext,
  scope: BranchScope,
  milliseconds: number,
  until: AbortSignal | undefined,
): Promise<void> {
  if (!(milliseconds >= 0 && milliseconds < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`Cannot sleep for ${milliseconds} ms.`);
  }
  const path = scope.nextPath();
  const row = execution.recall(path, "sleep", "");
  if (row === "changed") return never();
  if (row?.state === "done") return;
  await execution.admit(scope, path);
  const wakeAt = row?.out === undefined ? execution.options.clock() + Math.ceil(milliseconds) : Number(row.out);
  await execution.waiting.sleep(scope, { path, wakeAt, begun: row !== undefined, until });
}

async function runSignal(
  execution: ExecutionContext,
  scope: BranchScope,
  name: string,
  options: NonNullable<Parameters<Run["signal"]>[1]>,
): Promise<Json> {
  for (const event of options.events ?? []) assertNotReserved(event);
  const path = scope.nextPath();
  const row = execution.recall(path, "signal", name);
  if (row === "changed") return never();
  if (row?.state === "done") return JSON.parse(row.out ?? "null");
  await execution.admit(scope, path);
  const begin = row === undefined ? (options.events ?? []) : undefined;
  return JSON.parse(await execution.waiting.signal(scope, { path, name, reason: options.reason, begin }));
}

async function runPoll(execution: ExecutionContext, scope: BranchScope, name: string): Promise<readonly Json[]> {
  const path = scope.nextPath();
  const row = execution.recall(path, "poll", name);
  if (row === "changed") return never();
  if (row?.state === "done") return JSON.parse(row.out ?? "[]");
  await execution.admit(scope, path);
  const done: JournalRow = { path, kind: "poll", name, state: "done" };
  const isThere = await execution.during(scope, async () => {
    await execution.waiting.settled();
    return execution.options.store.hasSignal(name).catch(() => true);
  });
  if (!isThere) {
    execution.progress.after(execution.record(scope, { ...done, out: "[]" }));
    return [];
  }
  return JSON.parse(await execution.write(scope, () => execution.options.store.takeAll(done)));
}

function runEmit(execution: ExecutionContext, scope: BranchScope, event: RunEvent): void {
  assertNotReserved(event);
  const path = scope.placeOf(event.type);
  if (path === undefined || scope.sealed || scope.isAborted) return;
  execution.progress.after(execution.record(scope, { path, kind: "emit", name: event.type, state: "done" }, [event]));
}
