import { readFile } from "node:fs/promises";

const everyMs = 100;
const pageBytes = 4096;

/**
 * Calls `over` once one of our processes uses more than `most` bytes; checks ten times a second, on
 * Linux only. Returns a function that ends the watch.
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
