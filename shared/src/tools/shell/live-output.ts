import type { OutputListener, OutputStream } from "../../machine/sandbox/run-command.ts";

const bytesASecond = 256 * 1024;
const leftOut = "\n[… more output than can be shown live …]\n";

/**
 * Shows output to those who watch, as text, at most 256 kB a second: a flood would only pile up in
 * front of slow readers. What is beyond is left out, which is said once a second.
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
    // What follows the gap begins anew, perhaps within a character.
    decoders.clear();
    show(leftOut);
  };
}
