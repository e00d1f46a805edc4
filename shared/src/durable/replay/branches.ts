import { publicError } from "../../core/errors.ts";
import type { Run } from "../../core/runs/run.ts";
import { aborts, never } from "./aborts.ts";
import type { ExecutionContext } from "./execution-context.ts";
import { nonDeterministic } from "./journal.ts";
import type { JournalRow } from "./run-store.ts";
import type { BranchScope } from "./scope.ts";

type Branch<T> = (run: Run) => Promise<T>;

/**
 * The verb `all`. A success needs no record, since it follows from the records of the branches; a
 * failure records which branch decided it.
 */
export async function runAll<T>(
  execution: ExecutionContext,
  scope: BranchScope,
  branches: readonly Branch<T>[],
): Promise<T[]> {
  const opened = await open(execution, scope, "all", branches);
  if (opened === "changed") return never();
  const { path, started, decided, running, group, settled } = opened;
  try {
    if (decided === undefined) return await Promise.all(running);
    await running[decided];
    execution.pause(nonDeterministic(`branch ${decided} of the all at ${path} failed and now succeeds`));
    return never();
  } catch (error) {
    const first = group.first;
    abortAll(group.live);
    await settled;
    if (decided === undefined) {
      scope.throwIfAborted();
      if (scope.sealed) return await execution.waiting.lost(scope, path);
      await execution.record(scope, { ...started, state: "done", out: String(first), error: publicError(error) });
    }
    execution.journal.close(path);
    throw error;
  } finally {
    scope.groups.delete(group.live);
    execution.check();
  }
}

/** The verb `race`: the first branch to settle decides, and is recorded as the winner. */
export async function runRace<T>(
  execution: ExecutionContext,
  scope: BranchScope,
  branches: readonly Branch<T>[],
): Promise<T> {
  if (branches.length === 0) throw new RangeError("A race needs a branch.");
  const opened = await open(execution, scope, "race", branches);
  if (opened === "changed") return never();
  const { path, started, decided, running, group } = opened;
  try {
    const winner =
      decided ??
      (await Promise.race(
        running.map((branch, index) =>
          branch.then(
            () => index,
            () => index,
          ),
        ),
      ));
    await running[winner]?.catch(() => undefined);
    if (decided === undefined) {
      scope.throwIfAborted();
      if (scope.sealed) return await execution.waiting.lost(scope, path);
    }
    abortAll(group.live);
    if (decided === undefined) await execution.record(scope, { ...started, state: "done", out: String(winner) });
    execution.journal.close(path);
    return await (running[winner] ?? never());
  } finally {
    scope.groups.delete(group.live);
    execution.check();
  }
}

/**
 * Numbers the operation and starts its branches. `decided` is the branch that decided it, if the
 * journal says.
 */
async function open<T>(
  execution: ExecutionContext,
  scope: BranchScope,
  kind: "all" | "race",
  branches: readonly Branch<T>[],
) {
  const path = scope.nextPath();
  const name = String(branches.length);
  const row = execution.recall(path, kind, name);
  if (row === "changed") return row;
  const started: JournalRow = { path, kind, name, state: "started" };
  if (row === undefined) {
    await execution.admit(scope, path);
    execution.record(scope, started).catch(() => undefined);
  }
  const decided = row?.state === "done" ? Number(row.out) : undefined;
  const group = { live: new Set<BranchScope>(), first: undefined as number | undefined };
  scope.groups.add(group.live);
  const running = branches.map(async (branch, index) => {
    const own = scope.branch(path, index, decided !== undefined);
    if (scope.isAborted) own.abort(scope.signal.reason);
    group.live.add(own);
    try {
      return await branch(execution.runFor(own));
    } catch (error) {
      group.first ??= index;
      throw error;
    } finally {
      group.live.delete(own);
      execution.check();
    }
  });
  return { path, started, decided, running, group, settled: Promise.allSettled(running) };
}

function abortAll(branches: Iterable<BranchScope>): void {
  for (const branch of branches) branch.abort(aborts.branchLost());
}
