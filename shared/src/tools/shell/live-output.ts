import type { OutputListener, OutputStream } from "../../machine/sandbox/run-command.ts";

const bytesASecond = 256 * 1024;
const leftOut = "\n[… more output than can be shown live …]\n";

/**
 * Shows output to watchers, as text, at most 256 kB a second, because more would only accumulate in
 * front of slow readers. The excess is left out, and a note says so once a second.
 */
export function createLiveOutput(
  show: (text: string) => void,
  now: () => number = () => performance.now(),
): OutputListener {
  const decoders = new Map<OutputStream, TextDecoder>();
  let began = now();
  let left = bytesASecond;
  let flooded = false;
  return (stream, bytes) => {
    if (now() - began >= 1000) {
      began = now();
      left = bytesASecond;
      flooded = false;
    }
    const shown = bytes.subarray(0, left);
    left -= shown.length;
    const decoder = decoders.get(stream) ?? new TextDecoder();
    decoders.set(stream, decoder);
    const text = decoder.decode(shown, { stream: true });
    if (text !== "") show(text);
    if (shown.length === bytes.length || flooded) return;
    flooded = true;
    // The text after the gap starts afresh, possibly within a character.
    decoders.clear();
    show(leftOut);
  };
}
