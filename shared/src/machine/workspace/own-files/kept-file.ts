import { readFile, stat } from "node:fs/promises";
import { createKeyedQueue } from "../../../core/async/keyed-queue.ts";
import { unlessMissing } from "../../../core/errors.ts";
import type { KeptText } from "../../../core/text/kept-text.ts";
import { underLock } from "./file-lock.ts";
import { replaceFile } from "./replace-file.ts";

/**
 * The text of one of our own files, which several processes of this machine may use. Readable by
 * its owner only. Not safe in folders that tool processes can write.
 */
export function keptFile(path: string, encoding: "utf8" | "latin1" = "utf8"): KeptText {
  const queue = createKeyedQueue();
  const read = () => readFile(path, encoding).catch(unlessMissing);
  return {
    read,
    async version() {
      const found = await stat(path).catch(() => undefined);
      return found === undefined ? "" : `${found.mtimeMs} ${found.size} ${found.ino}`;
    },
    change: (next) =>
      queue("change", () => underLock(path, async () => replaceFile(path, Buffer.from(next(await read()), encoding)))),
    // Longer work would outlive the lock of a file, so other processes are not held up by it.
    alone: (name, work) => queue(`alone ${name}`, work),
  };
}
