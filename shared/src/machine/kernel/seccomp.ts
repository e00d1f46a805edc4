import { ptr } from "bun:ffi";
import { libc } from "./libc.ts";
import { callNumber, knownProcessor } from "./syscall-numbers.ts";
import { ruleOutNewPrivileges } from "./this-process.ts";

const setSeccomp = 22n;
const filterMode = 2n;
const installFilter = 1n;
/** Requests a listener; a call it has received can be interrupted only by a fatal signal. */
const newListener = (1n << 3n) | (1n << 5n);

/**
 * Puts this thread and everything it starts under a seccomp program. Cannot be undone; throws when
 * it fails.
 */
export function restrictCalls(filter: Uint8Array): void {
  const program = new BigUint64Array([BigInt(filter.length / 8), BigInt(ptr(filter))]);
  ruleOutNewPrivileges();
  if (libc().prctl(setSeccomp, filterMode, BigInt(ptr(program)), 0n, 0n) !== 0)
    throw new Error("the kernel took no filter of system calls");
}

/**
 * Puts this thread and everything it starts under a seccomp program that asks, and returns the
 * descriptor on which its questions arrive. Undefined, with nothing changed, where the kernel
 * provides none: it is too old, or we are already under a program that asks.
 */
export function restrictCallsAsking(filter: Uint8Array): number | undefined {
  const processor = knownProcessor(process.arch);
  const seccomp = processor && callNumber("seccomp", processor);
  if (seccomp === undefined) return undefined;
  const program = new BigUint64Array([BigInt(filter.length / 8), BigInt(ptr(filter))]);
  ruleOutNewPrivileges();
  const listener = libc().syscall(BigInt(seccomp), installFilter, newListener, BigInt(ptr(program)), 0n);
  return listener < 0n ? undefined : Number(listener);
}

/** A call that blocks until it is answered. */
export type AskedCall = {
  readonly id: bigint;
  /** The thread that made the call. */
  readonly thread: number;
  readonly number: number;
  readonly words: readonly [bigint, bigint, bigint, bigint, bigint, bigint];
};

/**
 * Constants of the kernel's `linux/seccomp.h`: the requests of `ioctl`, and the sizes of the
 * structures it fills in.
 */
const receive = 0xc0502100n;
const send = 0xc0182101n;
const isValid = 0x40082102n;
const questionBytes = 80;
const answerBytes = 24;

const readable = 1;

/**
 * Receives and answers the calls that a seccomp program asks about. Its methods block the thread.
 */
export function createCallListener(listener: number) {
  const { ioctl, poll } = libc();
  const waited = new Int32Array(2);
  const question = new DataView(new ArrayBuffer(questionBytes));
  const answer = new DataView(new ArrayBuffer(answerBytes));
  const id = new BigUint64Array(1);
  return {
    /**
     * Waits for the next call; undefined once no process is left that could make one. Skips a call
     * that ended while it waited.
     */
    next(): AskedCall | undefined {
      for (;;) {
        waited.set([listener, readable]);
        poll(ptr(waited), 1n, -1);
        const events = (waited[1] ?? 0) >> 16;
        if (events !== 0 && (events & readable) === 0) return undefined;
        // The kernel requires an empty structure.
        new Uint8Array(question.buffer).fill(0);
        if (events !== 0 && ioctl(listener, receive, ptr(question)) === 0) return askedCall(question);
      }
    },
    /**
     * Whether a call is still pending: only then was the data read from its thread that of the
     * caller.
     */
    stands(call: AskedCall): boolean {
      id[0] = call.id;
      return ioctl(listener, isValid, ptr(id)) === 0;
    },
    /** Completes the call, as successful (0) or with an error. */
    answer(call: AskedCall, errno: number): void {
      answer.setBigUint64(0, call.id, true);
      answer.setInt32(16, -errno, true);
      ioctl(listener, send, ptr(answer));
    },
  };
}

function askedCall(question: DataView): AskedCall {
  const word = (index: number) => question.getBigUint64(32 + 8 * index, true);
  return {
    id: question.getBigUint64(0, true),
    thread: question.getUint32(8, true),
    number: question.getInt32(16, true),
    words: [word(0), word(1), word(2), word(3), word(4), word(5)],
  };
}
