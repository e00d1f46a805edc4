import type { Socket } from "node:net";
import { AppError } from "../../core/errors.ts";

const longestHead = 16_384;

/**
 * The head of an HTTP message, and the bytes received after it. The socket is then paused, without
 * a listener.
 */
export function readHead(socket: Socket, timeoutMs: number): Promise<{ readonly head: string; readonly rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const stop = () => {
      clearTimeout(timer);
      socket.off("data", take).off("error", fail).off("close", closed).pause();
    };
    const fail = (error: Error) => {
      stop();
      reject(error);
    };
    const closed = () => fail(new AppError("unavailable", "The connection was closed."));
    const timer = setTimeout(() => fail(new AppError("timeout", "No answer came in time.")), timeoutMs);
    const take = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf("\r\n\r\n");
      if (end >= 0) {
        stop();
        resolve({ head: read.toString("latin1", 0, end), rest: read.subarray(end + 4) });
      } else if (read.length > longestHead)
        fail(new AppError("unavailable", `There is no end of the head within ${longestHead} bytes.`));
    };
    socket.on("data", take).once("error", fail).once("close", closed);
  });
}
