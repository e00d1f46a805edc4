import { createMarkScanner } from "./mark-scanner.ts";

/** Output of background jobs between calls that is taken in; more stays in the pipe, which stops its writer. */
const idleBytes = 256 * 1024;

/** One output of an interpreter, cut into calls by their marks. */
export interface MarkedStream {
  /**
   * Hands on all output up to the mark of this token, that of background jobs since the last call first. Answers the mark's
   * payload, or undefined when the output ended without it.
   */
  until(token: string, onOutput: (bytes: Uint8Array) => void): Promise<string | undefined>;
}

type Waiting = { readonly onOutput: (bytes: Uint8Array) => void; readonly resolve: (payload?: string) => void };

/** Reads the output for as long as it lasts, in step with the calls. */
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
