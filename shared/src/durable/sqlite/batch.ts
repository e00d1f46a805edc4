import type { StoreConnection } from "./disk/connection.ts";
import { storageFailure } from "./disk/storage-error.ts";
import type { Tables } from "./tables/tables.ts";

/** How long the entries of one transaction may take, so that everything else gets its turn too. */
const longestBatchMs = 8;

/** A write that waits for its transaction. It may run more than once. */
export type Entry = {
  readonly run: (tables: Tables) => unknown;
  /** Whether its caller waits until the storage works again. */
  readonly keep: boolean;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Runs entries in the connection's transaction, the first of those that wait and as many as may
 * share it; returns what settles each of them. An error undoes and rejects only its own entry.
 * Throws only if the storage failed.
 */
export function runBatch(connection: StoreConnection, waiting: readonly Entry[]): (() => void)[] {
  return runTogether(connection, waiting) ?? runApart(connection, waiting);
}

/** Undefined, with nothing done, if one of them failed. */
function runTogether(connection: StoreConnection, queue: readonly Entry[]): (() => void)[] | undefined {
  const settles: (() => void)[] = [];
  try {
    const end = performance.now() + longestBatchMs;
    for (const entry of queue) {
      const value = entry.run(connection.tables) as never;
      settles.push(() => entry.resolve(value));
      if (performance.now() > end) break;
    }
    return settles;
  } catch (error) {
    if (storageFailure(error) !== undefined) throw error;
    connection.rollback();
    connection.begin();
    return undefined;
  }
}

/** Undoes only those that fail, which takes a savepoint each. */
function runApart(connection: StoreConnection, queue: readonly Entry[]): (() => void)[] {
  const settles: (() => void)[] = [];
  const end = performance.now() + longestBatchMs;
  for (const entry of queue) {
    try {
      const value = connection.part(() => entry.run(connection.tables)) as never;
      settles.push(() => entry.resolve(value));
    } catch (error) {
      if (storageFailure(error) !== undefined) throw error;
      settles.push(() => entry.reject(error));
    }
    if (performance.now() > end) break;
  }
  return settles;
}
