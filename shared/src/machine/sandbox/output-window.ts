const defaultPart = 32 * 1024;

/**
 * The beginning and the end of an output of any length: bounded memory, and bounded text for a
 * model.
 */
export interface OutputWindow {
  /** Bytes seen so far. */
  readonly total: number;
  /** Whether something in the middle was left out. */
  readonly cut: boolean;
  push(bytes: Uint8Array): void;
  /**
   * The kept output as text; bytes that are not UTF-8 show as replacement characters. A cut is
   * marked where it was made.
   */
  text(): string;
}

/** Keeps the first and the last `part` bytes (32 kB each by default). */
export function createOutputWindow(part = defaultPart): OutputWindow {
  const head: Uint8Array[] = [];
  let headBytes = 0;
  let tail: Uint8Array[] = [];
  let tailBytes = 0;
  let total = 0;

  const compact = () => {
    const joined = Buffer.concat(tail);
    tail = [Uint8Array.from(joined.subarray(Math.max(0, joined.length - part)))];
    tailBytes = tail[0]?.length ?? 0;
  };
  return {
    get total() {
      return total;
    },
    get cut() {
      return total > 2 * part;
    },
    push(bytes) {
      total += bytes.length;
      const toHead = bytes.subarray(0, part - headBytes);
      if (toHead.length > 0) head.push(Uint8Array.from(toHead));
      headBytes += toHead.length;
      const toTail = bytes.subarray(toHead.length);
      if (toTail.length === 0) return;
      tail.push(Uint8Array.from(toTail.subarray(-part)));
      tailBytes += Math.min(toTail.length, part);
      if (tailBytes > 4 * part) compact();
    },
    text() {
      compact();
      const decoder = new TextDecoder();
      const first = Buffer.concat(head);
      const last = Buffer.concat(tail);
      if (total <= 2 * part) return decoder.decode(Buffer.concat([first, last]));
      const left = total - first.length - last.length;
      return `${decoder.decode(first)}\n[… ${left} bytes left out …]\n${decoder.decode(last)}`;
    },
  };
}
