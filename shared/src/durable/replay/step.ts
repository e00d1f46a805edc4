import { AppError, errnoOf, FilesUnavailable } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Effect, RunEvent, StepContext } from "../../core/runs/run.ts";
import { never } from "./aborts.ts";
import type { ExecutionContext } from "./execution-context.ts";
import { type JournalRow, type RecordedError, StoreUnavailable } from "./run-store.ts";
import type { BranchScope } from "./scope.ts";

/** How long a step is tried again, and how often, while what it needs is away. */
type Patience = { readonly withinMs: number; readonly againMs: number };
const withStore: Patience = { withinMs: 60_000, againMs: 100 };
/** Somebody has to make room, or to bring a service back. */
const withDisk: Patience = { withinMs: 15 * 60_000, againMs: 1_000 };

/** What the system refuses while it lacks something, of whoever asks. */
const lacks: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk's quota is used up",
  EROFS: "the disk is read-only",
  EIO: "the disk cannot be read or written",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
};

type StepFunction = (step: StepContext) => Promise<Json | undefined>;

/**
 * The verb `step`: returns the recorded result, or runs the function, queues its result for the
 * store and returns it meanwhile. Nothing that depends on it is visible outside before it is on
 * disk: no step with effects starts earlier, and the run's later writes are committed after it.
 */
export async function runStep(
  execution: ExecutionContext,
  scope: BranchScope,
  name: string,
  fn: StepFunction,
  effect: Effect,
): Promise<Json | undefined> {
  const path = scope.nextPath();
  const row = execution.recall(path, "step", name);
  if (row === "changed") return never();
  if (row?.state === "done") return replayed(row);
  await execution.admit(scope, path);
  const started: JournalRow = { path, kind: "step", name, state: "started" };
  if (row !== undefined) {
    const error = interrupted(name);
    await execution.record(scope, { ...started, state: "done", error });
    throw asThrown(error);
  }
  return execution.during(scope, async () => {
    // The effects of this step may depend on earlier results, so those must be on disk first.
    if (effect === "once") await execution.record(scope, started);
    else if (effect === "idempotent") await execution.buffer.written();
    await execution.assertHeld(scope);
    const trying = effect === "once" ? attempt : attemptWithStore;
    const { row: done, events, cause } = await trying(execution, scope, started, fn);
    await execution.recordBehind(scope, done, events);
    return replayed(done, cause);
  });
}

/**
 * Runs the function again while it fails because the store of the runs or that of files is away, or
 * because the machine lacks room. The first could not be recorded before the store is back either,
 * and both would end a run that nothing is wrong with.
 */
async function attemptWithStore(
  execution: ExecutionContext,
  scope: BranchScope,
  started: JournalRow,
  fn: StepFunction,
) {
  for (const begun = performance.now(); ; ) {
    const attempted = await attempt(execution, scope, started, fn);
    const patience = patienceWith(attempted.cause);
    if (patience === undefined || performance.now() - begun > patience.withinMs) return attempted;
    await Bun.sleep(patience.againMs);
    // While it was away others may have come to believe that this process is dead.
    await execution.assertHeld(scope);
  }
}

function patienceWith(cause: unknown): Patience | undefined {
  if (cause instanceof StoreUnavailable) return withStore;
  return cause instanceof FilesUnavailable || lackOf(cause) !== undefined ? withDisk : undefined;
}

function lackOf(error: unknown): string | undefined {
  const errno = error instanceof AppError ? undefined : errnoOf(error);
  return errno === undefined || !Object.hasOwn(lacks, errno) ? undefined : `${lacks[errno]} (${errno})`;
}

/** Runs the function; an error becomes part of the row, except an abort, which is rethrown. */
async function attempt(execution: ExecutionContext, scope: BranchScope, started: JournalRow, fn: StepFunction) {
  const events: RunEvent[] = [];
  let open = true;
  const context: StepContext = {
    signal: scope.signal,
    key: `${execution.options.runId}/${started.path}`,
    now: () => execution.options.clock(),
    emit(event) {
      assertNotReserved(event);
      if (open) events.push(event);
    },
    progress(event) {
      if (open && !execution.isOver) execution.progress.show(event, () => open);
    },
  };
  const done = { ...started, state: "done" } as const;
  try {
    const value = await scope.watch(async () => fn(context));
    scope.throwIfAborted();
    const out = JSON.stringify(value);
    return { row: out === undefined ? done : { ...done, out }, events, cause: undefined };
  } catch (error) {
    scope.throwIfAborted();
    return { row: { ...done, error: recordable(execution, started, error) }, events, cause: error };
  } finally {
    open = false;
  }
}

function recordable(execution: ExecutionContext, { path, name }: JournalRow, error: unknown): RecordedError {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  const lack = lackOf(error);
  if (lack !== undefined) return { code: "storage_unavailable", message: `Step "${name}" failed: ${lack}.` };
  execution.options.log.error(
    { runId: execution.options.runId, path, step: name, err: error },
    "A step failed unexpectedly.",
  );
  return { code: "internal", message: `Step "${name}" failed unexpectedly; the log has the cause.` };
}

/**
 * Returns the recorded form even the first time, so that the body cannot tell a replay from the
 * original.
 */
function replayed(row: JournalRow, cause?: unknown): Json | undefined {
  if (row.error !== undefined) throw asThrown(row.error, cause);
  return row.out === undefined ? undefined : JSON.parse(row.out);
}

function asThrown(error: RecordedError, cause?: unknown): AppError {
  return new AppError(error.code, error.message, cause === undefined ? {} : { cause });
}

function interrupted(name: string): RecordedError {
  return {
    code: "interrupted",
    message: `Step "${name}" had started when its process stopped; whether it took effect is unknown.`,
  };
}

const reserved: readonly string[] = ["run-ended", "run-paused", "run-resumed"];

/** Throws a TypeError for an event that only the engine may emit. */
export function assertNotReserved(event: RunEvent): void {
  if (reserved.includes(event.type)) throw new TypeError(`"${event.type}" events belong to the engine.`);
}
