import { ptr } from "bun:ffi";
import { libc } from "./libc.ts";
import { callNumber, knownProcessor } from "./syscall-numbers.ts";
import { ruleOutNewPrivileges } from "./this-process.ts";

const setSeccomp = 22n;
const filterMode = 2n;
const installFilter = 1n;
/** A listener, whose calls are interrupted, once it has received them, by nothing but their end. */
const newListener = (1n << 3n) | (1n << 5n);

/**
 * Puts this thread and all it starts under a seccomp program. Cannot be undone; throws when it
 * fails.
 */
export function restrictCalls(filter: Uint8Array): void {
  const program = new BigUint64Array([BigInt(filter.length / 8), BigInt(ptr(filter))]);
  ruleOutNewPrivileges();
  if (libc().prctl(setSeccomp, filterMode, BigInt(ptr(program)), 0n, 0n) !== 0)
    throw new Error("the kernel took no filter of system calls");
}

/**
 * Puts this thread and all it starts under a seccomp program that asks, and answers the descriptor
 * on which its questions arrive. Undefined, with nothing done, where the kernel hands out none: it
 * is too old, or we are under a program that asks already.
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

/** A call that stands still until it is answered. */
export type AskedCall = {
  readonly id: bigint;
  /** The thread that makes it. */
  readonly thread: number;
  readonly number: number;
  readonly words: readonly [bigint, bigint, bigint, bigint, bigint, bigint];
};

/**
 * Constants of the kernel's `linux/seccomp.h`: what `ioctl` is asked for, and the sizes of what it
 * fills in.
 */
const receive = 0xc0502100n;
const send = 0xc0182101n;
const isValid = 0x40082102n;
const questionBytes = 80;
const answerBytes = 24;

const readable = 1;

/** The asking side's end of a seccomp program that asks. Its calls block the thread. */
export function createCallListener(listener: number) {
  const { ioctl, poll } = libc();
  const waited = new Int32Array(2);
  const question = new DataView(new ArrayBuffer(questionBytes));
  const answer = new DataView(new ArrayBuffer(answerBytes));
  const id = new BigUint64Array(1);
  return {
    /**
     * Waits for the next call; undefined once nobody is left who could make one. One that ended
     * while it waited is passed over.
     */
    next(): AskedCall | undefined {
      for (;;) {
        waited.set([listener, readable]);
        poll(ptr(waited), 1n, -1);
        const events = (waited[1] ?? 0) >> 16;
        if (events !== 0 && (events & readable) === 0) return undefined;
        // The kernel wants it empty.
        new Uint8Array(question.buffer).fill(0);
        if (events !== 0 && ioctl(listener, receive, ptr(question)) === 0) return askedCall(question);
      }
    },
    /**
     * Whether a call still stands: only then was what was read of its thread read of the thread
     * that makes it.
     */
    stands(call: AskedCall): boolean {
      id[0] = call.id;
      return ioctl(listener, isValid, ptr(id)) === 0;
    },
    /** Lets it end, as done (0) or with an error. */
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
