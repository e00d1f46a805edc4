import { ptr, read } from "bun:ffi";
import { constants, readlinkSync } from "node:fs";
import { cString, libc } from "./libc.ts";
import { callNumber, type Processor } from "./syscall-numbers.ts";

/** A failed call, with the kernel's error number. */
export class CallError extends Error {
  readonly errno: number;

  constructor(errno: number) {
    super(`errno ${errno}`);
    this.errno = errno;
  }
}

const openPath = 0o10000000;
const closeOnExec = 0o2000000;
const noMagicLinks = 2n;
const emptyPath = 0x1000;
const fromHere = -100;
const openHowBytes = 24n;
const capabilityVersion = 0x20080522;

const nothing = new Uint8Array(1);

/**
 * File calls that `node:fs` lacks, made by this thread and, after `actAs`, with only that user's
 * rights. Each throws `CallError`.
 */
export function createFileCalls(processor: Processor) {
  // The address is specific to a thread, so each thread must ask for it.
  const errnoAt = libc().__errno_location();
  if (errnoAt === null) throw new Error("the C library has no place for errors");
  const checked = (result: number | bigint): number => {
    if (result < 0) throw new CallError(read.i32(errnoAt, 0));
    return Number(result);
  };
  const call = (name: Parameters<typeof callNumber>[0], ...words: bigint[]) => {
    const number = callNumber(name, processor);
    if (number === undefined) throw new Error(`${name} is not a call of ${processor}`);
    const [one = 0n, two = 0n, three = 0n, four = 0n] = words;
    return checked(libc().syscall(BigInt(number), one, two, three, four));
  };
  return {
    /**
     * Takes a handle on a file without opening it. `path` ends in a 0; magic links in /proc are
     * followed only with `magic`.
     */
    hold(folder: number, path: Uint8Array, { follow, magic }: { readonly follow: boolean; readonly magic: boolean }) {
      const flags = openPath | closeOnExec | (follow ? 0 : constants.O_NOFOLLOW);
      const how = new BigUint64Array([BigInt(flags), 0n, magic ? 0n : noMagicLinks]);
      return call("openat2", BigInt(folder), BigInt(ptr(path)), BigInt(ptr(how)), openHowBytes);
    },
    /** Where a held file is now, as the kernel names it. */
    nameOf: (held: number) => readlinkSync(`/proc/self/fd/${held}`),
    setMode: (held: number, mode: number) =>
      checked(libc().fchmodat(fromHere, ptr(cString(`/proc/self/fd/${held}`)), mode, 0)),
    setOwner: (held: number, uid: number, gid: number) =>
      checked(libc().fchownat(held, ptr(nothing), uid, gid, emptyPath)),
    /** Sets the two times, each in seconds and nanoseconds, or both to now. */
    setTimes: (held: number, times: BigInt64Array | undefined) =>
      checked(libc().utimensat(held, ptr(nothing), times === undefined ? null : ptr(times), emptyPath)),
    /** Reads an open file at an address; returns fewer bytes at its end. */
    readAt: (descriptor: number, into: Uint8Array, address: bigint) =>
      checked(libc().pread(descriptor, ptr(into), BigInt(into.length), BigInt.asIntN(64, address))),
    /**
     * Gives this thread, and no other of the process, a user's rights on files. Cannot be undone.
     */
    actAs(uid: number, gid: number) {
      call("setgroups", 0n, 0n);
      for (const [name, id] of [["setfsgid", gid] as const, ["setfsuid", uid] as const]) {
        call(name, BigInt(id));
        // The call reports no failure: it always returns the thread's previous id.
        if (call(name, -1n) !== id) throw new Error(`${name} ${id} did not take effect`);
      }
      const head = new Uint32Array([capabilityVersion, 0]);
      call("capset", BigInt(ptr(head)), BigInt(ptr(new Uint32Array(6))));
    },
  };
}
