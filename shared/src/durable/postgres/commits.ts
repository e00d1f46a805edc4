import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { LeaseLost } from "../replay/run-store.ts";
import type { Database } from "./database.ts";

/** The right to write a run: held by the worker that claimed it, for that claim. */
export type Claim = { readonly n: string; readonly owner: string; readonly epoch: string };

/** What the commits of one claim need. */
export type CommitsOptions = {
  readonly claim: Claim;
  readonly database: Database;
  /** Called after a commit, with the number of the last event and the runs that were signaled. */
  readonly onCommitted: (last: number, signaled: readonly string[]) => void;
  /** The run is to end as canceled. */
  readonly onCanceled: () => void;
};

/** Asks for one operation of `commit_run`; resolves with its answer once it is committed. */
export type Write = <T>(make: Operation["make"], options?: { readonly afterFault?: boolean }) => Promise<T>;

/** An operation of `commit_run`, made when it is sent. */
type Operation = {
  readonly make: () => { readonly [field: string]: Json | undefined };
  /** Whether it is written even after a write that can never succeed. */
  readonly afterFault: boolean;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
};

type Committed = {
  readonly lost?: true;
  readonly last: number;
  readonly canceled: boolean;
  readonly signaled: readonly string[];
  readonly answers: readonly unknown[];
};

/**
 * The commits of one claim. One is under way at a time; what is asked for meanwhile is written
 * together in the next, in order. A commit whose answer was lost is sent again under its number,
 * and written once. After a write that can never succeed nothing is written but the resulting
 * pause, so that a journal has no gaps.
 */
export function commitsOf(options: CommitsOptions): Write {
  const { claim, database } = options;
  let queue: Operation[] = [];
  let isBusy = false;
  let batch = 0;
  let fault: { readonly error: unknown } | undefined;

  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      const operations = queue;
      queue = [];
      await commit(operations);
    }
    isBusy = false;
  }

  async function commit(operations: readonly Operation[]): Promise<void> {
    const sent = operations.flatMap((operation) => {
      try {
        if (fault !== undefined && !operation.afterFault) throw fault.error;
        return [{ operation, text: JSON.stringify(operation.make()) }];
      } catch (error) {
        fault ??= { error };
        operation.reject(error);
        return [];
      }
    });
    if (sent.length === 0) return;
    const { n, owner, epoch } = claim;
    const head = JSON.stringify({ run: n, owner, epoch, batch: ++batch });
    const text = `${head.slice(0, -1)},"ops":[${sent.map((each) => each.text).join()}]}`;
    try {
      const done = await database.call<Committed>("commit_run", text, { keep: true });
      if (done.lost) throw new LeaseLost("Another worker owns the run.");
      options.onCommitted(done.last, done.signaled);
      for (const [index, { operation }] of sent.entries()) operation.resolve(done.answers[index] as never);
      if (done.canceled) options.onCanceled();
    } catch (error) {
      if (!(error instanceof LeaseLost || error instanceof AppError)) fault ??= { error };
      for (const { operation } of sent) operation.reject(error);
    }
  }

  return <T>(make: Operation["make"], { afterFault = false } = {}) =>
    new Promise<T>((resolve, reject) => {
      queue.push({ make, afterFault, resolve, reject });
      if (isBusy) return;
      isBusy = true;
      // Whatever the run asks for in this turn goes into one commit.
      setImmediate(() => void writeAll());
    });
}
