import { errnoOf } from "manyhands/internal/core/errors";
import { storageFailure } from "manyhands/internal/durable/sqlite/disk/storage-error";

/** What the system refuses for a reason that whoever runs the machine can change. */
const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of the disk is used up",
  EROFS: "the disk is read-only",
  EACCES: "this user may not",
  EPERM: "this user may not",
  EBUSY: "something else uses it",
  EIO: "the disk cannot be read or written",
  EMFILE: "this process may open no more files (ulimit -n)",
  ENFILE: "the machine may open no more files",
};

/** A sentence about a failure of the machine, not of ours; undefined for any other error. */
export function machineFailure(error: unknown): string | undefined {
  const { path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  const database = storageFailure(error);
  if (database !== undefined) return `${path ?? "A database of the home"} cannot be used: ${database}.`;
  const errno = errnoOf(error);
  const reason = errno === undefined ? undefined : reasons[errno];
  if (reason === undefined || !(error instanceof Error)) return undefined;
  return `${path ?? "A file"} cannot be used: ${reason} (${[syscall, errno].filter(Boolean).join(", ")}).`;
}
