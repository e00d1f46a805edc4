import { type AppError, errnoOf } from "../../../core/errors.ts";
import { StoreUnavailable } from "../../replay/run-store.ts";

/**
 * SQLite's error codes (and their extensions) that concern the storage, not the statement, each
 * with a reason for people.
 */
const causes: readonly (readonly [prefix: string, reason: string])[] = [
  ["SQLITE_FULL", "its disk is full"],
  ["SQLITE_IOERR", "its disk cannot be read or written"],
  ["SQLITE_READONLY", "it is read-only"],
  ["SQLITE_PERM", "writing it is not permitted"],
  ["SQLITE_AUTH", "opening it is not permitted"],
  ["SQLITE_CORRUPT", "it is damaged"],
  ["SQLITE_NOTADB", "it is not a database, or damaged"],
  ["SQLITE_CANTOPEN", "it cannot be opened"],
  ["SQLITE_NOMEM", "memory ran out"],
  ["SQLITE_BUSY", "another process holds it"],
  ["SQLITE_LOCKED", "another connection holds it"],
  ["SQLITE_PROTOCOL", "its locks do not work"],
];

/** Why the storage failed, or undefined when `error` is not about the storage. */
export function storageFailure(error: unknown): string | undefined {
  const code = errnoOf(error);
  if (code === undefined) return undefined;
  const cause = causes.find(([prefix]) => code.startsWith(prefix));
  return cause === undefined ? undefined : `${cause[1]} (${code})`;
}

/** Whether another process merely holds the lock. */
export function isBusy(error: unknown): boolean {
  return errnoOf(error)?.startsWith("SQLITE_BUSY") ?? false;
}

/** The error for callers while the storage fails. */
export function storageUnavailable(reason: string, cause?: unknown): AppError {
  return new StoreUnavailable(reason, cause);
}
