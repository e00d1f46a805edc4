import { AppError } from "../../../core/errors.ts";
import { bytesInWords } from "../../../machine/sandbox/limits.ts";

/** How much may come out of an archive. */
export type ExtractLimits = {
  readonly entries: number;
  readonly bytes: number;
  /**
   * Unpacked bytes for each packed byte, checked once more than `unremarkableBytes` have come out.
   */
  readonly ratio: number;
  readonly unremarkableBytes: number;
};

/**
 * What remains of the limits. Both methods throw `too_large` when nothing does, and the signal's
 * reason.
 */
export interface Room {
  takeEntry(): void;
  takeBytes(count: number): void;
}

/** The limits for the content of an archive of `packedBytes`, which more may be added to. */
export function createRoom(options: {
  readonly packedBytes: () => number;
  readonly limits: ExtractLimits;
  readonly signal: AbortSignal;
}): Room {
  const { packedBytes, limits, signal } = options;
  let [entries, bytes] = [0, 0];
  return {
    takeEntry() {
      signal.throwIfAborted();
      if (++entries > limits.entries) throw tooLarge(`There are more than ${limits.entries} entries in it.`);
    },
    takeBytes(count) {
      signal.throwIfAborted();
      bytes += count;
      if (bytes > limits.bytes) throw tooLarge(`Unpacked it is larger than ${bytesInWords(limits.bytes)}.`);
      if (bytes > limits.unremarkableBytes && bytes > packedBytes() * limits.ratio)
        throw tooLarge(
          `It unpacks to more than ${limits.ratio} times its size, as archives do that are made to fill disks.`,
        );
    },
  };
}

function tooLarge(message: string): AppError {
  return new AppError("too_large", message);
}
