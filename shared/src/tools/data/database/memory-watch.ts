import { readFile } from "node:fs/promises";

const everyMs = 100;
const pageBytes = 4096;

/**
 * Calls `over` once a process of ours holds more than `most` bytes; looks ten times a second, on
 * Linux only. Answers what ends the watch.
 */
export function watchMemory(pid: number, most: number, over: () => void): () => void {
  const timer = setInterval(async () => {
    const pages = await readFile(`/proc/${pid}/statm`, "utf8").catch(() => "");
    if (Number(pages.split(" ")[1] ?? 0) * pageBytes <= most) return;
    clearInterval(timer);
    over();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
