const delimiter = 0x1e;
/** A payload names an exit code and a folder; longer than this it is none of ours. */
const longestMark = 8192;

/** What a scanner makes of a chunk: output to pass on, and the mark's payload once it has been seen. */
export type Scanned = { readonly output: Uint8Array; readonly payload?: string };

/**
 * Finds `␞TOKEN:payload␞` in a stream whatever the chunks it comes in, and holds back only what may be its beginning. What follows
 * the mark is kept for the scanner's next token.
 */
export interface MarkScanner {
  expect(token: string): void;
  feed(chunk: Uint8Array): Scanned;
}

export function createMarkScanner(): MarkScanner {
  let held = Buffer.alloc(0);
  let opening = Buffer.alloc(0);
  return {
    expect(token) {
      opening = Buffer.from(`\x1e${token}:`);
    },
    feed(chunk) {
      const data = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
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

/** Where a proper prefix of `opening` starts that `data` ends with; the length of `data` when there is none. */
function beginningOf(opening: Buffer, data: Buffer): number {
  for (let at = Math.max(0, data.length - opening.length + 1); at < data.length; at++) {
    if (data[at] === delimiter && opening.subarray(0, data.length - at).equals(data.subarray(at))) return at;
  }
  return data.length;
}
