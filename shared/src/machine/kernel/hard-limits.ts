import { readFileSync } from "node:fs";

/** What `prlimit` calls them, by their names in /proc. */
const names = {
  "cpu time": "cpu",
  "file size": "fsize",
  processes: "nproc",
  "open files": "nofile",
  "address space": "as",
} as const;

/** Limits of a process that it cannot raise, each only where there is one. */
export type HardLimits = Partial<Readonly<Record<(typeof names)[keyof typeof names], number>>>;

/** The hard limits of this process, which everything it starts inherits. */
export function hardLimits(): HardLimits {
  return process.platform === "linux" ? readLimits(readFileSync("/proc/self/limits", "utf8")) : {};
}

/** The hard limits in a text of `/proc/PID/limits`. */
export function readLimits(text: string): HardLimits {
  const found = Object.entries(names).map(([name, own]) => {
    const hard = new RegExp(`^Max ${name} +\\S+ +(\\d+) `, "m").exec(text)?.[1];
    return hard === undefined ? [] : [[own, Number(hard)] as const];
  });
  return Object.fromEntries(found.flat());
}
