import { copyFileSync, mkdirSync, openSync, renameSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";

const rotateAtBytes = 10 * 1024 * 1024;

/** A server's log file, open for appending. */
export type ServerLog = {
  readonly path: string;
  readonly descriptor: number;
  /** What was written since it was opened; only the end if that is long. */
  text(): Promise<string>;
  /**
   * Copies it to `.1` and empties it, if it is larger than 10 MiB: the server that writes it has it
   * open and would go on in a file that was renamed. A line written meanwhile may be lost. A disk
   * that refuses leaves it as it is.
   */
  rotate(): void;
};

/**
 * Opens a log, renaming one larger than 10 MiB to `.1`. Throws the file system's errors.
 */
export function openServerLog(path: string): ServerLog {
  mkdirSync(dirname(path), { recursive: true });
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > rotateAtBytes) {
    renameSync(path, `${path}.1`);
    size = 0;
  }
  const descriptor = openSync(path, "a", 0o600);
  let from = size;
  return {
    path,
    descriptor,
    async text() {
      const end = Bun.file(path).size;
      return Bun.file(path)
        .slice(Math.max(from, end - 65_536), end)
        .text();
    },
    rotate() {
      try {
        if (statSync(path).size <= rotateAtBytes) return;
        copyFileSync(path, `${path}.1`);
        truncateSync(path);
        from = 0;
      } catch {
        // It is tried again.
      }
    },
  };
}

/** The last non-empty lines of a log, for a message to people. */
export function lastLines(log: string, count = 8): string {
  return log
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-count)
    .join("\n");
}
