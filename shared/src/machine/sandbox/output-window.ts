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

/** Keeps the first and the last `part` bytes (32 kB each by default), and makes no garbage. */
export function createOutputWindow(part = defaultPart): OutputWindow {
  const head = createBuffer(part);
  const tail = createBuffer(2 * part);
  let total = 0;
  return {
    get total() {
      return total;
    },
    get cut() {
      return total > 2 * part;
    },
    push(bytes) {
      total += bytes.length;
      const toHead = bytes.subarray(0, part - head.bytes().length);
      head.add(toHead);
      const toTail = bytes.subarray(toHead.length).subarray(-part);
      if (tail.bytes().length + toTail.length > 2 * part) tail.keepLast(part);
      tail.add(toTail);
    },
    text() {
      const decoder = new TextDecoder();
      const first = head.bytes();
      if (total <= 2 * part) return decoder.decode(Buffer.concat([first, tail.bytes()]));
      const last = tail.bytes().subarray(-part);
      const left = total - first.length - last.length;
      return `${decoder.decode(first)}\n[… ${left} bytes left out …]\n${decoder.decode(last)}`;
    },
  };
}

/** Bytes in one piece of memory, which grows up to `most` as they come. */
function createBuffer(most: number) {
  let room = new Uint8Array(0);
  let length = 0;
  return {
    bytes: () => room.subarray(0, length),
    add(bytes: Uint8Array) {
      const needed = length + bytes.length;
      if (needed > room.length) {
        const larger = new Uint8Array(Math.min(most, Math.max(needed, 2 * room.length)));
        larger.set(room.subarray(0, length));
        room = larger;
      }
      room.set(bytes, length);
      length = needed;
    },
    keepLast(count: number) {
      room.copyWithin(0, length - count, length);
      length = count;
    },
  };
}
