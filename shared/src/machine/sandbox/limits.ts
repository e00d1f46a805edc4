import type { SandboxLimits } from "./sandbox.ts";

/** The bounds of a command that sets none. */
export const defaultLimits: SandboxLimits = {
  wallMs: 120_000,
  cpuSeconds: 60,
  memoryBytes: 2 * 2 ** 30,
  processes: 256,
  fileBytes: 2 ** 30,
  outputBytes: 50 * 2 ** 20,
};

const cpuSignal = 128 + 24;
const fileSizeSignal = 128 + 25;

/** The bound that an exit code indicates (death by SIGXCPU or SIGXFSZ), in words for people. */
export function limitFromExitCode(exitCode: number, limits: SandboxLimits): string | undefined {
  if (exitCode === cpuSignal) return `CPU time ${limits.cpuSeconds} s`;
  if (exitCode === fileSizeSignal) return `file size ${bytesInWords(limits.fileBytes)}`;
  return undefined;
}

/** 52428800 → `50 MB`; powers of 1024, with one decimal where it matters. */
export function bytesInWords(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  const amount = bytes / 1024 ** power;
  return `${Number.isInteger(amount) ? amount : amount.toFixed(1)} ${units[power]}`;
}
