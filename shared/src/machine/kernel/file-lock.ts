import { read } from "bun:ffi";
import { constants } from "node:os";
import { CallError } from "./file-calls.ts";
import { libc } from "./libc.ts";

const operations = { shared: 1, exclusive: 2 } as const;
const withoutWaiting = 4;

/**
 * Locks an open file against other openings of it, in this process or another, until it is closed
 * or this process ends. Returns false if they are in the way. A lock that this opening has already
 * is exchanged, which may let others in between, and is lost if that fails. Throws `CallError`.
 */
export function tryLock(descriptor: number, way: keyof typeof operations): boolean {
  const errnoAt = libc().__errno_location();
  if (libc().flock(descriptor, operations[way] | withoutWaiting) === 0) return true;
  const errno = errnoAt === null ? 0 : read.i32(errnoAt, 0);
  if (errno === constants.errno.EWOULDBLOCK) return false;
  throw new CallError(errno);
}
