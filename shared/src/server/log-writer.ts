import { write, writeSync } from "node:fs";

/** The most that waits for a reader that is slow, in characters; what comes then is dropped. */
const mostWaiting = 1_000_000;
/** How long a full pipe is given. Milliseconds. */
const fullPipeMs = 100;

/**
 * Writes lines to a file descriptor in their order, without waiting for it. What it does not take
 * is dropped: a log is often on the disk of the home, and no server ends or halts because that is
 * full. pino's own writer does both.
 */
export function logWriter(fd: number): (line: string) => void {
  let waiting = "";
  let isWriting = false;
  const next = () => {
    const bytes = Buffer.from(waiting);
    waiting = "";
    isWriting = bytes.length > 0;
    if (isWriting) send(bytes);
  };
  const send = (bytes: Uint8Array) =>
    write(fd, bytes, (error, written) => {
      if (error?.code === "EAGAIN") setTimeout(send, fullPipeMs, bytes).unref();
      else if (error === null && written < bytes.length) send(bytes.subarray(written));
      else next();
    });
  process.on("exit", () => {
    try {
      writeSync(fd, waiting);
    } catch {
      // There is nobody to tell.
    }
  });
  return (line) => {
    if (waiting.length < mostWaiting) waiting += line;
    if (!isWriting) next();
  };
}
