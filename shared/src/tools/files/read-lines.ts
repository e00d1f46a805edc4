import type { FileHandle } from "node:fs/promises";

const chunkBytes = 64 * 1024;

/** Some lines of a file. `lines` is how many were counted until the reading ended, of all that there are when `ended` says so. */
export type ReadLines = { readonly bytes: Uint8Array; readonly lines: number; readonly ended: boolean };

/**
 * Reads the lines from `from` (counted from 1) to `to`, which may be Infinity, in chunks: of a file of any size no more than `mostBytes` and a
 * chunk are in memory. Ends early when nothing more is to be learned. Rejects with the signal's reason.
 */
export async function readLines(
  handle: FileHandle,
  { from, to, mostBytes, signal }: { from: number; to: number; mostBytes: number; signal: AbortSignal },
): Promise<ReadLines> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  const result = (ended: boolean) => ({ bytes: Buffer.concat(kept).subarray(0, mostBytes), lines: line, ended });
  const buffer = Buffer.alloc(chunkBytes);
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position);
    if (bytesRead === 0) return result(true);
    position += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    for (let at = 0; at < bytesRead; ) {
      const newline = chunk.indexOf(10, at);
      const end = newline === -1 ? bytesRead : newline + (line === to ? 0 : 1);
      if (line >= from && keptBytes < mostBytes) {
        kept.push(Buffer.from(chunk.subarray(at, end)));
        keptBytes += end - at;
      }
      if (to === Number.POSITIVE_INFINITY && keptBytes >= mostBytes) return result(false);
      if (newline === -1) break;
      if (line === to) return result(false);
      line++;
      at = newline + 1;
    }
  }
}
