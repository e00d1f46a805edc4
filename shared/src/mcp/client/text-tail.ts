import { neutral } from "./neutral-text.ts";

/** The end of a stream of text. */
export type TextTail = { push(bytes: Uint8Array): void; text(): string };

const keptBytes = 2_000;

/** Keeps the last 2,000 bytes that were pushed, for people to read. */
export function createTextTail(): TextTail {
  let kept: Uint8Array = new Uint8Array();
  return {
    push(bytes) {
      kept = bytes.length >= keptBytes ? bytes.slice(-keptBytes) : Buffer.concat([kept, bytes]).subarray(-keptBytes);
    },
    text: () => neutral(new TextDecoder().decode(kept)).trim(),
  };
}
