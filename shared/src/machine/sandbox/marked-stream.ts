/**
 * How much output of background jobs is buffered between calls; more stays in the pipe, which
 * blocks its writer.
 */
const idleBytes = 256 * 1024;

/** One output of an interpreter, split into calls by their marks. */
export interface MarkedStream {
  /**
   * Passes on all output up to the mark of this token, starting with that of background jobs since
   * the last call. Returns the mark's payload, or undefined when the output ended without it.
   */
  until(token: string, onOutput: (bytes: Uint8Array) => void): Promise<string | undefined>;
}

type Waiting = { readonly onOutput: (bytes: Uint8Array) => void; readonly resolve: (payload?: string) => void };

/** Reads the output until it ends, in step with the calls. */
export function createMarkedStream(readable: ReadableStream<Uint8Array>): MarkedStream {
  const scanner = createMarkScanner();
  let waiting: Waiting | undefined;
  let idle: Uint8Array[] = [];
  let room = Promise.withResolvers<void>();
  let ended = false;

  const take = (chunk: Uint8Array) => {
    if (waiting === undefined) {
      idle.push(chunk);
      return;
    }
    const { output, payload } = scanner.feed(chunk);
    if (output.length > 0) waiting.onOutput(output);
    if (payload === undefined) return;
    waiting.resolve(payload);
    waiting = undefined;
  };
  const read = async () => {
    for await (const chunk of readable) {
      take(chunk);
      while (waiting === undefined && idle.reduce((sum, { length }) => sum + length, 0) > idleBytes) await room.promise;
    }
  };
  read()
    .catch(() => {})
    .finally(() => {
      ended = true;
      waiting?.resolve();
    });

  return {
    until(token, onOutput) {
      scanner.expect(token);
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      waiting = { onOutput, resolve };
      const missed = idle;
      idle = [];
      for (const chunk of [new Uint8Array(0), ...missed]) take(chunk);
      room.resolve();
      room = Promise.withResolvers();
      if (ended) resolve(undefined);
      return promise;
    },
  };
}

const delimiter = 0x1e;
/** A payload holds an exit code and a folder; anything longer than this is not ours. */
const longestMark = 8192;

/**
 * The result of scanning a chunk: output to pass on, and the mark's payload once it has been seen.
 */
export type Scanned = { readonly output: Uint8Array; readonly payload?: string };

/**
 * Finds `␞TOKEN:payload␞` in a stream, however it is split into chunks, and holds back only what
 * may be the start of a mark. What follows the mark is kept for the scanner's next token.
 */
export interface MarkScanner {
  expect(token: string): void;
  /** Keeps the chunk, which must not change any more. */
  feed(chunk: Uint8Array): Scanned;
}

/** Creates a scanner; it expects no mark yet. */
export function createMarkScanner(): MarkScanner {
  let held: Buffer = Buffer.alloc(0);
  let opening = Buffer.alloc(0);
  return {
    expect(token) {
      opening = Buffer.from(`\x1e${token}:`);
    },
    feed(chunk) {
      const data = held.length === 0 ? viewOf(chunk) : Buffer.concat([held, chunk]);
      const start = data.indexOf(opening);
      const end = start < 0 ? -1 : data.indexOf(delimiter, start + opening.length);
      if (end >= 0) {
        held = data.subarray(end + 1);
        return { output: data.subarray(0, start), payload: data.toString("utf8", start + opening.length, end) };
      }
      const keepFrom = start >= 0 && data.length - start < longestMark ? start : beginningOf(opening, data);
      held = data.subarray(keepFrom);
      return { output: data.subarray(0, keepFrom) };
    },
  };
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/**
 * Where a proper prefix of `opening` starts at the end of `data`; the length of `data` when there
 * is none.
 */
function beginningOf(opening: Buffer, data: Buffer): number {
  for (let at = Math.max(0, data.length - opening.length + 1); at < data.length; at++) {
    if (data[at] === delimiter && opening.subarray(0, data.length - at).equals(data.subarray(at))) return at;
  }
  return data.length;
}
