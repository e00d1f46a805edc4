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

/** More than any source archive needs, and little enough for any disk. */
export const defaultExtractLimits: ExtractLimits = {
  entries: 20_000,
  bytes: 500 * 1024 ** 2,
  ratio: 200,
  unremarkableBytes: 20 * 1024 ** 2,
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

/** What a tar archive has of its own for each entry, with the longest names. */
const headerBytes = 8 * 1024;

/**
 * An archive's decompressed bytes, as far as these limits let them go: headers without an entry,
 * and content of anything but files, are counted nowhere else.
 */
export async function* withinLimits(
  stream: AsyncIterable<Uint8Array>,
  { limits, signal }: { readonly limits: ExtractLimits; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  let left = limits.bytes + limits.entries * headerBytes;
  for await (const chunk of stream) {
    signal.throwIfAborted();
    left -= chunk.length;
    if (left < 0) throw tooLarge(`Unpacked it is larger than ${bytesInWords(limits.bytes)}, and not for its files.`);
    yield chunk;
  }
}

function tooLarge(message: string): AppError {
  return new AppError("too_large", message);
}
