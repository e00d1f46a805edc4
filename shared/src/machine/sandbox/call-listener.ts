import { dlopen, FFIType, ptr } from "bun:ffi";

/** A call that stands still until it is answered. */
export type AskedCall = {
  readonly id: bigint;
  /** The thread that makes it. */
  readonly thread: number;
  readonly number: number;
  readonly words: readonly [bigint, bigint, bigint, bigint, bigint, bigint];
};

/** Constants of the kernel's `linux/seccomp.h`: what `ioctl` is asked for, and the sizes of what it fills in. */
const receive = 0xc0502100n;
const send = 0xc0182101n;
const isValid = 0x40082102n;
const questionBytes = 80;
const answerBytes = 24;

const readable = 1;

/** The asking side's end of a seccomp program that asks. Its calls block the thread. */
export function createCallListener(listener: number) {
  const libc = dlopen("libc.so.6", {
    ioctl: { args: [FFIType.int, FFIType.u64, FFIType.ptr], returns: FFIType.int },
    poll: { args: [FFIType.ptr, FFIType.u64, FFIType.int], returns: FFIType.int },
  }).symbols;
  const waited = new Int32Array(2);
  const question = new DataView(new ArrayBuffer(questionBytes));
  const answer = new DataView(new ArrayBuffer(answerBytes));
  const id = new BigUint64Array(1);
  return {
    /** Waits for the next call; undefined once nobody is left who could make one. One that ended while it waited is passed over. */
    next(): AskedCall | undefined {
      for (;;) {
        waited.set([listener, readable]);
        libc.poll(ptr(waited), 1n, -1);
        const events = (waited[1] ?? 0) >> 16;
        if (events !== 0 && (events & readable) === 0) return undefined;
        // The kernel wants it empty.
        new Uint8Array(question.buffer).fill(0);
        if (events !== 0 && libc.ioctl(listener, receive, ptr(question)) === 0) return askedCall(question);
      }
    },
    /** Whether a call still stands: only then was what was read of its thread read of the thread that makes it. */
    stands(call: AskedCall): boolean {
      id[0] = call.id;
      return libc.ioctl(listener, isValid, ptr(id)) === 0;
    },
    /** Lets it end, as done (0) or with an error. */
    answer(call: AskedCall, errno: number): void {
      answer.setBigUint64(0, call.id, true);
      answer.setInt32(16, -errno, true);
      libc.ioctl(listener, send, ptr(answer));
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
